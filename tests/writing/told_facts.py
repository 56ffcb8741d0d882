"""Facts that are told one after the other, and what holds at which moments afterwards.

The clock stands at 2026-01-01 and moves an hour with each fact. `ended` is how many of them superseded another one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import weft
from tests.places import Place
from weft.core.clock import parse_instant
from weft.core.types import Find, When
from weft.testing.clock import ManualClock

NOW = "now"
Holds = dict[str, list[str]]


@dataclass(frozen=True)
class Fact:
    subject: str
    predicate: str
    value: str
    more: dict[str, Any]
    project: str | None = None


def fact(subject: str, predicate: str, value: str, at: str | None = None, to: str | None = None, **more: Any) -> Fact:
    project = more.pop("in_project", None)
    times = {"valid_from": at, "valid_to": to}
    return Fact(subject, predicate, value, {k: v for k, v in times.items() if v is not None} | more, project)


def mira(predicate: str, value: str, at: str | None = None, to: str | None = None, **more: Any) -> Fact:
    return fact("Mira", predicate, value, at, to, **more)


@dataclass(frozen=True)
class Case:
    name: str
    told: list[Fact]
    holds: Holds
    ended: int = 0
    statuses: list[str] | None = field(default=None)


MAILS = ["m@fjord.example", "m@home.example"]
S, SUPERSEDED, SKIPPED, REVIEW = "saved", "superseded", "duplicate_skip", "manual_review"


def tell(place: Place, clock: ManualClock, told: list[Fact]) -> list[Any]:
    answers = []
    for each in told:
        clock.step()
        memory = place.open(project=each.project) if each.project else place.open()
        answers.append(memory.add_fact(each.subject, each.predicate, each.value, **each.more))
    return answers


def holding(memory: weft.Memory, moment: str) -> list[str]:
    """Every value that holds at a moment, in any project."""
    at = None if moment == NOW else parse_instant(moment)
    found = memory.ctx.store.find(memory.ctx.viewer, When(valid_at=at), Find(kinds=("Fact",)), limit=100)
    return sorted(node.props["object"] for node in found.nodes)
