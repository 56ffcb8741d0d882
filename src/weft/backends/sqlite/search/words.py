"""The text index: FTS5 finds candidates, packed texts score them, statistics are kept per visibility group.

Updating FTS5 and the statistics in every small commit would double its cost, so commits only append to a journal; when
that is long enough, one commit settles it. Readers search settled texts through FTS5 and the rest exactly, one by one:
an answer never misses an earlier write.

Scores use only what the viewer may see: document frequencies and lengths are sums over its visibility groups. FTS5's
own (account-wide) ranking only selects candidates if a single term matches more than MAX_MATCHES visible versions;
`TextMatches.truncated` then says so. Of texts alike (`TextQuery.together`), what is looked up is chosen by what reading
it costs in the whole account: a small project beside a large one would else read through the large one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import apsw
import orjson

from weft.backends.sqlite import guards, rows
from weft.backends.sqlite.guards import PinnedTime, Sql
from weft.backends.sqlite.query import every, one
from weft.core.commits import LexedText
from weft.core.errors import Corrupt
from weft.core.queries import PhraseMatch, TextHit, TextMatches, TextQuery
from weft.core.types import Viewer
from weft.text import lexical

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SETTLE_AT = 64  # journal entries: more would make the settling commit hold the lock for long
_BM25 = f"bm25(text_index, {', '.join(map(str, lexical.FIELD_WEIGHTS))})"


class _Entry(NamedTuple):
    ward: int
    text: int
    delta: int


class WordIndex:
    """Updates the index of one prefix with a batch."""

    def __init__(self, db: apsw.Connection, prefix: str = "") -> None:
        self._db, self._p = db, prefix
        self._entries: list[_Entry] = []

    def count(self, ward: int, text: int, delta: int) -> None:
        """A live version of this text enters (+1) or leaves (-1) a visibility group."""
        self._entries.append(_Entry(ward, text, delta))

    def settle(self, texts: Sequence[LexedText], ids: Mapping[bytes, int]) -> None:
        """Journals this batch's counts; settles the journal once it is long enough."""
        entries, self._entries = self._entries, []
        # A record's text is not counted, but is pending for FTS5 too.
        waiting, unindexed = one(
            self._db,
            f"""SELECT (SELECT count(*) FROM {self._p}text_journal),
                (SELECT ifnull(max(id), 0) FROM {self._p}text) - (SELECT indexed_text FROM {self._p}text_state)""",
        )
        if max(waiting + len(entries), unindexed) < SETTLE_AT:
            self._db.executemany(f"INSERT INTO {self._p}text_journal(ward, text, delta) VALUES (?,?,?)", entries)
            return
        self._settle(entries, texts, ids)

    def settle_all(self) -> None:
        """Settles the journal, however short. Inside a write transaction."""
        self._settle([], (), {})

    def _settle(self, entries: Sequence[_Entry], texts: Sequence[LexedText], ids: Mapping[bytes, int]) -> None:
        vectors = {ids[text.content_hash]: (text.vector, text.length) for text in texts}
        journal = every(self._db, f"SELECT ward, text, delta FROM {self._p}text_journal")
        self._add_counts([*map(_Entry._make, journal), *entries], vectors)
        self._db.execute(f"DELETE FROM {self._p}text_journal")
        self._index({ids[text.content_hash]: text.stems for text in texts})

    def _add_counts(self, entries: Sequence[_Entry], vectors: dict[int, tuple[bytes, int]]) -> None:
        missing = [entry.text for entry in entries if entry.text not in vectors]
        query = f"SELECT id, vector, length FROM {self._p}text WHERE id IN (SELECT value FROM json_each(?))"
        for text, vector, length in self._db.execute(query, (orjson.dumps(missing).decode(),)):
            vectors[text] = (vector, length)
        terms: dict[int, Counter[int]] = {}
        texts: Counter[int] = Counter()
        words: Counter[int] = Counter()
        for ward, text, delta in entries:
            vector, length = vectors[text]
            counted = terms.setdefault(ward, Counter())
            held = lexical.term_hashes(vector)
            counted.update(held) if delta > 0 else counted.subtract(held)
            texts[ward] += delta
            words[ward] += delta * length
        self._db.executemany(
            f"INSERT INTO {self._p}term_df VALUES (?,?,?) ON CONFLICT DO UPDATE SET n = n + excluded.n",
            [
                (term, ward, counted[term])
                for ward, counted in terms.items()
                for term in sorted(counted)
                if counted[term]
            ],
        )
        self._db.executemany(
            f"""INSERT INTO {self._p}ward_total VALUES (?,?,?)
                ON CONFLICT DO UPDATE SET texts = texts + excluded.texts, words = words + excluded.words""",
            [(ward, texts[ward], words[ward]) for ward in texts],
        )

    def _index(self, stems: dict[int, tuple[str, ...]]) -> None:
        """Adds every text past the watermark to FTS5."""
        (watermark,) = one(self._db, f"SELECT indexed_text FROM {self._p}text_state")
        waiting = [text for (text,) in self._db.execute(f"SELECT id FROM {self._p}text WHERE id > ?", (watermark,))]
        query = f"SELECT name, summary, body FROM {self._p}text WHERE id = ?"
        values = []
        for text in sorted(waiting):
            known = stems.get(text)
            if known is None:
                known = tuple(" ".join(lexical.stems(field)) for field in one(self._db, query, (text,)))
            values.append((text, *map(_index_form, known)))
        if values:
            self._db.executemany(
                f"INSERT INTO {self._p}text_index(rowid, name, summary, body) VALUES (?,?,?,?)", values
            )
            self._db.execute(f"UPDATE {self._p}text_state SET indexed_text = ?", (values[-1][0],))


