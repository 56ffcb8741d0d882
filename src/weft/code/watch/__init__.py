"""Watches a workspace and indexes what is saved."""
