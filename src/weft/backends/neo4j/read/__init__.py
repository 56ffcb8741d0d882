"""Guarded reads of the log and the graph."""
