"""Programs whose types `make types` judges, and nothing runs."""
