"""The house itself: that every merge goes one way, and how long the ways through it are."""
