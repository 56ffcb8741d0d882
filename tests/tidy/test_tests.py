"""The house rules of the tests. Limits only go down."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parents[1]
FILES = sorted(file for file in TESTS.rglob("*.py") if "project" not in file.parts)  # that one is read, not run

MAX_FILE_LINES = 400  # a file of tests is read from its beginning to its end
MAX_LONG_FILES = 2
MAX_POLL_S = 0.05
MAX_INTERNALS = 311  # modules of weft that tests import past the public doors
DOORS = ("weft.testing", "weft.core")  # beside `weft` itself
# Where a test waits for a time, not for a condition, and why.
SLEEPS = {
    "servers/neo4j_server.py": "a server that starts, and other processes that end, are looked at now and then",
    "code/dying.py": "a process that is to be killed",
    "code/test_hostile_files.py": "killed in the midst of a file; a server asked now and then",
    "code/test_indexing_processes.py": "killed at two moments",
    "code/test_quiet_embedding.py": "nothing is to happen for a while",
    "concurrency/fleet.py": "the log's size is looked at now and then",
    "crash/audit_caller.py": "calls come one by one",
    "crash/killing.py": "killed at a random moment",
    "crash/outbox_writer.py": "steps are slowed, so that a kill falls between them",
    "crash/test_outbox_kill.py": "killed at a random moment",
    "crash/test_token_kill.py": "killed at a random moment",
    "crash/token_writer.py": "steps are slowed, so that a kill falls between them",
    "erasure/test_whole.py": "others read and write for a while; killed at a random moment",
    "ingest/test_at_once.py": "killed at a random moment",
    "models/switching/test_dead_embedder.py": "a server that is slow",
    "models/switching/test_reindex.py": "others read and write for a while",
    "recall/test_priority.py": "a store that is slow",
    "stand_ins.py": "a server that is slow",
    "surfaces/cli/test_cli_endings.py": "interrupted at many moments",
    "surfaces/hooks/test_context_hook.py": "a client that writes in two goes",
    "surfaces/http/door.py": "a call that never ends",
    "surfaces/http/test_auth_limits.py": "a body that never comes",
    "surfaces/http/test_auth_socket.py": "a client that drips",
    "surfaces/http/test_sockets.py": "a server asked now and then",
    "surfaces/mcp/test_mcp_features.py": "nothing comes meanwhile",
    "waiting.py": "the poll of every condition",
}


def name_of(file: Path) -> str:
    return file.relative_to(TESTS).as_posix()


def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def test_files_can_be_read_at_one_go() -> None:
    lines = {name_of(file): len(file.read_text(encoding="utf-8").splitlines()) for file in FILES}
    too_long = {name: count for name, count in lines.items() if count > MAX_FILE_LINES}
    assert len(too_long) <= MAX_LONG_FILES, too_long


def sleeps(file: Path) -> Iterator[ast.expr]:
    """The times for which a file sleeps, but for those of a short poll."""
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "sleep":
            time_s = node.args[0]
            if not (isinstance(time_s, ast.Constant) and float(time_s.value) <= MAX_POLL_S):
                yield time_s


def test_tests_wait_for_conditions() -> None:
    found = {name_of(file) for file in FILES if any(sleeps(file))}
    assert found == set(SLEEPS), "wait with `tests.waiting.wait_for`, or say here why it must be a time"


def internals(file: Path) -> set[str]:
    """The modules of weft that a file imports, but for the public doors."""
    imported: set[str] = set()
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            imported.add(node.module)
        elif isinstance(node, ast.Import):
            imported |= {each.name for each in node.names}
    return {name for name in imported if name.startswith("weft.") and not name.startswith(DOORS)}


def test_fewer_and_fewer_tests_know_the_inside() -> None:
    known = set().union(*map(internals, FILES))
    assert len(known) <= MAX_INTERNALS, len(known)
