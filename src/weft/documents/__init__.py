"""Documents: parsing files into sections and chunks, and keeping their versions in the graph."""