def _index_form(stems: str) -> str:
    """Stems for FTS5: non-ASCII ones in hexadecimal, so that its tokenizer cannot disagree with weft's."""
    if stems.isascii():
        return stems
    return " ".join(stem if stem.isascii() else "x" + stem.encode().hex() for stem in stems.split())


def _match(keys: Sequence[lexical.Key]) -> str:
    """Any of the keys, of each all terms."""
    return " OR ".join(f"({' AND '.join(_phrase(stat.term) for stat in key)})" for key in keys)


def _phrase(stems: str) -> str:
    """Adjacent stems as an FTS5 phrase, without operators."""
    return '"' + _index_form(stems).replace('"', '""') + '"'


class _Statistics(NamedTuple):
    population: int
    words: int
    frequencies: dict[str, int]
    # Hidden texts too, as a lookup reads them.
    everywhere: lexical.TermCounts


def _statistics(db: apsw.Connection, viewer: Viewer, query: TextQuery) -> _Statistics:
    """Statistics of what the viewer may see: settled sums over its groups, plus the journal."""
    inside = guards.visibility_groups(viewer, query.projects)
    visible = {ward for (ward,) in db.execute(inside.text, inside.params)}
    by_hash = {lexical.term_hash(term): term for term, _ in query.terms}
    population = words = total = 0
    for ward, texts, length in db.execute("SELECT ward, texts, words FROM ward_total"):
        total += texts
        if ward in visible:
            population += texts
            words += length
    frequencies: dict[str, int] = {}
    held: dict[str, int] = {}
    counts = "SELECT term, ward, n FROM term_df WHERE term IN (SELECT value FROM json_each(?))"
    for key, ward, n in db.execute(counts, (orjson.dumps(list(by_hash)).decode(),)):
        term = by_hash[key]
        held[term] = held.get(term, 0) + n
        if ward in visible:
            frequencies[term] = frequencies.get(term, 0) + n
    journal = "SELECT j.ward, j.delta, t.vector, t.length FROM text_journal j JOIN text t ON t.id = j.text"
    for ward, delta, vector, length in every(db, journal):
        if ward not in visible:
            continue
        population += delta
        words += delta * length
        for key in by_hash.keys() & _held(vector):
            frequencies[by_hash[key]] = frequencies.get(by_hash[key], 0) + delta
    return _Statistics(population, words, frequencies, lexical.TermCounts(total, held))


