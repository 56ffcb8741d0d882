"""Benchmark commands that put questions with known answers to the ordinary operations.

A bench ranks and stores nothing itself, and works in its own store, never in the user's.
"""

from __future__ import annotations

from typing import Final

from weft.runtime.operation import Operation
from weft.surfaces.bench import retrieval

OPERATIONS: Final[tuple[Operation, ...]] = (*retrieval.OPERATIONS,)
