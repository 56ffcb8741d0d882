"""Compaction of sessions and of the log."""