def search(db: apsw.Connection, viewer: Viewer, moment: PinnedTime, query: TextQuery, *, limit: int) -> TextMatches:
    """Best nodes by words, inside one read transaction."""
    try:
        return _search(db, viewer, moment, query, limit)
    except (TypeError, IndexError, ValueError) as problem:  # a packed text of impossible length
        raise Corrupt(f"the words of a text are damaged: {problem}", hint="run `weft rebuild`") from problem


def _search(db: apsw.Connection, viewer: Viewer, moment: PinnedTime, query: TextQuery, limit: int) -> TextMatches:
    known = _statistics(db, viewer, query)
    used, dropped, keys = lexical.choose_keys(query, known.frequencies, known.population, known.everywhere)
    mean_length = known.words / known.population if known.population else 0.0
    bm25 = lexical.Bm25(used, mean_length=mean_length, k1=query.k1, b=query.b)
    visible = (
        guards.findable(viewer, query.projects)
        & guards.known(moment)
        & guards.holds(moment)
        & guards.began(query.begins)
        & guards.kinds_are(query.kinds)
        & guards.focuses_are(query.focuses)
    )
    most = query.most or lexical.MAX_MATCHES
    settled = _settled_candidates(db, keys, visible, most, in_names=query.in_names)
    found = [*settled, *_tail_candidates(db, keys, visible, in_names=query.in_names)]
    weighed = bm25.weigh([(vector, length) for _, vector, length in found])
    best = _best(weighed.scores, [row for row, _, _ in found])[:limit]
    scores = weighed.scores[best].tolist()
    leads = rows.load_leads(db, [found[n][0] for n in best])
    hits = tuple(
        TextHit(node=leads[found[n][0]], score=score, parts=parts, counts=counts, length=found[n][2])
        for n, score, parts, counts in zip(best, scores, weighed.parts(best), weighed.counted(best), strict=True)
    )
    return TextMatches(
        hits=hits,
        used=used,
        dropped=dropped,
        population=known.population,
        mean_length=mean_length,
        truncated=len(settled) >= most,
    )


def _best(scores: NDArray[np.float64], found: Sequence[int]) -> list[int]:
    """Indexes of positive scores, best first; ties go to the newer row."""
    import numpy as np

    some = np.flatnonzero(scores > 0.0)
    order: list[int] = some[np.lexsort((-np.array(found, np.int64)[some], -scores[some]))].tolist()
    return order


def _settled_candidates(
    db: apsw.Connection, keys: Sequence[lexical.Key], visible: Sql, most: int, *, in_names: bool
) -> list[tuple[int, bytes, int]]:
    """Every match, or the best by FTS5's own ranking if one term has more than the limit."""
    if not keys:
        return []
    best = ""
    if len(keys[0]) == 1 and keys[0][0].document_frequency > most:
        best = f"ORDER BY {_BM25}"
    query = f"""SELECT v.row, t.vector, t.length FROM (
          SELECT v.row AS row, v.text AS text FROM text_index
          JOIN node_version v ON v.text = text_index.rowid JOIN node n ON n.key = v.node
          WHERE text_index MATCH ? AND {visible.text} {best} LIMIT {most}) v
        JOIN text t ON t.id = v.text"""
    match = f"name : ({_match(keys)})" if in_names else _match(keys)
    return every(db, query, (match, *visible.params))


