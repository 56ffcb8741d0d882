"""Document parsers: bytes of a file in, sections and passages out. No store, project or node is involved."""
