"""Communities of files (Leiden): detected, kept, shown."""
