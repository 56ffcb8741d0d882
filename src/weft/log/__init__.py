"""The append-only log: events, their canonical form, hash chain, checks, files and citations."""
