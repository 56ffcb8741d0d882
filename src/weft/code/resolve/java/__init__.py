"""Resolves Java imports, calls and types."""