def _tail_candidates(
    db: apsw.Connection, keys: Sequence[lexical.Key], visible: Sql, *, in_names: bool
) -> list[tuple[int, bytes, int]]:
    """Texts not yet in FTS5: at most one journal's worth, checked one by one."""
    wanted = [frozenset(lexical.term_hash(stat.term) for stat in key) for key in keys]
    tail = every(db, "SELECT id, vector, name FROM text WHERE id > (SELECT indexed_text FROM text_state)")
    matching = [text for text, vector, _ in tail if _holds_any(_held(vector), wanted)]
    if in_names:
        stems = ((text, map(lexical.term_hash, _stemmed(name).split())) for text, _, name in tail)
        named = {text for text, hashes in stems if _holds_any(frozenset(hashes), wanted)}
        matching = [text for text in matching if text in named]
    query = f"""SELECT v.row, t.vector, t.length FROM text t JOIN node_version v ON v.text = t.id
        JOIN node n ON n.key = v.node WHERE t.id IN (SELECT value FROM json_each(?)) AND {visible.text}"""
    return every(db, query, (orjson.dumps(matching).decode(), *visible.params))


def _holds_any(held: frozenset[int], keys: Sequence[frozenset[int]]) -> bool:
    return any(key <= held for key in keys)


@lru_cache(maxsize=4 * SETTLE_AT)
def _held(vector: bytes) -> frozenset[int]:
    """The stem hashes of a packed text. Cached: every query checks the unsettled texts."""
    return frozenset(lexical.term_hashes(vector))


@lru_cache(maxsize=4 * SETTLE_AT)
def _stemmed(field: str) -> str:
    """A field's stems. Cached: every query checks the unsettled texts."""
    return " ".join(lexical.stems(field))


def by_phrase(
    db: apsw.Connection,
    viewer: Viewer,
    moment: PinnedTime,
    phrases: Sequence[str],
    projects: tuple[str | None, ...] | None,
    limit: int,
) -> tuple[PhraseMatch, ...]:
    """Visible nodes whose text contains each phrase: settled texts by the index, the rest by scan."""
    visible = guards.findable(viewer, projects) & guards.known(moment) & guards.holds(moment)
    settled = f"""SELECT v.row FROM text_index JOIN node_version v ON v.text = text_index.rowid
        JOIN node n ON n.key = v.node WHERE text_index MATCH ? AND {visible.text} LIMIT ?"""
    tail = f"""SELECT v.row, t.name, t.summary, t.body FROM text t JOIN node_version v ON v.text = t.id
        JOIN node n ON n.key = v.node WHERE t.id > (SELECT indexed_text FROM text_state) AND {visible.text}"""
    waiting = [(row, [_stemmed(field) for field in fields]) for row, *fields in db.execute(tail, visible.params)]
    found: list[list[int]] = []
    for phrase in phrases:
        held: list[int] = []
        if phrase:
            held = [row for (row,) in every(db, settled, (_phrase(phrase), *visible.params, limit + 1))]
            held += [row for row, fields in waiting if lexical.holds(fields, phrase)]
        # By row: the order of texts would reveal whether a hidden node had the same text earlier.
        found.append(sorted(held, reverse=True))
    leads = rows.load_leads(db, sorted({row for held in found for row in held[:limit]}))
    return tuple(
        PhraseMatch(phrase=phrase, nodes=tuple(leads[row] for row in held[:limit]), more=len(held) > limit)
        for phrase, held in zip(phrases, found, strict=True)
    )


def damaged_texts(db: apsw.Connection, *, limit: int) -> tuple[str, ...]:
    """Texts that do not match their hash or their index entries: SQLite checks neither."""
    query = "SELECT id, hash, name, summary, body, name_key, vector, length FROM text ORDER BY id"
    problems: list[str] = []
    for text, content_hash, name, summary, body, *indexed in db.execute(query):
        lexed = lexical.lex(name, summary, body)
        if lexed.content_hash != content_hash:
            problems.append(f"text {text} does not match its hash")
        elif [lexed.name_key, lexed.vector, lexed.length] != indexed:
            problems.append(f"text {text} is indexed under other words than its own")
        if len(problems) == limit:
            break
    return tuple(problems)
