"""Names of texts: lookup by key, and by the halves of a misspelt word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from weft.backends.neo4j import columns as rows
from weft.backends.neo4j import cypher_guards as guards
from weft.backends.neo4j.columns import JOINED, LEAD, bounded
from weft.backends.neo4j.cypher_guards import BothClocks, clocks, stored
from weft.backends.neo4j.read.reading import Reading
from weft.backends.neo4j.write.cypher_writer import BACKWARDS
from weft.core.queries import NameMatch
from weft.text.names import is_misspelling

MOST_PER_KEY: Final = 32  # nodes per name: the newest
MOST_SLIPS: Final = 2  # maximum difference in length of a misspelt word


def _visible(reading: Reading, moment: BothClocks, projects: tuple[str | None, ...] | None) -> str:
    inside = "" if projects is None else " AND n.project IN $projects"
    return f"{guards.findable()} AND {guards.current()}{inside}"


def by_name(
    reading: Reading, moment: BothClocks, keys: Sequence[str], projects: tuple[str | None, ...] | None
) -> tuple[NameMatch, ...]:
    """Visible nodes with these names, by name, newest first."""
    wanted = {bounded(key): key for key in keys if key}
    query = f"""UNWIND $keys AS key MATCH (m:WeftName {{g: $g, key: key}})
        CALL {{ WITH m MATCH (m)<-[s:NAMED]-(t) MATCH {JOINED} WHERE {_visible(reading, moment, projects)}
          RETURN s, n, v, t ORDER BY v.row DESC LIMIT {MOST_PER_KEY} }}
        RETURN key, s.weight, {LEAD}"""
    params = {"keys": list(wanted), "projects": stored(projects or ()), **clocks(moment)}
    found = [
        NameMatch(key=wanted[key], weight=weight, node=rows.lead_of(row))
        for key, weight, *row in (reading.rows(query, **params) if wanted else ())
    ]
    return tuple(sorted(found, key=lambda each: (each.key, -each.node.row)))


def spellings(
    reading: Reading, moment: BothClocks, word: str, projects: tuple[str | None, ...] | None
) -> tuple[str, ...]:
    """Words in names of visible nodes that `word` may be a misspelling of."""
    half = (len(word) - 1) // 2
    if half < 1 or bounded(word) != word:
        return ()
    near: set[str] = set()
    query = """MATCH (w:WeftWord {g: $g}) WHERE w.word STARTS WITH $start
        AND size(w.word) >= $least AND size(w.word) <= $most RETURN w.word"""
    for mark, start in (("", word[:half]), (BACKWARDS, word[::-1][:half])):
        sizes = {"least": len(mark) + len(word) - MOST_SLIPS, "most": len(mark) + len(word) + MOST_SLIPS}
        for (form,) in reading.rows(query, start=mark + start, **sizes):
            meant = form[:0:-1] if form.startswith(BACKWARDS) else form
            if is_misspelling(word, meant):
                near.add(meant)
    seen = f"""UNWIND $words AS word MATCH (w:WeftWord {{g: $g, word: word}}) WHERE EXISTS {{
        MATCH (w)<-[:SPELT]-(t) MATCH {JOINED} WHERE {_visible(reading, moment, projects)} }} RETURN word"""
    params = {"words": sorted(near), "projects": stored(projects or ()), **clocks(moment)}
    return tuple(sorted(each for (each,) in reading.rows(seen, **params))) if near else ()
