"""Vectors: one label and, once there are many, one index of the server for each account and model.

A vector belongs to a text by its content hash and survives rebuilds. Few are compared one by one; many through the
index, which knows no guards: it is asked for more until enough of what it names may be seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

import orjson

from weft.backends.neo4j import columns as rows
from weft.backends.neo4j import cypher_guards as guards
from weft.backends.neo4j.columns import JOINED, LEAD
from weft.backends.neo4j.cypher_guards import BothClocks, clocks
from weft.backends.neo4j.read.reading import Reading
from weft.backends.neo4j.write.locked_account import LockedAccount
from weft.core.errors import Invalid
from weft.core.queries import (
    Near,
    Space,
    SpaceCounts,
    TextVector,
    VectorHit,
    VectorMatches,
    VectorQuery,
    other_dimensions,
)
from weft.text.lexical import text_to_embed
from weft.text.sentence_vectors import part_cosines

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

INDEX_AT: Final = 2_000  # vectors of a model: fewer are compared one by one
NEAREST: Final = 4_000  # that the index is asked for at most; then every vector is compared
MORE: Final = 4  # times as many in every further round
ROWS_AT_ONCE: Final = 500


def label_of(a: str, model: str) -> str:
    """The label of an account's vectors of one model."""
    return "WeftVector_" + sha256(orjson.dumps([a, model])).hexdigest()[:24]


# Writing


def fitting(place: LockedAccount, vectors: Sequence[TextVector]) -> tuple[TextVector, ...]:
    """Vectors with the dimension of their model; for a new model, that of its first vector."""
    if not vectors:
        return ()
    sizes = dict.fromkeys((vector.model for vector in vectors), 0)
    sizes.update({model: dimensions for model, dimensions, count in _models(place) if count and model in sizes})
    kept = []
    for vector in vectors:
        sizes[vector.model] = sizes[vector.model] or len(vector.data) // 2
        if len(vector.data) // 2 == sizes[vector.model]:
            kept.append(vector)
    return tuple(kept)


def _models(place: LockedAccount) -> list[tuple[str, int, int]]:
    query = "MATCH (m:WeftModel {a: $a}) RETURN m.name, m.dimensions, m.count ORDER BY m.number"
    return [(name, dimensions, count) for name, dimensions, count in place.rows(query)]


def write_vectors(place: LockedAccount, vectors: Sequence[TextVector]) -> None:
    """Adds vectors of stored texts; an existing one is kept. Raises Invalid for another dimension than the model's."""
    if len(fitting(place, vectors)) < len(vectors):
        raise Invalid(
            "vectors have another dimension than their model here",
            hint="vector spaces are never mixed: give another model another name",
        )
    by_model: dict[str, dict[str, TextVector]] = {}
    for vector in vectors:
        by_model.setdefault(vector.model, {}).setdefault(vector.content_hash.hex(), vector)
    for model, made in by_model.items():
        values = [
            {"hash": key, "data": each.data, "parts": each.parts, "embedding": _floats(each.data)}
            for key, each in made.items()
        ]
        dimensions = len(next(iter(made.values())).data) // 2
        place.run(
            """MERGE (m:WeftModel {a: $a, name: $model}) ON CREATE SET m.count = 0, m.number = $number
                SET m.dimensions = $dimensions""",
            model=model,
            dimensions=dimensions,
            number=len(_models(place)),
        )
        # The text may have been erased while its vector was made.
        place.each(
            f"""UNWIND $rows AS r MATCH (t:WeftText {{g: $g, hash: r.hash}})
                WHERE NOT EXISTS {{ (:WeftVector {{a: $a, model: $model, hash: r.hash}}) }}
                CREATE (x:WeftVector:`{label_of(place.a, model)}` {{a: $a, model: $model}}) SET x += r
                WITH count(x) AS some MATCH (m:WeftModel {{a: $a, name: $model}}) SET m.count = m.count + some""",
            values,
            g=place.g,
            model=model,
        )


def _floats(data: bytes) -> list[float]:
    import numpy as np

    values: list[float] = np.frombuffer(data, "<f2").astype(np.float64).tolist()
    return values


# Reading


def model_of(reading: Reading, model: str) -> tuple[int, int] | None:
    """(dimensions, vectors) of a model; None without vectors."""
    query = "MATCH (m:WeftModel {a: $a, name: $model}) WHERE m.count > 0 RETURN m.dimensions, m.count"
    found = reading.first(query, model=model)
    return None if found is None else (found[0], found[1])


