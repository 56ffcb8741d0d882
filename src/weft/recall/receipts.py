"""Receipts: an answer stored so that it can be printed again exactly, whatever is recorded later.

A receipt holds the versions of the hits, the time, the scores, and not their words: those are read again, under today's
guards. It does hold marks, reasons of scores and the text of a language model, which may name other nodes: they are
shown only while every node they name may be seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Struct, field
from msgspec.structs import asdict, replace

from weft.core.errors import Invalid, NotFound
from weft.core.types import When
from weft.log.canonical import canonical
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.retrieval.judging.superseded import BY_ANOTHER, Superseded
from weft.retrieval.pipeline import Answer, Candidate, PartPlace, ScoreSource, Sighting
from weft.retrieval.sources.subscriptions import readable
from weft.runtime.call_context import CallContext
from weft.version import __version__
from weft.writing.build.subjects import Subjects, subjects_of
from weft.writing.checks.rights import write_guard

if TYPE_CHECKING:  # recalling keeps receipts, so it cannot be imported from here
    from weft.recall.recall import Recalled

KIND: Final = "Receipt"
PREFIX: Final = "receipt:"
MAX_HITS: Final = 100
MAX_BYTES: Final = 500_000
NO_REASONS: Final = "the reasons of the scores were too large for the receipt and are not in it"
WORDS: Final = ("name", "text", "summary", "props")  # of a node as shown: they are read from its version again


class KeptHit(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One hit: its version, by id and content hash, and everything that was shown of it but its words.

    `props` names the properties that were shown, `parts` are the places of the shown parts.
    """

    id: str
    content_hash: str
    node: dict[str, Any]
    rest: dict[str, Any]
    props: tuple[str, ...] = ()
    parts: tuple[PartPlace, ...] = ()
    why: tuple[ScoreSource, ...] = ()
    seen: tuple[Sighting, ...] = ()

    @property
    def marks(self) -> tuple[str, ...]:
        """Its remarks."""
        return tuple(self.rest.get("marks", ()))


