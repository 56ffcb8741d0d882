"""Indexing a workspace: reads changed files, resolves links, writes both to the graph."""
