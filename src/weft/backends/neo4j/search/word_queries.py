"""The text index: the server's full-text index finds candidates, packed texts score them.

The index holds stems, split at spaces alone, so that its analyzer cannot disagree with weft's. Scores use only what the
viewer may see: document frequencies and lengths are sums over its visibility groups. The index's own ranking only
selects candidates if more than the bound match; `TextMatches.truncated` then says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from weft.backends.neo4j import columns as rows
from weft.backends.neo4j import cypher_guards as guards
from weft.backends.neo4j.columns import JOINED, LEAD
from weft.backends.neo4j.cypher_guards import BothClocks, clocks, stored
from weft.backends.neo4j.read.reading import Reading
from weft.core.queries import Lead, PhraseMatch, TextHit, TextMatches, TextQuery
from weft.text import lexical

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class _Statistics(NamedTuple):
    population: int
    words: int
    frequencies: dict[str, int]
    # Hidden texts too, as a lookup reads them.
    everywhere: lexical.TermCounts


def _statistics(reading: Reading, query: TextQuery) -> _Statistics:
    """Statistics of what the viewer may see: sums over its visibility groups."""
    by_hash = {lexical.term_hash(term): term for term, _ in query.terms}
    inside = "" if query.projects is None else " AND x.project IN $projects"
    asked = f"""MATCH (x:WeftGroup {{g: $g}}) WHERE x.key >= '' WITH x, {guards.admits("x")}{inside} AS seen
        WITH collect(CASE WHEN seen THEN x.key END) AS groups, sum(CASE WHEN seen THEN x.texts ELSE 0 END) AS texts,
          sum(CASE WHEN seen THEN x.words ELSE 0 END) AS words, sum(x.texts) AS total
        UNWIND $terms AS term
        CALL {{ WITH groups, term MATCH (y:WeftTerm {{g: $g, term: term}}) WHERE y.group >= ''
          RETURN sum(CASE WHEN y.group IN groups THEN y.n ELSE 0 END) AS n, sum(y.n) AS everywhere }}
        RETURN texts, words, total, term, n, everywhere"""
    none = -1  # no stem's hash: the totals come even without terms
    found = reading.rows(asked, terms=[*by_hash, none], projects=stored(query.projects or ()))
    texts, words, total = found[0][:3] if found else (0, 0, 0)
    counted = [(by_hash[term], n, everywhere) for *_, term, n, everywhere in found if term != none]
    held = {term: everywhere for term, _, everywhere in counted if everywhere}
    return _Statistics(texts, words, {term: n for term, n, _ in counted if n}, lexical.TermCounts(total, held))


def search(reading: Reading, index: str, moment: BothClocks, query: TextQuery, limit: int) -> TextMatches:
    """Best nodes by words."""
    known = _statistics(reading, query)
    used, dropped, keys = lexical.choose_keys(query, known.frequencies, known.population, known.everywhere)
    mean_length = known.words / known.population if known.population else 0.0
    most = query.most or lexical.MAX_MATCHES
    found = _candidates(reading, index, moment, query, keys, most) if keys else []
    weighed = lexical.Bm25(used, mean_length=mean_length, k1=query.k1, b=query.b).weigh([row[1:] for row in found])
    best = _best(weighed.scores, [row[0] for row in found])[:limit]
    scores = weighed.scores[best].tolist()
    leads = load_leads(reading, [found[n][0] for n in best])
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
        truncated=len(found) >= most,
    )


def _best(scores: NDArray[np.float64], found: Sequence[int]) -> list[int]:
    """Indexes of positive scores, best first; ties go to the newer row."""
    import numpy as np

    some = np.flatnonzero(scores > 0.0)
    order: list[int] = some[np.lexsort((-np.array(found, np.int64)[some], -scores[some]))].tolist()
    return order


def _candidates(
    reading: Reading, index: str, moment: BothClocks, query: TextQuery, keys: Sequence[lexical.Key], most: int
) -> list[tuple[int, bytes, int]]:
    """(row, packed text, length) of visible versions that hold all terms of a key."""
    which, params = guards.among(projects=query.projects, kinds=query.kinds, focuses=query.focuses, begins=query.begins)
    visible = f"{guards.findable()} AND {guards.current()} AND {which}"
    asked = f"""CALL db.index.fulltext.queryNodes($index, $match) YIELD node AS t
        MATCH {JOINED} WHERE t.g = $g AND {visible} WITH v, t LIMIT $most RETURN v.row, t.vector, t.length"""
    match = " ".join(f"({' AND '.join(_phrase(stat.term) for stat in key)})" for key in keys)
    match = f"stems_name:({match})" if query.in_names else f"({match})"
    found = reading.rows(asked, index=index, match=f"{_in(reading)} +{match}", most=most, **params, **clocks(moment))
    return [(row, vector, length) for row, vector, length in found]


def _in(reading: Reading) -> str:
    """Texts of this graph only."""
    return f"+in_graph:{_phrase(reading.g)}"


def _phrase(stems: str) -> str:
    """Adjacent stems as a phrase, without operators."""
    return '"' + stems.replace("\\", "\\\\").replace('"', '\\"') + '"'


def load_leads(reading: Reading, found: Sequence[int]) -> dict[int, Lead]:
    """Leads by row number, of rows that passed the guards."""
    if not found:
        return {}
    query = f"UNWIND $rows AS r MATCH (v:WeftVersion {{g: $g, row: r}}) MATCH {JOINED} RETURN {LEAD}"
    return {row[0]: rows.lead_of(row) for row in reading.rows(query, rows=list(found))}


def by_phrase(
    reading: Reading,
    index: str,
    moment: BothClocks,
    phrases: Sequence[str],
    projects: tuple[str | None, ...] | None,
    limit: int,
) -> tuple[PhraseMatch, ...]:
    """Visible nodes whose text contains each phrase, newest first."""
    inside = "" if projects is None else " AND n.project IN $projects"
    query = f"""UNWIND $asked AS q
        CALL {{ WITH q CALL db.index.fulltext.queryNodes($index, q[1]) YIELD node AS t
          MATCH {JOINED} WHERE t.g = $g AND {guards.findable()} AND {guards.current()}{inside}
          RETURN n, v, t LIMIT $most }}
        RETURN q[0], {LEAD}"""
    asked = [[phrase, f"{_in(reading)} +{_phrase(phrase)}"] for phrase in dict.fromkeys(phrases) if phrase.strip()]
    held: dict[str, list[Lead]] = {}
    params: Mapping[str, Any] = {"projects": stored(projects or ()), "most": limit + 1, **clocks(moment)}
    for phrase, *row in reading.rows(query, asked=asked, index=index, **params) if asked else ():
        held.setdefault(phrase, []).append(rows.lead_of(row))
    found = {phrase: sorted(leads, key=lambda lead: -lead.row) for phrase, leads in held.items()}
    return tuple(
        PhraseMatch(
            phrase=phrase,
            nodes=tuple(found.get(phrase, ())[:limit]),
            more=len(found.get(phrase, ())) > limit,
        )
        for phrase in phrases
    )
