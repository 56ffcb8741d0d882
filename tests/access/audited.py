"""Memories whose calls are audited, and what the audit shows."""

from __future__ import annotations

from typing import Any

import pytest

import weft
from tests.places import Place
from weft.access.audit import ToolCallsShown


def calls(memory: weft.Memory, **given: Any) -> ToolCallsShown:
    found: ToolCallsShown = memory.call("tool_calls", **given)
    return found


def names(memory: weft.Memory, **given: Any) -> list[str]:
    """What was called, newest first, but for asking what was."""
    return [call.operation for call in calls(memory, **given).calls if call.operation != "tool_calls"]


@pytest.fixture
def audited(place: Place) -> weft.Memory:
    return place.open(audit="on")
