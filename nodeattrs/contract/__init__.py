"""What a dialect and the verbs agree on. It knows no dialect, no verb and no command line."""
