"""Every backend keeps every contract."""
