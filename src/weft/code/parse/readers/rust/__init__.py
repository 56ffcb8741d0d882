"""Reads Rust syntax trees."""
