"""Overwriting deleted content in database files."""
