"""Logs kept from every release: they fold to the same graph for ever."""
