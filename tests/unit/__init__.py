"""One part at a time, through the names its users call."""
