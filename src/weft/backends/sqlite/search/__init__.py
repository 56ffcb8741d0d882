"""Search indexes: words (FTS5), vectors (HNSW), names, adjacency."""
