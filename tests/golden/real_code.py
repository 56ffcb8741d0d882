"""A small project with a history, read by the real indexer: for golden logs."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from weft.code.index.history import index_commit
from weft.code.index.index import index_workspace
from weft.core.types import SCOPES, Viewer
from weft.erasure import erase_log as erasure
from weft.erasure.rewrite_log import RewriteAccess
from weft.memory.facade import Memory

DATES = ("2026-01-10T10:00:00+00:00", "2026-02-10T10:00:00+00:00", "2026-03-10T10:00:00+00:00")
TIDES = (
    "import math\n\nfrom harbour import moon\n\n\nclass Tide:\n"
    '    """Says when water is high."""\n\n'
    "    def high(self, day: int) -> int:\n        return moon.phase(day) + math.floor(1.5)\n\n\n"
)
LOW = "class LowTide(Tide):\n    def low(self, day: int) -> int:\n        return self.high(day) - 6\n"
MOON = "def phase(day):\n    return day % {}\n"
TEST = "from harbour.tides import Tide\n\n\ndef test_high():\n    assert Tide().high(1)\n"
FERRY = (
    'import { hour } from "./clock";\n\nexport interface Boat { sail(): number }\n\n'
    "export class Ferry implements Boat {\n  sail(): number { return hour(); }\n}\n"
)
CLOCK = "export function hour(): number { return Date.now(); }\n"
HORN = 'import { hour } from "./clock";\n\nexport function blow(): number { return hour(); }\n'
VERSIONS: tuple[Mapping[str, str], ...] = (
    {
        "harbour/__init__.py": "",
        "harbour/moon.py": MOON.format(28),
        "harbour/tides.py": TIDES + LOW,
        "tests/test_tides.py": TEST,
        "web/clock.ts": CLOCK,
        "web/ferry.ts": FERRY,
        "web/horn.ts": HORN,
    },
    {
        "harbour/__init__.py": "",
        "harbour/moon.py": MOON.format(29),
        "harbour/tides.py": TIDES,
        "tests/test_tides.py": TEST,
        "web/clock.ts": CLOCK,
    },
    {
        "harbour/__init__.py": "",
        "harbour/moon.py": MOON.format(29) + "\n\ndef broken(:\n    pass\n",
        "harbour/tides.py": TIDES + LOW.replace("6", "7"),
        "web/clock.ts": CLOCK,
        "web/ferry.ts": FERRY,
        "web/horn.ts": HORN,
    },
)


def read_history(memory: Memory, root: Path) -> None:
    """The last commit as files, then the first and the one between, out of git; then a change; then an erasure."""
    commits = _repository(root)
    index_workspace(memory.ctx)
    for commit in (commits[0], commits[1]):
        index_commit(memory.ctx, commit)
    (root / "harbour/tides.py").write_text(TIDES)
    (root / "harbour/moon.py").unlink()
    index_workspace(memory.ctx)
    erasure.erase(
        RewriteAccess(
            store=memory.ctx.store,
            writer=memory.ctx.writer,
            viewer=Viewer(account=memory.ctx.writer.account, scopes=frozenset(SCOPES), sensitive=True),
            clock=memory.ctx.clock,
            progress=lambda *_: None,
        ),
        ids={f"{memory.ctx.settings.project}/web/horn.ts::blow"},
        what="subject",
    )


def _repository(root: Path) -> list[str]:
    _git(root, "init", "-q")
    made = []
    for files, date in zip(VERSIONS, DATES, strict=True):
        for known in (*root.rglob("*.py"), *root.rglob("*.ts")):
            known.unlink()
        for path, text in files.items():
            (root / path).parent.mkdir(exist_ok=True)
            (root / path).write_text(text)
        _git(root, "add", "-A")
        _git(root, "commit", "-q", "-m", "a version", date=date)
        made.append(_git(root, "rev-parse", "HEAD"))
    return made


def _git(root: Path, *arguments: str, date: str = DATES[0]) -> str:
    named = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false")
    environment = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date, "HOME": str(root), "PATH": "/usr/bin:/bin"}
    command = ["git", "-C", str(root), *named, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout.strip()
