"""Extraction of structure from text, without a store and without a model."""
