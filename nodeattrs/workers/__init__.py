"""Worker processes: run a function over many names in chunks, and send a repository to another machine."""
