"""Reads Java syntax trees."""
