"""Killed at any moment, or run twice at once: every file is kept once, and nothing is lost."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import weft
from tests.places import Place

WEFT = Path(sys.executable).with_name("weft")
FILES = 120
ROUNDS = int(os.environ.get("WEFT_KILL_ROUNDS", "8"))


def fill(root: Path, *, edition: int = 1) -> None:
    for number in range(FILES):
        folder = root / f"d{number % 7}"
        folder.mkdir(exist_ok=True)
        text = f"# Berth {number}\n\nEdition {edition} for ship {number}.\n\n## Rules\n\nNo fires.\n"
        (folder / f"{number}.md").write_text(text)
    long = (f"# Part {number}\n\nberth {number}, edition {edition}\n" for number in range(200))
    (root / "long.md").write_text("\n".join(long))
    (root / "m.py").write_text(f"def mast() -> int:\n    return {edition}\n")


def start(place: Place) -> subprocess.Popen[str]:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(place.scratch),
        "WEFT_STORE": f"sqlite://{place.scratch / 'store'}",
        "WEFT_EMBEDDER": "none",
        "WEFT_AUDIT": "off",
    }
    return subprocess.Popen(
        [str(WEFT), "ingest", ".", "--json"],
        cwd=place.root,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(child: subprocess.Popen[str]) -> dict[str, Any]:
    out, err = child.communicate(timeout=100)
    assert child.returncode == 0, err
    answer: dict[str, Any] = json.loads(out)
    return answer


def written(memory: weft.Memory, node_id: str) -> tuple[str, int]:
    """What a node says, and how many events said something of it."""
    shown = memory.show(node_id)
    assert shown.node is not None, node_id
    return shown.node.text, len({version.source for version in shown.history})


def check(memory: weft.Memory, *, editions: int) -> None:
    """Every file in its last edition, with as many versions as there were editions."""
    for number in range(FILES):
        assert written(memory, f"ferry/d{number % 7}/{number}.md")[1] == editions
    assert written(memory, "ferry/d0/0.md#Berth 0¶1") == (f"Edition {editions} for ship 0.", editions)
    for number in (0, 99, 199):
        assert written(memory, f"ferry/long.md#Part {number}¶1") == (f"berth {number}, edition {editions}", editions)
    assert written(memory, "ferry/m.py")[1] == editions


@pytest.mark.timeout(240)
def test_killed_at_any_moment_it_goes_on_where_it_was(place: Place) -> None:
    chance = random.Random(7)
    fill(place.root)
    for _ in range(ROUNDS):
        child = start(place)
        time.sleep(0.35 + chance.random() * 0.6)
        child.kill()
        child.communicate()
    done = finish(start(place))
    assert done["documents"] + done["unchanged"] >= FILES + 1
    assert done["skipped"] == []
    memory = place.open()
    check(memory, editions=1)
    assert memory.call("log_verify").problem is None
    again = finish(start(place))
    assert again["unchanged"] == FILES + 2


@pytest.mark.timeout(240)
def test_two_at_once_write_every_version_once(place: Place) -> None:
    for edition in (1, 2):
        fill(place.root, edition=edition)
        children = [start(place) for _ in range(3)]
        told = [finish(child) for child in children]
        assert all(each["skipped"] == [] for each in told)
        assert sum(each["documents"] for each in told) >= FILES + 1
        check(place.open(), editions=edition)
