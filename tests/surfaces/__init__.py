"""Surfaces as their users meet them."""
