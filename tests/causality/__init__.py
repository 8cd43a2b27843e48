"""Does `explain` tell the truth? Edit the line it names, run again, and look."""
