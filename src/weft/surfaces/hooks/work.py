"""The work of a hook: memories before a turn, and what was said kept. In the hook's own process, or in a resident."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from weft.surfaces.hooks.hook import (
    MAX_PATH_CHARACTERS,
    PROMPTS,
    STARTS,
    Hook,
    HookError,
    context_answer,
    empty_answer,
    read_hook,
)

if TYPE_CHECKING:
    from weft.memory.facade import Memory

HEAD, TAIL = 3_000, 1_000  # characters of a long prompt: what it begins with, and what it comes to

Say = Callable[[str], None]
Opened = Callable[[Path], AbstractContextManager["Memory"]]
Read = Callable[[], bytes]
Command = Literal["context", "capture"]


class HookCall(NamedTuple):
    """A hook's command line: whose hook it is (None for a plain question), and the directory it was started in."""

    command: Command
    client: str | None
    working: Path
    query: str | None = None
    budget: int = 0


def run_hook(call: HookCall, read: Read, opened: Opened, say: Say) -> None:
    """Does the work and says its answer. Raises WeftError."""
    if call.command == "context":
        _context(call, read, opened, say)
    else:
        _capture(call, read, opened, say)


@contextmanager
def as_agent_of(memory: Memory, client: str) -> Iterator[Memory]:
    """A directory's memory as the agent of this client may see it.

    Raises Forbidden where the directory claims to be a project that is known to have another root.
    """
    from weft.surfaces.callers import as_agent
    from weft.writing.checks.project_roots import claim

    settings = memory.ctx.settings
    kept = claim(settings)
    yield memory.serving(as_agent(settings, client, memory.ctx.clock))
    if not kept:  # there was no store; there may be one now
        claim(settings)


# ---- context


def _context(call: HookCall, read: Read, opened: Opened, say: Say) -> None:
    client = call.client
    if client is None:
        _answer(call, None, call.query, opened, say)
        return
    hook = read_hook(client, read(), call.working)
    if hook.event not in (*PROMPTS, *STARTS):
        raise HookError(f"there is nothing to add at {hook.event or 'an event without a name'}")
    prompt = _asked(hook.prompt, client)
    if hook.event in PROMPTS and not prompt:
        say(empty_answer(client))
    else:
        _answer(call, hook, prompt if hook.event in PROMPTS else None, opened, say)


def _answer(call: HookCall, hook: Hook | None, query: str | None, opened: Opened, say: Say) -> None:
    with (
        opened(call.working if hook is None else hook.directory) as base,
        as_agent_of(base, "" if hook is None else hook.client) as memory,
    ):
        if query:
            memory.ctx.embedding.begin(query)  # the models are loaded while the rest is
            if memory.ctx.judge is not None:
                memory.ctx.judge.begin()
        from weft.checkout.prompt_context import CONTEXT, ContextGiven
        from weft.conversations.formats.entries import session_name

        given: dict[str, Any] = {"query": query or None, "max_tokens": call.budget}
        if hook is not None and hook.session:
            given |= {
                "session": session_name(hook.client, hook.session),
                "transcript": _placed(hook.transcript[:MAX_PATH_CHARACTERS], call.working),
            }
        found = memory.run(CONTEXT, given, surface="cli")
        assert isinstance(found, ContextGiven)
        say(found.text if hook is None else context_answer(hook, found.text))


def _asked(prompt: str, client: str) -> str:
    """The question in a prompt, in its author's words."""
    import re

    from weft.conversations.formats.client_markup import without_markup

    words = without_markup(prompt, client)
    command = re.match(r"/[A-Za-z][\w:-]*(?=\s|\Z)", words)  # of the client's own; what follows it is asked
    words = words[command.end() :].strip() if command else words
    return words if len(words) <= HEAD + TAIL else f"{words[:HEAD]} … {words[-TAIL:]}"


def _placed(path: str, working: Path) -> str:
    """A path as the process that was started in this directory means it."""
    return path if not path or path.startswith("~") else str(working / path)


# ---- capture


def _capture(call: HookCall, read: Read, opened: Opened, say: Say) -> None:
    assert call.client is not None
    hook = read_hook(call.client, read(), call.working)
    with opened(hook.directory) as base, as_agent_of(base, call.client) as memory:
        _keep(memory, hook, call.working)
        say(empty_answer(call.client))


def _keep(memory: Memory, hook: Hook, working: Path) -> None:
    from weft.conversations.formats.entries import session_name
    from weft.core.errors import Invalid, NotFound
    from weft.operations import operation

    if hook.transcript:
        try:
            given = {"path": _placed(hook.transcript, working), "format": hook.client}
            if hook.client == "cursor" and hook.session:  # its files do not say whose they are
                given["session"] = session_name(hook.client, hook.session)
            memory.run(operation("ingest_transcript"), given, surface="cli")
        except (Invalid, NotFound):
            if not hook.said:
                raise
        else:
            return
    _keep_told(memory, hook)


def _keep_told(memory: Memory, hook: Hook) -> None:
    """Saves the hook's own text, once: a repeated call writes nothing."""
    import hashlib

    from weft.conversations.formats.client_markup import without_markup
    from weft.conversations.formats.entries import bounded, session_name
    from weft.operations import operation

    if not hook.session:
        raise HookError("the hook does not say which session this is")
    turns = [
        {"role": each.role, "text": words}
        for each in hook.said
        if (words := bounded(without_markup(each.text, hook.client, each.role))[0])
    ]
    if not turns:
        return
    told = "\x00".join((hook.session, hook.event, hook.turn, *(turn["text"] for turn in turns)))
    request = f"{hook.client}:{hashlib.sha256(told.encode()).hexdigest()[:32]}"
    given = {"session": session_name(hook.client, hook.session), "turns": turns, "request_id": request}
    memory.run(operation("record_turns"), given, surface="cli")
