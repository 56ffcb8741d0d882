"""Locations of clients' histories on this machine, and the working directory of each history."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Final, Literal, get_args
from urllib.parse import quote, unquote, urlsplit

import msgspec
from msgspec import Struct

from weft.conversations.formats.entries import as_dict, as_label, as_list, as_text

Client = Literal["claude-code", "gemini", "cursor", "vscode", "codex"]
CLIENTS: Final[tuple[str, ...]] = get_args(Client)
MAX_FILES: Final = 100_000
MAX_ABOUT_BYTES: Final = 8 << 20
_EDITORS: Final = {"vscode": ("Code", "Code - Insiders", "VSCodium"), "cursor": ("Cursor",)}


class History(Struct, frozen=True, kw_only=True):
    """A file that may hold conversations. `cwd` is their directory if the file does not name it; `by_session` is the
    same for files with conversations of many directories.
    """

    path: Path
    modified_us: int
    size: int
    cwd: str = ""
    by_session: Mapping[str, str] = {}


def histories(
    client: Client,
    home: Path,
    *,
    platform: str,
    environment: Mapping[str, str] = {},
    known: Iterable[Path] = (),
) -> tuple[History, ...]:
    """The files of a client's histories, oldest first. Never raises: what cannot be listed is left out.

    `environment` may move a client's files; `known` are directories whose names may be stored as a hash.
    """
    match client:
        case "claude-code":
            found = _claude_code(Path(environment.get("CLAUDE_CONFIG_DIR") or home / ".claude"))
        case "gemini":
            found = _gemini(home, known)
        case "codex":
            own = Path(environment.get("CODEX_HOME") or home / ".codex")
            found = ((path, "", {}) for path in _below(own, "sessions/**/rollout-*.jsonl"))
        case "vscode":
            found = _vscode(home, platform)
        case "cursor":
            found = _cursor(home, platform)
    made = []
    for path, cwd, by_session in islice(found, MAX_FILES):
        try:
            seen = path.stat()
        except OSError:
            continue
        modified = seen.st_mtime_ns // 1_000
        made.append(History(path=path, modified_us=modified, size=seen.st_size, cwd=cwd, by_session=by_session))
    return tuple(sorted(made, key=lambda each: (each.modified_us, each.path)))


_Found = Iterator[tuple[Path, str, Mapping[str, str]]]


def _claude_code(own: Path) -> _Found:
    for path in _below(own, "projects/*/*.jsonl"):
        if not path.name.startswith("agent-"):  # sub-agents
            yield path, "", {}


def _gemini(home: Path, known: Iterable[Path]) -> _Found:
    root = home / ".gemini"
    listed = as_dict(as_dict(_json(root / "projects.json")).get("projects"))
    directories = {as_text(slug): as_text(path) for path, slug in listed.items()}
    for path in [Path(as_text(each)) for each in listed] + list(known):
        directories.setdefault(hashlib.sha256(str(path).encode("utf-8", "surrogateescape")).hexdigest(), str(path))
    for pattern in ("tmp/*/chats/session-*.json", "tmp/*/chats/session-*.jsonl", "tmp/*/logs.json"):
        for path in _below(root, pattern):
            place = root / "tmp" / path.relative_to(root).parts[1]
            yield path, _text(place / ".project_root").strip() or directories.get(place.name, ""), {}


def _vscode(home: Path, platform: str) -> _Found:
    for user in _users("vscode", home, platform):
        own = list(_below(user, "workspaceStorage/*/GitHub.copilot-chat/transcripts/*.jsonl"))
        known_ids = {path.stem for path in own}  # the editor may keep the extension's conversations too
        chats = [path for path in _below(user, "workspaceStorage/*/chatSessions/*.json*") if path.stem not in known_ids]
        for path in own + chats:
            workspace = user / "workspaceStorage" / path.relative_to(user).parts[1]
            yield path, _folder(workspace), {}
        for path in _below(user, "globalStorage/emptyWindowChatSessions/*.json*"):
            yield path, "", {}


def _cursor(home: Path, platform: str) -> _Found:
    for user in _users("cursor", home, platform):
        by_session: dict[str, str] = {}
        for database in _below(user, "workspaceStorage/*/state.vscdb"):
            folder = _folder(database.parent)
            by_session.update(dict.fromkeys(_composers(database), folder) if folder else {})
        for path in _below(user, "globalStorage/state.vscdb"):
            yield path, "", by_session


def _users(editor: str, home: Path, platform: str) -> Iterator[Path]:
    base = {"darwin": home / "Library" / "Application Support", "win32": home / "AppData" / "Roaming"}
    for program in _EDITORS[editor]:
        yield base.get(platform, home / ".config") / program / "User"
    if editor == "vscode":
        yield home / ".vscode-server" / "data" / "User"


def _composers(database: Path) -> list[str]:
    """The conversations listed in a workspace's own database."""
    try:
        url = f"file:{quote(str(database.absolute()))}?mode=ro&immutable=1"
        with closing(sqlite3.connect(url, uri=True)) as opened:
            row = opened.execute("SELECT value FROM ItemTable WHERE key = 'composer.composerData'").fetchone()
        value = as_dict(msgspec.json.decode(row[0])) if row else {}
    except (sqlite3.Error, msgspec.DecodeError, UnicodeDecodeError, TypeError):
        return []
    return [as_label(as_dict(each).get("composerId")) for each in as_list(value.get("allComposers"))]


def _folder(workspace: Path) -> str:
    """The directory of an editor's workspace."""
    url = urlsplit(as_text(as_dict(_json(workspace / "workspace.json")).get("folder")))
    return unquote(url.path) if url.scheme == "file" else ""


def _below(root: Path, pattern: str) -> Iterator[Path]:
    try:
        yield from sorted(path for path in root.glob(pattern) if path.is_file())
    except OSError:
        return


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(MAX_ABOUT_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def _json(path: Path) -> object:
    try:
        return msgspec.json.decode(_text(path) or "null")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
