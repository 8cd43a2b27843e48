"""The dialect of Chef: nodes of a repository, their runs, and the commands about them."""
