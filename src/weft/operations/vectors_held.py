"""What a store holds of vectors: which space is in use, which is wanted, how far it is."""

from __future__ import annotations

from msgspec import Struct

from weft.loom import Loom
from weft.types import Viewer


class VectorsHeld(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How many texts can have a vector, how many have one of each model; which is in use, and which the settings name.

    `missing` are the texts without one of the model that the settings name.
    """

    texts: int
    wanted: str | None
    in_use: str | None
    missing: int
    by_model: dict[str, int] = {}


def vectors_held(loom: Loom, viewer: Viewer) -> VectorsHeld:
    """As it stands. For operators: it counts what others keep."""
    wanted, used = loom.embedding.wanted.model, loom.store.space(viewer)
    counted = loom.store.space_counts(viewer)
    missing = 0 if wanted is None else max(0, counted.texts - counted.vectors.get(wanted, 0))
    return VectorsHeld(
        texts=counted.texts,
        wanted=wanted,
        in_use=None if used is None else used.model,
        missing=missing,
        by_model=dict(counted.vectors),
    )


def held_line(held: VectorsHeld) -> str:
    """The same in a line, with what to do about it."""
    if held.wanted is None:
        return "no embedder is set: memories are found by words alone"
    switching = held.in_use is not None and held.in_use != held.wanted
    if not switching and not held.missing:
        return f"all {held.texts:,} texts have a vector of {held.wanted}"
    done = f"{held.texts - held.missing:,} of {held.texts:,} texts have a vector of {held.wanted}"
    if switching:
        return f"{done}; {held.in_use} is in use until all have: `weft reindex`"
    return f"{done}; the others are found by words only: `weft reindex`"


def vectors_line(loom: Loom, viewer: Viewer) -> tuple[bool, str, str]:
    """For a self-test: whether the embedder answers, what is there, and the fix."""
    line = held_line(vectors_held(loom, viewer))
    embedding = loom.embedding.wanted
    if embedding.model is None:
        return True, line, ""
    vector, problem = embedding.query("weft")
    if vector is not None:
        return True, line, ""
    return False, f"{problem}; {line}", "see that its server is up and the settings embedder, _url and _key are right"
