"""Documents and files in the graph: versions, parts, cited lines."""
