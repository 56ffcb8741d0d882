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


@click.command("migrate", short_help="bring the store to this version of weft, and verify it")
@click.option("--dry-run", is_flag=True, help="only say what would be done")
@click.option("--json", "as_json", is_flag=True, help="print the answer as JSON")
def migrate(dry_run: bool, as_json: bool) -> None:  # noqa: FBT001 - flags, as click gives them
    """Brings every account of the store, and its audit, to the schema of this weft, then recomputes every hash.

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
    from weft.memory import schemas

    with open_memory() as memory:
        settings = memory.loom.settings
        found = [each for each in schemas(settings) if each.found]  # nothing was ever written to one that has none
        old = [each for each in found if each.found != each.wanted]
        _check(old)
        told: dict[str, Any] = {"status": "nothing_to_do", "store": settings.store, "files": found, "verified": []}
        if not old:
            return told
        memory.loom.operator("bring the store up to date")
        if dry_run:
            return told | {"status": "would_migrate"}
        verified = [_brought_up(memory, each) for each in old]
        sound = all(each["problem"] is None for each in verified)
        files = [each for each in schemas(settings) if each.found]
        return told | {"status": "migrated" if sound else "failed", "files": files, "verified": verified}


def _check(old: list[FileSchema]) -> None:
    from weft.errors import SchemaMismatch

    for each in old:
        if not each.upgradable:
            raise SchemaMismatch(
                f"{each.path} has schema {each.found}, this weft writes {each.wanted} and cannot bring it there",
                hint="upgrade weft" if each.found > each.wanted else TOO_OLD,
            )


def _brought_up(memory: Memory, file: FileSchema) -> dict[str, Any]:
    """Opens the file, which brings it up to date, and recomputes its hashes."""
    from msgspec.structs import replace

    from weft.operations import operation

    whose = memory.serving(replace(memory.loom.settings, account=file.account))
    found: Any = whose.run(operation("log_verify"), {"audit": file.audit}, surface="cli")
    verified: Verified = found
    return {"path": file.path, "events": verified.events, "problem": verified.problem}


def _show(migrated: dict[str, Any]) -> None:
    for each in migrated["files"]:
        state = "is current" if each.found == each.wanted else f"has schema {each.found}, would get {each.wanted}"
        click.echo(f"{each.path}  {state}")
    for each in migrated["verified"]:
        ending = "every hash fits" if each["problem"] is None else each["problem"]
        click.secho(f"{each['events']} events: {ending}", fg="green" if each["problem"] is None else "red")
    words = {
        "nothing_to_do": "nothing to do: the store is what this weft writes",
        "would_migrate": "nothing was changed: leave --dry-run out to do it",
        "migrated": "the store is what this weft writes now",
        "failed": "the schema is current, and what it holds is not as it was written: restore a backup",
    }
    if not migrated["files"]:
        words["nothing_to_do"] = f"nothing to do: nothing is stored in {migrated['store']} yet"
    click.echo(words[migrated["status"]])
