"""A store whose sealed words are open to those who hold the key: the one place where they are opened on the way out.

Guards are the store's own: this opens only what it gives. No index holds a word of what is sealed, so what is looked
for by words, by name or by property is looked for here as well, among the newest MAX_SEALED that the viewer may see.
Where nothing is sealed, or there is no key, or no right to sensitive rows, every call goes straight through.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, TypeVar, cast

from msgspec.structs import replace

from weft.commits import Batch, LexedText, Plan
from weft.kinds import UNSEARCHED_KINDS
from weft.lexical import Bm25, holds, lex, name_key
from weft.names import is_misspelling, spelling_words
from weft.ports import Store
from weft.queries import Holding, Lead, Named, TextHit, TextMatches, TextQuery
from weft.screen import Screen
from weft.types import EdgeVersion, Event, Find, Found, Neighbour, NodeVersion, Viewer, When

MAX_SEALED: Final = 2_000
CUT_OFF: Final = f"only the newest {MAX_SEALED:,} sealed memories were looked at by their words"
Projects = tuple[str | None, ...] | None
Value = TypeVar("Value")


def opening(store: Store, screen: Screen) -> Store:
    """The store, opened with this screen's keys."""
    inner = store._store if isinstance(store, OpeningStore) else store
    return cast("Store", OpeningStore(inner, screen))


class OpeningStore:
    """Everything that is not here is the store's own."""

    def __init__(self, store: Store, screen: Screen) -> None:
        self._store, self._screen = store, screen
        self._kept: tuple[Any, tuple[NodeVersion, ...]] | None = None  # what was opened last, and for whom and when

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    # Opened on the way out

    def commit(self, account: str, plan: Plan) -> Batch:
        batch = self._store.commit(account, plan)
        return batch if batch.commit is not None else replace(batch, events=self._events(batch.events))

    def nodes(self, viewer: Viewer, when: When, ids: Sequence[str]) -> tuple[NodeVersion, ...]:
        return self._nodes(self._store.nodes(viewer, when, ids))

    def history(self, viewer: Viewer, node_id: str, *, limit: int) -> tuple[NodeVersion, ...]:
        return self._nodes(self._store.history(viewer, node_id, limit=limit))

    def standing(self, viewer: Viewer, slot: str, *, after: int, limit: int) -> tuple[NodeVersion, ...]:
        return self._nodes(self._store.standing(viewer, slot, after=after, limit=limit))

    def asserted_by(self, viewer: Viewer, pos: int, *, limit: int) -> tuple[NodeVersion, ...]:
        return self._nodes(self._store.asserted_by(viewer, pos, limit=limit))

    def last_versions(self, viewer: Viewer, which: Any, *, limit: int) -> tuple[NodeVersion, ...]:
        return self._nodes(self._store.last_versions(viewer, which, limit=limit))

    def neighbours(self, viewer: Viewer, when: When, ids: Sequence[str], **how: Any) -> tuple[Neighbour, ...]:
        found = self._store.neighbours(viewer, when, ids, **how)
        if not viewer.sensitive:
            return found
        return tuple(
            replace(each, edge=self._screen.edge(each.edge), node=self._screen.node(each.node)) for each in found
        )

    def edges(self, viewer: Viewer, when: When, node_id: str, **how: Any) -> tuple[EdgeVersion, ...]:
        return tuple(map(self._screen.edge, self._store.edges(viewer, when, node_id, **how)))

    def _nodes(self, rows: Iterable[NodeVersion]) -> tuple[NodeVersion, ...]:
        return tuple(map(self._screen.node, rows))

    def _events(self, events: Iterable[Event]) -> tuple[Event, ...]:
        return tuple(map(self._screen.event, events))

    # Looked for among what is sealed

    def find(self, viewer: Viewer, when: When, find: Find, *, limit: int) -> Found:
        found = self._store.find(viewer, when, find, limit=limit)
        found = replace(found, nodes=self._nodes(found.nodes))
        if find.names is None and find.keywords is None and not find.props:
            return found
        more = [row for row in self._sealed(viewer, when) if _fits(row, find)]
        if not more:
            return found
        rows = {row.row: row for row in (*found.nodes, *more)}
        newest = sorted(rows.values(), key=lambda row: -row.row)[:limit]
        return Found(nodes=tuple(newest))

    def search_text(self, viewer: Viewer, when: When, query: TextQuery, *, limit: int) -> TextMatches:
        found = self._store.search_text(viewer, when, query, limit=limit)
        rows = [row for row in self._sealed(viewer, when) if _asked_for(row, query)]
        if not rows or not found.used:
            return found
        cut_off = (CUT_OFF,) if len(rows) >= MAX_SEALED else ()
        texts = [_lexed(row.name, row.summary, row.text) for row in rows]
        scorer = Bm25(found.used, mean_length=found.mean_length, k1=query.k1, b=query.b)
        weighed = scorer.weigh([(text.vector, text.length) for text in texts])
        good = [at for at, score in enumerate(weighed.scores.tolist()) if score > 0.0]
        parts, counts = weighed.parts(good), weighed.counted(good)
        hits = [
            TextHit(
                node=_lead(rows[at]),
                score=float(weighed.scores[at]),
                parts=parts[place],
                counts=counts[place],
                length=texts[at].length,
            )
            for place, at in enumerate(good)
            if not query.in_names or any(stem in texts[at].stems[0].split() for stem, _ in counts[place])
        ]
        best = sorted((*found.hits, *hits), key=lambda hit: (-hit.score, -hit.node.row))[:limit]
        return replace(found, hits=tuple(best), notes=(*found.notes, *cut_off))

    def named(self, viewer: Viewer, when: When, keys: Sequence[str], *, projects: Projects = None) -> tuple[Named, ...]:
        found = self._store.named(viewer, when, keys, projects=projects)
        wanted = frozenset(keys)
        more = [
            Named(key=key, weight=weight, node=_lead(row))
            for row in self._in(viewer, when, projects)
            for key, weight in _lexed(row.name, row.summary, row.text).aliases
            if key in wanted
        ]
        return (*found, *more)

    def holding(
        self, viewer: Viewer, when: When, phrases: Sequence[str], *, projects: Projects = None, limit: int = 100
    ) -> tuple[Holding, ...]:
        found = self._store.holding(viewer, when, phrases, projects=projects, limit=limit)
        rows = self._in(viewer, when, projects)
        if not rows:
            return found
        made = []
        for each in found:
            more = [row for row in rows if holds(_lexed(row.name, row.summary, row.text).stems, each.phrase)]
            leads = sorted((*each.nodes, *map(_lead, more)), key=lambda lead: -lead.row)
            made.append(replace(each, nodes=tuple(leads[:limit]), more=each.more or len(leads) > limit))
        return tuple(made)

    def spellings(self, viewer: Viewer, when: When, word: str, *, projects: Projects = None) -> tuple[str, ...]:
        found = self._store.spellings(viewer, when, word, projects=projects)
        more = {
            meant
            for row in self._in(viewer, when, projects)
            for key, _ in _lexed(row.name, row.summary, row.text).aliases
            for meant in spelling_words(key)
            if is_misspelling(word, meant)
        }
        return tuple(sorted({*found, *more})) if more else found

    def _sealed(self, viewer: Viewer, when: When) -> tuple[NodeVersion, ...]:
        """The newest sealed versions that the viewer may see and this process can open."""
        if not self._screen.keys or not viewer.sensitive:
            return ()
        # One answer asks several times, of one pinned moment; of the present only while nothing is written.
        asked = (viewer, when, 0 if when.known_at is not None else self._store.head(viewer).pos)
        kept = self._kept
        if kept is None or kept[0] != asked:
            kept = self._kept = asked, self._nodes(self._store.sealed(viewer, when, limit=MAX_SEALED))
        return kept[1]

    def _in(self, viewer: Viewer, when: When, projects: Projects) -> list[NodeVersion]:
        return [row for row in self._sealed(viewer, when) if projects is None or row.guard.project in projects]


