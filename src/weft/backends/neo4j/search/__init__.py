"""Words, names, vectors and walks."""
