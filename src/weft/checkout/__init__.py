"""Contexts for an agent before it works: checkout, assembled contexts, compaction, agent files."""
