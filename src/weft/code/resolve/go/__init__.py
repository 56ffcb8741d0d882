"""Resolves Go imports, calls and types."""
