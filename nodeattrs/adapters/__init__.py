"""Other tools' rules, spoken over the same core; no adapter knows another."""
