"""Worker processes that parse and resolve."""
