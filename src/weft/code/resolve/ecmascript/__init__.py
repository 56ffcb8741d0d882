"""Resolves JavaScript and TypeScript imports, calls and types."""
