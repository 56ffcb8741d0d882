"""What goes when a person, a source or a session is erased: the nodes meant, and all that was made of them.

Reads every version of every node and every edge, whoever may see it, deleted or not: what is erased leaves nothing
behind.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from weft.errors import Invalid
from weft.kinds import ERASED, MENTION, is_thing
from weft.lexical import name_key
from weft.log.canonical import decode
from weft.log.kinds import payload_of
from weft.log.kinds.conversation import Recorded
from weft.log.kinds.rewriting import What
from weft.loom import Loom
from weft.operations.briefings import briefing_id
from weft.operations.closing import Closing
from weft.operations.code_records import file_id
from weft.operations.mentioned import opening
from weft.operations.outline import Node, Outline, opened
from weft.operations.session_words import said_by
from weft.projection.spelling import IS_UNSPACED
from weft.projection.tokens import KEPT_KINDS, SYMBOL
from weft.projection.unsaid import NOTHING_UNSAID, Unsaid, Words
from weft.types import Event, Viewer

CODE_KINDS: Final = frozenset({"File", "Class", "Function", "Test", "Import"})
MODULE: Final = "/import:"  # stands in the id of a module from outside, behind its project
MIN_NAME: Final = 3  # characters: a shorter name is in every text
MIN_SIGNS: Final = 2  # of a script without spaces
SHOWN: Final = 5


class Selected(Struct, frozen=True, kw_only=True):
    """What goes: ids, the words that nothing may hold afterwards, and notes for who decides.

    `outline` is what was read to find out.
    """

    what: What
    ids: frozenset[str]
    outline: Outline
    names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    unsaid: Unsaid = NOTHING_UNSAID  # what goes of nodes that stay
    files: frozenset[str] = frozenset()  # that are named no more, be anything left of them or not


class Subject(Struct, frozen=True, kw_only=True):
    """A person or thing: the nodes that go by its names."""

    ids: frozenset[str] = frozenset()
    names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


# ---- whom or what is meant


def select_subject(loom: Loom, viewer: Viewer, written: str) -> Selected:
    """Somebody, by name, alias or id: whatever involves or represents them, is said by them or holds a name of theirs.

    Raises Invalid for a name that several things of other names go by, or that is too short to be looked for.
    """
    subject = _subject(loom, viewer, written)
    closing = Closing(loom, viewer, names=subject.names)
    ids = closing.run(subject.ids, subjects=subject.ids)
    return Selected(
        what="subject",
        ids=ids,
        outline=closing.outline,
        names=subject.names,
        notes=(*subject.notes, *unread(len(closing.outline.sealed - ids)), *_bared(loom, viewer, closing)),
        unsaid=closing.bare(),
    )


def _bared(loom: Loom, viewer: Viewer, closing: Closing) -> tuple[str, ...]:
    """That what was compiled of some things goes."""
    bare = sorted(closing.bare().bare)
    if not bare:
        return ()
    names = {row.id: row.name or row.id for row in loom.store.node_words(viewer, ids=tuple(bare[:SHOWN]))}
    told = f"what was compiled of these goes: {', '.join(names.values())}{' and others' if len(bare) > SHOWN else ''}"
    return (f"{told}; `weft compile-truth` makes it again",)


def unread(count: int, what: str = "sealed memories") -> tuple[str, ...]:
    """That names may stand where nobody could look for them."""
    told = f"{count} {what} could not be looked into, and stay if nothing else leads to them"
    return (f"{told}: give their key in WEFT_SENSITIVE_KEY and repeat it",) if count else ()


def _subject(loom: Loom, viewer: Viewer, written: str) -> Subject:
    wanted = written.strip()
    key = name_key(wanted)
    things: dict[str, _Thing] = {}
    for row in _nodes(loom, viewer, wanted):
        things.setdefault(row.id, _Thing(row.kind, set())).names.update(row.names)
    if wanted not in things and _too_short(key):
        raise Invalid(
            f"{written[:80]!r} is too short a name: it would be found in every text",
            hint=f"give {MIN_NAME} letters or more, or the id that `weft recall` shows",
        )
    merged = [(src, dst) for src, rel, dst in loom.store.edge_names(viewer) if rel == "MERGES_INTO"]
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
            notes.append(f"{name!r} is too short to be looked for in texts")
        elif name != wanted and name_key(name) in others and _told_of(things, meant, name):
            notes.append(f"others go by {name!r} too: texts stay that hold no other name of this one")
        else:
            names.append(name)
    return Subject(ids=frozenset(meant), names=tuple(names), notes=tuple(notes))


def _too_short(key: str) -> bool:
    """Whether a name would be found in every text. Where a sign is a word, or nearly, two are enough."""
    return len(key) < (MIN_SIGNS if IS_UNSPACED.search(key) else MIN_NAME)


class _Thing(Struct, frozen=True):
    """What goes by names: its kind, and all names it has had."""

    kind: str
    names: set[str]

    def goes_by(self, key: str) -> bool:
        return is_thing(self.kind) and key in map(name_key, self.names)


def _told_of(things: dict[str, _Thing], meant: set[str], name: str) -> bool:
    """Whether something else that somebody told of has this name; what was only named somewhere does not count."""
    key = name_key(name)
    return any(each not in meant and thing.kind != MENTION and thing.goes_by(key) for each, thing in things.items())


def _ambiguous(written: str, found: dict[str, _Thing]) -> Invalid:
    shown = [f"{node} ({thing.kind}: {', '.join(sorted(thing.names))[:60]})" for node, thing in found.items()]
    return Invalid(f"{written[:80]!r} may mean {len(found)} nodes", hint=f"give the id of one: {', '.join(shown[:5])}")


def select_source(loom: Loom, viewer: Viewer, paths: frozenset[str]) -> Selected:
    """A file, by its path in the project: its document or source file in all versions, with all parts."""
    found = {
        row.id
        for row in loom.store.node_words(viewer, of_kind=lambda kind: kind not in KEPT_KINDS)
        if not row.id.startswith(ERASED)
        and (row.id in paths or (_may_have_place(row.props) and not paths.isdisjoint(_places(opened(loom, row)))))
    }
    closing = Closing(loom, viewer)
    ids = closing.run(found)
    return Selected(
        what="source",
        ids=ids,
        outline=closing.outline,
        files=paths,
        notes=_bared(loom, viewer, closing),
        unsaid=closing.bare(),
    )


def _may_have_place(props: str) -> bool:
    return '"source"' in props or '"path"' in props or '"sealed"' in props


def _places(node: Node) -> Iterator[str]:
    for name in ("source", "path"):
        if isinstance(place := node.props.get(name), str):
            yield place


def select_session(loom: Loom, viewer: Viewer, names: Collection[str]) -> Selected:
    """A session of the log, or a conversation: every node that it alone told of, and what it said of others.

    What others told of stays, without the words that the session brought: descriptions, relations, reasons. That it
    pinned, tagged, edited or deleted something takes nothing from who told it.
    """
    said = said_by(loom, viewer, lambda event: event.session in names or _conversation(event) in names)
    closing = Closing(loom, viewer)
    # A briefing was written in another session of the log, and may be of a conversation that was never recorded.
    briefings = {each for each in map(briefing_id, names) if each in closing.outline.kinds}
    ids = closing.run(said.alone | briefings)
    bare = closing.bare()
    kept = said.shared - ids
    return Selected(
        what="session",
        ids=ids,
        outline=closing.outline,
        notes=(
            *((f"{len(kept)} nodes stay that others told of too, without its words",) if kept else ()),
            *unread(said.sealed),
            *_bared(loom, viewer, closing),
        ),
        unsaid=replace(
            said.unsaid,
            edges=frozenset(edge for edge in said.unsaid.edges if edge[0] not in ids and edge[2] not in ids),
            bare=bare.bare,
            positions=said.unsaid.positions | bare.positions,
        ),
    )


def _conversation(event: Event) -> str:
    payload = payload_of(event) if event.kind == "conversation.recorded" else None
    return payload.id if isinstance(payload, Recorded) else ""


def select_everything(loom: Loom, viewer: Viewer) -> Selected:
    """All nodes of the account; of projects and focus areas their names stay."""
    outline = Closing(loom, viewer).outline
    return Selected(
        what="everything", ids=frozenset(outline.kinds), outline=outline, unsaid=_descriptions(loom, viewer)
    )


def _descriptions(loom: Loom, viewer: Viewer) -> Unsaid:
    """What was said of projects and focus areas."""
    words: dict[tuple[int, str], tuple[tuple[Words, Words], ...]] = {}
    for row in loom.store.node_words(viewer, of_kind=KEPT_KINDS.__contains__):
        if row.summary or row.text:
            said = Words(row.name, row.summary, row.text, decode(row.props.encode()) if row.props else {})
            at = (row.event, row.id)
            words[at] = (*words.get(at, ()), (said, said._replace(summary="", text="")))
    return Unsaid(words=words, positions=frozenset(pos for pos, _ in words))


def select_deleted(loom: Loom, viewer: Viewer, ids: Collection[str]) -> Selected:
    """What is deleted, with weft's own records of it and what was compiled from it.

    What else was made of it was deleted with it, or stays.
    """
    closing = Closing(loom, viewer, records_only=True)
    going = closing.run(ids)
    return Selected(
        what="deleted",
        ids=going,
        outline=closing.outline,
        notes=_bared(loom, viewer, closing),
        unsaid=closing.bare(),
    )


def _nodes(loom: Loom, viewer: Viewer, wanted: str) -> Iterator[Node]:
    """The things of an account, and the node of that id; once for all versions that say the same."""
    seen: set[tuple[str, bytes, str]] = set()
    for found in (loom.store.node_words(viewer, ids=(wanted,)), loom.store.node_words(viewer, of_kind=is_thing)):
        for row in found:
            said = (row.id, row.content_hash, row.props)
            if said not in seen and not row.id.startswith(ERASED):
                seen.add(said)
                yield opened(loom, row)


# ---- how much that is


class Counts(Struct, frozen=True, kw_only=True):
    """What goes, counted, and shown by a few."""

    kinds: dict[str, int]
    texts: int
    standing: int  # memories that can be seen today
    of: int
    some: tuple[tuple[str, str, str], ...] = ()  # id, kind, first words
    openings: frozenset[str] = frozenset()  # how their texts begin
    places: frozenset[str] = frozenset()  # how code is called in its own project


def count(loom: Loom, viewer: Viewer, selected: Selected, going: Collection[str], *, shown: int) -> Counts:
    """How much of the account goes with these."""
    kinds: dict[str, set[str]] = {}
    texts: set[bytes] = set()
    openings: set[str] = set()
    places: set[str] = set()
    some: dict[str, tuple[str, str, str]] = {}
    for row in loom.store.node_words(viewer, ids=tuple(going)):
        kinds.setdefault(row.kind, set()).add(row.id)
        texts.add(row.content_hash)
        node = opened(loom, row)
        name, _, text = node.words
        places.update(_called(node))
        # Who did not ask to see what is sensitive is told that it goes, not what it says.
        said = "(sensitive)" if row.sensitive and not loom.viewer.sensitive else (name or text)[:80]
        openings.add(opening(text))
        if row.id in some or len(some) < shown:
            some[row.id] = (row.id, row.kind, said)
    told: dict[str, Any] = {kind: len(found) for kind, found in sorted(kinds.items())}
    standing = selected.outline.standing
    return Counts(
        kinds=told,
        texts=len(texts),
        standing=len(standing.intersection(going)),
        of=len(standing),
        some=tuple(some.values()),
        openings=frozenset(openings - {""}),
        places=frozenset(places),
    )


def _called(node: Node) -> Iterator[str]:
    """How answers about code call a node: by its path in the project, a symbol with its key, a module by its name."""
    whole, mark, key = node.id.partition(SYMBOL)
    if node.kind == "Import":
        _, module, name = node.id.rpartition(MODULE)
        yield f"{module.removeprefix('/')}{name}"
    elif node.kind in CODE_KINDS and isinstance(path := node.props.get("path"), str) and path:
        yield f"{path}{mark}{key}"
        escaped = file_id(None, path)
        if whole.endswith(escaped):
            yield f"{escaped}{mark}{key}"
