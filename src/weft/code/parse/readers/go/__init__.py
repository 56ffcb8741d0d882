"""Reads Go syntax trees."""
