"""A project with a store beside it, opened by whoever is named."""

from __future__ import annotations

from tests.unit.conftest import clock, memory, place

__all__ = ["clock", "memory", "place"]
