"""Source code: functions and classes by themselves, files by their symbols.

A question in plain words is answered by meaning (code and prose use different words); one with identifiers by them. A
file counts as its words together and as its best symbol.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from weft.core.types import NodeVersion
from weft.files.test_files import is_test_file
from weft.retrieval.pipeline import Answer
from weft.retrieval.pool import Pool
from weft.retrieval.scoring.pooling import pooled
from weft.retrieval.scoring.words_and_meaning import MIN_GATE, hits_by_id
from weft.retrieval.sources.gather import nearness
from weft.runtime.call_context import CallContext

if TYPE_CHECKING:
    from weft.retrieval.pool import Column

PLAIN_GATE = 0.1
NEIGHBOURS = 21
COMPARED = 150
SHORTEST_NAME = 4
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.\w+)+")
_TESTS_ASKED = re.compile(
    r"\b(?:\w*_)?(?:tests?|tested|testing|specs?|fixtures?|pytest|unittest)(?:_\w*)?\b", re.IGNORECASE
)
_NAME = re.compile(r"[a-z_]\w*")


class Code(Struct, frozen=True):
    """Parts of files and symbols."""

    name: str = "code"
    file_words: float = 0.8
    best_symbol: float = 0.8
    title: float = 0.3
    hub: float = 0.3
    length: float = 0.02
    gate: float = 1.5
    named_path: float = 0.15
    named_file: float = 0.15
    test: float = 0.4

    def __call__(self, ctx: CallContext, answer: Answer) -> Answer:
        if answer.pool.has("code"):
            answer = replace(answer, pool=self._symbols(ctx, answer))
        if answer.pool.has("file"):
            answer = replace(answer, pool=self._files(ctx, answer))
        if answer.pool.has("file", "code"):
            answer = replace(answer, pool=self._tests(answer))
        return answer

    def _tests(self, answer: Answer) -> Pool:
        """Tests repeat the words of the code they test: they rank below it, unless tests are asked for."""
        import numpy as np

        pool = answer.pool
        if not self.test or _TESTS_ASKED.search(answer.query) or _only_tests(answer.ask.kinds):
            return pool
        rows = zip(pool.nodes, pool.shapes, strict=True)
        column = np.array([float(shape in ("file", "code") and _is_test(node)) for node, shape in rows])
        return pool.with_part("a test", -column, self.test) if column.any() else pool

    def _symbols(self, ctx: CallContext, answer: Answer) -> Pool:
        import numpy as np

        pool, mask, hits = answer.pool, answer.pool.mask("code"), hits_by_id(answer)
        near = np.array([pool.cosine(node.content_hash) for node in pool.nodes])
        text = np.array([hits[node.id].score if node.id in hits else 0.0 for node in pool.nodes])
        gate = 1.0
        if answer.vector is not None:
            gate = max(MIN_GATE, 1.0 - max(float(near[mask].max(initial=0.0)), 0.0))
            gate = gate if answer.question.identifiers else PLAIN_GATE
        best = float(text[mask].max(initial=0.0)) or 1.0
        pool = pool.with_part("symbol text", np.where(mask, text, 0.0), gate / best)
        pool = pool.with_part("symbol", np.where(mask, near, 0.0), 1.0)
        long = np.array([math.log1p(len(node.text.split())) for node in pool.nodes])
        pool = pool.with_part("length", -np.where(mask, long, 0.0), self.length)
        crowded = _crowded(ctx, pool) if answer.vector is not None and self.hub else None
        return pool if crowded is None else pool.with_part("crowded", -crowded, self.hub)

    def _named(self, answer: Answer, pool: Pool) -> Pool:
        """Parts for files whose path, module or name is in the question."""
        import numpy as np

        asked = answer.query
        dotted = Counter(_DOTTED.findall(asked.replace("/", ".")))
        words, title = set(_NAME.findall(asked.lower())), set(_NAME.findall(answer.question.first_line.lower()))
        rows = zip(pool.nodes, pool.shapes, strict=True)
        paths = [str(node.props.get("path", node.name)) if shape == "file" else "" for node, shape in rows]
        stems = [_module(path).rsplit(".", 1)[-1].lower() if path else "" for path in paths]
        several = Counter(stems)
        by_path, by_name = np.zeros(len(paths)), np.zeros(len(paths))
        for at, (path, stem) in enumerate(zip(paths, stems, strict=True)):
            if not path:
                continue
            module = _module(path)
            begins = (f"{module}.", path.replace("/", "."))
            seen = sum(n for name, n in dotted.items() if name == module or name.startswith(begins))
            by_path[at] = min(seen, 2) / 2
            if len(stem) >= SHORTEST_NAME:
                by_name[at] = (1.0 if stem in title else 0.5 if stem in words else 0.0) / several[stem]
        pool = pool.with_part("path named", by_path, self.named_path) if by_path.any() else pool
        return pool.with_part("file named", by_name, self.named_file) if by_name.any() else pool

    def _files(self, ctx: CallContext, answer: Answer) -> Pool:

        pool, mask = answer.pool, answer.pool.mask("file")
        hits = [(hit.node.whole or hit.node.id, hit) for hit in (answer.text.hits if answer.text else ())]
        files = {node.id for node, shape in zip(pool.nodes, pool.shapes, strict=True) if shape == "file"}
        hits = [(whole, hit) for whole, hit in hits if whole in files]
        words = pooled(hits, dict(answer.terms), lengths=_lengths(pool))
        best: dict[str, float] = {}
        for whole, hit in hits:
            best[whole] = max(best.get(whole, 0.0), hit.score)
        near = _nearest(pool, {key: each.cosine for key, each in pool.nearness.items()})
        gate = 1.0
        if answer.vector is not None:
            gate = self.gate * max(MIN_GATE, 1.0 - max(float(near[mask].max(initial=0.0)), 0.0))
        pool = self._named(answer, pool)
        pool = pool.with_part("file words", pool.shares("file", words), gate * self.file_words)
        pool = pool.with_part("best symbol", pool.shares("file", best), gate * self.best_symbol)
        if answer.title_vector is None:
            return pool.with_part("nearest symbol", near, 1.0)
        hashes = [lead.content_hash for leads in pool.leads for lead in leads]
        hashes += [node.content_hash for node in pool.nodes]
        titled = nearness(ctx, answer.title_vector, hashes)
        by_title = _nearest(pool, {key: each.cosine for key, each in titled.items()})
        pool = pool.with_part("nearest symbol", near, 1.0 - self.title)
        return pool.with_part("nearest to title", by_title, self.title)


def _is_test(node: NodeVersion) -> bool:
    path = node.props.get("path")
    return node.kind == "Test" or (isinstance(path, str) and is_test_file(path))


def _only_tests(kinds: tuple[str, ...] | None) -> bool:
    return kinds is not None and "Test" in kinds and not {"Function", "Class", "File"} & set(kinds)


def _crowded(ctx: CallContext, pool: Pool) -> Column | None:
    """The mean cosine of each symbol to its nearest in the pool, above the average: hubs say little."""
    import numpy as np

    model = ctx.embedding.model or ""
    rows = [at for at, shape in enumerate(pool.shapes) if shape == "code"]
    rows = sorted(rows, key=lambda at: -pool.cosine(pool.nodes[at].content_hash))[:COMPARED]
    found = ctx.store.vectors(ctx.viewer, model, tuple({pool.nodes[at].content_hash for at in rows}))
    rows = [at for at in rows if pool.nodes[at].content_hash in found]
    if len(rows) <= NEIGHBOURS:
        return None
    placed = np.stack([np.frombuffer(found[pool.nodes[at].content_hash], "<f2").astype(np.float32) for at in rows])
    nearest = np.partition(placed @ placed.T, -NEIGHBOURS, axis=1)[:, -NEIGHBOURS:].mean(axis=1)
    column = np.zeros(len(pool.nodes))
    column[rows] = nearest - nearest.mean()
    return column


def _lengths(pool: Pool) -> dict[str, float]:
    """The length of each file relative to the mean."""
    lines = {
        node.id: float(last)
        for node, shape in zip(pool.nodes, pool.shapes, strict=True)
        if shape == "file" and isinstance(last := node.props.get("end_line"), int) and last > 0
    }
    mean = sum(lines.values()) / len(lines) if lines else 1.0
    return {node: last / max(mean, 1.0) for node, last in lines.items()}


def _module(path: str) -> str:
    """A file's path as an import names it."""
    dotted = path.rsplit(".", 1)[0].replace("/", ".")
    return dotted.removesuffix(".__init__")


def _nearest(pool: Pool, cosines: dict[bytes, float]) -> Column:
    """The cosine of each file's nearest symbol."""
    import numpy as np

    values = np.zeros(len(pool.nodes))
    for at, shape in enumerate(pool.shapes):
        if shape == "file":
            own = [cosines.get(lead.content_hash, 0.0) for lead in pool.leads[at]]
            values[at] = max([*own, cosines.get(pool.nodes[at].content_hash, 0.0)])
    return values
