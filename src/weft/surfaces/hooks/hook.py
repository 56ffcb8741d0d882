"""Hooks of agents' programs: the JSON that each sends on standard input, and the form of its answer.

| client | a prompt | a session begins | what was said |
|---|---|---|---|
| claude-code | UserPromptSubmit | SessionStart | Stop, PreCompact, SessionEnd: transcript_path |
| vscode | the same | the same | the same |
| gemini | BeforeAgent | SessionStart | AfterAgent, PreCompress, SessionEnd: transcript_path |
| cursor | beforeSubmitPrompt | sessionStart | beforeSubmitPrompt, afterAgentResponse: text; stop: transcript_path |

Imports nothing heavy: a hook is run before every turn.
"""

from __future__ import annotations

import os
import select
import sys
import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from weft.core.errors import Invalid

if TYPE_CHECKING:
    from pathlib import Path

    from weft.conversations.formats.entries import Role

CLIENTS: Final = ("claude-code", "cursor", "vscode", "gemini")
PROMPTS: Final = ("UserPromptSubmit", "BeforeAgent", "beforeSubmitPrompt")
STARTS: Final = ("SessionStart", "sessionStart")
MAX_BYTES: Final = 8 << 20
MAX_PATH_CHARACTERS: Final = 4_096
_BLOCK: Final = 1 << 16


class HookError(Invalid):
    """Standard input is not a hook's call."""


class SpokenTurn(NamedTuple):
    """A turn that the hook itself carries."""

    role: Role
    text: str


class Hook(NamedTuple):
    """A hook's call. `turn` distinguishes calls of one conversation; `said` holds turns if there is no transcript."""

    client: str
    event: str
    session: str
    directory: Path
    prompt: str = ""
    transcript: str = ""
    turn: str = ""
    said: tuple[SpokenTurn, ...] = ()


_held: list[bytes] = []  # what was read already


def read_input(until: float | None = None) -> bytes:
    """Standard input, up to the end of the object in it: some hosts leave it open. The same again when asked again.

    Raises HookError where there is none, more than any hook sends, or no end of it at the time `until`.
    """
    if not _held:
        _held.append(_read(until))
    return _held[0]


def _read(until: float | None) -> bytes:
    if sys.stdin is None or sys.stdin.closed:
        raise HookError("standard input is closed")
    if sys.stdin.isatty():
        raise HookError("standard input is a terminal: a hook sends JSON on standard input")
    read = bytearray()
    while block := _block(until):
        read += block
        if len(read) > MAX_BYTES:
            raise HookError(f"more than {MAX_BYTES:,} bytes came in on standard input")
        if read[-64:].rstrip().endswith(b"}") and _waits() and _is_whole(bytes(read)):
            break
    return bytes(read)


def _block(until: float | None) -> bytes:
    if until is not None and not select.select([sys.stdin], [], [], max(0.0, until - time.monotonic()))[0]:
        raise HookError("the JSON on standard input did not end in time")
    return os.read(sys.stdin.fileno(), _BLOCK)


def _waits() -> bool:
    """Whether no more input is waiting. So the text is parsed when input pauses, not after every block."""
    try:
        return not select.select([sys.stdin], [], [], 0)[0]
    except (OSError, ValueError):  # of what cannot be asked
        return True


def _is_whole(raw: bytes) -> bool:
    import json

    try:
        return isinstance(json.loads(raw), dict)
    except (ValueError, RecursionError):
        return False


def read_hook(client: str, raw: bytes, working: Path) -> Hook:
    """A hook's call from its JSON; `working` is the directory it was started in. Raises HookError with the reason for
    anything else.
    """
    import json

    if not raw.strip():
        raise HookError("standard input is empty")
    try:
        given = json.loads(raw)
    except (ValueError, RecursionError) as problem:
        raise HookError("standard input is not JSON") from problem
    if not isinstance(given, dict):
        raise HookError("standard input holds JSON, but not an object")
    return Hook(
        client=client,
        event=_text(given, "hook_event_name", "hookEventName"),
        session=_text(given, "session_id", "sessionId", "conversation_id", "conversationId"),
        directory=_directory(given, working),
        prompt=_text(given, "prompt"),
        transcript=_text(given, "transcript_path", "transcriptPath"),
        turn=_text(given, "generation_id", "prompt_id", "timestamp"),
        said=_said(given),
    )


def context_answer(hook: Hook, text: str) -> str:
    """A context in the form that the client takes for this event."""
    import json

    if not text:
        return empty_answer(hook.client)
    if hook.client == "cursor":
        more: dict[str, Any] = {"continue": True} if hook.event in PROMPTS else {}
        return json.dumps({**more, "additional_context": text})
    return json.dumps({"hookSpecificOutput": {"hookEventName": hook.event, "additionalContext": text}})


def empty_answer(client: str | None) -> str:
    """The answer that means "nothing to add": empty for plain output and Claude Code."""
    return {"cursor": '{"continue": true}', "vscode": "{}", "gemini": "{}"}.get(client or "", "")


def _said(given: dict[str, Any]) -> tuple[SpokenTurn, ...]:
    """The turns that an event carries. A prompt is the user's, also where it comes with its answer."""
    answer = _text(given, "prompt_response", "last_assistant_message")
    if _text(given, "hook_event_name") == "afterAgentResponse":
        answer = _text(given, "text")
    told = (SpokenTurn("user", _text(given, "prompt")), SpokenTurn("assistant", answer))
    return tuple(each for each in told if each.text.strip())


def _directory(given: dict[str, Any], working: Path) -> Path:
    """The directory that the agent works in; `working` where the hook names no existing one."""
    from pathlib import Path

    roots = given.get("workspace_roots")
    for each in (_text(given, "cwd"), *(roots if isinstance(roots, list) else ())):
        try:
            if (
                isinstance(each, str)
                and len(each) <= MAX_PATH_CHARACTERS
                and Path(each).is_absolute()
                and Path(each).is_dir()
            ):
                return Path(each)
        except (OSError, ValueError):
            continue
    return working


def _text(given: dict[str, Any], *names: str) -> str:
    """The first of these that is text. Lone surrogates are replaced."""
    found = next((given[name] for name in names if isinstance(given.get(name), str) and given[name]), "")
    return found.encode("utf-8", "replace").decode()