def search(
    reading: Reading, indexes: Mapping[str, str], moment: BothClocks, query: VectorQuery, limit: int
) -> VectorMatches:
    """The nearest visible nodes."""
    found = model_of(reading, query.model)
    told = reading.viewer.audience == "internal" and "admin" in reading.viewer.scopes
    dimensions, count = found or (None, 0)
    pending = max(0, _texts(reading) - count) if told else 0
    problem = other_dimensions(len(query.data), dimensions)
    if found is None or problem is not None:
        return VectorMatches(hits=(), pending=pending, notes=() if problem is None else (problem,))
    index = indexes.get(label_of(reading.a, query.model)) if count > INDEX_AT else None
    hits = _nearest(reading, index, moment, query, limit) if index else None
    if hits is None:
        hits = _compared(reading, moment, query, limit)
    return VectorMatches(hits=tuple(hits), pending=pending)


def _texts(reading: Reading) -> int:
    found = reading.first("MATCH (x:WeftGraph {g: $g}) RETURN x.stored - x.sealed")
    return int(found[0]) if found else 0


def _visible(reading: Reading, moment: BothClocks, query: VectorQuery) -> tuple[str, dict[str, Any]]:
    which, params = guards.among(projects=query.projects, kinds=query.kinds, focuses=query.focuses, begins=query.begins)
    return f"{guards.findable()} AND {guards.current()} AND {which}", {**params, **clocks(moment)}


def _compared(reading: Reading, moment: BothClocks, query: VectorQuery, limit: int) -> list[VectorHit]:
    """By comparison with every vector."""
    visible, params = _visible(reading, moment, query)
    asked = f"""MATCH (x:WeftVector {{a: $a, model: $model}}) WHERE x.hash >= ''
        MATCH (t:WeftText {{g: $g, hash: x.hash}})
        MATCH {JOINED} WHERE {visible}
        WITH n, v, t, x, vector.similarity.cosine(x.embedding, $asked) AS near ORDER BY near DESC, v.row DESC
        LIMIT $limit RETURN x.data, {LEAD}"""
    values = _query_values(query)
    found = reading.rows(asked, model=query.model, asked=values.tolist(), limit=limit, **params)
    return _hits(found, values)[:limit]


def _nearest(
    reading: Reading, index: str, moment: BothClocks, query: VectorQuery, limit: int
) -> list[VectorHit] | None:
    """By the index; None if too few of the nearest may be seen."""
    visible, params = _visible(reading, moment, query)
    asked = f"""CALL db.index.vector.queryNodes($index, $most, $asked) YIELD node AS x
        MATCH (t:WeftText {{g: $g, hash: x.hash}}) MATCH {JOINED} WHERE {visible}
        RETURN x.data, {LEAD}"""
    values, most = _query_values(query), 2 * limit
    while True:
        found = reading.rows(asked, index=index, most=most, asked=values.tolist(), **params)
        if len(found) >= limit or (most >= NEAREST and query.begins is not None):
            return _hits(found, values)[:limit]
        if most >= NEAREST:
            return None
        most = min(MORE * most, NEAREST)


def _query_values(query: VectorQuery) -> NDArray[np.float64]:
    import numpy as np

    return np.frombuffer(query.data, "<f4").astype(np.float64)


def _hits(found: Sequence[Sequence[Any]], values: NDArray[np.float64]) -> list[VectorHit]:
    """Hits with their exact cosine; ties go to the newer row."""
    import numpy as np

    if not found:
        return []
    made = np.frombuffer(b"".join([row[0] for row in found]), "<f2").reshape(len(found), -1).astype(np.float64)
    hits = [
        VectorHit(node=rows.lead_of(row[1:]), cosine=cosine)
        for row, cosine in zip(found, (made @ values).tolist(), strict=True)
    ]
    return sorted(hits, key=lambda hit: (-hit.cosine, -hit.node.row))


# The text of vector x belongs to a node, of any time, that the viewer may find.
def _of_a_node() -> str:
    return f"""EXISTS {{ MATCH (t:WeftText {{g: $g, hash: x.hash}}) MATCH {JOINED}
        WHERE {guards.findable()} AND NOT v.tx IN $open }}"""


def _made(reading: Reading, model: str, hashes: Sequence[bytes], columns: str) -> list[list[Any]]:
    if not hashes:
        return []
    query = f"""UNWIND $hashes AS h MATCH (x:WeftVector {{a: $a, model: $model, hash: h}})
        WHERE {_of_a_node()} RETURN h, {columns}"""
    return reading.rows(query, model=model, hashes=list({each.hex() for each in hashes}))


