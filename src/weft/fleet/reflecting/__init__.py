"""Reflection: patterns that repeat themselves in episodes, and learnings from them."""
