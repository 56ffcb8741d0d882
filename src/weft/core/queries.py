"""Index queries and their results.

Results name nodes by `Lead`: enough to rank and to group by, without their texts. A caller that needs the whole node
reads it by its id, which checks visibility again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from msgspec import Struct


class Lead(Struct, frozen=True, kw_only=True):
    """A visible node version that a search points at.

    `whole` is the node it is part of and answered as, if any; `conversation` the one it was said in, by `role`.
    """

    id: str
    row: int
    kind: str
    content_hash: bytes
    whole: str | None = None
    conversation: str | None = None
    role: str | None = None


class TextQuery(Struct, frozen=True, kw_only=True):
    """A text index query. `terms` are stems with weights (see `weft.text.lexical`).

    `begins` restricts results to versions that began to hold in that interval; document frequencies still count all.
    For a quick search, `rarest` bounds the terms used and `most` the texts they match together, rarest first; with
    `in_names` a text must contain a term in its name. With `together` the search is for live texts that share many of
    the terms: the rarest are looked up, and those that too many texts hold only together with one another.
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
    together: bool = False


class TermStat(Struct, frozen=True, kw_only=True):
    """The document frequency of a term among what the viewer may see."""

    term: str
    weight: float
    document_frequency: int
    idf: float


class TextHit(Struct, frozen=True, kw_only=True):
    """A node found by words; `parts` is the contribution of each term and adds up to `score`.

    `counts` are the occurrences of each term, weighted by field, and `length` the length of the text: enough to score
    several parts of one whole together.
    """

    node: Lead
    score: float
    parts: tuple[tuple[str, float], ...]
    counts: tuple[tuple[str, float], ...]
    length: int


class TextMatches(Struct, frozen=True, kw_only=True):
    """Hits with the statistics of the search: terms used and dropped, and whether the candidate bound was reached."""

    hits: tuple[TextHit, ...]
    used: tuple[TermStat, ...]
    dropped: tuple[str, ...]
    population: int
    mean_length: float
    truncated: bool
    notes: tuple[str, ...] = ()


class TextVector(Struct, frozen=True, kw_only=True):
    """The vector of a text in one model's space: half-precision floats, little endian, unit length.

    `parts` are the packed vectors of its sentences: see `weft.text.sentence_vectors`.
    """

    model: str
    content_hash: bytes
    data: bytes
    parts: bytes = b""


class Space(Struct, frozen=True, kw_only=True):
    """The vectors of one model, and what makes them: the embedder as the setting names it, and its server's address.

    Both are empty if they were never recorded. A key is never part of it.
    """

    model: str
    embedder: str = ""
    url: str = ""


class SpaceCounts(Struct, frozen=True, kw_only=True):
    """The number of texts that can have a vector, and of vectors by model."""

    texts: int
    vectors: Mapping[str, int]


class VectorQuery(Struct, frozen=True, kw_only=True):
    """A vector query: single-precision floats of unit length, in the space of `model`."""

    model: str
    data: bytes
    projects: tuple[str | None, ...] | None = None
    kinds: tuple[str, ...] | None = None
    focuses: tuple[str | None, ...] | None = None
    begins: tuple[int, int] | None = None


def other_dimensions(query_bytes: int, dimensions: int | None) -> str | None:
    """The reason why a query of this size cannot be compared with vectors of these dimensions; None if it can."""
    if dimensions is None or query_bytes == 4 * dimensions:
        return None
    return (
        f"the embedder returns {query_bytes // 4} dimensions where the vectors here have {dimensions}: it is not"
        " the model that made them, so vector search is off; give another model another name"
    )


class VectorHit(Struct, frozen=True, kw_only=True):
    """A node and its cosine to the query."""

    node: Lead
    cosine: float


class VectorMatches(Struct, frozen=True, kw_only=True):
    """Hits, the number of texts without a vector, and problems with index files."""

    hits: tuple[VectorHit, ...]
    pending: int = 0
    notes: tuple[str, ...] = ()


class Near(Struct, frozen=True, kw_only=True):
    """The cosine of a text to the query, as a whole and by sentence: (start, end, cosine), offsets in its body."""

    cosine: float
    parts: tuple[tuple[int, int, float], ...] = ()

    @property
    def nearest(self) -> float:
        """The cosine of its nearest sentence; of the whole text if sentences are not known."""
        return max([part[2] for part in self.parts]) if self.parts else self.cosine


class PhraseMatch(Struct, frozen=True, kw_only=True):
    """Nodes whose text contains a phrase, up to the limit; `more` says that there are others."""

    phrase: str
    nodes: tuple[Lead, ...]
    more: bool = False


class NameMatch(Struct, frozen=True, kw_only=True):
    """A node with a name: the normalised name, and the confidence that it means this node."""

    key: str
    weight: float
    node: Lead


class NodeFilter(Struct, frozen=True, kw_only=True):
    """Nodes by their identity, not their content. Every part given must hold.

    `deleted_at` is the time of the commit that deleted them, shared by all that it deleted. `deleted` keeps only
    deleted nodes, or only others. `after` is the id to continue behind.
    """

    ids: tuple[str, ...] | None = None
    id_prefix: str | None = None
    kinds: tuple[str, ...] | None = None
    projects: tuple[str | None, ...] | None = None
    deleted: bool | None = None
    deleted_at: int | None = None
    after: str = ""


class Deletion(Struct, frozen=True, kw_only=True):
    """The nodes that one commit deleted and that still are: when, and how many."""

    at: int
    nodes: int


class NodeWords(NamedTuple):
    """The content of one node version and little else. `props` is JSON, empty if there are none.

    A version is `standing` (current) if it is not retired and its node not deleted; `sensitive` as it was recorded.
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
    """An event's payload, and enough of its header to find it again. `first_pos` is its commit's first position."""

    pos: int
    first_pos: int
    kind: str
    payload: bytes | None
