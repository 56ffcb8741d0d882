"""`weft migrate`: brings the files of a store to what this weft writes, and verifies them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from weft.log.verify import Verified
    from weft.memory import Memory
    from weft.types import FileSchema

TOO_OLD = (
    "with the weft that wrote it, run `weft log export log.jsonl`; with this one, name a new store (WEFT_STORE) and run"
    " `weft log import log.jsonl`"
)

EMPTY = "the file is empty: it was cut off, or weft was stopped as it made it; remove it if nothing was kept there"
MAX_SAID = 500


@click.command("migrate", short_help="bring the store to this version of weft, and verify it")
@click.option("--dry-run", is_flag=True, help="only say what would be done")
@click.option("--json", "as_json", is_flag=True, help="print the answer as JSON")
def migrate(dry_run: bool, as_json: bool) -> None:  # noqa: FBT001 - flags, as click gives them
    """Brings every account of the store, and its audit, to the schema of this weft, then verifies every file.

    Not needed first: a store that an older weft wrote is brought up to date when it is first opened. This does it for
    all accounts at once, at a time of your choosing, and says that it went well. It adds and takes nothing away; agents
    of the older weft may read on, and write no more. Make a copy first: `weft backup DIRECTORY`.

    What is too old for that comes over as a log: `weft log export` with the weft that wrote it, `weft log import` here.
    """
    from weft.errors import WeftError
    from weft.surfaces.cli.running import fail

    try:
        migrated = _migrated(dry_run=dry_run)
    except WeftError as problem:
        fail(problem, as_json=as_json)
    if as_json:
        import msgspec

        click.echo(msgspec.json.format(msgspec.json.encode(migrated), indent=2))
    else:
        _show(migrated)
    if migrated["status"] == "failed":
        click.get_current_context().exit(1)


def _migrated(*, dry_run: bool) -> dict[str, Any]:
    """What was found, what was done and what the hashes say. Raises SchemaMismatch before anything is changed."""
    from weft.memory import open as open_memory
    from weft.stores import marker_problems, schemas

    with open_memory() as memory:
        settings = memory.loom.settings
        found = schemas(settings)
        old = [each for each in found if each.found not in (0, each.wanted)]
        _check(old)
        told: dict[str, Any] = {"status": "nothing_to_do", "store": settings.store, "files": found, "verified": []}
        markers = marker_problems(settings)
        if not found and not markers:
            return told
        memory.loom.operator("bring the store up to date, and verify it")
        if dry_run:
            return told | {"status": "would_migrate" if old else "nothing_to_do"}
        verified = [_outcome(path, 0, problem) for path, problem in markers.items()]
        verified += [_verified(memory, each) for each in found]
        sound = all(each["problem"] is None for each in verified)
        status = "failed" if not sound else "migrated" if old else "nothing_to_do"
        return told | {"status": status, "files": schemas(settings), "verified": verified}


def _check(old: list[FileSchema]) -> None:
    from weft.errors import SchemaMismatch

    for each in old:
        if not each.upgradable:
            raise SchemaMismatch(
                f"{each.path} has schema {each.found}, this weft writes {each.wanted} and cannot bring it there",
                hint="upgrade weft" if each.found > each.wanted else TOO_OLD,
            )


def _verified(memory: Memory, file: FileSchema) -> dict[str, Any]:
    """Opens the file, which brings it up to date, recomputes its hashes and has the database look at its pages."""
    from msgspec.structs import replace

    from weft.errors import WeftError
    from weft.operations import operation
    from weft.operations.auditing import log_store

    if not file.found:
        return _outcome(file.path, 0, EMPTY)
    whose = memory.serving(replace(memory.loom.settings, account=file.account))
    try:
        found: Any = whose.run(operation("log_verify"), {"audit": file.audit}, surface="cli")
        verified: Verified = found
        damage = log_store(whose.loom, audit=file.audit).check(whose.loom.operator("check the files"))
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
            click.secho(f"{each['events']} events: every hash fits", fg="green")
        else:
            click.secho(f"{each['path']}  {each['problem']}", fg="red")
    words = {
        "nothing_to_do": "nothing to do: the store is what this weft writes",
        "would_migrate": "nothing was changed: leave --dry-run out to do it",
        "migrated": "the store is what this weft writes now",
        "failed": "the store is not as it was written: restore a backup; `weft doctor` looks at an account's parts",
    }
    if not migrated["files"]:
        words["nothing_to_do"] = f"nothing to do: nothing is stored in {migrated['store']} yet"
    elif not migrated["verified"]:
        words["nothing_to_do"] = "nothing to do but to verify it: leave --dry-run out for that"
    click.echo(words[migrated["status"]])
