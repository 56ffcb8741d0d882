"""A sequence in slices of bounded length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def in_slices(items: Sequence[Item], most: int) -> Iterator[Sequence[Item]]:
    """The items in slices of at most `most`, in order, none of them empty."""
    for start in range(0, len(items), most):
        yield items[start : start + most]