def near(reading: Reading, query: VectorQuery, hashes: Sequence[bytes], *, parts: bool) -> dict[bytes, Near]:
    """The similarity of each text that the viewer may know; texts without a vector are omitted."""
    found = model_of(reading, query.model)
    if found is None or other_dimensions(len(query.data), found[0]) is not None:
        return {}
    import numpy as np

    values = _query_values(query)
    made = _made(reading, query.model, hashes, "x.data, x.parts" if parts else "x.data")
    if not made:
        return {}
    cosines = (
        np.frombuffer(b"".join([row[1] for row in made]), "<f2").reshape(len(made), -1).astype(np.float64) @ values
    )
    placed = part_cosines([row[2] for row in made], values.astype(np.float32)) if parts else [()] * len(made)
    return {
        bytes.fromhex(row[0]): Near(cosine=cosine, parts=spans)
        for row, cosine, spans in zip(made, cosines.tolist(), placed, strict=True)
    }


def vectors(reading: Reading, model: str, hashes: Sequence[bytes]) -> dict[bytes, bytes]:
    """Vectors of texts that the viewer may know."""
    return {bytes.fromhex(key): data for key, data in _made(reading, model, hashes, "x.data")}


def without_vectors(reading: Reading, model: str, hashes: Sequence[bytes]) -> tuple[bytes, ...]:
    """The texts without a vector of this model, as far as the viewer may know."""
    found = {key for key, _ in _made(reading, model, hashes, "1")}
    return tuple(each for each in hashes if each.hex() not in found)


_LACKING: Final = """MATCH (t:WeftText {g: $g}) WHERE t.number > $after AND t.sealed IS NULL
    AND NOT EXISTS { MATCH (x:WeftVector {a: $a, model: $model, hash: t.hash}) }"""


def unembedded(reading: Reading, model: str, after: int, limit: int) -> tuple[tuple[int, bytes, str, str], ...]:
    """(number, hash, words, body) of texts without a vector of this model, in order."""
    query = f"{_LACKING} RETURN t.number, t.hash, t.name, t.summary, t.body ORDER BY t.number LIMIT $limit"
    return tuple(
        (number, bytes.fromhex(key), text_to_embed(name, summary, body), body)
        for number, key, name, summary, body in reading.rows(query, model=model, after=after, limit=limit)
    )


# Spaces

SPACE: Final = """OPTIONAL MATCH (x:WeftAccount {a: $a}) WITH x.model AS model, x.embedder AS embedder, x.url AS url
    OPTIONAL MATCH (m:WeftModel {a: $a}) WHERE m.count > 0 WITH model, embedder, url, m
    ORDER BY m.count DESC, m.number LIMIT 1 RETURN model, embedder, url, m.name"""


def space(found: Sequence[Sequence[Any]]) -> Space | None:
    """The space in use, from the row of SPACE: as recorded, else that of the model with the most vectors."""
    if not found:
        return None
    model, embedder, url, most = found[0]
    if model is not None:
        return Space(model=model, embedder=embedder, url=url)
    return None if most is None else Space(model=most)


def space_counts(reading: Reading) -> SpaceCounts:
    """The number of texts that can have a vector, and of vectors by model."""
    counted = reading.rows("MATCH (m:WeftModel {a: $a}) WHERE m.count > 0 RETURN m.name, m.count")
    return SpaceCounts(texts=_texts(reading), vectors={model: int(count) for model, count in counted})


def lacks(place: LockedAccount, model: str, but: Sequence[bytes]) -> bool:
    """Whether a text lacks a vector of the model, though it can have one and is not exempt. Inside the lock."""
    excused = {each.hex() for each in but}
    found = place.rows(f"{_LACKING} RETURN t.hash LIMIT $most", g=place.g, model=model, after=0, most=len(excused) + 1)
    return any(key not in excused for (key,) in found)


def drop_some(place: LockedAccount, model: str) -> int:
    """Removes some vectors of a model; returns how many."""
    query = f"""MATCH (x:WeftVector {{a: $a, model: $model}}) WHERE x.hash >= ''
        WITH x LIMIT {ROWS_AT_ONCE} DETACH DELETE x
        RETURN count(*)"""
    gone = int(place.rows(query, model=model)[0][0])
    place.run("MATCH (m:WeftModel {a: $a, name: $model}) SET m.count = m.count - $gone", model=model, gone=gone)
    return gone
