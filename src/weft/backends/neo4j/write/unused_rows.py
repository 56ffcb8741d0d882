"""Removes what texts left behind that no version refers to. The server overwrites its files itself."""

from __future__ import annotations

from typing import Final

from weft.backends.neo4j.write.locked_account import LockedAccount

AT_ONCE: Final = 200

UNUSED: Final = "MATCH (t:WeftText {g: $g}) WHERE NOT EXISTS { (t)<-[:SAYS]-() }"
ORPHANS: Final = "MATCH (x:WeftVector {a: $a}) WHERE NOT EXISTS { MATCH (:WeftText {g: $g, hash: x.hash}) }"


def remove_texts(place: LockedAccount) -> bool:
    """Deletes some unused texts with their names; False once there are none."""
    query = f"""{UNUSED} WITH t LIMIT {AT_ONCE} WITH t, t.sealed IS NOT NULL AS sealed DETACH DELETE t
        RETURN count(*), sum(CASE WHEN sealed THEN 1 ELSE 0 END)"""
    ((gone, sealed),) = place.rows(query, g=place.g)
    if gone:
        place.run(
            "MATCH (x:WeftGraph {g: $g}) SET x.stored = x.stored - $gone, x.sealed = x.sealed - $sealed",
            g=place.g,
            gone=gone,
            sealed=sealed,
        )
    return bool(gone)


def remove_words(place: LockedAccount) -> bool:
    """Deletes names and words of no text, and counts of zero: their keys would reveal removed words."""
    gone = 0
    for which in (
        "MATCH (x:WeftName {g: $g}) WHERE NOT EXISTS { (x)<-[:NAMED]-() }",
        "MATCH (x:WeftWord {g: $g}) WHERE NOT EXISTS { (x)<-[:SPELT]-() }",
        "MATCH (x:WeftTerm {g: $g}) WHERE x.n = 0",
    ):
        gone += place.rows(f"{which} WITH x LIMIT {AT_ONCE} DELETE x RETURN count(*)", g=place.g)[0][0]
    return bool(gone)


def remove_vectors(place: LockedAccount) -> bool:
    """Deletes some vectors without a text; False once there are none."""
    query = f"""{ORPHANS} WITH x LIMIT {AT_ONCE} WITH x, x.model AS model DELETE x WITH model, count(*) AS gone
        MATCH (m:WeftModel {{a: $a, name: model}}) SET m.count = m.count - gone RETURN sum(gone)"""
    return bool(place.rows(query, g=place.g)[0][0])
