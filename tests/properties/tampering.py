"""Every single way to tamper with a log: with the lines of its file, and with the lists of a store in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson
import rfc8785
from msgspec.structs import asdict, replace

from weft.backends.memory import MemoryStore
from weft.core.types import Commit, Event

ACCOUNT = "acme"


def other(value: Any) -> Any:
    """A different value of the same sort."""
    match value:
        case None:
            return "x"
        case int():
            return value + 1
        case bytes():
            return bytes([value[0] ^ 1]) + value[1:]
        case list() | tuple():
            return type(value)([*value, "x"])
        case str() if value.endswith("Z") and value[4:5] == "-":
            return value[:-2] + ("1" if value[-2] != "1" else "2") + "Z"
        case str() if len(value) >= 16 and set(value) <= set("0123456789abcdef"):
            return value[:-1] + ("0" if value[-1] != "0" else "1")
        case "graph.asserted":
            return "graph.ended"
        case str():
            return value + "x"
    raise TypeError(type(value))


# Lines


def changed_lines(lines: list[bytes], at: int) -> Iterator[tuple[str, list[bytes]]]:
    """One field of one line changed: to another value, to another type, or taken out."""
    line = orjson.loads(lines[at])
    name, fields = next(iter(line.items())) if len(line) == 1 else ("", line)
    for field, value in fields.items():
        for how in ("other", "type", "gone"):
            altered = dict(fields)
            if how == "gone":
                del altered[field]
            else:
                altered[field] = other(value) if how == "other" else {"wrong": [1]}
            written = rfc8785.dumps({name: altered} if name else altered) + b"\n"
            yield f"{name or 'header'}.{field} {how}", [*lines[:at], written, *lines[at + 1 :]]


def moved_lines(lines: list[bytes], at: int, to: int) -> Iterator[tuple[str, list[bytes]]]:
    """Lines dropped, doubled, exchanged, cut off."""
    yield "dropped", lines[:at] + lines[at + 1 :]
    yield "doubled", [*lines[: at + 1], *lines[at:]]
    yield "cut off", lines[:at]
    yield "torn", [*lines[:at], lines[at][: len(lines[at]) // 2]]
    if lines[at] != lines[to]:
        swapped = list(lines)
        swapped[at], swapped[to] = lines[to], lines[at]
        yield "exchanged", swapped


# Lists


def altered_stores(store: MemoryStore, at: int, to: int) -> Iterator[tuple[str, MemoryStore]]:
    """Copies of a store with one thing wrong in its lists. `at` and `to` are positions of events."""
    event = store._accounts[ACCOUNT].log[at - 1]
    for field, value in asdict(event).items():
        if field == "actor":
            yield "event.agent", _with_event(store, at, replace(event, actor=replace(value, agent="someone")))
            yield "event.role", _with_event(store, at, replace(event, actor=replace(value, role="someone")))
        elif value is None and field.endswith("_at"):
            yield f"event.{field}", _with_event(store, at, replace(event, **{field: 1}))
        else:
            yield f"event.{field}", _with_event(store, at, replace(event, **{field: other(value)}))
    commits = store._accounts[ACCOUNT].commits
    which = next(n for n, commit in enumerate(commits) if commit.first_pos <= at < commit.first_pos + commit.count)
    for field, value in asdict(commits[which]).items():
        altered = replace(commits[which], **{field: other(value)})
        yield f"commit.{field}", _with(store, commits=[*commits[:which], altered, *commits[which + 1 :]])
    log = store._accounts[ACCOUNT].log
    yield "event dropped", _with(store, log=log[: at - 1] + log[at:])
    if at < len(log):
        yield "event doubled", _with(store, log=[*log[:at], *log[at - 1 :]])
    yield "event outside every commit", _with(store, log=[*log, replace(event, pos=len(log) + 1)])
    if at != to:
        swapped = list(log)
        swapped[at - 1], swapped[to - 1] = log[to - 1], log[at - 1]
        yield "events exchanged", _with(store, log=swapped)
    if which < len(commits) - 1:
        yield "commit dropped", _with(store, commits=commits[:which] + commits[which + 1 :])
        yield "commit doubled", _with(store, commits=[*commits[: which + 1], *commits[which:]])


def without_tail(store: MemoryStore, commits: int) -> MemoryStore:
    """The last commits and their events are gone."""
    place = store._accounts[ACCOUNT]
    kept = place.commits[:-commits]
    return _with(store, commits=kept, log=place.log[: sum(commit.count for commit in kept)])


def _with_event(store: MemoryStore, at: int, event: Event) -> MemoryStore:
    log = store._accounts[ACCOUNT].log
    return _with(store, log=[*log[: at - 1], event, *log[at:]])


def _with(store: MemoryStore, *, log: list[Event] | None = None, commits: list[Commit] | None = None) -> MemoryStore:
    """A store that shares everything with the given one but these lists."""
    copy = MemoryStore(store._genesis, clock=store._clock)
    place, before = type(store._accounts[ACCOUNT])(store._accounts[ACCOUNT].genesis), store._accounts[ACCOUNT]
    place.log = list(before.log) if log is None else log
    place.commits = list(before.commits) if commits is None else commits
    place.heads, place.graph = before.heads, before.graph
    copy._accounts[ACCOUNT] = place
    return copy
