"""A project to ingest, over one store."""

from __future__ import annotations

from tests.unit.conftest import clock, memory, place

__all__ = ["clock", "memory", "place"]
