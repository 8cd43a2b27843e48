"""The dialect `catalogs`: files with catalogs that Puppet compiled."""
