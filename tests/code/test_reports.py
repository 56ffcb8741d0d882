"""Questions that are reports, with the code of whoever wrote them: what they are about is said in words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.code.indexed import write_files
from tests.retrieval.small_worlds import context_over
from weft.backends.sqlite.store import SqliteStore
from weft.code.ask.graph_query import GraphQuery, graph_query
from weft.log.chain import commit_genesis
from weft.retrieval.question.understand import is_code_line, prose_of
from weft.runtime.call_context import CallContext
from weft.testing.clock import ManualClock

REPORT = """Timeout is ignored when the harbour pilot reconnects
The pilot keeps the connection open for ever, whatever timeout was given when it reconnects. I use it like this:
class Crane(Model):
    colour = TextField(max_length=20)
    weight = NumberField(default=weigh_crane)
crane = Crane(colour="red", weight=weigh_crane())
crane.save_crane(colour="red")
print(crane.colour, crane.weight)
Traceback (most recent call last):
  File "crane.py", line 3, in save_crane
"""


@pytest.fixture
def ctx(tmp_path: Path) -> Iterator[CallContext]:
    clock = ManualClock()
    store = SqliteStore(tmp_path / "store", commit_genesis, clock=clock)
    made = context_over(store, clock)
    yield replace(made, settings=replace(made.settings, root=tmp_path))
    store.close()


@pytest.mark.parametrize(
    "line",
    [
        "class Crane(Model):",
        "    colour = TextField(max_length=20)",
        '  File "crane.py", line 3, in save_crane',
        "Traceback (most recent call last):",
        ">>> crane.save()",
        "const crane = build()",
        "{'a': [1, 2], 'b': {}}",
    ],
)
def test_lines_of_code(line: str) -> None:
    assert is_code_line(line)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "It fails (for me) with the default settings.",
        "Importing a model twice is slow, see #12.",
        "return_to is lost",
    ],
)
def test_lines_of_prose(line: str) -> None:
    assert not is_code_line(line)


def test_the_title_stays_whatever_it_holds() -> None:
    assert prose_of("crane.save() = None\nIt fails.\nx = 1\n") == "crane.save() = None\nIt fails.\n"


def test_a_report_is_about_what_it_says_more_than_about_the_code_it_shows(ctx: CallContext) -> None:
    own = "def save_crane(crane, colour, weight):\n    return crane, colour, weight, weigh_crane\n"
    pilot = "def connect(timeout):\n    # the pilot reconnects\n    connection = timeout\n    return connection\n"
    others = {f"port/part{n}.py": f"def part{n}():\n    return {n}\n" for n in range(6)}
    write_files(ctx, {"port/crane.py": own, "port/pilot.py": pilot, **others})
    answer = graph_query(ctx, GraphQuery(query=REPORT))
    assert [hit.path for hit in answer.hits][:2] == ["port/pilot.py", "port/crane.py"]
