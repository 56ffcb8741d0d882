"""Source text to facts: symbols, imports, references. One file at a time, no store."""
