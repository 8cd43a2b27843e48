"""What existing Chef repositories hold in Ruby; docs/ruby-attributes.md."""
