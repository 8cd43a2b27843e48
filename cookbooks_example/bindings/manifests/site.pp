# Categories, the highest first, and layers, the highest first.
site {
  categories {
    node        => $fqdn,
    environment => true,
    role        => $role,
    virtual     => $is_virtual,
  }

  bindings => [
    layer { 'site':        include => 'confdir:/default' },
    layer { 'resolutions': include => 'module:/shop::resolutions' },
    layer { 'modules':     include => 'module:/*::default' },
  ]
}
