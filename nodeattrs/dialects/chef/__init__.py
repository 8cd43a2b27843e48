"""Nodes of a Chef repository: each is run, and nothing is saved."""
