"""Dates, periods and time windows in a text."""
