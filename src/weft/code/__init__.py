"""Source code as symbols: which classes and functions a file holds, and on which lines. No store, no model."""
