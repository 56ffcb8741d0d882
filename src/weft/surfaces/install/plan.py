"""Plans of installing and uninstalling: all changes are computed first, then applied together."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from msgspec import Struct

from weft.core.clock import Clock
from weft.core.errors import Invalid, ReadOnly, WeftError
from weft.surfaces.install import files
from weft.surfaces.install.clients import INSTRUCTIONS, Client, entry, hook
from weft.surfaces.install.files import ConfigFile
from weft.surfaces.install.launch import shell_line
from weft.surfaces.install.parts import Parts, foreign_entry, nothing_left, parts_in, with_parts, without_parts
from weft.surfaces.install.places import Machine, Scope

Action = Literal["create", "change", "delete", "keep"]


class InstallRequest(Struct, frozen=True, kw_only=True):
    """What to install, for which client and scope."""

    client: Client
    scope: Scope
    words: tuple[str, ...]  # the command that starts weft
    toolsets: str = ""
    environment: Mapping[str, str] = {}
    hook_environment: Mapping[str, str] = {}
    hooks: bool = True
    instructions: bool = True


class FileChange(Struct, frozen=True, kw_only=True):
    """One file before and after; None for no file."""

    held: ConfigFile
    after: bytes | None
    ours: bool = False  # contains nothing else: needs no backup

    @property
    def path(self) -> Path:
        return self.held.path

    @property
    def action(self) -> Action:
        if self.after == self.held.data:
            return "keep"
        if self.held.data is None:
            return "create"
        return "delete" if self.after is None else "change"


class InstallPlan(Struct, frozen=True, kw_only=True):
    """The changes to the files of one client in one scope."""

    client: Client
    scope: Scope
    root: Path  # empty directories are removed below this one only
    changes: tuple[FileChange, ...]
    notes: tuple[str, ...] = ()

    @property
    def changed(self) -> tuple[FileChange, ...]:
        return tuple(each for each in self.changes if each.action != "keep")


def install(wish: InstallRequest, machine: Machine) -> InstallPlan:
    """Reads the client's files and computes the changes. Writes nothing.

    Raises Invalid, naming file and line, if one cannot be parsed, and ReadOnly if one cannot be written.
    """
    client, notes = wish.client, []
    changes = []
    for path, parts in _wanted(wish, machine):
        held = files.read(path)
        text = held.text
        with _named(path):
            if parts.entry is not None and foreign_entry(client, text):
                notes.append(f"{path} has an entry `weft` that was written by hand and would be replaced")
            after = with_parts(client, text, parts, fresh=held.data is None)
        changes.append(FileChange(held=held, after=held.encoded(after) if after != text else held.data))
    changes += _unwanted(wish, machine)
    _writable(changes)
    notes += [*_unserved(wish, machine), *_doubled(wish, machine), *_linked(changes)]
    return InstallPlan(
        client=client, scope=wish.scope, root=_root(wish.scope, machine), changes=tuple(changes), notes=(*notes,)
    )


def uninstall(client: Client, scope: Scope, machine: Machine) -> InstallPlan:
    """The plan that removes what `install` wrote. A file unchanged since then gets its old bytes back."""
    changes, notes = [], []
    for path, words in _paths(client, scope, machine):
        held = files.read(path)
        with _named(path):
            if not words and foreign_entry(client, held.text):
                notes.append(f"{path} has an entry `weft` that was written by hand and stays")
            changes.append(_without(client, held, words=words))
    _writable(changes)
    notes += _linked(changes)
    return InstallPlan(
        client=client, scope=scope, root=_root(scope, machine), changes=tuple(changes), notes=tuple(notes)
    )


def is_installed(client: Client, scope: Scope, machine: Machine) -> bool:
    """Whether the server entry exists. Raises as `install` does."""
    path = Path(client.where(machine, scope).server)
    with _named(path):
        return parts_in(client, files.read(path).text, words=False).entry is not None


def environment_of(client: Client, scope: Scope, machine: Machine) -> dict[str, str]:
    """The environment of the server entry; empty if there is none. Raises as `install` does."""
    path = Path(client.where(machine, scope).server)
    with _named(path):
        entry = parts_in(client, files.read(path).text, words=False).entry or {}
    held = entry.get("env")
    return {name: each for name, each in held.items() if isinstance(each, str)} if isinstance(held, dict) else {}


def apply(plan: InstallPlan, clock: Clock) -> dict[Path, Path]:
    """Applies a plan completely, or undoes it if a step fails. Returns the backup of each changed file."""
    made: dict[Path, Path] = {}
    begun: list[FileChange] = []
    try:
        for change in plan.changed:
            begun.append(change)
            if change.held.data is not None and not change.ours:
                made[change.path] = files.back_up(change.held, clock)
            if change.after is None:
                files.remove(change.held)
            else:
                files.replace(change.held, change.after, private=plan.scope == "user")
    except BaseException as problem:
        if left := _undo(plan, begun, made):
            names = ", ".join(str(path) for path in left)
            raise ReadOnly(
                f"{names} could not be restored: {problem}", hint="restore it from the backup beside it"
            ) from problem
        if isinstance(problem, OSError):
            raise ReadOnly(f"nothing was changed: {problem}", hint="correct that, then run this again") from problem
        raise
    for change in plan.changed:
        if change.after is None:
            files.prune(change.path, up_to=plan.root)
    return made


def difference(change: FileChange) -> str:
    """A change as a unified diff; a new file is shown whole."""
    before, after = change.held, ConfigFile(path=change.path, data=change.after)
    lines = difflib.unified_diff(
        before.text.splitlines(keepends=True),
        after.text.splitlines(keepends=True),
        str(change.path) if before.data is not None else "/dev/null",
        str(change.path) if after.data is not None else "/dev/null",
    )
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _undo(plan: InstallPlan, begun: list[FileChange], made: dict[Path, Path]) -> list[Path]:
    """Restores changed files. Returns those that could not be restored; their backups stay.

    An interrupt may come at any time, so progress is read from the files themselves.
    """
    left = []
    for change in reversed(begun):
        try:
            now = files.read(change.path)
            if now.data == change.after:
                _put_back(plan, change, now)
            elif now.data != change.held.data:
                made.pop(change.path, None)  # another program wrote it: its version and our backup stay
        except (WeftError, OSError):
            left.append(change.path)
            made.pop(change.path, None)
    for copy in made.values():
        copy.unlink(missing_ok=True)
    return left


def _put_back(plan: InstallPlan, change: FileChange, now: ConfigFile) -> None:
    if change.held.data is not None:
        files.replace(now, change.held.data, private=plan.scope == "user")
        return
    files.remove(now)
    files.prune(change.path, up_to=plan.root)


def _wanted(wish: InstallRequest, machine: Machine) -> list[tuple[Path, Parts]]:
    """The files and the parts each is to contain."""
    client, where = wish.client, wish.client.where(machine, wish.scope)
    served = entry(client, wish.words, wish.toolsets, wish.environment)
    found: list[tuple[Path, Parts]] = []
    hooks: tuple[tuple[str, dict[str, object]], ...] = ()
    if wish.hooks and client.hooks is not None and where.hooks is not None:
        lines = {
            verb: shell_line((*wish.words, verb, "--hook", client.name), wish.hook_environment, windows=machine.windows)
            for verb in ("context", "capture")
        }
        hooks = tuple((event, hook(client, lines[verb])) for event, verb in client.hooks.events)
    if where.hooks == where.server:
        found.append((Path(where.server), Parts(entry=served, hooks=hooks)))
    else:
        found.append((Path(where.server), Parts(entry=served)))
        if hooks and where.hooks is not None:
            found.append((Path(where.hooks), Parts(hooks=hooks)))
    if wish.instructions and where.instructions is not None:
        found.append((Path(where.instructions), Parts(words=INSTRUCTIONS)))
    return found


def _unwanted(wish: InstallRequest, machine: Machine) -> list[FileChange]:
    """Changes that remove parts which were installed before and are not requested now."""
    where = wish.client.where(machine, wish.scope)
    found = []
    if not wish.hooks and where.hooks is not None and where.hooks != where.server:
        found.append((Path(where.hooks), False))
    if not wish.instructions and where.instructions is not None:
        found.append((Path(where.instructions), True))
    changes = []
    for path, words in found:
        with _named(path):
            changes.append(_without(wish.client, files.read(path), words=words))
    return [each for each in changes if each.action != "keep"]


def _paths(client: Client, scope: Scope, machine: Machine) -> list[tuple[Path, bool]]:
    where = client.where(machine, scope)
    json_files = dict.fromkeys(each for each in (where.server, where.hooks) if each is not None)
    text_files = [where.instructions] if where.instructions is not None else []
    return [(Path(each), False) for each in json_files] + [(Path(each), True) for each in text_files]


def _without(client: Client, held: ConfigFile, *, words: bool) -> FileChange:
    """A file without our parts: its old bytes if unchanged since installing; deleted if nothing else is in it."""
    text = held.text
    parts = parts_in(client, text, words=words)
    if held.data is None or not parts:
        return FileChange(held=held, after=held.data)
    earlier = _earlier(client, held.path, words=words)
    for each in earlier:
        if each.data is not None and _as_we_leave_it(client, each, parts, held, words=words):
            return FileChange(held=held, after=each.data)
    after = without_parts(client, text, words=words, earlier=earlier[0].text if earlier else "")
    left = nothing_left(client, after, words=words)
    if left and (not earlier or (words and client.head)):
        return FileChange(held=held, after=None, ours=True)
    return FileChange(held=held, after=held.encoded(after))


def _earlier(client: Client, path: Path, *, words: bool) -> list[ConfigFile]:
    """The backups of a file from before the installation."""
    found = []
    for each in files.backups(path):
        try:
            held = files.read(each)
            if not parts_in(client, held.text, words=words):
                found.append(held)
        except (Invalid, ReadOnly):  # a damaged backup
            continue
    return found


def _as_we_leave_it(client: Client, earlier: ConfigFile, parts: Parts, now: ConfigFile, *, words: bool) -> bool:
    wanted = Parts(words=INSTRUCTIONS) if words else parts
    try:
        return earlier.encoded(with_parts(client, earlier.text, wanted, fresh=False)) == now.data
    except Invalid:
        return False


def _writable(changes: list[FileChange]) -> None:
    for change in changes:
        if change.action != "keep":
            files.may_write(change.held)


def _unserved(wish: InstallRequest, machine: Machine) -> list[str]:
    """Notes on requested parts that this client does not support."""
    where, notes = wish.client.where(machine, wish.scope), []
    if wish.instructions and where.instructions is None and wish.client.hooks is not None:
        notes.append(f"{wish.client.title} reads instructions from files in a project only: --scope project writes one")
    if wish.hooks and wish.environment and machine.windows and wish.client.hooks is not None:
        notes.append("hooks do not get --env on Windows: set it for your account instead")
    return notes


def _doubled(wish: InstallRequest, machine: Machine) -> list[str]:
    """A note on hooks that run twice because those of another scope are installed too."""
    client, here = wish.client, wish.client.where(machine, wish.scope).hooks
    notes = []
    for scope in client.scopes if wish.hooks else ():
        path = client.where(machine, scope).hooks
        if path in (None, here):
            continue
        try:
            doubled = parts_in(client, files.read(Path(str(path))).text, words=False).hooks
        except WeftError:  # not the file to change
            continue
        if doubled:
            notes.append(
                f"its hooks are also installed for the {scope}, so both run;"
                f" `weft mcp uninstall {client.name} --scope {scope}` removes those"
            )
    return notes


def _linked(changes: list[FileChange]) -> list[str]:
    return [
        f"{change.path} has other hard links, which keep the old content"
        for change in changes
        if change.action != "keep" and files.other_names(change.held)
    ]


def _root(scope: Scope, machine: Machine) -> Path:
    return Path(machine.project if scope == "project" else machine.home)


class _named:  # noqa: N801 - used like a function
    """Adds the file's path to errors about its content."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, problem: BaseException | None, _trace: object) -> None:
        if isinstance(problem, Invalid) and str(self._path) not in problem.message:
            hint = problem.hint or "correct it by hand, then run this again; nothing was changed"
            raise Invalid(f"{self._path}: {problem.message}", hint=hint) from problem
