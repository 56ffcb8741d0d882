"""Relations of code at a terminal: all of them however many there are, or as many as are asked for."""

from __future__ import annotations

import json

from tests.surfaces.conftest import Cli

FUNCTIONS = 620  # more than come in one answer


def test_all_relations_are_printed_or_as_many_as_are_asked_for(cli: Cli) -> None:
    text = "".join(f"def step{n}():\n    return {n}\n\n\n" for n in range(FUNCTIONS))
    (cli.root / "steps.py").write_text(text)
    assert cli("graph", "rebuild").exit_code == 0
    every = [json.loads(line) for line in cli("graph", "edges", "--json").stdout.splitlines()]
    assert {each["dst"] for each in every} == {f"steps.py::step{n}" for n in range(FUNCTIONS)}
    assert len(every) == FUNCTIONS
    assert all(each == {"src": "steps.py", "rel": "CONTAINS", "dst": each["dst"]} for each in every)

    some = cli("graph", "edges", "--limit", "610").stdout.splitlines()
    assert [line.split()[-1] for line in some[:-1]] == [each["dst"] for each in every[:610]]
    rest = cli("graph", "edges", *some[-1].split()[-2:]).stdout.splitlines()
    assert [line.split()[-1] for line in rest] == [each["dst"] for each in every[610:]]
