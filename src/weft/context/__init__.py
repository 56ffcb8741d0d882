"""What reaches the agent: ranked nodes as text in a sensible order, cited line by line, within a budget of tokens."""
