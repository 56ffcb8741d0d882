"""Removing memories: delete and restore, purge, erase with everything derived."""
