"""The data flow behind a value: which names, files and expressions of a Python source it comes from."""
