"""Steps that make a write: resolve references, build nodes, decide versions, commit."""
