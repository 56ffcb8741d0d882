"""Agents at work: claims under contention, recall of episodes."""
