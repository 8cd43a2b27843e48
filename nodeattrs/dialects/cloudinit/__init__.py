"""The dialect of cloud-init: sets of user-data, each merged to one config."""
