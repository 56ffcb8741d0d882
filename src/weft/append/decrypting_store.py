"""A store that decrypts sensitive words for holders of the key: the one place where they are decrypted on a read.

Visibility is the store's own: only rows that it returns are decrypted. No index holds an encrypted word, so searches by
word, name or property also scan the newest MAX_ENCRYPTED encrypted versions that the viewer may see. Without encrypted
words, without a key or without the right to sensitive rows, every call goes straight to the store.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from msgspec.structs import replace

from weft.append.privacy import PrivacyFilter
from weft.core.commits import Batch, LexedText, Plan
from weft.core.kinds import UNSEARCHED_KINDS
from weft.core.ports import Store
from weft.core.queries import Lead, NameMatch, NodeFilter, PhraseMatch, TextHit, TextMatches, TextQuery
from weft.core.types import Direction, EdgeVersion, Find, FindResult, Neighbour, NodeVersion, Viewer, Way, When
from weft.text.lexical import Bm25, holds, lex, name_key
from weft.text.names import is_misspelling, spelling_words

MAX_ENCRYPTED: Final = 2_000
CUT_OFF: Final = f"only the newest {MAX_ENCRYPTED:,} encrypted memories were searched by their words"
Projects = tuple[str | None, ...] | None


def decrypting(store: Store, privacy: PrivacyFilter) -> Store:
    """The store, decrypted with the keys of this privacy filter."""
    return DecryptingStore(store._store if isinstance(store, DecryptingStore) else store, privacy)


class DecryptingStore:
    """Implements `weft.core.ports.Store` over another store."""

    def __init__(self, store: Store, privacy: PrivacyFilter) -> None:
        self._store, self._privacy = store, privacy
        self._last: tuple[Any, tuple[NodeVersion, ...]] | None = None  # the last decrypted rows, by viewer and time
        # The rest of the port passes through: it returns no sensitive words, or the log and its rows as stored.
        self.accounts = store.accounts
        self.pin = store.pin
        self.head = store.head
        self.position_at = store.position_at
        self.session_heads = store.session_heads
        self.log = store.log
        self.events = store.events
        self.rewriting = store.rewriting
        self.citations = store.citations
        self.deletions = store.deletions
        self.relations = store.relations
        self.backlinks = store.backlinks
        self.encrypted = store.encrypted
        self.walk = store.walk
        self.transactions = store.transactions
        self.transaction = store.transaction
        self.diff = store.diff
        self.stats = store.stats
        self.one_state = store.one_state
        self.links = store.links
        self.indexes = store.indexes
        self.census = store.census
        self.graph_rows = store.graph_rows
        self.node_words = store.node_words
        self.edge_names = store.edge_names
        self.payloads = store.payloads
        self.caused = store.caused
        self.header_names = store.header_names
        self.cited = store.cited
        self.events_at = store.events_at
        self.reindex = store.reindex
        self.reindex_due = store.reindex_due
        self.publish_relations = store.publish_relations
        self.sweep = store.sweep
        self.sweep_due = store.sweep_due
        self.rebuild = store.rebuild
        self.backup = store.backup
        self.check = store.check
        self.close = store.close
        self.search_vector = store.search_vector
        self.near = store.near
        self.vectors = store.vectors
        self.without_vectors = store.without_vectors
        self.unembedded = store.unembedded
        self.put_vectors = store.put_vectors
        self.space = store.space
        self.space_counts = store.space_counts
        self.use_space = store.use_space
        self.drop_vectors = store.drop_vectors
        self.embedding_turn = store.embedding_turn

    # Decrypted on the way out

    def commit(self, account: str, plan: Plan) -> Batch:
        batch = self._store.commit(account, plan)
        if batch.commit is not None:
            return batch
        return replace(batch, events=tuple(map(self._privacy.event, batch.events)))

    def nodes(self, viewer: Viewer, when: When, ids: Sequence[str]) -> tuple[NodeVersion, ...]:
        return self._decrypted(self._store.nodes(viewer, when, ids))

    def history(self, viewer: Viewer, node_id: str, *, limit: int) -> tuple[NodeVersion, ...]:
        return self._decrypted(self._store.history(viewer, node_id, limit=limit))

    def current_in_slot(self, viewer: Viewer, slot: str, *, after: int, limit: int) -> tuple[NodeVersion, ...]:
        return self._decrypted(self._store.current_in_slot(viewer, slot, after=after, limit=limit))

    def asserted_by(self, viewer: Viewer, pos: int, *, limit: int) -> tuple[NodeVersion, ...]:
        return self._decrypted(self._store.asserted_by(viewer, pos, limit=limit))

    def last_versions(self, viewer: Viewer, which: NodeFilter, *, limit: int) -> tuple[NodeVersion, ...]:
        return self._decrypted(self._store.last_versions(viewer, which, limit=limit))

    def neighbours(
        self,
        viewer: Viewer,
        when: When,
        ids: Sequence[str],
        *,
        rels: tuple[str, ...] | None = None,
        without: tuple[str, ...] = (),
        direction: Direction = "both",
        limit: int = 20,
    ) -> tuple[Neighbour, ...]:
        found = self._store.neighbours(viewer, when, ids, rels=rels, without=without, direction=direction, limit=limit)
        if not viewer.sensitive:
            return found
        return tuple(
            replace(each, edge=self._privacy.edge(each.edge), node=self._privacy.node(each.node)) for each in found
        )

    def edges(
        self, viewer: Viewer, when: When, node_id: str, *, rel: str, direction: Way, before: int | None, limit: int
    ) -> tuple[EdgeVersion, ...]:
        found = self._store.edges(viewer, when, node_id, rel=rel, direction=direction, before=before, limit=limit)
        return tuple(map(self._privacy.edge, found))

    def _decrypted(self, rows: Iterable[NodeVersion]) -> tuple[NodeVersion, ...]:
        return tuple(map(self._privacy.node, rows))

    # Searched among the encrypted versions too

    def find(self, viewer: Viewer, when: When, find: Find, *, limit: int) -> FindResult:
        found = self._store.find(viewer, when, find, limit=limit)
        found = replace(found, nodes=self._decrypted(found.nodes))
        if find.names is None and find.keywords is None and not find.props:
            return found
        more = [row for row in self._encrypted_rows(viewer, when) if _fits(row, find)]
        if not more:
            return found
        rows = {row.row: row for row in (*found.nodes, *more)}
        return FindResult(nodes=tuple(sorted(rows.values(), key=lambda row: -row.row)[:limit]))

    def search_text(self, viewer: Viewer, when: When, query: TextQuery, *, limit: int) -> TextMatches:
        found = self._store.search_text(viewer, when, query, limit=limit)
        rows = [row for row in self._encrypted_rows(viewer, when) if _is_asked_for(row, query)]
        if not rows or not found.used:
            return found
        cut_off = (CUT_OFF,) if len(rows) >= MAX_ENCRYPTED else ()
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

    def by_name(
        self, viewer: Viewer, when: When, keys: Sequence[str], *, projects: Projects = None
    ) -> tuple[NameMatch, ...]:
        found = self._store.by_name(viewer, when, keys, projects=projects)
        more = [
            NameMatch(key=key, weight=weight, node=_lead(row))
            for row in self._encrypted_rows(viewer, when, projects)
            for key, weight in _lexed(row.name, row.summary, row.text).aliases
            if key in keys
        ]
        return (*found, *more)

    def by_phrase(
        self, viewer: Viewer, when: When, phrases: Sequence[str], *, projects: Projects = None, limit: int = 100
    ) -> tuple[PhraseMatch, ...]:
        found = self._store.by_phrase(viewer, when, phrases, projects=projects, limit=limit)
        rows = self._encrypted_rows(viewer, when, projects)
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
            for row in self._encrypted_rows(viewer, when, projects)
            for key, _ in _lexed(row.name, row.summary, row.text).aliases
            for meant in spelling_words(key)
            if is_misspelling(word, meant)
        }
        return tuple(sorted({*found, *more})) if more else found

    def _encrypted_rows(self, viewer: Viewer, when: When, projects: Projects = None) -> tuple[NodeVersion, ...]:
        """The newest encrypted versions that the viewer may see and this process can decrypt."""
        if not self._privacy.keys or not viewer.sensitive:
            return ()
        # One answer asks several times, at one pinned time; "now" is cached only until the next write.
        asked = (viewer, when, 0 if when.known_at is not None else self._store.head(viewer).pos)
        last = self._last
        if last is None or last[0] != asked:
            rows = self._store.encrypted(viewer, when, limit=MAX_ENCRYPTED)
            last = self._last = asked, tuple(self._readable(rows))
        return last[1] if projects is None else tuple(row for row in last[1] if row.guard.project in projects)

    def _readable(self, rows: Iterable[NodeVersion]) -> Iterator[NodeVersion]:
        """These rows, decrypted; without those whose key is missing: their placeholder text is no match for words."""
        for row in rows:
            fields = {"name": row.name, "summary": row.summary, "text": row.text}
            revealed = self._privacy.words(row.id, fields, row.props)
            if revealed.whole:
                yield replace(row, **revealed.words, props=revealed.props)


@lru_cache(maxsize=2 * MAX_ENCRYPTED)
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


def _is_asked_for(row: NodeVersion, query: TextQuery) -> bool:
    begins = query.begins is None or query.begins[0] <= row.interval.valid_from < query.begins[1]
    of_kind = row.kind not in UNSEARCHED_KINDS if query.kinds is None else row.kind in query.kinds
    return begins and of_kind and _in_scope(row, query)


def _in_scope(row: NodeVersion, asked: TextQuery | Find) -> bool:
    in_focus = asked.focuses is None or row.focus in asked.focuses
    return in_focus and (asked.projects is None or row.guard.project in asked.projects)


def _fits(row: NodeVersion, find: Find) -> bool:
    """Whether a decrypted version passes a filter, as a store would judge it."""
    return (
        _in_scope(row, find)
        and (find.kinds is None or row.kind in find.kinds)
        and row.kind not in find.without_kinds
        and (find.slots is None or row.slot in find.slots)
        and (find.id_prefix is None or row.id.startswith(find.id_prefix))
        and (find.names is None or (name_key(row.name) != "" and name_key(row.name) in map(name_key, find.names)))
        and (find.keywords is None or _tagged(row.props.get("keywords"), find.keywords))
        and all(name in row.props and _same(row.props[name], value) for name, value in find.props.items())
    )


def _tagged(listed: object, keywords: Sequence[str]) -> bool:
    words = listed if isinstance(listed, list | tuple) else (listed,)
    wanted = {word.lower() for word in keywords}
    return any(isinstance(word, str) and word.lower() in wanted for word in words)


def _same(left: object, right: object) -> bool:
    """Equal as JSON: true and 1 are different values."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(_same, left, right))
    return left == right
