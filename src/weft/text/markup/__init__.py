"""Markdown and reStructuredText: blocks, inline markup, and both as a reader sees them. Pure."""
