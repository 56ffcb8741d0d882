"""Reads Python syntax trees."""
