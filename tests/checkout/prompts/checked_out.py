"""A checkout, and what it shows and leaves out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import weft
from weft.checkout.checkout import Checkout

Opened = Callable[..., weft.Memory]


def checkout(memory: weft.Memory, query: str, **given: Any) -> Checkout:
    answer = memory.call("memory_checkout", query=query, **given)
    assert isinstance(answer, Checkout)
    return answer


def suppressed(answer: Checkout) -> dict[str, int]:
    assert answer.diagnostics is not None
    return answer.diagnostics.suppressed


def kinds(answer: Checkout, slot: str) -> list[str]:
    return [line.kind for line in answer.evidence if line.slot == slot]


def note(memory: weft.Memory, text: str, **props: Any) -> str:
    kind = props.pop("kind", "Finding")
    return str(memory.call("memory_write", kind=kind, text=text, props=props).id)
