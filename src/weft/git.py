"""What git knows of a directory: its commit, when one was made, where it came from. Nothing, where there is no git."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

TIMEOUT_S = 5.0
TREE_TIMEOUT_S: Final = 60.0  # of a commit with very many files
LINK: Final = b"120000"  # the mode of a symbolic link


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


def _ask(root: Path, *arguments: str, empty: bool = False) -> str | None:
    """What git prints, without blanks around it; None where it fails or prints nothing (but where that may be)."""
    done = _bytes(root, *arguments, timeout_s=TIMEOUT_S)
    if done is None:
        return None
    said = done.decode(errors="replace").strip()
    return said if said or empty else None


def _bytes(root: Path, *arguments: str, timeout_s: float = TREE_TIMEOUT_S) -> bytes | None:
    if not any((place / ".git").exists() for place in (root, *root.parents)):
        return None
    command = ["git", "-C", str(root), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, timeout=timeout_s, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


class Entry(NamedTuple):
    """A file of a commit: its path from the directory asked about, git's id of its content, its size."""

    path: str
    blob: str
    size: int


def tree_of(root: Path, name: str) -> tuple[Entry, ...] | None:
    """The regular files of a commit at or below a directory; None where git does not know the commit.

    Links and submodules are left out. What the working tree says is not looked at: no filter of the repository runs.
    """
    commit = commit_of(root, name)
    # As seen from the directory: with its subdirectory's name before a colon, git lists that part alone.
    prefix = None if commit is None else _ask(root, "rev-parse", "--show-prefix", empty=True)
    if commit is None or prefix is None:
        return None
    listed = _bytes(root, "ls-tree", "-r", "-z", "--long", "--full-tree", f"{commit}:{prefix.rstrip('/')}")
    if listed is None:
        return None
    found = []
    for line in listed.split(b"\0"):
        head, _, path = line.partition(b"\t")
        mode, sort, blob, size = head.split() if path else (b"", b"", b"", b"")
        if sort == b"blob" and mode != LINK:
            found.append(Entry(path.decode(errors="surrogateescape"), blob.decode(), int(size)))
    return tuple(found)


def blobs_of(root: Path, blobs: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """The contents of these blobs, in order; those that git does not have are left out. One process for all."""
    command = ["git", "-C", str(root), "cat-file", "--batch"]
    try:
        with subprocess.Popen(  # noqa: S603 - no shell, and ids only on its input
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as git:
            assert git.stdin is not None
            assert git.stdout is not None
            for blob in blobs:
                git.stdin.write(f"{blob}\n".encode())
                git.stdin.flush()
                head = git.stdout.readline().split()
                if len(head) == 3:  # id, sort, size
                    content = git.stdout.read(int(head[2]))
                    git.stdout.read(1)
                    yield blob, content
            git.stdin.close()
    except OSError:
        return
