"""When the code of a workspace was looked at, on the disk or in git, and where a commit goes in time.

What was found on the disk holds from that moment on, what came out of git from the commit's own time on. There is one
line of time for all branches: so what came out of git never goes past what the disk said.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from weft import git
from weft.instants import to_iso
from weft.loom import Loom
from weft.types import NodeVersion, Tx

MAX_TRANSACTIONS: Final = 5_000  # the latest that are looked through
OUT_OF_GIT: Final = "maintenance"  # the kind of transactions that tell of a commit what git has of it
LOOKS: Final = ("full_rebuild", "incremental", "file_change")  # transactions that follow a look at the disk


class Place(NamedTuple):
    """Where a commit goes: it holds from `at` on, up to what is known of a later time.

    `known` says that it was read before. `notes` are for who reads the answer.
    """

    at: int
    until: int | None
    known: bool
    notes: tuple[str, ...] = ()


def first_made(loom: Loom, tx: Tx) -> NodeVersion | None:
    """What a transaction made first, which begins with a note; None where that is nothing, or not for the caller."""
    return next(iter(loom.store.asserted_by(loom.viewer, tx.opened_pos + 1, limit=1)), None)


def of_project(loom: Loom, tx: Tx) -> bool:
    """Whether a transaction is not another project's, as far as what it made first tells."""
    made = first_made(loom, tx)
    return made is None or made.guard.project in (None, loom.settings.project)


def is_own(loom: Loom, tx: Tx) -> bool:
    """Whether a transaction is this project's, by what it made first. One that tells no version of a file is not."""
    made = first_made(loom, tx)
    return made is not None and made.guard.project == loom.settings.project


def place_of(loom: Loom, commit: str, made: int) -> Place:
    """Where a commit that was made then goes.

    Commits of one second go one after another, by how many of their ancestors are of that second too. One that is dated
    ahead of the clock holds from now on. Where the disk was ever looked at, what it says holds now: a commit ends then.
    """
    latest = loom.store.transactions(loom.viewer, limit=MAX_TRANSACTIONS)
    commits = _commits(loom, latest)
    now = max(loom.clock.now_us(), loom.store.head(loom.viewer).at)
    notes: tuple[str, ...] = ()
    known = commit in commits and commits[commit][0] < now
    if known:
        at = commits[commit][0]
    else:
        at = made + git.rank_in_second(loom.settings.root, commit)
        if at >= now:
            notes = (f"the commit is dated {to_iso(made)}, ahead of this clock: it is taken for one of now",)
            at = now - 1
        taken = {each for each, _ in commits.values()}
        while at in taken:
            at += 1
    later = [each for each, _ in commits.values() if each > at]
    disk = [tx for tx in latest if tx.kind in LOOKS]
    # Past so many transactions nobody knows whether the disk was looked at: a commit must not hide what it says.
    if len(latest) == MAX_TRANSACTIONS or any(is_own(loom, tx) for tx in disk):
        later += [landed for _, landed in commits.values() if landed > at]
        after = sorted((tx for tx in disk if tx.at > at), key=lambda tx: tx.at)
        later += [next((tx.at for tx in after if is_own(loom, tx)), max(now, at + 1))]
    return Place(at, min(later, default=None), known, notes)


def is_disk_last(loom: Loom) -> bool:
    """Whether the last that is known of the code's time is a look at the disk."""
    latest = loom.store.transactions(loom.viewer, limit=MAX_TRANSACTIONS)
    disk = next((tx.at for tx in latest if tx.kind in LOOKS and is_own(loom, tx)), None)
    return disk is not None and all(at < disk for at, _ in _commits(loom, latest).values())


def commit_began(loom: Loom, found: Sequence[Tx]) -> int | None:
    """From when on a commit holds that was read out of git, of transactions that belong to it; None if it was not."""
    return next((at for at, _ in _commits(loom, found).values()), None)


def first_look_ended(loom: Loom, found: Sequence[Tx]) -> int | None:
    """When the first look at the disk was over, of transactions that belong to a commit, the latest first; None where
    there was none. The first transaction of a look says how long it took to look.
    """
    ended: int | None = None
    for tx in reversed([tx for tx in found if tx.kind in LOOKS]):
        own = is_own(loom, tx)
        if ended is not None and own and tx.duration_ms is not None:
            break  # the next look
        if own or ended is not None:
            ended = tx.at
    return ended


def _commits(loom: Loom, latest: Sequence[Tx]) -> dict[str, tuple[int, int]]:
    """The commits that were read out of git: from when on each holds, and when it landed here."""
    found: dict[str, tuple[int, int]] = {}
    bare: dict[str, int] = {}  # those without a file of code, of which there is no more than a note
    for tx in latest:
        if tx.kind == OUT_OF_GIT and tx.git_commit is not None and tx.git_commit not in found:
            made = first_made(loom, tx)
            if made is not None and made.guard.project == loom.settings.project:
                found[tx.git_commit] = made.interval.asserted_from, tx.at
            elif not tx.files:
                bare[tx.git_commit] = tx.at
    for commit, landed in bare.items():
        at = git.commit_time_us(loom.settings.root, commit)
        if at is not None and commit not in found:
            found[commit] = at + git.rank_in_second(loom.settings.root, commit), landed
    return found
