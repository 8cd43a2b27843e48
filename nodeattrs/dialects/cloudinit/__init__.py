"""Sets of user-data for cloud-init."""
