"""The day of docs/fleet.md as a stranger types it: every command of the guide, in real shells."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from msgspec import Struct

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "fleet.md"
BLOCK = re.compile(r"^```(sh|)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CHANGING = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d|[0-9a-f]{8}-[0-9a-f-]{27}|(?<=/events/)\d+#\w*|…")
LOGIN = "def login(user: str) -> str:\n    return user\n"
TEST = "from src.login import login\n\n\ndef test_login() -> None:\n    assert login('a')\n"


class Typed(Struct, frozen=True):
    """What a shell answered to a block of commands."""

    code: int
    said: str


class Shells:
    """A repository, and a shell of each agent."""

    def __init__(self, home: Path) -> None:
        self.home, self.root = home, home / "shop"
        for path, text in (("src/login.py", LOGIN), ("tests/test_login.py", TEST)):
            file = self.root / path
            file.parent.mkdir(parents=True)
            file.write_text(text)

    def type(self, agent: str, lines: str) -> Typed:
        environment = {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.home),
            "WEFT_EMBEDDER": "none",
            "WEFT_AGENT": agent,
            "WEFT_SESSION": f"{agent}-1",
            "WEFT_ROLE": "agent",
        }
        done = subprocess.run(
            ["bash", "-e", "-c", lines], cwd=self.root, env=environment, capture_output=True, text=True, check=False
        )
        return Typed(done.returncode, done.stdout + done.stderr)


def test_every_command_of_the_guide_does_what_it_says(tmp_path: Path) -> None:
    shells = Shells(tmp_path)
    day = GUIDE.read_text().partition("## A day with three agents")[2].partition("\n## ")[0]
    agent, last, answers = "ana", Typed(0, ""), []
    for kind, text in BLOCK.findall(day):
        if kind != "sh":
            assert CHANGING.sub("", text.strip()) in CHANGING.sub("", last.said), f"{text}\nis not in\n{last.said}"
            continue
        agent = named[1] if (named := re.match(r"# (\w+)\n", text)) else agent
        last = shells.type(agent, text)
        refused = "CONFLICT" in last.said
        assert last.code == (1 if refused else 0), last.said
        answers.append(last.said)
    assert sum("CONFLICT" in each for each in answers) == 1
    assert "Editing src/login.py made tests/test_login.py pass" in answers[-1].partition("Learnt here:")[2]
    assert "ana · 0 claims" in answers[-1]
    told = (
        "ana claims src/login.py: write sessions to disk",
        "ben was refused what ana holds: tidy it",
        "Keep sessions in one file",
        "Tests: 3 passed, 1 failed",
        "cem takes src/login.py over from ana: ana is silent",
        "the task succeeded; claims released: Sessions on disk, src/login.py",
    )
    log = answers[-1].partition("events of the log")[2]
    places = [log.find(each) for each in told]
    assert -1 not in places
    assert places == sorted(places)
