"""What a memory shows of one node."""

from __future__ import annotations

from typing import Any

import weft


def text_of(memory: weft.Memory, node: str, **when: str) -> str | None:
    shown = memory.show(node, **when).node
    return None if shown is None else shown.text


def props_of(memory: weft.Memory, node: str) -> dict[str, Any]:
    shown = memory.show(node).node
    assert shown is not None
    return shown.props


def lives(memory: weft.Memory, **when: str) -> list[str]:
    found = memory.recall("Mira lives", kinds=["Fact"], **when)
    return [str(hit.node.props["object"]) for hit in found.hits]
