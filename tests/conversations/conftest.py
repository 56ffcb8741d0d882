"""Files as chat programs write them, and a memory to take them in."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import weft
from weft.conversations.formats.entries import ConversationTitle, Entry, ImportedTurn, Omitted, ReaderNote, Unreadable
from weft.conversations.formats.formats import format_of
from weft.core.types import Find, When


class Read:
    """What a reader finds in a file: `who: words` of each turn, and what it tells beside them."""

    def __init__(self, path: Path, named: str = "auto") -> None:
        form = format_of(path, named)
        self.format = form.name
        self.entries: list[Entry] = list(form.read(path, 0))
        self.turns = [each for each in self.entries if isinstance(each, ImportedTurn)]
        self.said = [f"{each.speaker or each.role or '?'}: {each.text}" for each in self.turns]
        self.sessions = list(dict.fromkeys(each.session for each in self.turns))
        self.titles = {each.session: each.title for each in self.entries if isinstance(each, ConversationTitle)}
        self.bad = [f"{each.where}: {each.reason}" for each in self.entries if isinstance(each, Unreadable)]
        self.left = [each.reason for each in self.entries if isinstance(each, Omitted)]
        self.notes = [each.note for each in self.entries if isinstance(each, ReaderNote)]


class Desk:
    """A memory in a scratch directory, and what it answers as data."""

    def __init__(self, scratch: Path, **more: str) -> None:
        self.scratch = scratch
        root = scratch / "ferry"
        root.mkdir(exist_ok=True)
        environment = {"HOME": str(scratch), "XDG_DATA_HOME": str(scratch / "data"), "WEFT_EMBEDDER": "none"}
        self.memory = weft.open(directory=root, environment={**environment, "WEFT_AUDIT": "off", **more})

    def run(self, verb: str, /, **given: Any) -> Any:
        return self.memory.call(verb, **given)

    def take(self, path: Path, **given: Any) -> Any:
        return self.run("ingest_transcript", path=str(path), **given)

    def said(self, session: str) -> list[str]:
        """Every turn of a conversation, in order."""
        ctx = self.memory.ctx
        found = ctx.store.find(ctx.viewer, When(), Find(id_prefix=f"ferry/{session}#"), limit=999)
        return [node.text for node in sorted(found.nodes, key=lambda node: node.id)]


@pytest.fixture
def open_desk(tmp_path: Path) -> Iterator[Callable[..., Desk]]:
    """Opens memories over the same scratch directory."""
    made: list[Desk] = []

    def make(**more: str) -> Desk:
        made.append(Desk(tmp_path, **more))
        return made[-1]

    yield make
    for each in made:
        each.memory.close()


@pytest.fixture
def desk(open_desk: Callable[..., Desk]) -> Desk:
    return open_desk()


def written(path: Path, content: Any) -> Path:
    """A file of text, or of JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def chatgpt(session: str, *said: tuple[str, str], title: str = "The ferry") -> dict[str, Any]:
    """A conversation as ChatGPT exports it: a tree that here has one branch."""
    mapping: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None, "children": []}}
    last = "root"
    for number, (role, text) in enumerate(said, start=1):
        name = f"{session}-{number}"
        message = {
            "id": name,
            "author": {"role": role, "metadata": {}},
            "create_time": 1709375500.25 + number,
            "content": {"content_type": "text", "parts": [text]},
            "recipient": "all",
            "metadata": {},
        }
        mapping[name] = {"id": name, "message": message, "parent": last, "children": []}
        last = name
    return {
        "id": session,
        "conversation_id": session,
        "title": title,
        "create_time": 1709375500.0,
        "current_node": last,
        "mapping": mapping,
    }
