"""`assemble_context`: the latest events and the hits of a question in one block of cited lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

from msgspec import Meta, Struct

from weft.checkout.report import UNSUPPORTED, unsourced
from weft.context.arrange import ContextLine, by_worth, order_of
from weft.context.assemble import ORDERS, ContextFrame, ContextSection, assemble, ordered, under
from weft.context.budget import CONTEXT_TOKENS
from weft.context.hits import lines_of, read_sources, ties_among
from weft.context.relations import Ties
from weft.context.wording import plain
from weft.conversations.turns import LATEST
from weft.core.errors import NotFound, StoreError
from weft.core.kinds import DERIVED_FROM
from weft.core.types import Find, NodeVersion, When
from weft.recall.priority import NOT_SAID
from weft.recall.request import Asking, asks_of_then, notes_of, read_ask
from weft.retrieval import recipes
from weft.retrieval.pipeline import Answer, run
from weft.retrieval.sources.subscriptions import cited_by_id
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Name
from weft.runtime.operation import Operation
from weft.writing.checks.provenance import conversation_key, conversation_named

REPLAY_SHARE: Final = 0.5  # of the budget; the rest is for the hits
MAX_REPLAY: Final = 200
SPARE: Final = 3  # times as many are read: some were only extracted from others


class AssembleContext(Asking, frozen=True, kw_only=True):
    """Input of `assemble_context`."""

    session: Annotated[
        Name | None, Meta(description="replay the last turns of this conversation; of the project if unset")
    ] = None
    replay: Annotated[int, Meta(ge=0, le=MAX_REPLAY, description="how many of the last turns or events")] = 20
    max_tokens: Annotated[int, Meta(ge=50, le=100_000, description="the most tokens of the block")] = CONTEXT_TOKENS


class AssembledContext(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The block in `context`, how many lines of it are replayed and recalled, and whether the replay was cut."""

    query: str
    status: str
    context: str
    replayed: int = 0
    recalled: int = 0
    truncated: bool = False
    tokens: int = 0
    sources: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    degraded: str = ""
    notes: tuple[str, ...] = ()


def assemble_context(ctx: CallContext, given: AssembleContext) -> AssembledContext:
    """Joins the latest events, newest last, and the hits of a question in one block of cited lines.

    With --session the events are the turns of that conversation, else the latest memories of the project. A replay that
    is too long for the budget keeps its latest lines, and the answer says so.
    """
    answer = run(recipes.DEFAULT, ctx, read_ask(ctx, given, as_of=given.as_of is not None))
    replay, more, unread = _replay(ctx, given, answer)
    ranked = answer.ranked or ()
    sources = read_sources(ctx, answer, ranked)
    recalled, alone = lines_of(ctx, answer, ranked, sources)
    ties, untied = ties_among(ctx, answer, ranked)
    where = "all projects" if given.everywhere else f"project {plain(given.project or ctx.settings.project)}"
    frame = ContextFrame(head=f"Context from memory, {where}.")
    replayed_ids, hits = {line.node.id for line in replay}, {line.node.id for line in recalled}
    others = [line for line in recalled if line.node.id not in replayed_ids]
    made = assemble(_sections(given, answer, ties, replay, others, more=more), ties, frame, given.max_tokens)
    if (replayed_ids & hits) - {line.id for line in made.lines}:
        # A hit is not cut off with the replay: then it is listed among the recalled lines only.
        rest = [line for line in replay if line.node.id not in hits]
        sections = _sections(given, answer, ties, rest, recalled, more=more, elsewhere=True)
        made = assemble(sections, ties, frame, given.max_tokens)
    shown = {line.id for line in made.lines}
    truncated = more or "replay" in made.omitted
    warnings = unsourced([line for line in (*replay, *recalled) if line.node.id in shown])
    if truncated and not ranked:
        warnings.append(UNSUPPORTED)
    notes = (*notes_of(ctx, answer, ranked, then=asks_of_then(given)), *unread, *sources.notes, *alone, *untied)
    return AssembledContext(
        query=given.query,
        status="succeeded" if shown else "empty",
        context=made.text if shown else "",
        replayed=len(made.sections.get("replay", ())),
        recalled=len(made.sections.get("recalled", ())),
        truncated=truncated,
        tokens=made.tokens,
        sources=made.sources,
        warnings=tuple(warnings),
        degraded=answer.degraded,
        notes=tuple(dict.fromkeys((*notes, *warnings))),
    )