@lru_cache(maxsize=2 * MAX_SEALED)
def _lexed(name: str, summary: str, text: str) -> LexedText:
    return lex(name, summary, text)


def _lead(row: NodeVersion) -> Lead:
    def prop(name: str) -> str | None:
        value = row.props.get(name)
        return value if isinstance(value, str) else None

    return Lead(
        id=row.id,
        row=row.row,
        kind=row.kind,
        content_hash=row.content_hash,
        whole=prop("part_of"),
        conversation=prop("conversation"),
        role=prop("role"),
    )


def _asked_for(row: NodeVersion, query: TextQuery) -> bool:
    begins = query.begins is None or query.begins[0] <= row.interval.valid_from < query.begins[1]
    return begins and _in_scope(row, query.projects, query.kinds, query.focuses, UNSEARCHED_KINDS)


def _in_scope(
    row: NodeVersion, projects: Projects, kinds: tuple[str, ...] | None, focuses: Projects, without: Iterable[str]
) -> bool:
    of_kind = row.kind not in without if kinds is None else row.kind in kinds
    in_focus = focuses is None or row.focus in focuses
    return of_kind and in_focus and (projects is None or row.guard.project in projects)


def _fits(row: NodeVersion, find: Find) -> bool:
    """Whether an opened version passes a filter, as a store would judge it."""
    tests: tuple[Callable[[], bool], ...] = (
        lambda: _in_scope(row, find.projects, find.kinds, find.focuses, ()) and row.kind not in find.without_kinds,
        lambda: find.slots is None or row.slot in find.slots,
        lambda: find.id_prefix is None or row.id.startswith(find.id_prefix),
        lambda: find.names is None or (name_key(row.name) != "" and name_key(row.name) in map(name_key, find.names)),
        lambda: find.keywords is None or _tagged(row.props.get("keywords"), find.keywords),
        lambda: all(name in row.props and _same(row.props[name], value) for name, value in find.props.items()),
    )
    return all(test() for test in tests)


def _tagged(listed: object, keywords: Sequence[str]) -> bool:
    words = listed if isinstance(listed, list | tuple) else (listed,)
    wanted = {word.lower() for word in keywords}
    return any(isinstance(word, str) and word.lower() in wanted for word in words)


def _same(left: object, right: object) -> bool:
    """Equal as JSON: true and 1 are not the same value."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(_same, left, right))
    return left == right
