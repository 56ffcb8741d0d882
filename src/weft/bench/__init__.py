"""Measuring weft with weft: commands that ask the ordinary operations questions with known answers.

Nothing here ranks, stores or changes anything by itself. A bench works in a store of its own, never in the user's.
"""

from __future__ import annotations

from typing import Final

from weft.bench import retrieval
from weft.operations.registry import Operation

OPERATIONS: Final[tuple[Operation, ...]] = (*retrieval.OPERATIONS,)
