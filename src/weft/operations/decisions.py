"""Writing what was decided, what has proved itself, what to know about the work, and what somebody likes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from weft.append import Fence
from weft.errors import Invalid, NotFound
from weft.instants import to_iso
from weft.lexical import name_key
from weft.log.draft import Draft
from weft.log.kinds import memory
from weft.loom import Loom
from weft.operations.committing import Choice, Committed, decided
from weft.operations.dedup import HASH, Entry, Judged, concerns, judge, listed
from weft.operations.fields import Moment, Name
from weft.operations.making import Making
from weft.operations.moments import check_interval
from weft.operations.planned import SoFar, answered, fence_of
from weft.operations.registry import Operation
from weft.operations.remembered import Remembered
from weft.operations.write_options import WriteOptions, focus_of, guard_of, props_of
from weft.types import NOW, NodeVersion

Title = Annotated[str, Meta(min_length=1, max_length=512, description="what it is, in one line")]
Words = Annotated[str, Meta(max_length=200_000)]
Lines = Annotated[tuple[Annotated[str, Meta(min_length=1, max_length=10_000)], ...], Meta(max_length=32)]
Involved = Annotated[tuple[Name, ...], Meta(max_length=32, description="what it is about: names or ids")]


class SaveDecision(WriteOptions, frozen=True, kw_only=True):
    """Input of `save_decision`."""

    title: Annotated[Title, Meta(description="what was decided, in one line")]
    rationale: Annotated[Words, Meta(description="why")] = ""
    alternatives: Annotated[Lines, Meta(description="what else was considered")] = ()
    entities: Involved = ()
    supersedes: (
        Annotated[str, Meta(min_length=1, max_length=1024, description="id of the decision that it replaces")] | None
    ) = None
    valid_from: Annotated[Moment | None, Meta(description="when it was decided; now if unset")] = None
    decision: Annotated[
        Literal["auto", "new"], Meta(description="auto compares its title with others; new says it is another decision")
    ] = "auto"


class SavePattern(WriteOptions, frozen=True, kw_only=True):
    """Input of `save_pattern`."""

    title: Annotated[Title, Meta(description="the pattern's name")]
    description: Annotated[Words, Meta(min_length=1, description="when it applies and what to do")]
    examples: Annotated[Lines, Meta(description="where it was used")] = ()
    entities: Involved = ()


class SaveContext(WriteOptions, frozen=True, kw_only=True):
    """Input of `save_context`."""

    title: Title
    body: Annotated[Words, Meta(min_length=1, description="what to know")]
    entities: Involved = ()


class SavePreference(WriteOptions, frozen=True, kw_only=True):
    """Input of `save_preference`."""

    subject: Annotated[Name, Meta(description="whose preference it is: a name or an id")]
    preference: Annotated[Words, Meta(min_length=1, description="what is liked or disliked, in words")]
    polarity: Annotated[int, Meta(ge=-1, le=1, description="1 liked, -1 disliked, 0 neither")] = 1
    strength: Annotated[float, Meta(ge=0.0, le=1.0, description="how strongly; unset if it was not said")] | None = None


class _Piece(Struct, frozen=True, kw_only=True):
    """What is to be written: a node of its kind, and the names of what it involves."""

    entry: Entry
    text: str
    props: dict[str, Any]
    entities: tuple[str, ...] = ()
    begins: int | None = None


def save_decision(loom: Loom, given: SaveDecision) -> Remembered:
    """Keeps a decision with its reasons, once.

    One that is there already (the same title and rationale, whatever the capitals and spaces) is not written again:
    `duplicate_skip` names it. One whose title says nearly the same as another's replaces that: `superseded`; the older
    one keeps its words and is hidden behind the newer. Where the titles are alike but not enough, or differ in a
    negation, a number or a version, nothing is written: `manual_review` lists the candidates. Repeat the call with
    --supersedes ID if it replaces one of them, or with --decision new if it stands beside them. One that was decided
    before the other, as --valid-from says, replaces nothing by itself.
    """
    rationale = given.rationale if given.rationale.strip() else ""
    piece = _piece(
        loom,
        given,
        kind="Decision",
        words=given.rationale,
        text=_paragraphs(rationale, listed("Alternatives", given.alternatives)) or given.title,
        props={"status": "accepted", "alternatives": list(given.alternatives) or None},
    )
    piece = replace(piece, begins=check_interval(given.valid_from, None)[0])
    settled = given.supersedes is not None or given.decision == "new"
    return _once(loom, given, piece, by_title=not settled, supersedes=given.supersedes, settled=settled)


def save_pattern(loom: Loom, given: SavePattern) -> Remembered:
    """Keeps a way of doing things that has proved itself, once.

    The same title and description, whatever the capitals and spaces, are not written again.
    """
    piece = _piece(
        loom,
        given,
        kind="Pattern",
        words=given.description,
        text=_paragraphs(given.description, listed("Examples", given.examples)),
        props={"examples": list(given.examples) or None},
    )
    return _once(loom, given, piece, by_title=False)


def save_context(loom: Loom, given: SaveContext) -> Remembered:
    """Keeps what to know about the work under a title. Keywords let others follow it as a topic."""
    return _plainly(loom, given, _piece(loom, given, kind="Context", words=given.body, text=given.body, props={}))


def save_preference(loom: Loom, given: SavePreference) -> Remembered:
    """Keeps what somebody likes or dislikes, joined to who it is about."""
    verb = ("neither likes nor dislikes", "likes", "dislikes")[given.polarity]
    entry = Entry(
        kind="Preference",
        title=f"{given.subject} {verb}",
        words=given.preference,
        guard=guard_of(loom, given),
        focus=focus_of(loom, given),
    )
    props = {"polarity": given.polarity, "strength": given.strength}
    piece = _Piece(entry=entry, text=given.preference, props=_props(given, props), entities=(given.subject,))
    return _plainly(loom, given, piece)


def _piece(
    loom: Loom,
    given: SaveDecision | SavePattern | SaveContext,
    *,
    kind: str,
    words: str,
    text: str,
    props: dict[str, Any],
) -> _Piece:
    if not name_key(given.title):
        raise Invalid("the title needs at least one letter or digit", hint="say it in one line")
    entry = Entry(kind=kind, title=given.title, words=words, guard=guard_of(loom, given), focus=focus_of(loom, given))
    return _Piece(entry=entry, text=text, props=_props(given, props), entities=given.entities)


def _props(given: WriteOptions, own: dict[str, Any]) -> dict[str, Any]:
    return props_of(given) | {name: value for name, value in own.items() if value is not None}


def _paragraphs(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)


def _once(
    loom: Loom,
    given: WriteOptions,
    piece: _Piece,
    *,
    by_title: bool,
    supersedes: str | None = None,
    settled: bool = False,
) -> Remembered:
    """Writes a piece unless it is there; one that was replaced is written again where the caller has `settled` it."""
    entry = piece.entry
    piece = replace(piece, props=piece.props | {HASH: entry.content_hash})
    if before := answered(loom, given.request_id, lambda payload: _wrote(payload, piece)):
        return before

    def decide(pos: int) -> Choice[Remembered]:
        older = () if supersedes is None else (_standing_decision(loom, supersedes),)
        judged = judge(loom, entry, by_title=by_title)
        if judged.outcome == "duplicate" and not (settled and judged.newer is not None):
            return Choice(told=_there_already(loom, judged))
        if judged.outcome == "review":
            return Choice(told=_to_review(judged))
        if judged.outcome == "supersede" and not _before(piece, judged.nodes[0]):
            older = (judged.nodes[0].id,)
        matters = concerns(loom, entry, by_title=by_title, relied_on=older)
        return _choice(loom, piece, loom.new_id(given.request_id), pos, older, matters)

    return _told(*decided(loom, decide, request_id=given.request_id))


def _before(piece: _Piece, node: NodeVersion) -> bool:
    return piece.begins is not None and piece.begins < node.interval.valid_from


def _plainly(loom: Loom, given: WriteOptions, piece: _Piece) -> Remembered:
    """Writes a piece whatever else is there."""
    if before := answered(loom, given.request_id, lambda payload: _wrote(payload, piece)):
        return before
    node_id = loom.new_id(given.request_id)
    done = decided(loom, lambda pos: _choice(loom, piece, node_id, pos), request_id=given.request_id)
    return _told(*done)


def _wrote(payload: Any, piece: _Piece) -> str | None:
    """The id of what an earlier call wrote, if that was this."""
    if not isinstance(payload, memory.Remembered):
        return None
    entry = piece.entry
    same = (payload.node_kind, payload.name, payload.text) == (entry.kind, entry.title, piece.text)
    return payload.id if same else None


def _choice(
    loom: Loom,
    piece: _Piece,
    node_id: str,
    pos: int,
    supersedes: tuple[str, ...] = (),
    matters: Callable[[NodeVersion], bool] | None = None,
) -> Choice[Remembered]:
    """To write a piece, with the things it involves; `matters` is what its being written depends on, beside them."""
    entry = piece.entry
    making = Making(loom, entry.guard, SoFar())
    linked = tuple(dict.fromkeys(making.thing(name) for name in piece.entities))
    for thing in linked:
        making.edge(node_id, "INVOLVES", thing)
    payload = memory.Remembered(
        id=node_id,
        node_kind=entry.kind,
        name=entry.title,
        text=piece.text,
        props=piece.props | ({"subject": linked[0]} if entry.kind == "Preference" else {}),
        **asdict(entry.guard),
        focus=entry.focus,
        entities=tuple(making.nodes.values()),
        edges=tuple(making.edges.values()),
        supersedes=supersedes,
        valid_from=None if piece.begins is None else to_iso(piece.begins),
    )
    draft = Draft(kind="memory.remembered", payload=payload)
    planned = making.planned(node_id, (draft,), linked)
    told = Remembered(
        status="superseded" if supersedes else "saved",
        id=node_id,
        supersedes=supersedes,
        linked=linked,
        notes=planned.notes,
    )
    fence = fence_of([planned], pos)
    return Choice(told=told, drafts=[draft], fence=fence if matters is None else _both(fence, matters, entry.kind, pos))


def _both(things: Fence | None, matters: Callable[[NodeVersion], bool], kind: str, pos: int) -> Fence:
    """A fence around what is like a piece, and around the things it names."""
    if things is None or things.concerns is None:
        return Fence(pos=pos, kinds=(kind,), concerns=matters)
    kinds, named = things.kinds, things.concerns
    return Fence(
        pos=pos,
        kinds=(kind, *kinds),
        concerns=lambda node: matters(node) or (node.kind in kinds and named(node)),
    )


def _told(told: Remembered, done: Committed | None) -> Remembered:
    if done is None:
        return told
    status = told.status if done.status == "saved" else done.status
    return replace(told, status=status, citation=done.citation, notes=(*told.notes, *done.notes))


def _there_already(loom: Loom, judged: Judged) -> Remembered:
    (node,) = judged.nodes
    citation = loom.store.citations(loom.viewer, [node.event]).get(node.event, "")
    notes: tuple[str, ...] = ()
    if (newer := judged.newer) is not None:
        notes = (
            f"it was superseded by {newer.id} ({newer.name[:80]}); nothing was written. To decide it again, repeat the"
            f" call with supersedes {newer.id}",
        )
    return Remembered(status="duplicate_skip", id=node.id, citation=citation, notes=notes)


def _to_review(judged: Judged) -> Remembered:
    note = (
        "nothing was written: there are decisions like it. Repeat the call with supersedes (such as"
        f" {judged.alike[0].id}) if it replaces one of them, or with decision new if it stands beside them"
    )
    return Remembered(status="manual_review", candidates=judged.alike, notes=(note,))


def _standing_decision(loom: Loom, node_id: str) -> str:
    found = loom.store.nodes(loom.viewer, NOW, [node_id])
    if not found:
        raise NotFound(
            f"there is no decision {node_id[:80]!r} that holds now and that you may see",
            hint="`weft recall --kinds Decision` finds decisions and gives their ids",
        )
    if found[0].kind != "Decision":
        raise Invalid(f"{node_id[:80]!r} is a {found[0].kind}, not a Decision", hint="name the decision it replaces")
    return node_id


OPERATIONS = (
    Operation(
        name="save_decision",
        summary="keep a decision with its reasons, once",
        input=SaveDecision,
        output=Remembered,
        effect="write",
        toolset="memory",
        run=save_decision,
        arguments=("title", "rationale"),
    ),
    Operation(
        name="save_pattern",
        summary="keep a way of doing things that has proved itself, once",
        input=SavePattern,
        output=Remembered,
        effect="write",
        toolset="memory",
        run=save_pattern,
        arguments=("title", "description"),
    ),
    Operation(
        name="save_context",
        summary="keep what to know about the work, under a title",
        input=SaveContext,
        output=Remembered,
        effect="write",
        toolset="memory",
        run=save_context,
        arguments=("title", "body"),
    ),
    Operation(
        name="save_preference",
        summary="keep what somebody likes or dislikes",
        input=SavePreference,
        output=Remembered,
        effect="write",
        toolset="memory",
        run=save_preference,
        arguments=("subject", "preference"),
    ),
)
