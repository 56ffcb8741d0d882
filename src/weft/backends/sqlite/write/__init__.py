"""Writing a commit, rebuilding, replacing payloads."""
