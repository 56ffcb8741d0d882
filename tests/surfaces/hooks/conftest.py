"""A machine with clients and their histories, of which nothing is anybody's own."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import weft
from weft.core.types import Find, NodeVersion, When

WEFT = Path(sys.executable).with_name("weft")
DAY = "2026-03-0{}T10:00:00.000Z"


class Ran(NamedTuple):
    """What a real process left behind, and how long it took."""

    code: int
    out: str
    err: str
    seconds: float


class Machine:
    """A home, a project in it, and the `weft` command run as clients run it."""

    def __init__(self, scratch: Path) -> None:
        self.scratch, self.home, self.root = scratch, scratch / "home", scratch / "ferry"
        self.data = scratch / "data"
        self.store = self.data / "weft"
        for each in (self.home, self.root):
            each.mkdir()

    def environment(self, **more: str) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "XDG_DATA_HOME": str(self.data),
            "LC_ALL": "C.UTF-8",
            "WEFT_EMBEDDER": "none",
            "WEFT_AUDIT": "off",
        } | more

    def run(self, *arguments: str, stdin: bytes | None = b"", timeout: float = 100, **environment: str) -> Ran:
        begun = time.monotonic()
        done = subprocess.run(
            [str(WEFT), *arguments],
            input=stdin,
            capture_output=True,
            cwd=self.root,
            env=self.environment(**environment),
            timeout=timeout,
            check=False,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode(), time.monotonic() - begun)

    def hook(self, command: str, client: str, payload: Any, *arguments: str, **environment: str) -> Ran:
        raw = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        if "--deadline" not in arguments:
            arguments = (*arguments, "--deadline", "60s")  # a busy machine may take longer than a client waits
        return self.run(command, "--hook", client, *arguments, stdin=raw, **environment)

    def said(self, client: str, session: str, event: str, **more: Any) -> dict[str, Any]:
        """What a hook is told."""
        return {"hook_event_name": event, "session_id": session, "cwd": str(self.root), **more}

    def open(self) -> weft.Memory:
        return weft.open(directory=self.root, environment=self.environment())

    def messages(self, session: str, project: str = "ferry") -> list[str]:
        """`role: words` of every turn of a conversation, in order."""
        with self.open() as memory:
            found = memory.ctx.store.find(memory.ctx.viewer, When(), Find(id_prefix=f"{project}/{session}#"), limit=999)
            return [f"{node.props['role']}: {node.text}" for node in sorted(found.nodes, key=_by_id)]


def _by_id(node: NodeVersion) -> str:
    return node.id


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def lines(path: Path, rows: Iterable[Any], mode: str = "w") -> Path:
    """A file of JSON, one object a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open(mode) as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return path


def claude(role: str, words: Any, number: int, *, session: str = "s1", cwd: str = "", **more: Any) -> dict[str, Any]:
    """A line of a transcript of Claude Code."""
    return {
        "type": role,
        "uuid": f"u-{number}",
        "sessionId": session,
        "cwd": cwd,
        "timestamp": f"2026-03-01T10:00:{number % 60:02}.000Z",
        "message": {"role": role, "content": words},
        **more,
    }


def cursor_database(path: Path, conversations: dict[str, Sequence[tuple[int, str]]]) -> Path:
    """A database as Cursor keeps it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
    for session, bubbles in conversations.items():
        heads = [{"bubbleId": f"b{n}", "type": kind} for n, (kind, _) in enumerate(bubbles)]
        about = {
            "composerId": session,
            "name": "Chat",
            "createdAt": 1772359200000,
            "fullConversationHeadersOnly": heads,
        }
        database.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", (f"composerData:{session}", json.dumps(about)))
        for n, (kind, text) in enumerate(bubbles):
            bubble = json.dumps({"type": kind, "text": text, "bubbleId": f"b{n}"})
            database.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", (f"bubbleId:{session}:b{n}", bubble))
    database.commit()
    database.close()
    return path
