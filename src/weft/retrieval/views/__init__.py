"""The graph views of a question: what entities, times and causes join to its best matches, and how views are merged."""
