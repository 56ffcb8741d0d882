"""Resolves Python imports, calls and types."""
