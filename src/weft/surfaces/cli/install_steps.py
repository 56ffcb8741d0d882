"""Installing for a person at a terminal: shows what would change, asks, does it, says what is left to do."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Literal

import click
import msgspec
from msgspec import Struct
from msgspec.structs import replace

from weft.config import find_root, surroundings
from weft.errors import Invalid, Misconfigured, WeftError
from weft.install import plan as planning
from weft.install.clients import CLIENTS, Client, client_named
from weft.install.launch import launcher
from weft.install.places import Machine, Scope
from weft.install.plan import Plan, Wish, apply, difference
from weft.instants import SystemClock
from weft.setting_list import SETTINGS, Setting
from weft.surfaces.cli.import_asking import must_have_history, offer_history
from weft.surfaces.cli.lines import all_lines, dim
from weft.surfaces.cli.running import tell

VARIABLE: Final = "WEFT_"
DONE: Final = {"create": "made", "change": "changed", "delete": "deleted"}
COLOURS: Final = {"+": "green", "-": "red", "@": "cyan"}


# Done; nothing to do; only shown, as was asked; not done, because nobody could be asked or somebody said no.
Status = Literal["done", "unchanged", "shown", "unasked", "declined"]


class FileShown(Struct, frozen=True, kw_only=True):
    """One file: what becomes of it, how, and where its backup is."""

    path: str
    action: planning.Action
    diff: str = ""
    backup: str | None = None


class Shown(Struct, frozen=True, kw_only=True):
    """What installing or uninstalling did, or would do."""

    client: str
    scope: Scope
    status: Status
    files: tuple[FileShown, ...]
    notes: tuple[str, ...] = ()
    history: Any = None  # what was imported, as `weft import-history` answers


class ClientShown(Struct, frozen=True, kw_only=True):
    """A program: whether it is here, and in which scopes weft is installed for it."""

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
    """Runs `weft mcp install`. False if nothing was done because nobody could be asked, or because of a no."""
    known, machine = _in_scope(client_named(client), scope), _machine()
    environment = _environment(env, scope)
    if import_history:
        must_have_history(known.name)
    words = _words(machine)
    environment = _installed_environment(known, scope, machine) | environment
    wish = Wish(
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
        click.echo(msgspec.json.format(msgspec.json.encode({"clients": shown}), indent=2))
        return True
    wide = max(len(each.client) for each in shown)
    for each in shown:
        where = f"installed ({', '.join(each.installed)})" if each.installed else "not installed"
        click.echo(f"{each.client:{wide}}  {each.title:18}  {'found' if each.found else 'not found':9}  {where}")
        for problem in each.problems:
            click.echo(dim(f"{'':{wide}}  {all_lines(problem)}"))
    return True


def _settle(plan: Plan, notes: list[str], *, yes: bool, dry_run: bool, as_json: bool) -> Shown:
    """Shows a plan and does it, if that is wanted and nobody says no."""
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
    return Shown(client=plan.client.name, scope=plan.scope, status=status, files=files, notes=tuple(notes))


def _show(plan: Plan, notes: list[str]) -> None:
    for change in plan.changed:
        for line in all_lines(difference(change)).splitlines():
            click.secho(line, fg=COLOURS.get(line[:1]))
    for note in notes:
        click.echo(f"note: {all_lines(note)}")


def _tell(shown: Shown, after: tuple[str, ...], *, as_json: bool) -> bool:
    """What became of it. False where it was wanted and not done."""
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(shown), indent=2))
    elif shown.status == "unchanged":
        click.echo("nothing to change: it is so already")
    elif shown.status == "declined":
        click.echo("nothing was changed")
    elif shown.status == "unasked":
        click.echo("nothing was changed: nobody could be asked", err=True)
        click.echo("hint:  run it again with --yes", err=True)
    elif shown.status == "done":
        for file in shown.files:
            if file.action != "keep":
                backup = f"  (backup: {Path(file.backup).name})" if file.backup else ""
                click.echo(f"{DONE[file.action]}  {file.path}{dim(backup)}")
        for line in after:
            click.echo(f"next: {line}")
    return shown.status not in ("unasked", "declined")


def _backup(change: planning.Change, kept: dict[Path, Path]) -> str | None:
    return str(kept[change.path]) if change.path in kept else None


def _finish(shown: Shown, wish: Wish, *, wanted: bool | None, as_json: bool) -> bool:
    """Tells what became of it, and imports the client's history if that is wanted. What is installed stays either way.

    False where something was wanted and not done.
    """
    done = True if as_json else _tell(shown, wish.client.notes, as_json=False)
    found: Struct | None = None
    problem: WeftError | None = None
    if shown.status == "done" or (shown.status == "unchanged" and wanted):
        ask = wanted is None and _can_ask(as_json=as_json)
        try:
            found = offer_history(wish.client.name, wanted=wanted, ask=ask, settings=wish.environment)
        except WeftError as raised:
            problem = raised
    if as_json:
        told = () if problem is None else (f"no history was imported: {problem}",)
        done = _tell(replace(shown, history=found, notes=(*shown.notes, *told)), (), as_json=True)
    elif problem is not None:
        tell(f"weft is installed; no history was imported: {problem.message}", problem.hint, code="", as_json=False)
    elif found is not None:
        from weft.surfaces.cli.render import render

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
    """What paths depend on here. Raises Misconfigured where nobody could say which files are meant."""
    given = surroundings().get("HOME")
    if sys.platform != "win32" and given is not None and not Path(given).is_absolute():
        raise Misconfigured(f"HOME is {given!r}, not a directory's whole path", hint="set it to your home directory")
    try:
        here = Path.cwd()
    except FileNotFoundError as problem:
        raise Misconfigured("this directory is gone", hint="`cd` into one that is there") from problem
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
    """The settings that the client has already: hooks and history go where its server goes."""
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


def _told(wish: Wish) -> list[str]:
    """What whoever reads the diff should know."""
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
