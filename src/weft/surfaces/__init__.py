"""Command line, MCP, HTTP and tools around them, each derived from `weft.operations` and independent of the others."""
