"""The text index: the server's full-text index finds candidates, packed texts score them.

The index holds stems, split at spaces alone, so that its analyzer cannot disagree with weft's. Scores use only what the
viewer may see: document frequencies and lengths are sums over its visibility groups. The index's own ranking only
selects candidates if more than the bound match; `TextMatches.truncated` then says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from weft.backends.neo4j import columns as rows
from weft.backends.neo4j import cypher_guards as guards
from weft.backends.neo4j.columns import JOINED, LEAD
from weft.backends.neo4j.cypher_guards import BothClocks, clocks, stored
from weft.backends.neo4j.read.reading import Reading
from weft.core.queries import Lead, PhraseMatch, TermStat, TextHit, TextMatches, TextQuery
from weft.text import lexical

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def statistics(reading: Reading, query: TextQuery) -> tuple[int, int, dict[str, int]]:
    """(texts, words, document frequencies) of what the viewer may see."""
    by_hash = {lexical.term_hash(term): term for term, _ in query.terms}
    inside = "" if query.projects is None else " AND x.project IN $projects"
    asked = f"""MATCH (x:WeftGroup {{g: $g}}) WHERE {guards.admits("x")}{inside}
        WITH collect(x.key) AS groups, sum(x.texts) AS texts, sum(x.words) AS words
        UNWIND $terms AS term
        CALL {{ WITH groups, term UNWIND groups AS k MATCH (y:WeftTerm {{g: $g, term: term, group: k}})
          RETURN sum(y.n) AS n }}
        RETURN texts, words, term, n"""
    none = -1  # no stem's hash: the totals come even without terms
    found = reading.rows(asked, terms=[*by_hash, none], projects=stored(query.projects or ()))
    texts, words = found[0][:2] if found else (0, 0)
    return texts, words, {by_hash[term]: n for _, _, term, n in found if term != none}


def search(reading: Reading, index: str, moment: BothClocks, query: TextQuery, limit: int) -> TextMatches:
    """Best nodes by words."""
    population, words, frequencies = statistics(reading, query)
    used, dropped = lexical.choose_terms(query.terms, frequencies, population, most=query.most, rarest=query.rarest)
    mean_length = words / population if population else 0.0
    most = query.most or lexical.MAX_MATCHES
    found = _candidates(reading, index, moment, query, used, most) if used else []
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
        population=population,
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
    reading: Reading, index: str, moment: BothClocks, query: TextQuery, terms: Sequence[TermStat], most: int
) -> list[tuple[int, bytes, int]]:
    """(row, packed text, length) of visible versions that hold a term."""
    which, params = guards.among(projects=query.projects, kinds=query.kinds, focuses=query.focuses, begins=query.begins)
    visible = f"{guards.findable()} AND {guards.current()} AND {which}"
    asked = f"""CALL db.index.fulltext.queryNodes($index, $match) YIELD node AS t
        MATCH {JOINED} WHERE t.g = $g AND {visible} WITH v, t LIMIT $most RETURN v.row, t.vector, t.length"""
    match = " ".join(_phrase(stat.term) for stat in terms)
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
