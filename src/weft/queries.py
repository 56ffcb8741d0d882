"""What is asked of the indexes, and what they answer.

Answers of a search name nodes by `Lead`: enough to rank and to group by, without their texts. Whoever needs a whole
node reads it by its id, past the guards again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from msgspec import Struct


class Lead(Struct, frozen=True, kw_only=True):
    """A visible version of a node that a search points at.

    `whole` is the node it is answered as, if it is a part of one; `conversation` the one it was said in, by `role`.
    """

    id: str
    row: int
    kind: str
    content_hash: bytes
    whole: str | None = None
    conversation: str | None = None
    role: str | None = None


class TextQuery(Struct, frozen=True, kw_only=True):
    """What to look for in the text index. `terms` are stems with weights (see `weft.lexical`).

    `begins` limits the search to what began to hold in that time; how rare terms are is counted over all. For a quick
    look, `rarest` is how many terms are used, `most` how many texts they may match together, both rarest first; and
    with `in_names` a text must have one of them in its name.
    """

    terms: tuple[tuple[str, float], ...]
    projects: tuple[str | None, ...] | None = None
    kinds: tuple[str, ...] | None = None
    focuses: tuple[str | None, ...] | None = None
    begins: tuple[int, int] | None = None
    k1: float = 0.9
    b: float = 0.4
    most: int | None = None
    rarest: int | None = None
    in_names: bool = False


class TermStat(Struct, frozen=True, kw_only=True):
    """How common a term is among what the viewer may see."""

    term: str
    weight: float
    document_frequency: int
    idf: float


class TextHit(Struct, frozen=True, kw_only=True):
    """A node found by words; `parts` says what each term gave, and adds up to `score`.

    `counts` are how often each term occurs, weighted by field, and `length` how long the text is: what it takes to
    score several parts of one whole together.
    """

    node: Lead
    score: float
    parts: tuple[tuple[str, float], ...]
    counts: tuple[tuple[str, float], ...]
    length: int


class TextMatches(Struct, frozen=True, kw_only=True):
    """Hits with what the search knew: terms used and dropped, and whether the candidate bound was reached."""

    hits: tuple[TextHit, ...]
    used: tuple[TermStat, ...]
    dropped: tuple[str, ...]
    population: int
    mean_length: float
    truncated: bool
    notes: tuple[str, ...] = ()


class Vector(Struct, frozen=True, kw_only=True):
    """A text's place in the space of one model: half-precision floats, little end first, of unit length.

    `parts` are the places of its sentences, packed small: see `weft.parts`.
    """

    model: str
    content_hash: bytes
    data: bytes
    parts: bytes = b""


class Space(Struct, frozen=True, kw_only=True):
    """The vectors of one model, and what embeds into it: an embedder as the setting names it, and its server's address.

    Both are empty where that was never told. A key is never part of it.
    """

    model: str
    embedder: str = ""
    url: str = ""


class SpaceCounts(Struct, frozen=True, kw_only=True):
    """How many texts can have a vector, and how many have one, by model."""

    texts: int
    vectors: Mapping[str, int]


class VectorQuery(Struct, frozen=True, kw_only=True):
    """What to look for by meaning: single-precision floats of unit length, in the space of `model`."""

    model: str
    data: bytes
    projects: tuple[str | None, ...] | None = None
    kinds: tuple[str, ...] | None = None
    focuses: tuple[str | None, ...] | None = None
    begins: tuple[int, int] | None = None


def other_dimensions(query_bytes: int, dimensions: int | None) -> str | None:
    """Why a question of so many bytes cannot be compared with vectors of so many dimensions; None if it can."""
    if dimensions is None or query_bytes == 4 * dimensions:
        return None
    return (
        f"the embedder answers with {query_bytes // 4} dimensions where the vectors here have {dimensions}: it is not"
        " the model that made them, so nothing is compared by meaning; give another model another name"
    )


class VectorHit(Struct, frozen=True, kw_only=True):
    """A node and its cosine to the question."""

    node: Lead
    cosine: float


class VectorMatches(Struct, frozen=True, kw_only=True):
    """Hits, how many texts have no vector yet, and what went wrong with index files, if anything did."""

    hits: tuple[VectorHit, ...]
    pending: int = 0
    notes: tuple[str, ...] = ()


class Near(Struct, frozen=True, kw_only=True):
    """How near a text is to the question, as a whole and by sentence: (start, end, cosine), places in its body."""

    cosine: float
    parts: tuple[tuple[int, int, float], ...] = ()

    @property
    def nearest(self) -> float:
        """The cosine of its nearest sentence; of the whole where sentences are not known."""
        return max([part[2] for part in self.parts]) if self.parts else self.cosine


class Holding(Struct, frozen=True, kw_only=True):
    """Nodes that hold a phrase: as many as were asked for; `more` says that there are others."""

    phrase: str
    nodes: tuple[Lead, ...]
    more: bool = False


class Named(Struct, frozen=True, kw_only=True):
    """A node that goes by a name: the name as names are compared, and how surely it means this node."""

    key: str
    weight: float
    node: Lead


class Which(Struct, frozen=True, kw_only=True):
    """Nodes by what they are, not by what they say. Every part given must hold.

    `deleted_at` is the moment of the commit that deleted them: what went together shares it. `deleted` keeps only nodes
    that are deleted, or only others. `after` is the id behind which to go on.
    """

    ids: tuple[str, ...] | None = None
    id_prefix: str | None = None
    kinds: tuple[str, ...] | None = None
    projects: tuple[str | None, ...] | None = None
    deleted: bool | None = None
    deleted_at: int | None = None
    after: str = ""


class Deletion(Struct, frozen=True, kw_only=True):
    """What was deleted by one commit and still is: when, and how many nodes."""

    at: int
    nodes: int


class NodeWords(NamedTuple):
    """What one version of a node says, and little else. `props` is JSON, empty where there are none.

    A version is `standing` if it was not retired and its node is not deleted; `sensitive` as it was recorded.
    """

    id: str
    kind: str
    name: str
    summary: str
    text: str
    props: str
    event: int
    content_hash: bytes
    sensitive: bool
    standing: bool


class LoggedPayload(NamedTuple):
    """An event's payload, with as much of its header as it takes to find it again. `first_pos` is its commit's."""

    pos: int
    first_pos: int
    kind: str
    payload: bytes | None
