"""Stages that drop repeated, derived and replaced rows, and check whether the evidence suffices."""
