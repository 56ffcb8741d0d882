"""Reads JavaScript and TypeScript syntax trees."""
