# What this site decides. Everything it demands or overrides is checked before anything runs.
bindings default {
  bind override 'ssh::banner' to "$fqdn: authorised users only"

  when node 'web1.example.com' {
    bind override 'ssh::port' to 2222
  }

  when role web and virtual true {
    bind 'anna' to { shell => 'zsh' } in 'ssh::users'
    bind override 'shop::workers' to 8
  }

  when environment staging {
    bind override 'shop::host' to 'staging.example.com'
  }

  include [ntp, shop, ssh]
  when role db { exclude [ntp, shop] }

  # The kept nodes with the role db; before there is a store, what the module says.
  bind override 'shop::databases' to optional Node[?? role == db]

  bind parameters ntp to {
    servers => ['ntp1.example.com', 'ntp2.example.com'],
    enable  => true,
  }
  bind parameters File['/etc/ssh/banner'] to { mode => '0644' }
}
