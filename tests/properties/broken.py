"""Stores, folds and chains that are wrong on purpose: a machine that passes on one of these proves nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from weft.append import append
from weft.backends.memory import MemoryStore
from weft.backends.memory.account import Account
from weft.backends.memory.visible import GuardedAccount
from weft.core.clock import Clock
from weft.core.commits import ApplyEvents, Batch, Changes, LockedView, Plan
from weft.core.ports import Store
from weft.core.queries import NameMatch, Near, PhraseMatch, TextMatches, TextQuery, VectorQuery
from weft.core.types import SCOPES, AccountHead, Event, Find, FindResult, Neighbour, NodeVersion, Viewer, When
from weft.graph import timeline
from weft.log import chain, draft, verify
from weft.log.chain import commit_genesis

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
    def rebuild(self, viewer: Viewer, fold: ApplyEvents, *, progress: Callable[[int, int], None]) -> None:
        def without_endings(view: LockedView, events: Sequence[Event]) -> Changes:
            changes = fold(view, events)
            return replace(changes, nodes_retired=()) if events[0].kind == "graph.ended" else changes

        super().rebuild(viewer, without_endings, progress=progress)


def rebuilds_without_endings(clock: Clock) -> Store:
    return _ForgetfulRebuild(commit_genesis, clock=clock)


# The chain


def header_hash_forgets_prev_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = chain.header_hash
    for module in (chain, draft, verify):
        monkeypatch.setattr(module, "header_hash", lambda event: whole(replace(event, prev_hash=b"")))


def commit_digest_forgets_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = chain.commit_digest
    for module in (chain, verify):
        monkeypatch.setattr(module, "commit_digest", lambda _before, *rest: whole(b"", *rest))


def verify_skips_payloads(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = verify.ChainChecker._check_event

    def without_payload(self: Any, event: Event, *rest: Any) -> str | None:
        return whole(self, replace(event, rewritten=event.kind != "log.rewritten"), *rest)

    monkeypatch.setattr(verify.ChainChecker, "_check_event", without_payload)


def verify_skips_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "header_hash", lambda event: event.hash)


def stamps_the_clocks_time(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = draft.chained

    def stamped(prepared: Any, view: LockedView, writer: Any, *, now_us: int, **options: Any) -> Any:
        class Earlier:
            def __getattr__(self, name: str) -> Any:
                return getattr(view, name)

            def head(self) -> AccountHead:
                return replace(view.head(), at=now_us - 1)

        return whole(prepared, Earlier(), writer, now_us=now_us, **options)

    monkeypatch.setattr(append, "chained", stamped)


def forgets_request_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Account, "request", lambda _self, _request_id: ())


# Guards


def _as_operator(viewer: Viewer) -> Viewer:
    return Viewer(account=viewer.account, scopes=frozenset(SCOPES), sensitive=True)


class _LateGuard(MemoryStore):
    def find(self, viewer: Viewer, when: When, find: Find, *, limit: int) -> FindResult:
        mine = super().find(viewer, when, find, limit=1_000)
        first = super().find(_as_operator(viewer), when, find, limit=limit).nodes
        allowed = {row.row for row in mine.nodes}
        return replace(mine, nodes=tuple(row for row in first if row.row in allowed))


def guards_after_the_limit(clock: Clock) -> Store:
    return _LateGuard(commit_genesis, clock=clock)


class _LeakyStatistics(MemoryStore):
    def search_text(self, viewer: Viewer, when: When, query: TextQuery, *, limit: int) -> TextMatches:
        everything = super().search_text(_as_operator(viewer), when, query, limit=1_000)
        mine = {row.row for row in super().find(viewer, when, Find(), limit=1_000).nodes}
        return replace(everything, hits=tuple(hit for hit in everything.hits if hit.node.row in mine)[:limit])


def counts_hidden_words(clock: Clock) -> Store:
    return _LeakyStatistics(commit_genesis, clock=clock)


class _WalksAnywhere(MemoryStore):
    def neighbours(self, viewer: Viewer, when: When, ids: Sequence[str], **options: Any) -> tuple[Neighbour, ...]:
        mine = [row.id for row in super().nodes(viewer, when, ids)]
        return super().neighbours(_as_operator(viewer), when, mine, **options)


def walks_anywhere(clock: Clock) -> Store:
    return _WalksAnywhere(commit_genesis, clock=clock)


class _SightOfThePast(GuardedAccount):
    def sees(self, row: NodeVersion) -> bool:
        return self.graph.identities[row.id].deleted_at is None and self.viewer.admits(row.recorded_guard)

    def steps_on(self, row: NodeVersion) -> bool:
        return self.sees(row)


class _JudgesByThePast(MemoryStore):
    def _sight(self, viewer: Viewer) -> GuardedAccount:
        return _SightOfThePast(viewer, self._account(viewer))


def judges_by_recorded_rights(clock: Clock) -> Store:
    return _JudgesByThePast(commit_genesis, clock=clock)


class _ShowsTheDeleted(MemoryStore):
    def nodes(self, viewer: Viewer, when: When, ids: Sequence[str]) -> tuple[NodeVersion, ...]:
        graph = self._account(viewer).graph
        today = dict(graph.identities)
        graph.identities = {
            name: replace(identity, deleted_at=None)
            if identity.deleted_at and when.known_at and identity.deleted_at > when.known_at
            else identity
            for name, identity in today.items()
        }
        try:
            return super().nodes(viewer, when, ids)
        finally:
            graph.identities = today


def shows_deleted_nodes_in_the_past(clock: Clock) -> Store:
    return _ShowsTheDeleted(commit_genesis, clock=clock)


class _SightOfNodelessEvents(GuardedAccount):
    def sees_event(self, event: Event) -> bool:
        made = any(row.born == event.pos == row.event for row in self.graph.nodes.values())
        insider = self.viewer.audience == "internal" and "admin" in self.viewer.scopes
        return super().sees_event(event) if made else insider


class _OpensNodelessEvents(MemoryStore):
    def _sight(self, viewer: Viewer) -> GuardedAccount:
        return _SightOfNodelessEvents(viewer, self._account(viewer))


def opens_nodeless_events_to_insiders(clock: Clock) -> Store:
    return _OpensNodelessEvents(commit_genesis, clock=clock)


class _NamesAnybody(MemoryStore):
    def by_name(self, viewer: Viewer, when: When, keys: Sequence[str], **options: Any) -> tuple[NameMatch, ...]:
        return super().by_name(_as_operator(viewer), when, keys, **options)


def names_anybody(clock: Clock) -> Store:
    return _NamesAnybody(commit_genesis, clock=clock)


class _SpellsHiddenNames(MemoryStore):
    def spellings(self, viewer: Viewer, when: When, word: str, **options: Any) -> tuple[str, ...]:
        return super().spellings(_as_operator(viewer), when, word, **options)


def spells_hidden_names(clock: Clock) -> Store:
    return _SpellsHiddenNames(commit_genesis, clock=clock)


class _ComparesHiddenTexts(MemoryStore):
    def near(
        self, viewer: Viewer, query: VectorQuery, hashes: Sequence[bytes], *, parts: bool = False
    ) -> Mapping[bytes, Near]:
        return super().near(_as_operator(viewer), query, hashes, parts=parts)


def compares_hidden_texts(clock: Clock) -> Store:
    return _ComparesHiddenTexts(commit_genesis, clock=clock)


class _HoldsHiddenTexts(MemoryStore):
    def by_phrase(self, viewer: Viewer, when: When, phrases: Sequence[str], **options: Any) -> tuple[PhraseMatch, ...]:
        return super().by_phrase(_as_operator(viewer), when, phrases, **options)


def holds_hidden_texts(clock: Clock) -> Store:
    return _HoldsHiddenTexts(commit_genesis, clock=clock)
