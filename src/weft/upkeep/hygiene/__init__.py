"""Hygiene: checks that find what to clean up, and applying chosen findings."""
