"""The dialect of Chef: repositories, runs of nodes, and fleets."""
