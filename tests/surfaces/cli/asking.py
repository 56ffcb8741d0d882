"""Asking the command line, and changing its store behind its back."""

from __future__ import annotations

import json
from typing import Any

from tests.surfaces.conftest import Cli

TRACEBACK = "Traceback (most recent call last)"


def answer(cli: Cli, *arguments: str, code: int = 0) -> Any:
    """The JSON a command prints."""
    done = cli(*arguments, "--json")
    assert done.exit_code == code, done.output
    return json.loads(done.stdout)
