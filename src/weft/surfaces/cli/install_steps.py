"""Installation in an agent's program: shows the changes, asks, applies them, and prints what is left to do."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import click
from msgspec import Struct
from msgspec.structs import replace

from weft.context.wording import visible
from weft.core.clock import SystemClock
from weft.core.errors import Invalid, Misconfigured, WeftError
from weft.memory.facade import open  # noqa: A004 - the package's front door
from weft.operations import operation
from weft.runtime.settings.declared import SETTINGS, Setting
from weft.runtime.settings.load import find_root, surroundings
from weft.surfaces.cli.printing import faint, render
from weft.surfaces.cli.progress import shown_progress
from weft.surfaces.cli.running import print_json, tell
from weft.surfaces.install import plan as planning
from weft.surfaces.install.clients import CLIENTS, Client, client_named
from weft.surfaces.install.launch import launcher
from weft.surfaces.install.places import Machine, Scope
from weft.surfaces.install.plan import InstallPlan, InstallRequest, apply, difference
from weft.text.one_line import flat

if TYPE_CHECKING:
    from weft.conversations.import_conversations import TranscriptsIngested
    from weft.memory.facade import Memory

IMPORT: Final = "import_history"
OF_THE_AGENT: Final = ("WEFT_ROLE", "WEFT_AGENT", "WEFT_SESSION")  # the operator imports
DONE: Final = {"create": "made", "change": "changed", "delete": "deleted"}
COLOURS: Final = {"+": "green", "-": "red", "@": "cyan"}


# Done; nothing to do; only shown, as was asked; not done, because nobody could be asked or somebody said no.
Status = Literal["done", "unchanged", "shown", "unasked", "declined"]


class FileShown(Struct, frozen=True, kw_only=True):
    """One file: its change, the diff, and the path of its backup."""

    path: str
    action: planning.Action
    diff: str = ""
    backup: str | None = None


class InstallResult(Struct, frozen=True, kw_only=True):
    """The changes that installing or uninstalling made, or would make."""

    client: str
    scope: Scope
    status: Status
    files: tuple[FileShown, ...]
    notes: tuple[str, ...] = ()
    history: Any = None  # what was imported, as `weft import-history` answers


class ClientShown(Struct, frozen=True, kw_only=True):
    """A program: whether it is on this machine, and the scopes for which weft is installed."""

    client: str
    title: str
    found: bool
    installed: tuple[Scope, ...]
    problems: tuple[str, ...] = ()


def install(
    *,
    client: str,
    scope: Scope,
    toolsets: str,
    env: tuple[str, ...],
    no_hooks: bool,
    no_instructions: bool,
    import_history: bool | None,
    yes: bool,
    dry_run: bool,
    as_json: bool,
) -> bool:
    """Runs `weft mcp install`. False if nothing was done for lack of a terminal, or because the user said no."""
    known, machine = _in_scope(client_named(client), scope), _machine()
    environment = _environment(env, scope)
    if import_history:
        _must_have_history(known.name)
    words = _words(machine)
    environment = _installed_environment(known, scope, machine) | environment
    wish = InstallRequest(
        client=known,
        scope=scope,
        words=words,
        toolsets=_toolsets(toolsets),
        environment=environment,
        hook_environment={name: value for name, value in environment.items() if not _setting(name).secret},
        hooks=not no_hooks,
        instructions=not no_instructions,
    )
    plan = planning.install(wish, machine)
    notes = [*plan.notes, *(_told(wish) if plan.changed else ())]
    shown = _settle(plan, notes, yes=yes, dry_run=dry_run, as_json=as_json)
    return _finish(shown, wish, wanted=import_history, as_json=as_json)


def uninstall(*, client: str, scope: Scope, yes: bool, dry_run: bool, as_json: bool) -> bool:
    """Runs `weft mcp uninstall`, with the same answer."""
    known, machine = _in_scope(client_named(client), scope), _machine()
    plan = planning.uninstall(known, scope, machine)
    notes = [*plan.notes]
    for other in known.scopes:
        if not plan.changed and other != scope and planning.is_installed(known, other, machine):
            notes.append(f"it is installed for the {other}: --scope {other}")
    return _tell(_settle(plan, notes, yes=yes, dry_run=dry_run, as_json=as_json), (), as_json=as_json)


def clients(*, as_json: bool) -> bool:
    """Runs `weft mcp clients`."""
    machine = _machine()
    shown = [_client_shown(each, machine) for each in CLIENTS]
    if as_json:
        print_json({"clients": shown})
        return True
    wide = max(len(each.client) for each in shown)
    for each in shown:
        where = f"installed ({', '.join(each.installed)})" if each.installed else "not installed"
        click.echo(f"{each.client:{wide}}  {each.title:18}  {'found' if each.found else 'not found':9}  {where}")
        for problem in each.problems:
            click.echo(faint(f"{'':{wide}}  {flat(problem)}"))
    return True


def _settle(plan: InstallPlan, notes: list[str], *, yes: bool, dry_run: bool, as_json: bool) -> InstallResult:
    """Shows a plan and applies it, if that is wanted and confirmed."""
    if not as_json:
        _show(plan, notes)
    kept: dict[Path, Path] = {}
    status: Status = "shown"
    if not plan.changed:
        status = "unchanged"
    elif not dry_run and not yes and not _can_ask(as_json=as_json):
        status = "unasked"
    elif not dry_run:
        status = "done" if yes or click.confirm("change these files?", default=False) else "declined"
    if status == "done":
        kept = apply(plan, SystemClock())
    files = tuple(
        FileShown(path=str(each.path), action=each.action, diff=difference(each), backup=_backup(each, kept))
        for each in plan.changes
    )
    return InstallResult(client=plan.client.name, scope=plan.scope, status=status, files=files, notes=tuple(notes))


def _show(plan: InstallPlan, notes: list[str]) -> None:
    for change in plan.changed:
        for line in difference(change).splitlines():
            click.secho(visible(line), fg=COLOURS.get(line[:1]))
    for note in notes:
        click.echo(f"note: {flat(note)}")


def _tell(shown: InstallResult, after: tuple[str, ...], *, as_json: bool) -> bool:
    """Prints the result. False where a wanted change was not made."""
    if as_json:
        print_json(shown)
    elif shown.status == "unchanged":
        click.echo("nothing to change: the files are already as they should be")
    elif shown.status == "declined":
        click.echo("nothing was changed")
    elif shown.status == "unasked":
        click.echo("nothing was changed: there is no terminal to ask on", err=True)
        click.echo("hint:  run it again with --yes", err=True)
    elif shown.status == "done":
        for file in shown.files:
            if file.action != "keep":
                backup = f"  (backup: {Path(file.backup).name})" if file.backup else ""
                click.echo(f"{DONE[file.action]}  {file.path}{faint(backup)}")
        for line in after:
            click.echo(f"next: {line}")
    return shown.status not in ("unasked", "declined")


def _backup(change: planning.FileChange, kept: dict[Path, Path]) -> str | None:
    return str(kept[change.path]) if change.path in kept else None


def _finish(shown: InstallResult, wish: InstallRequest, *, wanted: bool | None, as_json: bool) -> bool:
    """Prints the result, and imports the client's history if that is wanted; the installation stays either way.

    False where something wanted was not done.
    """
    done = True if as_json else _tell(shown, wish.client.notes, as_json=False)
    found: Struct | None = None
    problem: WeftError | None = None
    if shown.status == "done" or (shown.status == "unchanged" and wanted):
        ask = wanted is None and _can_ask(as_json=as_json)
        try:
            found = _offer_history(wish.client.name, wanted=wanted, ask=ask, settings=wish.environment)
        except WeftError as raised:
            problem = raised
    if as_json:
        told = () if problem is None else (f"no history was imported: {problem}",)
        done = _tell(replace(shown, history=found, notes=(*shown.notes, *told)), (), as_json=True)
    elif problem is not None:
        tell(f"weft is installed; no history was imported: {problem.message}", problem.hint, code="", as_json=False)
    elif found is not None:
        render(found)
    return done and problem is None


def _client_shown(client: Client, machine: Machine) -> ClientShown:
    installed: list[Scope] = []
    problems: list[str] = []
    for scope in client.scopes:
        try:
            if planning.is_installed(client, scope, machine):
                installed.append(scope)
        except WeftError as problem:
            problems.append(problem.message)
    here = Path(client.where(machine, "user").trace).exists() or any(map(shutil.which, client.programs))
    return ClientShown(
        client=client.name, title=client.title, found=here, installed=tuple(installed), problems=tuple(problems)
    )


def _machine() -> Machine:
    """The facts that paths depend on. Raises Misconfigured where they do not determine the files."""
    given = surroundings().get("HOME")
    if sys.platform != "win32" and given is not None and not Path(given).is_absolute():
        raise Misconfigured(f"HOME is {given!r}, not a directory's whole path", hint="set it to your home directory")
    try:
        here = Path.cwd()
    except FileNotFoundError as problem:
        raise Misconfigured("this directory is gone", hint="`cd` into an existing one") from problem
    return Machine(
        platform=sys.platform, environment=surroundings(), home=str(Path.home()), project=str(find_root(here))
    )


def _words(machine: Machine) -> tuple[str, ...]:
    exists: Callable[[str], bool] = lambda written: Path(written).is_file()  # noqa: E731
    started = str(Path(sys.argv[0]).absolute())
    return launcher(started, sys.executable, which=shutil.which, exists=exists, windows=machine.windows)


def _in_scope(client: Client, scope: Scope) -> Client:
    if scope not in client.scopes:
        raise Invalid(f"{client.title} has no configuration of a {scope}", hint=f"leave out --scope {scope}")
    return client


def _toolsets(written: str) -> str:
    names = [name.strip() for name in written.split(",") if name.strip()]
    if names:
        from weft.surfaces.toolsets import offer

        offer(names, network=False)  # raises for a name that there is not
    return ",".join(names)


def _environment(given: tuple[str, ...], scope: Scope) -> dict[str, str]:
    made: dict[str, str] = {}
    for each in given:
        name, separator, value = each.partition("=")
        if not separator:
            raise Invalid(f"--env {each!r} is not KEY=VALUE", hint="write --env WEFT_ACCOUNT=work")
        setting = _setting(name)
        try:
            setting.read(value)
        except Invalid as problem:
            raise Invalid(f"--env {name}: {problem.message}", hint=problem.hint or setting.summary) from problem
        if setting.secret and scope == "project":
            raise Invalid(f"{name} is a secret: a project's files are shared", hint="install it with --scope user")
        made[name] = value
    return made


def _installed_environment(client: Client, scope: Scope, machine: Machine) -> dict[str, str]:
    """The client's present settings: hooks and history use the same store as its server."""
    known = {setting.variable for setting in SETTINGS}
    held = planning.environment_of(client, scope, machine)
    return {name: value for name, value in held.items() if name in known}


