"""Worker processes: hand names out in chunks, and send a repository to another machine."""
