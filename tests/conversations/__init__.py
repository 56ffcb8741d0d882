"""Conversations of every kind of file, when they are kept, and how they are found."""
