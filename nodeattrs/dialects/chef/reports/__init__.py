"""What commands about nodes answer, as data and as text."""
