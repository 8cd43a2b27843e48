bindings shop::default {
  bind Integer, 'shop::workers' to 4
  bind 'shop::host' to 'shop.example.com'
  bind 'shop::url' to "https://${shop::host}/"
  bind 'shop::databases' to []
  bind dependency File['/etc/shop.conf'] ~> Service[shop]

  # Plugins: each module may add a check of its own.
  multibind Array[Type[Check]], 'shop::checks'
  bind to Type[PageCheck] in 'shop::checks'
  bind to Type[WorkerCheck] in 'shop::checks'
}
