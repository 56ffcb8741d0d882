"""`weft ingest`: reads files, texts and records into memory."""
