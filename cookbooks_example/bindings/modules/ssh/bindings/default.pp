# The module says what it needs and what it offers.
bindings ssh::default {
  bind Integer, 'ssh::port' to 22
  bind abstract String, 'ssh::banner'

  multibind Hash[Hash], 'ssh::users' {
    conflict_resolution => merge
  }
  bind 'root' to { shell => 'sh' } in 'ssh::users'
  bind 'anna' to { shell => 'bash', groups => ['ops'] } in 'ssh::users'
}
