"""Search by words and by vectors, by full scan."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from weft.backends.memory.account import Account
from weft.backends.memory.visible import GuardedAccount, ReadTime
from weft.core.kinds import UNSEARCHED_KINDS
from weft.core.queries import (
    Lead,
    Near,
    PhraseMatch,
    Space,
    SpaceCounts,
    TextHit,
    TextMatches,
    TextQuery,
    VectorHit,
    VectorMatches,
    VectorQuery,
    other_dimensions,
)
from weft.core.types import NodeVersion
from weft.text import lexical
from weft.text.encryption import holds_sealed
from weft.text.sentence_vectors import part_cosines

# Words


def search_text(sight: GuardedAccount, moment: ReadTime, query: TextQuery, limit: int) -> TextMatches:
    """Scores use only what the viewer may see."""
    graph = sight.graph
    live = [
        row
        for row in graph.nodes.values()
        if row.retired_pos is None
        and row.kind not in UNSEARCHED_KINDS
        and sight.sees(row)
        and (query.projects is None or graph.identities[row.id].guard.project in query.projects)
    ]
    texts = [graph.texts[row.content_hash] for row in live]
    held = [set(lexical.term_hashes(text.vector)) for text in texts]
    frequencies = {term: sum(lexical.term_hash(term) in one for one in held) for term, _ in query.terms}
    used, dropped, keys = lexical.choose_keys(query, frequencies, len(live))
    mean_length = sum(text.length for text in texts) / len(texts) if texts else 0.0
    bm25 = lexical.Bm25(used, mean_length=mean_length, k1=query.k1, b=query.b)
    rows = _asked_for(sight, moment, query)
    if query.in_names:
        rows = [row for row in rows if _holds_any(graph.texts[row.content_hash].stems[:1], keys)]
    elif query.together:
        rows = [row for row in rows if _holds_any(graph.texts[row.content_hash].stems, keys)]
    lexed = [graph.texts[row.content_hash] for row in rows]
    weighed = bm25.weigh([(text.vector, text.length) for text in lexed])
    every_text = range(len(rows))
    parts, counts = weighed.parts(every_text), weighed.counted(every_text)
    hits = [
        TextHit(node=lead_of(row), score=score, parts=parts[n], counts=counts[n], length=text.length)
        for n, (row, text, score) in enumerate(zip(rows, lexed, weighed.scores.tolist(), strict=True))
        if score > 0.0
    ]
    hits.sort(key=lambda hit: (-hit.score, -hit.node.row))
    return TextMatches(
        hits=tuple(hits[:limit]),
        used=used,
        dropped=dropped,
        population=len(live),
        mean_length=mean_length,
        truncated=False,
    )


def _holds_any(fields: Sequence[str], keys: Sequence[lexical.Key]) -> bool:
    """Whether the stems of these fields contain all terms of a key."""
    held = {stem for field in fields for stem in field.split()}
    return any(held.issuperset([stat.term for stat in key]) for key in keys)


def _asked_for(sight: GuardedAccount, moment: ReadTime, query: TextQuery | VectorQuery) -> list[NodeVersion]:
    """Visible rows of the projects, kinds and time that a search is restricted to."""
    return [
        row
        for row in sight.nodes_at(moment)
        if (query.projects is None or row.guard.project in query.projects)
        and (row.kind not in UNSEARCHED_KINDS if query.kinds is None else row.kind in query.kinds)
        and (query.focuses is None or row.focus in query.focuses)
        and (query.begins is None or query.begins[0] <= row.interval.valid_from < query.begins[1])
    ]


def lead_of(row: NodeVersion) -> Lead:
    """The search result for a node."""
    told = (row.props.get(name) for name in ("part_of", "conversation", "role"))
    whole, conversation, role = (value if isinstance(value, str) else None for value in told)
    return Lead(
        row=row.row,
        id=row.id,
        kind=row.kind,
        content_hash=row.content_hash,
        whole=whole,
        conversation=conversation,
        role=role,
    )


def by_phrase(
    sight: GuardedAccount, moment: ReadTime, phrases: Sequence[str], projects: tuple[str | None, ...] | None, limit: int
) -> tuple[PhraseMatch, ...]:
    """Nodes whose stems contain each phrase."""
    rows = [row for row in sight.nodes_at(moment) if projects is None or row.guard.project in projects]
    found = []
    for phrase in phrases:
        held = [row for row in rows if phrase and lexical.holds(sight.graph.texts[row.content_hash].stems, phrase)]
        held.sort(key=lambda row: -row.row)
        leads = tuple(lead_of(row) for row in held[:limit])
        found.append(PhraseMatch(phrase=phrase, nodes=leads, more=len(held) > limit))
    return tuple(found)


def encrypted(sight: GuardedAccount, moment: ReadTime, limit: int) -> tuple[NodeVersion, ...]:
    """The versions whose words are encrypted, newest first."""
    rows = [row for row in sight.nodes_at(moment) if holds_sealed(row.name, "", row.text)]
    rows.sort(key=lambda row: -row.row)
    return tuple(rows[:limit])


# Vectors


def search_vector(sight: GuardedAccount, moment: ReadTime, query: VectorQuery, limit: int) -> VectorMatches:
    """The nearest visible nodes, by comparison with every one."""
    account = sight.account
    rows = _asked_for(sight, moment, query)
    found = near(sight, query, [row.content_hash for row in rows], parts=False)
    hits = [
        VectorHit(node=lead_of(row), cosine=found[row.content_hash].cosine) for row in rows if row.content_hash in found
    ]
    hits.sort(key=lambda hit: (-hit.cosine, -hit.node.row))
    told = sight.viewer.audience == "internal" and "admin" in sight.viewer.scopes
    made = sum(model == query.model for model, _ in account.vectors)
    sealed_texts = sum(holds_sealed(text.name, text.summary, text.body) for text in account.graph.texts.values())
    pending = max(0, len(account.graph.texts) - made - sealed_texts) if told else 0
    problem = other_dimensions(len(query.data), account.dimensions(query.model))
    return VectorMatches(hits=tuple(hits[:limit]), pending=pending, notes=() if problem is None else (problem,))


def near(sight: GuardedAccount, query: VectorQuery, hashes: Sequence[bytes], *, parts: bool) -> Mapping[bytes, Near]:
    """The similarity of each text that the viewer may know; texts without a vector are omitted."""
    if other_dimensions(len(query.data), sight.account.dimensions(query.model)) is not None:
        return {}
    wanted = struct.unpack(f"{len(query.data) // 4}f", query.data)
    found = {}
    for each in hashes:
        made = sight.account.vectors.get((query.model, each))
        if made is not None and sight.knows_text(each):
            values = struct.unpack(f"<{len(made.data) // 2}e", made.data)
            cosine = sum(a * b for a, b in zip(values, wanted, strict=True))
            placed = part_cosines([made.parts], np.array(wanted, np.float32))[0] if parts else ()
            found[each] = Near(cosine=cosine, parts=placed)
    return found


def vectors(sight: GuardedAccount, model: str, hashes: Sequence[bytes]) -> Mapping[bytes, bytes]:
    """Vectors of texts that the viewer may know."""
    made = sight.account.vectors
    return {each: made[model, each].data for each in hashes if (model, each) in made and sight.knows_text(each)}


def without_vectors(sight: GuardedAccount, model: str, hashes: Sequence[bytes]) -> tuple[bytes, ...]:
    """The texts without a vector of this model, as far as the viewer may know."""
    made = sight.account.vectors
    return tuple(each for each in hashes if (model, each) not in made or not sight.knows_text(each))


def unembedded(account: Account, model: str, after: int, limit: int) -> tuple[tuple[int, bytes, str, str], ...]:
    """Texts without a vector of this model, in insertion order: number, hash, text to embed, body."""
    found = [
        (at, key, lexical.text_to_embed(text.name, text.summary, text.body), text.body)
        for at, (key, text) in enumerate(account.graph.texts.items(), start=1)
        if at > after and (model, key) not in account.vectors and not holds_sealed(text.name, text.summary, text.body)
    ]
    return tuple(found[:limit])


def space(account: Account) -> Space | None:
    """The space in use: as recorded, else that of the model with the most vectors, the first of equals."""
    if account.space is not None:
        return account.space
    counted = Counter(model for model, _ in account.vectors)
    return Space(model=counted.most_common(1)[0][0]) if counted else None


def space_counts(account: Account) -> SpaceCounts:
    """The number of texts that can have a vector, and of vectors by model."""
    texts = sum(not holds_sealed(text.name, text.summary, text.body) for text in account.graph.texts.values())
    return SpaceCounts(texts=texts, vectors=Counter(model for model, _ in account.vectors))
