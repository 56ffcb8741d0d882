"""Stages that find candidates: by words, by meaning, by name, by time, by graph walk."""
