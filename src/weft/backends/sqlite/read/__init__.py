"""Guarded reads."""
