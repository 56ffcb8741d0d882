"""Pure text functions: words, sentences, names, extraction, secrets, prompt injection. No store, no model."""
