"""Old names. Importing one fails and names the new one."""
