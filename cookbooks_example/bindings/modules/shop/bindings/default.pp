bindings shop::default {
  bind Integer, 'shop::workers' to 4
  bind 'shop::host' to 'shop.example.com'
  bind 'shop::url' to "https://${shop::host}/"
  bind 'shop::ssh' to optional producer 'shop::probe'
  bind dependency File['/etc/shop.conf'] ~> Service[shop]
}
