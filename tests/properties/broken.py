"""Stores, folds and chains that are wrong on purpose: a machine that passes on one of these proves nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from weft.backends.memory import MemoryStore
from weft.instants import Clock
from weft.log.chain import commit_genesis
from weft.ports import Batch, Changes, FoldLog, LockedView, Plan, Store
from weft.projection import timeline, weave
from weft.types import Event, Viewer

# Two clocks


class _Altered(MemoryStore):
    """Applies something else than what the plan decided."""

    def alter(self, changes: Changes) -> Changes:
        raise NotImplementedError

    def commit(self, account: str, plan: Plan) -> Batch:
        def altered(view: LockedView) -> Batch:
            batch = plan(view)
            return batch if batch.commit is None else replace(batch, changes=self.alter(batch.changes))

        return super().commit(account, altered)


class _InPlace(_Altered):
    """Shortens a version where it stands, instead of retiring it and inserting a copy."""

    def alter(self, changes: Changes) -> Changes:
        kept = list(changes.nodes)
        retired = list(changes.nodes_retired)
        graph = self._accounts["acme"].graph if "acme" in self._accounts else None
        for gone in changes.nodes_retired:
            old = graph.nodes.get(gone.row) if graph else None
            copies = [row for row in kept if old and row.id == old.id and row.event == old.event]
            if graph and old and len(copies) == 1:
                graph.nodes[gone.row] = replace(old, interval=copies[0].interval)
                kept.remove(copies[0])
                retired.remove(gone)
        return replace(changes, nodes=tuple(kept), nodes_retired=tuple(retired))


def edits_rows_in_place(clock: Clock) -> Store:
    return _InPlace(commit_genesis, clock=clock)


class _KeepsRecordTime(_Altered):
    def alter(self, changes: Changes) -> Changes:
        graph = self._accounts["acme"].graph if "acme" in self._accounts else None
        first = {row.event: row for row in graph.nodes.values() if row.born == row.event} if graph else {}
        nodes = tuple(
            replace(row, born=row.event, recorded_at=first[row.event].recorded_at, tx=first[row.event].tx)
            if row.event in first
            else row
            for row in changes.nodes
        )
        return replace(changes, nodes=nodes)


def copies_keep_their_record_time(clock: Clock) -> Store:
    return _KeepsRecordTime(commit_genesis, clock=clock)


def newest_assertion_always_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeline, "_yields", lambda _standing, _valid_from: True)


def ends_only_the_first_version(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = timeline.end
    monkeypatch.setattr(timeline, "end", lambda live, at: whole(live, at)[:1])


class _ForgetfulRebuild(MemoryStore):
    def rebuild(self, viewer: Viewer, fold: FoldLog, *, progress: Callable[[int, int], None]) -> None:
        def without_endings(view: LockedView, events: Sequence[Event]) -> Changes:
            changes = fold(view, events)
            return replace(changes, nodes_retired=()) if events[0].kind == "graph.ended" else changes

        super().rebuild(viewer, without_endings, progress=progress)


def rebuilds_without_endings(clock: Clock) -> Store:
    return _ForgetfulRebuild(commit_genesis, clock=clock)
