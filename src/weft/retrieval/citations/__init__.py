"""Targets of citations and ids: events, parts of documents, lines of files."""
