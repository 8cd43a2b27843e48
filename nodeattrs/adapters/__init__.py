"""Other tools' rules, over the same core; no adapter knows another."""
