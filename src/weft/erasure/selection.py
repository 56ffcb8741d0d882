"""The nodes to erase for a person, a source, a session or everything: those named, and all made from them.

Reads every version of every node and edge, whatever its guard, including deleted ones.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from weft.checkout.briefings import briefing_id
from weft.core.errors import Invalid
from weft.core.kinds import ERASED, MENTION, is_thing
from weft.core.types import Event, Viewer
from weft.erasure.clear_copies import opening
from weft.erasure.closure import AccountIndex, Closure, OpenedNode, opened
from weft.erasure.retracted import NO_RETRACTION, NodeText, Retraction, said_by
from weft.graph.placeholders import KEPT_KINDS, SYMBOL
from weft.log.canonical import decode
from weft.log.kinds import payload_of
from weft.log.kinds.conversation import Recorded
from weft.log.kinds.rewriting import What
from weft.retrieval.citations.file_ids import file_id
from weft.runtime.call_context import CallContext
from weft.text.lexical import name_key
from weft.text.spelling import IS_UNSPACED

CODE_KINDS: Final = frozenset({"File", "Class", "Function", "Test", "Import"})
MODULE: Final = "/import:"  # in the id of an external module, after its project
MIN_NAME: Final = 3  # characters: a shorter name would match every text
MIN_SIGNS: Final = 2  # in scripts without spaces
SHOWN: Final = 5


class Selected(Struct, frozen=True, kw_only=True):
    """A selection: ids, names that no text may contain afterwards, and notes for the person who decides.

    `index` is the account index that was read for it.
    """

    what: What
    ids: frozenset[str]
    index: AccountIndex
    names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    retraction: Retraction = NO_RETRACTION  # words to remove from nodes that stay
    files: frozenset[str] = frozenset()  # paths that may no longer be named


class Subject(Struct, frozen=True, kw_only=True):
    """A person or thing: the nodes with its names."""

    ids: frozenset[str] = frozenset()
    names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


# ---- what is meant


def select_subject(ctx: CallContext, viewer: Viewer, written: str) -> Selected:
    """A person or thing by name, alias or id: all that involves, represents or quotes it or contains its names.

    Raises Invalid for an ambiguous name, or one too short to search for.
    """
    subject = _subject(ctx, viewer, written)
    closing = Closure(ctx, viewer, names=subject.names)
    ids = closing.run(subject.ids, subjects=subject.ids)
    return Selected(
        what="subject",
        ids=ids,
        index=closing.index,
        names=subject.names,
        notes=(*subject.notes, *unread(len(closing.index.sealed - ids)), *_bared(ctx, viewer, closing)),
        retraction=closing.bare(),
    )


def _bared(ctx: CallContext, viewer: Viewer, closing: Closure) -> tuple[str, ...]:
    """A note on compiled truths that are removed."""
    bare = sorted(closing.bare().bare)
    if not bare:
        return ()
    names = {row.id: row.name or row.id for row in ctx.store.node_words(viewer, ids=tuple(bare[:SHOWN]))}
    told = f"the compiled truths of {', '.join(names.values())}{' and others' if len(bare) > SHOWN else ''} are removed"
    return (f"{told}; `weft compile-truth` makes them anew",)


def unread(count: int, what: str = "encrypted memories") -> tuple[str, ...]:
    """A note on texts that could not be searched for names."""
    told = f"{count} {what} could not be searched, and stay unless they are connected to what is erased"
    return (f"{told}: set their key in WEFT_SENSITIVE_KEY and repeat the call",) if count else ()


def _subject(ctx: CallContext, viewer: Viewer, written: str) -> Subject:
    wanted = written.strip()
    key = name_key(wanted)
    things: dict[str, _Thing] = {}
    for row in _nodes(ctx, viewer, wanted):
        things.setdefault(row.id, _Thing(row.kind, set())).names.update(row.names)
    if wanted not in things and _too_short(key):
        raise Invalid(
            f"the name {written[:80]!r} is too short: it would match every text",
            hint=f"give {MIN_NAME} letters or more, or the id that `weft recall` shows",
        )
    merged = [(src, dst) for src, rel, dst in ctx.store.edge_names(viewer) if rel == "MERGES_INTO"]
    found = {wanted} if wanted in things else {each for each, thing in things.items() if thing.goes_by(key)}
    moved = {src for src, _ in merged}
    told = {each for each in found if things[each].kind != MENTION and each not in moved}
    apart = {frozenset(map(name_key, things[each].names)) for each in told}
    if len(apart) > 1 and any(not one <= other and not other <= one for one in apart for other in apart):
        raise _ambiguous(written, {each: things[each] for each in sorted(told)})
    meant = found | {dst for src, dst in merged if src in found}
    meant |= {src for src, dst in merged if dst in meant and all(to in meant for one, to in merged if one == src)}
    own = dict.fromkeys(name for each in sorted(meant) if each in things for name in sorted(things[each].names))
    own = own if wanted in things else {wanted: None, **own}
    away = meant | moved
    others = {name_key(name) for each, thing in things.items() if each not in away for name in thing.names}
    notes: list[str] = []
    names: list[str] = []
    for name in own:
        if _too_short(name_key(name)):
            notes.append(f"{name!r} is too short to search for in texts")
        elif name != wanted and name_key(name) in others and _told_of(things, meant, name):
            notes.append(f"{name!r} is also a name of others: texts that contain no other name of this one stay")
        else:
            names.append(name)
    return Subject(ids=frozenset(meant), names=tuple(names), notes=tuple(notes))


def _too_short(key: str) -> bool:
    """Whether a name would match every text. In scripts where a sign is nearly a word, two are enough."""
    return len(key) < (MIN_SIGNS if IS_UNSPACED.search(key) else MIN_NAME)


class _Thing(Struct, frozen=True):
    """A named node: its kind and all names it ever had."""

    kind: str
    names: set[str]

    def goes_by(self, key: str) -> bool:
        return is_thing(self.kind) and key in map(name_key, self.names)


def _told_of(things: dict[str, _Thing], meant: set[str], name: str) -> bool:
    """Whether another entity, not just a mention, has this name."""
    key = name_key(name)
    return any(each not in meant and thing.kind != MENTION and thing.goes_by(key) for each, thing in things.items())


def _ambiguous(written: str, found: dict[str, _Thing]) -> Invalid:
    shown = [f"{node} ({thing.kind}: {', '.join(sorted(thing.names))[:60]})" for node, thing in found.items()]
    return Invalid(f"{written[:80]!r} matches {len(found)} nodes", hint=f"give the id of one: {', '.join(shown[:5])}")


def select_source(ctx: CallContext, viewer: Viewer, paths: frozenset[str]) -> Selected:
    """A file, by its path in the project: its document or source file in all versions, with all parts."""
    found = {
        row.id
        for row in ctx.store.node_words(viewer, of_kind=lambda kind: kind not in KEPT_KINDS)
        if not row.id.startswith(ERASED)
        and (row.id in paths or (_may_have_place(row.props) and not paths.isdisjoint(_places(opened(ctx, row)))))
    }
    closing = Closure(ctx, viewer)
    ids = closing.run(found)
    return Selected(
        what="source",
        ids=ids,
        index=closing.index,
        files=paths,
        notes=_bared(ctx, viewer, closing),
        retraction=closing.bare(),
    )


def _may_have_place(props: str) -> bool:
    return '"source"' in props or '"path"' in props or '"sealed"' in props


def _places(node: OpenedNode) -> Iterator[str]:
    for name in ("source", "path"):
        if isinstance(place := node.props.get(name), str):
            yield place


def select_session(ctx: CallContext, viewer: Viewer, names: Collection[str]) -> Selected:
    """A session of the log or a conversation: nodes that only it described, and its words about others.

    What others described stays, without the session's descriptions, relations and reasons. Nodes that the session only
    pinned, tagged, edited or deleted stay with their authors.
    """
    said = said_by(ctx, viewer, lambda event: event.session in names or _conversation(event) in names)
    closing = Closure(ctx, viewer)
    # A briefing is written in another session of the log, maybe for a conversation that was never recorded.
    briefings = {each for each in map(briefing_id, names) if each in closing.index.kinds}
    ids = closing.run(said.alone | briefings)
    bare = closing.bare()
    kept = said.shared - ids
    return Selected(
        what="session",
        ids=ids,
        index=closing.index,
        notes=(
            *((f"{len(kept)} nodes that others described too stay, without the session's words",) if kept else ()),
            *unread(said.sealed),
            *_bared(ctx, viewer, closing),
        ),
        retraction=replace(
            said.retraction,
            edges=frozenset(edge for edge in said.retraction.edges if edge[0] not in ids and edge[2] not in ids),
            bare=bare.bare,
            positions=said.retraction.positions | bare.positions,
        ),
    )


def _conversation(event: Event) -> str:
    payload = payload_of(event) if event.kind == "conversation.recorded" else None
    return payload.id if isinstance(payload, Recorded) else ""


def select_everything(ctx: CallContext, viewer: Viewer) -> Selected:
    """All nodes of the account; projects and focus areas keep their names."""
    index = Closure(ctx, viewer).index
    return Selected(what="everything", ids=frozenset(index.kinds), index=index, retraction=_descriptions(ctx, viewer))


def _descriptions(ctx: CallContext, viewer: Viewer) -> Retraction:
    """The retraction of the descriptions of projects and focus areas."""
    words: dict[tuple[int, str], tuple[tuple[NodeText, NodeText], ...]] = {}
    for row in ctx.store.node_words(viewer, of_kind=KEPT_KINDS.__contains__):
        if row.summary or row.text:
            said = NodeText(row.name, row.summary, row.text, decode(row.props.encode()) if row.props else {})
            at = (row.event, row.id)
            words[at] = (*words.get(at, ()), (said, said._replace(summary="", text="")))
    return Retraction(words=words, positions=frozenset(pos for pos, _ in words))


def select_deleted(ctx: CallContext, viewer: Viewer, ids: Collection[str]) -> Selected:
    """Deleted nodes, with weft's own records of them and their compiled truths.

    Other nodes made from them were deleted with them, or stay.
    """
    closing = Closure(ctx, viewer, records_only=True)
    going = closing.run(ids)
    return Selected(
        what="deleted",
        ids=going,
        index=closing.index,
        notes=_bared(ctx, viewer, closing),
        retraction=closing.bare(),
    )


def _nodes(ctx: CallContext, viewer: Viewer, wanted: str) -> Iterator[OpenedNode]:
    """The entities of an account and the node of that id, once for equal versions."""
    seen: set[tuple[str, bytes, str]] = set()
    for found in (ctx.store.node_words(viewer, ids=(wanted,)), ctx.store.node_words(viewer, of_kind=is_thing)):
        for row in found:
            said = (row.id, row.content_hash, row.props)
            if said not in seen and not row.id.startswith(ERASED):
                seen.add(said)
                yield opened(ctx, row)


# ---- counting


class Counts(Struct, frozen=True, kw_only=True):
    """Counts of what is erased, and a few examples."""

    kinds: dict[str, int]
    texts: int
    standing: int  # memories that are visible now
    of: int
    some: tuple[tuple[str, str, str], ...] = ()  # id, kind, first words
    openings: frozenset[str] = frozenset()  # first words of their texts
    places: frozenset[str] = frozenset()  # names of code in its project


def count(ctx: CallContext, viewer: Viewer, selected: Selected, going: Collection[str], *, shown: int) -> Counts:
    """Counts what is erased with these nodes."""
    kinds: dict[str, set[str]] = {}
    texts: set[bytes] = set()
    openings: set[str] = set()
    places: set[str] = set()
    some: dict[str, tuple[str, str, str]] = {}
    for row in ctx.store.node_words(viewer, ids=tuple(going)):
        kinds.setdefault(row.kind, set()).add(row.id)
        texts.add(row.content_hash)
        node = opened(ctx, row)
        name, _, text = node.words
        places.update(_called(node))
        # Sensitive words are shown only to callers who asked for them.
        said = "(sensitive)" if row.sensitive and not ctx.viewer.sensitive else (name or text)[:80]
        openings.add(opening(text))
        if row.id in some or len(some) < shown:
            some[row.id] = (row.id, row.kind, said)
    told: dict[str, Any] = {kind: len(found) for kind, found in sorted(kinds.items())}
    standing = selected.index.standing
    return Counts(
        kinds=told,
        texts=len(texts),
        standing=len(standing.intersection(going)),
        of=len(standing),
        some=tuple(some.values()),
        openings=frozenset(openings - {""}),
        places=frozenset(places),
    )


def _called(node: OpenedNode) -> Iterator[str]:
    """The names of a node in answers about code: its path, a symbol's path and key, a module's name."""
    whole, mark, key = node.id.partition(SYMBOL)
    if node.kind == "Import":
        _, module, name = node.id.rpartition(MODULE)
        yield f"{module.removeprefix('/')}{name}"
    elif node.kind in CODE_KINDS and isinstance(path := node.props.get("path"), str) and path:
        yield f"{path}{mark}{key}"
        escaped = file_id(None, path)
        if whole.endswith(escaped):
            yield f"{escaped}{mark}{key}"