def _setting(name: str) -> Setting:
    for setting in SETTINGS:
        if setting.variable == name:
            return setting
    from difflib import get_close_matches

    known = [setting.variable for setting in SETTINGS]
    near = get_close_matches(name.upper(), known, n=1)
    hint = f"did you mean {near[0]}?" if near else "`weft config` lists the settings"
    raise Invalid(f"--env takes settings of weft: {name} is none", hint=hint)


def _told(wish: InstallRequest) -> list[str]:
    """Notes for the reader of the diff."""
    told = []
    if len(wish.words) > 1:
        told.append(f"this weft was unpacked for one run: the client will start `{' '.join(wish.words)}` each time")
    elif wish.scope == "project":
        told.append(f"the files name {wish.words[0]}: whoever shares them needs weft in the same place")
    hidden = [name for name in wish.environment if name not in wish.hook_environment]
    if hidden and wish.hooks and wish.client.hooks is not None:
        told.append(
            f"hooks do not get {', '.join(hidden)}: command lines can be seen; set it in ~/.config/weft/weft.toml"
        )
    return told


def _can_ask(*, as_json: bool) -> bool:
    return not as_json and sys.stdin.isatty() and sys.stdout.isatty()


# ---- the conversations that a client has kept so far


def _must_have_history(client: str) -> None:
    """Raises Invalid for a client that keeps no conversations on this machine."""
    from weft.conversations.formats.locations import CLIENTS

    if client not in CLIENTS:
        raise Invalid(
            f"{client} keeps no conversations on this machine",
            hint="`weft ingest-transcript conversations.json` takes the export of its account",
        )


