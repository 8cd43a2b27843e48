"""Hosts of an inventory of Ansible, and the variables of each."""
