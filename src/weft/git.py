"""What git knows of a directory: its present commit, and when a commit was made. Nothing, where there is no git."""

from __future__ import annotations

import subprocess
from pathlib import Path

TIMEOUT_S = 5.0


def head_commit(root: Path) -> str | None:
    """The commit that is checked out, or None."""
    return _ask(root, "rev-parse", "--verify", "--quiet", "HEAD")


def commit_of(root: Path, name: str) -> str | None:
    """The commit that a name (a hash, its beginning, a branch, HEAD~2) stands for, or None."""
    if name.startswith("-"):  # would be an option
        return None
    return _ask(root, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")


def commit_time_us(root: Path, name: str) -> int | None:
    """When that commit was made, in microseconds, or None."""
    commit = commit_of(root, name)
    written = None if commit is None else _ask(root, "show", "--no-patch", "--format=%ct", commit)
    return int(written) * 1_000_000 if written and written.isdigit() else None


def _ask(root: Path, *arguments: str) -> str | None:
    if not any((place / ".git").exists() for place in (root, *root.parents)):
        return None
    command = ["git", "-C", str(root), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None
