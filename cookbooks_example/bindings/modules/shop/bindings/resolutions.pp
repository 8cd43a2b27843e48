# What the shop changes in the modules that it uses: a layer of its own, so that it can be reused.
bindings shop::resolutions {
  bind override 'ntp::drift' to '/srv/ntp/drift'
}
