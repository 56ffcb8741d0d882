"""What a log compaction looks at: the memories of a project that stand and that the caller may see, in order."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from weft.context.compaction import Row
from weft.errors import Invalid, NotFound
from weft.instants import parse_instant
from weft.kinds import RECORD_KINDS, STRUCTURAL_KINDS, VIEWS
from weft.lexical import query_terms, text_to_embed
from weft.loom import Loom
from weft.operations.stamping import conversation_key, conversation_named
from weft.queries import TextQuery
from weft.retrieval.derived import DERIVED_FROM
from weft.types import MAX_IDS_PER_READ, NOW, Find, Guard, NodeVersion, When

PurposeName = Annotated[
    Literal["coding", "review", "release", "security", "research", "coordinate"],
    Meta(description="what the memories are needed for"),
]
WHOLE: Final = "whole"
PAGE: Final = 1_000
MAX_ROWS: Final = 50_000  # the newest, of one compaction
MAX_FOUND: Final = 5_000  # by the words of a query
MAX_PROPOSALS: Final = 1_000
# Structure, code and things are not what was said; briefings and what was read out of a memory say it again.
NOT_COMPACTED: Final = tuple(
    sorted((STRUCTURAL_KINDS - {"Section"}) | RECORD_KINDS | VIEWS["entity"] | VIEWS["code"] | {"Briefing"})
)


class Selection(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which memories of a project are meant; all of them if nothing is set."""

    project: str
    query: str = ""
    since: str = ""
    session: str = ""

    @property
    def key(self) -> str:
        """Tells selections apart without their words: WHOLE for the whole project."""
        parts = (self.query, self.since, self.session)
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16] if any(parts) else WHOLE


class Gathered(Struct, frozen=True, kw_only=True):
    """Nodes in the order of their events, and what there is to say of how they were found."""

    nodes: tuple[NodeVersion, ...]
    notes: tuple[str, ...] = ()


def gather(loom: Loom, selection: Selection) -> Gathered:
    """The memories that are meant. What is sensitive is never compacted. Raises NotFound for an unknown session."""
    reader = replace(loom, viewer=replace(loom.viewer, sensitive=False))
    when = reader.store.pin(reader.viewer, NOW)
    nodes, whole = _nodes(reader, selection, when)
    kept = sorted((node for node in nodes if says_something(node)), key=lambda node: (node.event, node.row))
    if selection.since:
        begin = parse_instant(selection.since, field="since")
        kept = [node for node in kept if node.interval.valid_from >= begin]
    notes = () if whole else (f"only the newest {len(nodes):,} were looked at",)
    return Gathered(nodes=tuple(kept), notes=notes)


def _nodes(loom: Loom, selection: Selection, when: When) -> tuple[list[NodeVersion], bool]:
    find = Find(projects=(selection.project, None), without_kinds=NOT_COMPACTED)
    if selection.session:
        node = conversation_named(loom, selection.session)
        if node is None:
            raise NotFound(
                f"there is no conversation {selection.session[:80]!r} that you may see",
                hint="name it as record_turns does; `weft conversation-search` finds what was said",
            )
        find = replace(find, id_prefix=f"{conversation_key(loom, node.id)}#")
    if selection.query:
        return _by_words(loom, selection, when, find)
    found: list[NodeVersion] = []
    for page in _pages(loom, when, find):
        found += page
        if len(found) >= MAX_ROWS:
            return found[:MAX_ROWS], False
    return found, True


def _pages(loom: Loom, when: When, find: Find) -> Iterator[Sequence[NodeVersion]]:
    while page := loom.store.find(loom.viewer, when, find, limit=PAGE).nodes:
        yield page
        if len(page) < PAGE:
            return
        find = replace(find, before=page[-1].row)


def _by_words(loom: Loom, selection: Selection, when: When, find: Find) -> tuple[list[NodeVersion], bool]:
    terms = tuple(query_terms(selection.query))
    if not terms:
        raise Invalid("the query has no words to look for", hint="give words that the memories have")
    query = TextQuery(terms=terms, projects=find.projects)
    hits = loom.store.search_text(loom.viewer, when, query, limit=MAX_FOUND).hits
    prefix = find.id_prefix or ""
    ids = [hit.node.id for hit in hits if hit.node.kind not in NOT_COMPACTED and hit.node.id.startswith(prefix)]
    found = [
        node
        for start in range(0, len(ids), MAX_IDS_PER_READ)
        for node in loom.store.nodes(loom.viewer, when, ids[start : start + MAX_IDS_PER_READ])
    ]
    return found, len(hits) < MAX_FOUND


def says_something(node: NodeVersion) -> bool:
    """Whether a node has words of its own to compact."""
    in_words = bool(node.text.strip() or (node.summary.strip() and node.kind != "Section"))
    return in_words and DERIVED_FROM not in node.props


# ---- as a policy sees them


def rows_of(loom: Loom, nodes: Sequence[NodeVersion]) -> list[Row]:
    """Nodes as rows, in order."""
    disputed = _disputed(loom)
    now = loom.clock.now_us()
    return [_row(node, node.id in disputed, now) for node in nodes]


def waiting_rows(loom: Loom, project: str) -> list[NodeVersion]:
    """Proposals that wait or were rejected: for whoever coordinates they are told of, and never kept."""
    find = Find(kinds=("Proposal",), projects=(project, None))
    found = loom.store.find(loom.viewer, NOW, find, limit=MAX_PROPOSALS).nodes
    return [node for node in found if node.props.get("status") != "accepted"]


def by_guard(nodes: Sequence[NodeVersion], project: str) -> Mapping[Guard, tuple[NodeVersion, ...]]:
    """Nodes by who may see them, whatever project they are of: what is for all is compacted in this one."""
    found: dict[Guard, list[NodeVersion]] = {}
    for node in nodes:
        found.setdefault(replace(node.guard, project=project), []).append(node)
    return {guard: tuple(found[guard]) for guard in sorted(found, key=lambda guard: (guard.scope, guard.agents))}


def words_of(node: NodeVersion) -> str:
    """All that a node says."""
    return text_to_embed(node.name, node.summary, node.text)


def _row(node: NodeVersion, disputed: bool, now: int) -> Row:  # noqa: FBT001
    return Row(
        id=node.id,
        kind=node.kind,
        text=words_of(node),
        status=_text(node.props.get("status")).casefold(),
        topics=(*_texts(node.props.get("keywords")), _text(node.props.get("purpose"))),
        expired=_is_over(node.props.get("expires_at"), now),
        disputed=disputed,
    )


def _disputed(loom: Loom) -> frozenset[str]:
    """What a proposal that waits contradicts, and what says otherwise."""
    find = Find(kinds=("Proposal",), projects=(loom.settings.project, None), props={"status": "pending"})
    found = loom.store.find(loom.viewer, NOW, find, limit=MAX_PROPOSALS).nodes
    return frozenset(str(node.props[name]) for node in found for name in ("old_fact", "source") if name in node.props)


def _is_over(written: Any, now: int) -> bool:
    try:
        return isinstance(written, str) and parse_instant(written) <= now
    except Invalid:
        return False


def _text(held: Any) -> str:
    return held if isinstance(held, str) else ""


def _texts(held: Any) -> tuple[str, ...]:
    return tuple(each for each in held if isinstance(each, str)) if isinstance(held, list | tuple) else ()
