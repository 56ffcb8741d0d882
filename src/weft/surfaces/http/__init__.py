"""`weft serve`: the same operations over HTTP, for agents, programs and people elsewhere."""
