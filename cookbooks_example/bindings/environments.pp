# The environments that nodes are in. Both have the bindings of this folder; what differs stands in `when environment`.
site {
  environment { 'production': }
  environment { 'staging': }
}
