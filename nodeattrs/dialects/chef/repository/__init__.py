"""What is on disk: cookbooks, roles, environments, nodes, data bags."""
