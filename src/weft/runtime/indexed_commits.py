"""Indexed commits of a workspace, and the valid time of a commit to be indexed.

Code read from the disk holds from then on, code read from git from the commit's time on. All branches share one
timeline, so code from git never holds beyond the first look at the disk.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from weft.core.clock import to_iso
from weft.core.types import NodeVersion, Tx
from weft.files import git
from weft.runtime.call_context import CallContext

MAX_TRANSACTIONS: Final = 5_000  # the latest that are looked through
OUT_OF_GIT: Final = "maintenance"  # the kind of transactions that tell of a commit what git has of it
LOOKS: Final = ("full_rebuild", "incremental", "file_change")  # transactions that follow a look at the disk


class Place(NamedTuple):
    """The valid time of a commit: from `at` up to the next known version.

    `known` if it was indexed before. `notes` are for the answer.
    """

    at: int
    until: int | None
    known: bool
    notes: tuple[str, ...] = ()


def first_made(ctx: CallContext, tx: Tx) -> NodeVersion | None:
    """The first node of a transaction after its note; None if there is none or the caller may not see it."""
    return next(iter(ctx.store.asserted_by(ctx.viewer, tx.opened_pos + 1, limit=1)), None)


def of_project(ctx: CallContext, tx: Tx) -> bool:
    """Whether a transaction may belong to this project, by its first node."""
    made = first_made(ctx, tx)
    return made is None or made.guard.project in (None, ctx.settings.project)


def is_own(ctx: CallContext, tx: Tx) -> bool:
    """Whether a transaction belongs to this project, by its first node; False without a version of a file."""
    made = first_made(ctx, tx)
    return made is not None and made.guard.project == ctx.settings.project


def place_of(ctx: CallContext, commit: str, made: int) -> Place:
    """The valid time of a commit made at a time.

    Commits of one second are ordered by their number of ancestors in that second. A commit dated ahead of the clock is
    valid from now on. Once the disk was indexed, its content is current: a commit's validity ends there.
    """
    latest = ctx.store.transactions(ctx.viewer, limit=MAX_TRANSACTIONS)
    commits = _commits(ctx, latest)
    now = max(ctx.clock.now_us(), ctx.store.head(ctx.viewer).at)
    notes: tuple[str, ...] = ()
    known = commit in commits and commits[commit][0] < now
    if known:
        at = commits[commit][0]
    else:
        at = made + git.rank_in_second(ctx.settings.root, commit)
        if at >= now:
            notes = (f"the commit is dated {to_iso(made)}, ahead of this clock: the present time is used",)
            at = now - 1
        taken = {each for each, _ in commits.values()}
        while at in taken:
            at += 1
    later = [each for each, _ in commits.values() if each > at]
    disk = [tx for tx in latest if tx.kind in LOOKS]
    # Beyond this number a look at the disk may be missed; a commit must not hide what the disk says.
    if len(latest) == MAX_TRANSACTIONS or any(is_own(ctx, tx) for tx in disk):
        later += [landed for _, landed in commits.values() if landed > at]
        after = sorted((tx for tx in disk if tx.at > at), key=lambda tx: tx.at)
        later += [next((tx.at for tx in after if is_own(ctx, tx)), max(now, at + 1))]
    return Place(at, min(later, default=None), known, notes)


def is_disk_last(ctx: CallContext) -> bool:
    """Whether the latest known state of the code was read from the disk."""
    latest = ctx.store.transactions(ctx.viewer, limit=MAX_TRANSACTIONS)
    disk = next((tx.at for tx in latest if tx.kind in LOOKS and is_own(ctx, tx)), None)
    return disk is not None and all(at < disk for at, _ in _commits(ctx, latest).values())


def commit_began(ctx: CallContext, found: Sequence[Tx]) -> int | None:
    """The start of validity of a commit read from git, from its transactions; None if it was not read."""
    return next((at for at, _ in _commits(ctx, found).values()), None)


def first_look_ended(ctx: CallContext, found: Sequence[Tx]) -> int | None:
    """The time at which the first look at the disk ended, of transactions of a commit, latest first; None if there was
    none.

    The first transaction of a look records its duration.
    """
    ended: int | None = None
    for tx in reversed([tx for tx in found if tx.kind in LOOKS]):
        own = is_own(ctx, tx)
        if ended is not None and own and tx.duration_ms is not None:
            break  # the next look
        if own or ended is not None:
            ended = tx.at
    return ended


def _commits(ctx: CallContext, latest: Sequence[Tx]) -> dict[str, tuple[int, int]]:
    """The commits read from git: the start of validity of each, and when it was indexed."""
    found: dict[str, tuple[int, int]] = {}
    bare: dict[str, int] = {}  # those without a file of code, of which there is no more than a note
    for tx in latest:
        if tx.kind == OUT_OF_GIT and tx.git_commit is not None and tx.git_commit not in found:
            made = first_made(ctx, tx)
            if made is not None and made.guard.project == ctx.settings.project:
                found[tx.git_commit] = made.interval.asserted_from, tx.at
            elif not tx.files:
                bare[tx.git_commit] = tx.at
    for commit, landed in bare.items():
        at = git.commit_time_us(ctx.settings.root, commit)
        if at is not None and commit not in found:
            found[commit] = at + git.rank_in_second(ctx.settings.root, commit), landed
    return found
