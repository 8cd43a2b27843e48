"""The dialect `ansible`: hosts of an Ansible inventory, and the variables of each host."""
