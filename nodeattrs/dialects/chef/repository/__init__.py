"""Read the files of a Chef repository: cookbooks, roles, environments, nodes, data bags."""