def _offer_history(
    client: str, *, wanted: bool | None, ask: bool, settings: Mapping[str, str]
) -> TranscriptsIngested | None:
    """Imports the client's history if that is wanted, or if the user agrees. Returns its answer.

    `settings` are those that were installed: conversations go to the account and the store of the client.
    """
    if not wanted and not (ask and _kept(client)):
        return None
    own = {name: value for name, value in settings.items() if name not in OF_THE_AGENT}
    with open(environment={**surroundings(), **own}) as memory:
        if not wanted:
            if not _has_more(memory, client):
                return None
            found = _import(memory, {"client": client, "dry_run": True}, shown=ask)
            count = f"{found.conversations:,} conversation{'' if found.conversations == 1 else 's'}"
            if not found.conversations or not click.confirm(f"import its history: {count}?", default=False):
                return None
        return _import(memory, {"client": client}, shown=ask)


def _import(memory: Memory, given: dict[str, Any], *, shown: bool) -> TranscriptsIngested:
    history = operation(IMPORT)
    with shown_progress(history.command, wanted=shown) as progress:
        found: Any = memory.run(history, given, progress=progress, surface="cli")
    answer: TranscriptsIngested = found
    return answer


def _has_more(memory: Memory, client: str) -> bool:
    """Whether a file of the client's history has turns that are not imported yet."""
    from weft.conversations.formats.formats import format_of
    from weft.conversations.formats.locations import histories
    from weft.conversations.import_turns import Home, Intake, Transcript

    nowhere = Home(session="", project=None)
    for history in histories(client, Path.home(), platform=sys.platform, known=(memory.ctx.settings.root,)):  # type: ignore[arg-type]
        with suppress(WeftError, OSError):  # what cannot be read cannot be imported either
            form = format_of(history.path, client)
            lazy = memory.ctx.settings.conversations == "lazy"
            read = Transcript(memory.ctx, history.path, form, lambda _: nowhere, Intake(), None, None, lazy=lazy)
            if not read.unchanged:
                return True
    return False


def _kept(client: str) -> bool:
    """Whether the client has any file of conversations on this machine: a cheap look."""
    from weft.conversations.formats.locations import CLIENTS, histories

    return client in CLIENTS and bool(histories(client, Path.home(), platform=sys.platform))  # type: ignore[arg-type]
