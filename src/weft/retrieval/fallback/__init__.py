"""Answers from the log alone, for when the graph cannot be read."""
