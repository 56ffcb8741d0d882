"""What users and agents rely on, word for word: a change here is a reviewed difference.

WEFT_UPDATE_SNAPSHOTS=1 pytest tests/surfaces/test_snapshots.py rewrites them.
"""

from __future__ import annotations

import json
from hashlib import sha256
from types import SimpleNamespace

import msgspec
import pytest

import weft.log.draft
import weft.memory.facade
import weft.retrieval.pipeline
import weft.runtime.call_context
from tests.surfaces.conftest import SNAPSHOTS, CheckSnapshot, Cli, every_command
from weft.runtime.operation import Operation
from weft.surfaces.cli.commands import every_operation
from weft.testing.clock import DAY_US, ManualClock

COMMANDS = every_operation()


def test_the_front_page(cli: Cli, snapshot: CheckSnapshot) -> None:
    snapshot("help/weft.txt", cli("--help").stdout)


@pytest.mark.parametrize("path", every_command(), ids=" ".join)
def test_help(cli: Cli, snapshot: CheckSnapshot, path: tuple[str, ...]) -> None:
    snapshot(f"help/weft-{'-'.join(path)}.txt", cli(*path, "--help").stdout)


@pytest.mark.parametrize("operation", COMMANDS, ids=lambda operation: operation.name)
def test_input_schemas(snapshot: CheckSnapshot, operation: Operation) -> None:
    schema = msgspec.json.schema(operation.input)
    snapshot(f"schemas/{operation.name}.json", json.dumps(schema, indent=2, ensure_ascii=False) + "\n")


ERRORS = {
    "not-a-citation": ("cite", "nonsense"),
    "not-found": ("show", "nobody"),
    "bad-moment": ("recall", "x", "--as-of", "2026-02-30"),
    "bad-interval": ("remember", "x", "--valid-from", "2026-02", "--valid-to", "2026-01"),
    "bad-kind": ("remember", "x", "--kind", "not a kind"),
    "bad-pair": ("remember", "x", "--props", "novalue"),
    "conflict": ("remember", "x", "--expected-head", "7"),
    "outside": ("ingest", "/"),
    "no-log": ("log", "import", "missing.jsonl"),
    "no-transaction": ("diff", "tx-0000000000000000"),
    "nothing-to-back-up": ("backup", "copy"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_error_bodies(cli: Cli, snapshot: CheckSnapshot, name: str) -> None:
    done = cli(*ERRORS[name], "--json")
    assert json.loads(done.stdout)["ok"] is False
    shown = f"exit code {done.exit_code}\n{done.stdout}".replace(str(cli.scratch), "/tmp/x")
    snapshot(f"errors/{name}.json.txt", shown)


class CountingBytes:
    """In place of the operating system's randomness: the same bytes on every run."""

    def __init__(self) -> None:
        self._drawn = 0

    def urandom(self, size: int) -> bytes:
        self._drawn += 1
        return sha256(self._drawn.to_bytes(8, "big")).digest()[:size]


def test_a_recall_as_people_see_it(cli: Cli, snapshot: CheckSnapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, chance = ManualClock(), CountingBytes()
    monkeypatch.setattr(weft.memory.facade, "SystemClock", lambda: clock)
    monkeypatch.setattr(weft.log.draft, "os", chance)
    monkeypatch.setattr(weft.runtime.call_context, "os", chance)
    monkeypatch.setattr(
        weft.retrieval.pipeline, "time", SimpleNamespace(perf_counter=lambda: 0.0, monotonic=lambda: 0.0)
    )
    limits = "# Rate limits\n\nCounters live in Redis: Postgres locks were slow.\n\n"
    (cli.root / "limits.md").write_text(limits + "## Alarms\n\nPage at 80 calls a second.\n")
    cli("ingest", ".")
    clock.step(DAY_US)
    cli("remember", "Mira measured Redis again: it holds 80 000 counters.", "--name", "Redis, measured")
    cli("add-fact", "Redis", "status", "in use", "--valid-from", "2025-03-01")
    cli("add-fact", "Redis", "status", "being replaced", "--valid-from", "2026-01-02")
    asked = ("recall", "why are rate limits kept in Redis?", "--explain")
    snapshot("recall-explained.txt", cli(*asked).stdout)
    snapshot("recall-explained-2025.txt", cli(*asked, "--as-of", "2025-06", "--kinds", "Fact").stdout)
    snapshot("recall-explained.json", cli(*asked, "--limit", "2", "--json").stdout)


def test_no_snapshot_is_left_over() -> None:
    """Of commands, operations and errors that are gone."""
    wanted = {f"help/weft-{'-'.join(path)}.txt" for path in every_command()} | {"help/weft.txt"}
    wanted |= {f"schemas/{operation.name}.json" for operation in COMMANDS}
    wanted |= {f"errors/{name}.json.txt" for name in ERRORS}
    kept = {str(file.relative_to(SNAPSHOTS)) for file in SNAPSHOTS.glob("*/*")}
    assert kept == wanted
