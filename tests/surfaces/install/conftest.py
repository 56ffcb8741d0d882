"""A machine of its own: a home, a project, and the real `weft` command in them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from weft.surfaces.install.clients import client_named
from weft.surfaces.install.places import Machine, Scope

WEFT = Path(sys.executable).with_name("weft")


class Ran(NamedTuple):
    """What a process left behind."""

    code: int
    out: str
    err: str


class Box:
    """A machine in a directory."""

    def __init__(self, scratch: Path) -> None:
        self.home, self.project = scratch / "home", scratch / "ferry"
        for each in (self.home, self.project):
            each.mkdir()
        (self.project / ".git").mkdir()

    @property
    def machine(self) -> Machine:
        return Machine(platform=sys.platform, environment={}, home=str(self.home), project=str(self.project))

    def environment(self, **more: str) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "LC_ALL": "C.UTF-8",
            "WEFT_EMBEDDER": "none",
            "WEFT_AUDIT": "off",
            **more,
        }

    def weft(self, *arguments: str, code: int | None = 0, program: Path = WEFT, **environment: str) -> Ran:
        done = subprocess.run(
            [str(program), *arguments],
            input="",
            capture_output=True,
            text=True,
            cwd=self.project,
            env=self.environment(**environment),
            timeout=60,
            check=False,
        )
        assert code is None or done.returncode == code, (done.stdout, done.stderr)
        return Ran(done.returncode, done.stdout, done.stderr)

    def answer(self, *arguments: str, code: int | None = 0, **environment: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.weft(*arguments, "--json", code=code, **environment).out)
        return found

    def files(self) -> dict[str, bytes]:
        """Every file of home and project, but weft's own data."""
        return {
            str(each.relative_to(top.parent)): each.read_bytes()
            for top in (self.home, self.project)
            for each in sorted(top.rglob("*"))
            if each.is_file() and ".local/share/weft" not in str(each)
        }

    def server_file(self, client: str, scope: Scope = "user") -> Path:
        return Path(client_named(client).where(self.machine, scope).server)


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path)
