"""The candidates of one question, side by side, with every part of their scores.

Stages that rank work on all candidates at once: each adds a part, a column of numbers that are added up. So a score is
always the sum of named parts, and an explanation is read off rather than written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from weft.core.queries import Lead, Near
from weft.core.types import NodeVersion

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Column = NDArray[np.float64]
    Mask = NDArray[np.bool_]

Shape = Literal["plain", "turn", "session", "file", "code"]
# Kinds that tell how things are at a time, and so may be told anew. A passage of a document does not.
DATED_KINDS: Final = frozenset({"Memory", "Fact", "Preference", "Decision", "Pattern", "Learning", "Event"})
CODE_KINDS: Final = frozenset({"Function", "Class", "Test"})


def shape_of(node: NodeVersion) -> Shape:
    """The shape of a row, which decides how it is scored."""
    if node.kind == "Message":
        return "turn"
    if node.kind == "Session":
        return "session"
    if node.kind == "File":
        return "file"
    return "code" if node.kind in CODE_KINDS else "plain"


class ScorePart(Struct, frozen=True, kw_only=True):
    """One column of the scores: part = weight x raw. `detail` explains a row."""

    name: str
    raw: Any
    weight: Any
    detail: Callable[[int], str] | None = None

    @property
    def values(self) -> Column:
        values: Column = self.weight * self.raw
        return values


class Pool(Struct, frozen=True, kw_only=True):
    """Candidates by row. `leads` are the search results of each: itself, or its parts.

    `nearness` is by content hash; `inner` is the cosine of each text's nearest sentence. `named` are the ids of nodes
    that a mark names by a citation.
    """

    nodes: tuple[NodeVersion, ...] = ()
    leads: tuple[tuple[Lead, ...], ...] = ()
    shapes: tuple[Shape, ...] = ()
    nearness: Mapping[bytes, Near] = {}
    inner: Mapping[bytes, float] = {}
    parts: tuple[ScorePart, ...] = ()
    marks: Mapping[str, tuple[str, ...]] = {}
    named: Mapping[str, tuple[str, ...]] = {}

    @property
    def places(self) -> dict[str, int]:
        """Row by id."""
        return {node.id: row for row, node in enumerate(self.nodes)}

    def mask(self, *shapes: Shape) -> Mask:
        """A mask of the rows of these shapes."""
        import numpy as np

        return np.array([shape in shapes for shape in self.shapes], bool)

    def has(self, *shapes: Shape) -> bool:
        return any(shape in shapes for shape in self.shapes)

    def scores(self) -> Column:
        """The sum of all parts."""
        import numpy as np

        total = np.zeros(len(self.nodes))
        for part in self.parts:
            total = total + part.values
        return total

    def with_part(self, name: str, raw: Any, weight: Any = 1.0, detail: Callable[[int], str] | None = None) -> Pool:
        """With a column added."""
        return replace(self, parts=(*self.parts, ScorePart(name=name, raw=raw, weight=weight, detail=detail)))

    def scaled(self, factors: Column) -> Pool:
        """With every part of each row times the row's factor."""
        return replace(self, parts=tuple(replace(part, weight=part.weight * factors) for part in self.parts))

    def without_part(self, name: str) -> Pool:
        """Without a column."""
        return replace(self, parts=tuple(part for part in self.parts if part.name != name))

    def only(self, rows: Sequence[int]) -> Pool:
        """With these rows, in this order, and no others."""

        def chosen(column: Any) -> Any:
            return column[list(rows)] if getattr(column, "ndim", 0) else column

        def moved(detail: Callable[[int], str] | None) -> Callable[[int], str] | None:
            return None if detail is None else lambda at: detail(rows[at])

        return replace(
            self,
            nodes=tuple(self.nodes[row] for row in rows),
            leads=tuple(self.leads[row] for row in rows),
            shapes=tuple(self.shapes[row] for row in rows),
            parts=tuple(
                replace(part, raw=chosen(part.raw), weight=chosen(part.weight), detail=moved(part.detail))
                for part in self.parts
            ),
        )

    def extended(
        self, nodes: Sequence[NodeVersion], leads: Sequence[tuple[Lead, ...]], nearness: Mapping[bytes, Near]
    ) -> Pool:
        """With more rows below, whose columns so far are zero."""
        import numpy as np

        def longer(column: Any) -> Any:
            return np.concatenate([column, np.zeros(len(nodes))]) if getattr(column, "ndim", 0) else column

        return replace(
            self,
            nodes=(*self.nodes, *nodes),
            leads=(*self.leads, *leads),
            shapes=(*self.shapes, *map(shape_of, nodes)),
            nearness={**self.nearness, **nearness},
            inner={**self.inner, **{key: near.nearest for key, near in nearness.items()}},
            parts=tuple(replace(part, raw=longer(part.raw), weight=longer(part.weight)) for part in self.parts),
        )

    def shares(self, shape: Shape, scores: Mapping[str, float]) -> Column:
        """Scores by id as a column over the rows of one shape, the best of all being 1."""
        import numpy as np

        best = max(scores.values(), default=0.0) or 1.0
        rows = zip(self.nodes, self.shapes, strict=True)
        return np.array([scores.get(node.id, 0.0) / best if kind == shape else 0.0 for node, kind in rows])

    def cosine(self, content_hash: bytes) -> float:
        """The cosine of a text; 0 where that is unknown."""
        near = self.nearness.get(content_hash)
        return near.cosine if near is not None else 0.0

    def best_sentence(self, content_hash: bytes) -> float:
        """The cosine of its nearest sentence; of the whole where sentences are unknown."""
        return self.inner.get(content_hash, 0.0)


EMPTY: Final = Pool()
