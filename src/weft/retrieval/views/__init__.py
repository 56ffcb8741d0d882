"""Graph views of a question: entities, times and causes around its best matches, and their merging."""
