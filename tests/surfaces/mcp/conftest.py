"""Fixtures of the clients for every test of this folder."""

from __future__ import annotations

from tests.surfaces.mcp.clients import bench, start

__all__ = ["bench", "start"]
