"""Stages that score, boost, rerank and rank candidates."""
