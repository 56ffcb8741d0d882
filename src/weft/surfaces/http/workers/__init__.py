"""Processes that run calls of `weft serve`, so that a server uses every core."""
