"""An operator, two agents, and requests for approval."""

from __future__ import annotations

from typing import Any

import pytest

import weft
from tests.places import Place
from weft.core.types import NOW, Find

TEXT = "All dates are written as year, month, day."


SECOND = 1_000_000


@pytest.fixture
def boss(place: Place) -> weft.Memory:
    return place.open()


@pytest.fixture
def ann(place: Place) -> weft.Memory:
    return place.open(role="agent", agent="ann", session="ann")


@pytest.fixture
def bob(place: Place) -> weft.Memory:
    return place.open(role="agent", agent="bob", session="bob")


def asked(memory: weft.Memory, operation: str = "remember", /, **arguments: Any) -> Any:
    arguments = arguments or {"text": TEXT, "level": "global"}
    return memory.call("request_global_write_approval", operation=operation, arguments=arguments)


def approved(boss: weft.Memory, memory: weft.Memory, operation: str = "remember", /, **arguments: Any) -> str:
    """A token that may be used."""
    request = asked(memory, operation, **arguments)
    boss.call("approve", id=request.id)
    token: str = request.token
    return token


def kept(memory: weft.Memory) -> list[str]:
    """The texts that are kept for all projects."""
    found = memory.ctx.store.find(memory.ctx.viewer, NOW, Find(projects=(None,)), limit=100).nodes
    return sorted(node.text for node in found if node.text)


def failed(answer: Any, reason: str) -> None:
    assert answer.status == "failed", answer
    assert answer.id == ""
    assert answer.citation == ""
    assert reason in answer.notes[0], answer.notes
