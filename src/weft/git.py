"""What git knows of a directory: its commit, when one was made, where it came from. Nothing, where there is no git."""

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


def origin_of(root: Path) -> tuple[Path, str] | None:
    """The repository that a directory is in, and the URL of its remote `origin`; None without one.

    Only what stands in a `.git` counts: git itself also takes a directory for a repository that merely looks like one,
    which may come with what was cloned.
    """
    top = next((place for place in (root, *root.parents) if (place / ".git").exists()), None)
    if top is None:
        return None
    url = _ask(top, "--git-dir", str(top / ".git"), "config", "--local", "--get", "remote.origin.url")
    return None if url is None else (top, url)


def _ask(root: Path, *arguments: str) -> str | None:
    if not any((place / ".git").exists() for place in (root, *root.parents)):
        return None
    command = ["git", "-C", str(root), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None
