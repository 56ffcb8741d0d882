"""Resolves Rust paths, calls and types."""
