"""`weft migrate`: upgrades the files of a store to the current schema and verifies them, or moves it to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from weft.core.types import FileSchema
    from weft.log.verify import VerifyResult
    from weft.memory.facade import Memory

TOO_OLD = (
    "with the weft that wrote it, run `weft log export log.jsonl`; with this one, name a new store (WEFT_STORE) and run"
    " `weft log import log.jsonl`"
)

EMPTY = "the file is empty: it was truncated, or weft was killed while creating it; remove it if it held nothing"
MAX_SAID = 500


@click.command("migrate", short_help="bring the store to this version of weft, and verify it")
@click.argument("source", required=False)
@click.argument("target", required=False)
@click.option("--dry-run", is_flag=True, help="only print what would be done")
@click.option("--json", "as_json", is_flag=True, help="print the answer as JSON")
def migrate(source: str | None, target: str | None, dry_run: bool, as_json: bool) -> None:  # noqa: FBT001 - flags, as click gives them
    """Upgrades the store to this weft; with SOURCE and TARGET, copies one store to another.

    Brings every account of the store, and its audit, to the schema of this weft, then verifies every file.

    Not needed first: a store that an older weft wrote is brought up to date when it is first opened. This does it for
    all accounts at once, at a time of your choosing, and says that it went well. It adds and takes nothing away; agents
    of the older weft may read on, and write no more. Make a copy first: `weft backup DIRECTORY`.

    What is too old for that comes over as a log: `weft log export` with the weft that wrote it, `weft log import` here.

    With SOURCE and TARGET, the URLs of two stores, every account of the one is copied to the other and compared: log
    and graph are equal in the end, or it says so. Stop what writes to either first. It may be interrupted and repeated.
    Vectors are not copied: `weft reindex` makes them. The record of calls stays where it is. WEFT_STORE_PASSWORD is the
    password of whichever is a server.
    """
    from weft.core.errors import WeftError
    from weft.surfaces.cli.running import fail, print_json

    if source is not None:
        _move(source, target, dry_run=dry_run, as_json=as_json)
        return
    try:
        migrated = _migrated(dry_run=dry_run)
    except WeftError as problem:
        fail(problem, as_json=as_json)
    if as_json:
        print_json(migrated)
    else:
        _show(migrated)
    if migrated["status"] == "failed":
        click.get_current_context().exit(1)


def _migrated(*, dry_run: bool) -> dict[str, Any]:
    """The files, what was done, and the result of the verification. Raises SchemaMismatch before any change."""
    from weft.memory.facade import open as open_memory
    from weft.memory.open_store import marker_problems, schemas

    with open_memory() as memory:
        settings = memory.ctx.settings
        found = schemas(settings)
        old = [each for each in found if each.found not in (0, each.wanted)]
        _check(old)
        told: dict[str, Any] = {"status": "nothing_to_do", "store": settings.store, "files": found, "verified": []}
        markers = marker_problems(settings)
        if not found and not markers:
            return told
        memory.ctx.operator("bring the store up to date, and verify it")
        if dry_run:
            return told | {"status": "would_migrate" if old else "nothing_to_do"}
        verified = [_outcome(path, 0, problem) for path, problem in markers.items()]
        verified += [_verified(memory, each) for each in found]
        sound = all(each["problem"] is None for each in verified)
        status = "failed" if not sound else "migrated" if old else "nothing_to_do"
        return told | {"status": status, "files": schemas(settings), "verified": verified}


def _move(source: str, target: str | None, *, dry_run: bool, as_json: bool) -> None:
    """Copies every account of one store to another."""
    from weft.append.import_log import copy_account
    from weft.core.errors import Invalid, WeftError
    from weft.memory.facade import open as open_memory
    from weft.memory.open_store import open_store
    from weft.surfaces.cli.running import fail, print_json

    try:
        if target is None or source == target:
            raise Invalid("two stores are needed", hint="weft migrate sqlite:///here neo4j://user@there:7687")
        with open_memory("memory://") as memory:
            memory.ctx.operator("copy every account of a store")
            clock, password = memory.ctx.clock, memory.ctx.settings.store_password
            there = open_store(source, clock=clock, password=password)
            here = open_store(target, clock=clock, password=password)
            try:
                accounts = there.accounts()
                moved = [copy_account(there, here, account, clock=clock) for account in (() if dry_run else accounts)]
            finally:
                there.close()
                here.close()
    except WeftError as problem:
        fail(problem, as_json=as_json)
    if as_json:
        print_json({"status": "would_move" if dry_run else "moved", "accounts": accounts, "moved": moved})
        return
    for each in moved:
        came = f"{each.events:,} events came, {each.already_there:,} were there"
        click.secho(f"{each.account}  {came}; log {each.head[:12]}, graph {each.graph[:12]}: equal", fg="green")
    if dry_run:
        click.echo(f"would copy {', '.join(accounts) or 'nothing: the store is empty'}")
    else:
        click.echo(f"{len(moved)} accounts are in {target}; set WEFT_STORE to it, then run `weft reindex`")


def _check(old: list[FileSchema]) -> None:
    from weft.core.errors import SchemaMismatch

    for each in old:
        if not each.upgradable:
            raise SchemaMismatch(
                f"{each.path} has schema {each.found}, this weft writes {each.wanted} and cannot bring it there",
                hint="upgrade weft" if each.found > each.wanted else TOO_OLD,
            )


def _verified(memory: Memory, file: FileSchema) -> dict[str, Any]:
    """Opens the file, which upgrades it, recomputes its hashes and has the database check its pages."""
    from msgspec.structs import replace

    from weft.access.audit import log_store
    from weft.core.errors import WeftError
    from weft.operations import operation

    if not file.found:
        return _outcome(file.path, 0, EMPTY)
    whose = memory.serving(replace(memory.ctx.settings, account=file.account))
    try:
        found: Any = whose.run(operation("log_verify"), {"audit": file.audit}, surface="cli")
        verified: VerifyResult = found
        damage = log_store(whose.ctx, audit=file.audit).check(whose.ctx.operator("check the files"))
    except WeftError as problem:
        return _outcome(file.path, 0, problem.message)
    return _outcome(file.path, verified.events, verified.problem or "; ".join(damage)[:MAX_SAID] or None)


def _outcome(path: str, events: int, problem: str | None) -> dict[str, Any]:
    return {"path": path, "events": events, "problem": problem}


def _show(migrated: dict[str, Any]) -> None:
    for each in migrated["files"]:
        state = "is current" if each.found == each.wanted else f"has schema {each.found}, would get {each.wanted}"
        click.echo(f"{each.path}  {state}")
    for each in migrated["verified"]:
        if each["problem"] is None:
            click.secho(f"{each['events']:,} events: every hash matches", fg="green")
        else:
            click.secho(f"{each['path']}  {each['problem']}", fg="red")
    words = {
        "nothing_to_do": "nothing to do: the store has the current schema",
        "would_migrate": "nothing was changed: run it without --dry-run",
        "migrated": "the store has the current schema now",
        "failed": "the store is damaged: restore a backup; `weft doctor` tests an account in detail",
    }
    if not migrated["files"]:
        words["nothing_to_do"] = f"nothing to do: nothing is stored in {migrated['store']} yet"
    elif not migrated["verified"]:
        words["nothing_to_do"] = "nothing to upgrade; without --dry-run it is verified"
    click.echo(words[migrated["status"]])
