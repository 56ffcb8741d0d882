"""How the log, the store's upkeep, settings, keys and tokens read to a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from weft.retrieval.views.ground import flat
from weft.surfaces.mcp.words import QUOTED, Rendered, block, counted, facts, line, node_id, said, value

if TYPE_CHECKING:
    from weft.adopt import Adopted
    from weft.operations.indexing import Reindexed
    from weft.operations.keys import KeyMade, KeyRotated
    from weft.operations.logbook import Events, Exported, HeadShown
    from weft.operations.pending import PendingDelivered
    from weft.operations.routing import AnalysisRouted
    from weft.operations.setting_up import ConfigShown, Initialised
    from weft.operations.showing import EventShown
    from weft.operations.tokens import TokenCreated, TokenRevoked, TokenShown, TokensListed
    from weft.operations.upkeep import BackedUp, Rebuilt

PATH_CHARACTERS = 500


def events(answer: Events) -> Rendered:
    """Event after event, each with what it holds."""
    if not answer.events:
        return Rendered(summary="There is no such event.")
    return Rendered(
        summary=f"{counted(len(answer.events), 'event')} of the log. {QUOTED}", blocks=tuple(map(_event, answer.events))
    )


def _event(event: EventShown) -> str:
    head = facts(flat(event.citation), line(event.kind), f"by {line(event.agent)}", event.recorded_at[:19])
    if event.erased:
        return f"{head} · (erased)"
    return f"{head}\n{block(msgspec.json.encode(event.payload).decode())}" if event.payload else head


def head(answer: HeadShown) -> Rendered:
    """Where the log and its latest sessions stand."""
    lines = [facts(node_id(each.session), f"event {each.seq:,}", each.hash[:16]) for each in answer.sessions]
    when = f", written {answer.at[:19]}" if answer.at else ""
    return Rendered(
        summary=f"The log has {counted(answer.pos, 'event')}{when}; its digest is {answer.digest}.",
        blocks=("\n".join(["latest sessions:", *lines]),) if lines else (),
    )


def exported(answer: Exported) -> Rendered:
    """Where the log was written to."""
    where = said(answer.path, PATH_CHARACTERS)
    return Rendered(summary=f"{counted(answer.events, 'event')} written to {where}; the head is {answer.digest}.")


def adopted(answer: Adopted) -> Rendered:
    """What was taken in from another log."""
    how = "exactly as they were" if answer.exact else "known from now on"
    there = f"{answer.already_there:,} were here already"
    return Rendered(summary=f"{counted(answer.events, 'event')} taken in, {how}; {there}. The head is {answer.digest}.")


def rebuilt(answer: Rebuilt) -> Rendered:
    """Whether what was folded anew is as it was."""
    same = {True: ", equal to what stood before", False: ", and what stood before was different", None: ""}
    return Rendered(summary=f"{counted(answer.events, 'event')} folded anew{same[answer.equal]}.")


def backed_up(answer: BackedUp) -> Rendered:
    """Where the copy is."""
    audit = ", and the audit with it" if answer.audit_digest else ""
    where = said(answer.path, PATH_CHARACTERS)
    return Rendered(summary=f"The store was copied to {where}{audit}; its head is {answer.digest}.")


def delivered(answer: PendingDelivered) -> Rendered:
    """What became of writes that waited."""
    refused = f", {len(answer.refused):,} refused" if answer.refused else ""
    summary = f"{counted(answer.delivered, 'write')} delivered, {answer.left:,} still waiting{refused}."
    lines = [f"refused: {line(each, PATH_CHARACTERS)}" for each in answer.refused]
    return Rendered(summary=summary, blocks=("\n".join(lines),) if lines else ())


def routed(answer: AnalysisRouted) -> Rendered:
    """How to go about a task, and in which steps."""
    steps = [f"{number}. {line(each, PATH_CHARACTERS)}" for number, each in enumerate(answer.suggested_steps, start=1)]
    cues = [f"{said(each.word)} speaks for {'none' if each.denied else each.mode}" for each in answer.cues]
    blocks = [line(answer.rationale, PATH_CHARACTERS), *(["\n".join(steps)] if steps else []), "; ".join(cues)]
    return Rendered(summary=f"Go about it {_WAYS[answer.mode]}.", blocks=tuple(filter(None, blocks)))


_WAYS = {
    "sequential": "step by step (sequential)",
    "debate": "by weighing both sides (debate)",
    "socratic": "by asking first (socratic)",
}


def reindexed(answer: Reindexed) -> Rendered:
    """What was embedded, and with what."""
    model = f" with {line(answer.model)}" if answer.model else ""
    told = [f"{counted(answer.embedded, 'text')} embedded{model}."]
    if answer.switched_from is not None:
        told.append(
            f"Questions go by {line(answer.in_use or '')} from now on, no longer by {line(answer.switched_from)}."
        )
    told += [f"{counted(gone, 'vector')} of {line(each)} dropped." for each, gone in answer.dropped.items()]
    return Rendered(
        summary=" ".join(told),
        blocks=("\n".join(line(each, PATH_CHARACTERS) for each in answer.indexes),) if answer.indexes else (),
    )


def initialised(answer: Initialised) -> Rendered:
    """What was set up."""
    where, store = said(answer.path, PATH_CHARACTERS), said(answer.store, PATH_CHARACTERS)
    return Rendered(summary=f"Project {node_id(answer.project)} is set up in {where}; its memories go to {store}.")


def config(answer: ConfigShown) -> Rendered:
    """One setting a line, with where it comes from."""
    lines = [
        facts(f"{line(each.name)}: {value(each.value)}", line(each.origin, PATH_CHARACTERS), line(each.summary, 500))
        for each in answer.settings
    ]
    changed = sum(each.origin != "default" for each in answer.settings)
    summary = f"{counted(len(lines), 'setting')}, {changed} of them not the default."
    return Rendered(summary=summary, blocks=("\n".join(lines),) if lines else ())


def key_made(answer: KeyMade) -> Rendered:
    """A new key, to be kept where weft will find it."""
    return Rendered(summary="A new key was made; keep it where `weft config` says.", blocks=(line(answer.key, 500),))


def key_rotated(answer: KeyRotated) -> Rendered:
    """What was sealed anew."""
    how = {"saved": "sealed anew", "partial": "sealed anew so far", "failed": "sealed anew before it failed"}
    what = f"{counted(answer.strings, 'string')} of {counted(answer.events, 'event')}"
    return Rendered(summary=f"{what} {how[answer.status]} under key {line(answer.key)}.")


def token_created(answer: TokenCreated) -> Rendered:
    """The token itself, once, and what it may do."""
    return Rendered(
        summary=f"Token {node_id(answer.made.id)} was made; it is shown this once.",
        blocks=(line(answer.token, 500), _token(answer.made)),
    )


def tokens(answer: TokensListed) -> Rendered:
    """One token a line."""
    lines = tuple(map(_token, answer.tokens))
    summary = f"{counted(answer.total, 'token')}, {answer.live:,} of them live; {len(lines)} shown."
    return Rendered(summary=summary, blocks=("\n".join(lines),) if lines else ())


def token_revoked(answer: TokenRevoked) -> Rendered:
    """That it admits nobody any more."""
    already = "was revoked before" if answer.already else "is revoked"
    return Rendered(summary=f"Token {node_id(answer.token.id)} {already}.", blocks=(_token(answer.token),))


def _token(token: TokenShown) -> str:
    return facts(
        f"{node_id(token.id)} {said(token.name)}",
        token.status,
        f"agent {line(token.agent)} ({line(token.role)}) of {line(token.account)}",
        f"project {node_id(token.project)}" if token.project else "",
        f"scopes {', '.join(map(line, token.scopes))}",
        f"until {token.expires[:10]}" if token.expires else "",
    )
