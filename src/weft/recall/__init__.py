"""Questions to memory: recall, search, explain, show, cite."""
