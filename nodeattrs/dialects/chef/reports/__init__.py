"""The reports of the commands about nodes, as data and as text."""
