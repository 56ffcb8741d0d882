"""What reaches an agent: contexts as they are rendered, and that every line of them is cited."""