def _sections(
    given: AssembleContext,
    answer: Answer,
    ties: Ties,
    replay: Sequence[ContextLine],
    recalled: Sequence[ContextLine],
    *,
    more: bool,
    elsewhere: bool = False,
) -> tuple[ContextSection, ContextSection]:
    """`more`: there is more to replay; `elsewhere`: some of it is listed among the recalled lines."""

    def heading(shown: int) -> str:
        last = "Last turns" if given.session else "Last written"
        but = ", without the lines recalled below" if elsewhere else ""
        return f"{last}, newest last{but}{' (earlier ones omitted)' if more or shown < len(replay) else ''}"

    order = ORDERS[order_of(answer.intent, ties)]
    return (
        ContextSection(
            name="replay",
            lines=replay[::-1],
            share=REPLAY_SHARE,
            groups=lambda lines: under(heading(len(lines)))(lines[::-1]),
        ),
        ContextSection(
            name="recalled",
            lines=by_worth(recalled, answer.intent, ties),
            share=1.0 - REPLAY_SHARE,
            groups=ordered(f"Recalled ({order})", answer.intent, ties),
        ),
    )


def _replay(
    ctx: CallContext, given: AssembleContext, answer: Answer
) -> tuple[list[ContextLine], bool, tuple[str, ...]]:
    """The last turns or events, oldest first, whether there are more, and a note where they cannot be read.

    Raises NotFound for a conversation that the caller does not see.
    """
    if not given.replay or answer.degraded:
        return [], False, ("nothing is replayed: the graph could not be read",) if given.replay else ()
    if given.session and conversation_named(ctx, given.session) is None:
        raise NotFound(
            f"there is no conversation {given.session[:80]!r} that you may see",
            hint="name it as record_turns does; without a session the project is replayed",
        )
    try:
        nodes = _last(ctx, given, answer.ask.when)
        citations = cited_by_id(ctx, nodes[: given.replay])
    except StoreError as problem:
        return [], False, (f"the latest events could not be read: {problem.message}",)
    lines = [
        ContextLine(node=node, score=0.0, citation=citations.get(node.id, ""))
        for node in reversed(nodes[: given.replay])
    ]
    return lines, len(nodes) > given.replay, ()


def _last(ctx: CallContext, given: AssembleContext, when: When) -> tuple[NodeVersion, ...]:
    """Newest first, one more than is asked for."""
    if given.session:
        find = Find(kinds=("Message",), id_prefix=f"{conversation_key(ctx, given.session)}#")
        when = LATEST if given.as_of is None and given.known_at is None else when
    else:
        projects = None if given.everywhere else (given.project or ctx.settings.project, None)
        without = tuple(each for each in NOT_SAID if each != "Message")
        find = Find(projects=projects, kinds=given.kinds, without_kinds=without)
    found = ctx.store.find(ctx.viewer, when, find, limit=SPARE * given.replay + 1).nodes
    # Extracted nodes only repeat their memory.
    return tuple(node for node in found if DERIVED_FROM not in node.props)[: given.replay + 1]


OPERATIONS = (
    Operation(
        name="assemble_context",
        summary="join the latest events and the hits of a question in one cited block",
        input=AssembleContext,
        output=AssembledContext,
        effect="read",
        toolset="memory",
        run=assemble_context,
        arguments=("query",),
        rare=("asked_at", "min_score"),
        budget="max_tokens",
        told=("sources",),
    ),
)
