"""git metadata of a directory: commits, times, trees, the remote. Empty answers where there is no git.

A clone may contain a directory that git takes for a repository, with settings that name programs to run. So git is told
the repository explicitly, the nearest `.git`, which no clone contains; only commands that run nothing are used (no
filter, no pager, no signature check), and nothing is fetched.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

TIMEOUT_S = 5.0
TREE_TIMEOUT_S: Final = 60.0  # for a commit with very many files
MAX_RANK: Final = 1_000_000  # microseconds in a second
LINK: Final = b"120000"  # the mode of a symbolic link
# No transport: the repository's settings cannot override the environment.
GIT: Final = ("env", "GIT_ALLOW_PROTOCOL=", "GIT_TERMINAL_PROMPT=0", "git")
NOTHING_RUN: Final = ("-c", "log.showSignature=false", "-c", "core.fsmonitor=false")
SUBMODULE: Final = b"160000"


def head_commit(root: Path) -> str | None:
    """The commit that is checked out, or None."""
    return _ask(root, "rev-parse", "--verify", "--quiet", "HEAD")


def commit_of(root: Path, name: str) -> str | None:
    """The commit that a name (a hash, its prefix, a branch, HEAD~2) resolves to, or None."""
    if name.startswith("-"):  # would be an option
        return None
    return _ask(root, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")


def commit_time_us(root: Path, name: str) -> int | None:
    """The time of a commit in microseconds, or None."""
    commit = commit_of(root, name)
    written = None if commit is None else _ask(root, "rev-list", "--max-count=1", "--timestamp", commit)
    made = "" if written is None else written.partition(" ")[0]
    return int(made) * 1_000_000 if made.isdigit() else None


def rank_in_second(root: Path, commit: str) -> int:
    """The number of a commit's ancestors made in the same second: fewer than for any descendant."""
    made = commit_time_us(root, commit)
    if made is None:
        return 0
    second = made // 1_000_000
    count = _ask(root, "rev-list", "--count", f"--min-age={second}", f"--max-age={second}", commit)
    return min(int(count), MAX_RANK) - 1 if count and count.isdigit() and count != "0" else 0


def origin_of(root: Path) -> tuple[Path, str] | None:
    """The repository of a directory, and the URL of its remote `origin`; None without one."""
    top = _top(root)
    url = None if top is None else _ask(top, "config", "--local", "--get", "remote.origin.url")
    return None if top is None or url is None else (top, url)


def _top(root: Path) -> Path | None:
    """The directory of the nearest `.git`: a repository's folder, or a worktree's file that points to one."""
    for place in (root, *root.parents):
        found = place / ".git"
        if found.is_file() or (found / "HEAD").exists():
            return place
    return None


def _command(root: Path, *arguments: str) -> list[str] | None:
    """The git command line for a directory; None if it is in no repository, or in one that git does not trust."""
    top = _top(root)
    if top is None or not _is_trusted(top):
        return None
    which = ("--git-dir", str(top / ".git"), "--work-tree", str(top))
    return [*GIT, "-C", str(root), *which, *NOTHING_RUN, *arguments]


def _is_trusted(top: Path) -> bool:
    """Whether the user owns a repository, or told git to trust it: git does not check one that is named explicitly."""
    try:
        if (top / ".git").lstat().st_uid == os.geteuid():
            return True
        asked = [*GIT, "-C", str(top), *NOTHING_RUN, "rev-parse", "--absolute-git-dir"]
        done = subprocess.run(asked, capture_output=True, timeout=TIMEOUT_S, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and done.stdout.rstrip(b"\n") != os.fsencode(top.resolve())


def common_directory(root: Path) -> Path | None:
    """The repository directory of a worktree; None without one."""
    said = _ask(root, "rev-parse", "--git-common-dir")
    return None if said is None else (root / said).resolve()


def _ask(root: Path, *arguments: str, empty: bool = False) -> str | None:
    """The output of git, stripped; None if it fails or prints nothing (unless `empty`)."""
    done = _bytes(root, *arguments, timeout_s=TIMEOUT_S)
    if done is None:
        return None
    said = done.decode(errors="replace").strip()
    return said if said or empty else None


def _bytes(root: Path, *arguments: str, timeout_s: float = TREE_TIMEOUT_S) -> bytes | None:
    command = _command(root, *arguments)
    if command is None:
        return None
    try:
        done = subprocess.run(command, capture_output=True, timeout=timeout_s, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


class TreeFile(NamedTuple):
    """A file of a commit: its path from the directory asked about, its blob id, its size if known."""

    path: str
    blob: str
    size: int


def tree_of(root: Path, name: str) -> tuple[TreeFile, ...] | None:
    """The regular files of a commit at or below a directory; None if git does not know the commit.

    Links and submodules are omitted. The working tree is not read: no filter of the repository runs.
    """
    commit = commit_of(root, name)
    # Relative to the directory: `<commit>:<prefix>` lists that subtree alone.
    prefix = None if commit is None else _ask(root, "rev-parse", "--show-prefix", empty=True)
    if commit is None or prefix is None:
        return None
    listing = ("ls-tree", "-r", "-z", "--full-tree", f"{commit}:{prefix.rstrip('/')}")
    listed = _bytes(root, *listing, "--long")
    if listed is None:  # a partial clone has no sizes
        listed = _bytes(root, *listing)
    if listed is None:
        return None
    found = []
    for line in listed.split(b"\0"):
        head, _, path = line.partition(b"\t")
        mode, sort, blob, *size = head.split() if path else (b"", b"", b"")
        if sort == b"blob" and mode != LINK:
            found.append(TreeFile(path.decode(errors="surrogateescape"), blob.decode(), int(size[0]) if size else 0))
    return tuple(found)


def submodules_of(root: Path, name: str) -> tuple[str, ...]:
    """The submodules of a commit at or below a directory."""
    commit = commit_of(root, name)
    prefix = None if commit is None else _ask(root, "rev-parse", "--show-prefix", empty=True)
    if commit is None or prefix is None:
        return ()
    listed = _bytes(root, "ls-tree", "-r", "-z", "--full-tree", f"{commit}:{prefix.rstrip('/')}") or b""
    rows = (line.partition(b"\t") for line in listed.split(b"\0"))
    return tuple(path.decode(errors="surrogateescape") for head, _, path in rows if head.startswith(SUBMODULE))


def blobs_of(root: Path, blobs: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """The contents of these blobs, in order; missing ones are omitted. One process for all."""
    command = _command(root, "cat-file", "--batch")
    if command is None:
        return
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
