"""Stages that read the question before the search."""