class Receipt(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One answer. `answer` is all of it but the hits and the context, of which the hash is kept.

    `explained` says that it had the reasons of its scores. `subjects` are the nodes that each mark and reason names,
    None where they are unknown. `followed` are nodes that only topics had brought in, of those in `keywords`.
    """

    query: str
    recipe: str
    weft: str
    valid_at: int
    known_at: int
    arguments: dict[str, Any]
    answer: dict[str, Any]
    hits: tuple[KeptHit, ...]
    subjects: dict[str, tuple[str, ...] | None]
    context_hash: str = ""
    budget_tokens: int = 0
    explained: bool = False
    followed: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default_factory=tuple)

    @property
    def when(self) -> When:
        """The time of the answer, on both clocks."""
        return When(valid_at=self.valid_at, known_at=self.known_at)


def keep_receipt(ctx: CallContext, given: Struct, recalled: Recalled, found: Answer, *, recipe: str = "default") -> str:
    """Stores an answer as one event, and returns the receipt's id.

    `given` is the question, `found` the pipeline's result, ranked in the order of the hits. A reader of the receipt
    sees only the hits that he may see anyway.
    """
    whole = msgspec.to_builtins(recalled)
    ranked, when = found.ranked or (), found.ask.when
    places = [place.id for candidate in ranked for place in candidate.best]
    visible = {node.id for node in readable(ctx, when, places, followed=found.followed)}
    pairs = zip(ranked, whole.pop("hits"), strict=True)
    hits = tuple(_kept(candidate, shown, visible) for candidate, shown in pairs)[:MAX_HITS]
    subjects = _subjects(ctx, found, hits)
    receipt = Receipt(
        query=recalled.query,
        recipe=recipe,
        weft=__version__,
        valid_at=when.valid_at or 0,
        known_at=when.known_at or 0,
        arguments=_arguments(given),
        context_hash=context_hash(whole.pop("context", "")),
        budget_tokens=getattr(given, "max_tokens", 0),
        answer=whole,
        hits=hits,
        subjects=dict(subjects),
        explained=any(hit.why for hit in recalled.hits),
        followed=tuple(sorted(found.followed)),
        keywords=ctx.settings.keywords if found.followed else (),
    )
    if len(canonical(msgspec.to_builtins(receipt))) > MAX_BYTES:
        bare = tuple(replace(hit, why=()) for hit in hits)
        left = {line: subjects[line] for line in _lines(bare) if line in subjects}
        receipt = replace(receipt, hits=bare, subjects=left, notes=(NO_REASONS,))
    receipt_id = f"{PREFIX}{ctx.new_id()}"
    guard = write_guard(ctx, scope=None, agents=(), sensitive=ctx.viewer.sensitive, project=ctx.settings.project)
    node = graph.NodeAssertion(id=receipt_id, kind=KIND, props=msgspec.to_builtins(receipt), **asdict(guard))
    ctx.append([Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(node,)))])
    return receipt_id


def _arguments(given: Struct) -> dict[str, Any]:
    """The arguments that the caller set."""
    fields = msgspec.structs.fields(type(given))
    told = {each.name: getattr(given, each.name) for each in fields}
    plain: dict[str, Any] = msgspec.to_builtins(
        {each.name: told[each.name] for each in fields if each.required or told[each.name] != each.default}
    )
    return plain


def _kept(candidate: Candidate, shown: dict[str, Any], visible: Set[str]) -> KeptHit:
    """A hit without its words."""
    node = {name: value for name, value in shown["node"].items() if name not in (*WORDS, "flags")}
    return KeptHit(
        id=candidate.node.id,
        content_hash=candidate.node.content_hash.hex(),
        node=node,
        rest={name: value for name, value in shown.items() if name not in ("node", "parts", "why")},
        props=tuple(shown["node"].get("props", ())),
        parts=tuple(place for place in candidate.best if place.id in visible) if shown.get("parts") else (),
        why=candidate.sources,
        seen=candidate.seen,
    )


def _subjects(ctx: CallContext, found: Answer, hits: Iterable[KeptHit]) -> Subjects:
    """The nodes that marks and reasons of hits name."""
    naming = {mark for hit in hits for mark in hit.marks if mark != BY_ANOTHER}
    naming |= {source.detail for hit in hits for source in hit.why if source.name == Superseded().name}
    ways: dict[str, set[str]] = {}
    for each in (each for hit in hits for each in hit.seen if each.path):
        ways.setdefault(each.path, set()).update(each.way)
    return subjects_of(ctx, found, naming=naming, telling=_lines(hits), ways=ways)


def _lines(hits: Iterable[KeptHit]) -> dict[str, None]:
    """All remarks and reasons of hits, each once."""
    said = [(*hit.marks, *(each.detail for each in hit.why), *(each.path for each in hit.seen)) for hit in hits]
    return dict.fromkeys(line for each in said for line in each if line)


def context_hash(context: str) -> str:
    """The hash that identifies a context; empty for none."""
    return sha256(context.encode()).hexdigest() if context else ""


def is_receipt(written: str) -> bool:
    """Written as weft names receipts."""
    return written.startswith(PREFIX)


def read_receipt(ctx: CallContext, written: str) -> Receipt:
    """A receipt by its id. Raises NotFound for one that is not there or not the viewer's to see."""
    nodes = ctx.store.nodes(ctx.viewer, When(), [written])
    if not nodes or nodes[0].kind != KIND:
        raise NotFound(
            f"there is no receipt {written[:80]!r} that you may see", hint="`weft recall --receipt` keeps one"
        )
    try:
        return msgspec.convert(dict(nodes[0].props), Receipt)
    except msgspec.ValidationError as problem:
        raise Invalid(
            f"{written[:80]!r} is not a receipt that this weft can read: {problem}",
            hint="`weft cite` prints its event, to an operator",
        ) from problem
