"""Checks before a write: scope, rights, provenance, duplicates, contradictions."""
