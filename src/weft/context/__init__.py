"""Contexts: ranked nodes as cited text, line by line, within a budget of tokens."""
