"""Parsing of times for the two clocks: dates, git commits, transactions."""

from __future__ import annotations

import re
from typing import Final

from weft.core.clock import parse_instant
from weft.core.errors import Invalid, NotFound
from weft.core.types import Tx, When
from weft.files import git
from weft.runtime.call_context import CallContext
from weft.runtime.indexed_commits import commit_began, first_look_ended, of_project

SHA_CHARACTERS = range(7, 65)
TRANSACTIONS_OF_COMMIT: Final = 10_000
_GIT_NAME = re.compile(r"[A-Za-z][\w./-]{0,200}(?:[~^]\d{0,4}){0,4}")


def read_when(ctx: CallContext, *, as_of: str | None, known_at: str | None) -> When:
    """Valid time from `as_of`, record time from `known_at`. A git commit or a transaction id means its time."""
    return When(
        valid_at=None if as_of is None else read_moment(ctx, as_of, "as_of"),
        known_at=None if known_at is None else read_moment(ctx, known_at, "known_at"),
    )


def read_moment(ctx: CallContext, written: str, field: str) -> int:
    """A moment from a time, a transaction id, or anything that git knows as a commit. `as_of` is a valid time."""
    if looks_like_tx(written):
        return tx_time(ctx, written)
    if looks_like_sha(written) or names_commit(ctx, written):
        return valid_time(ctx, written) if field == "as_of" else commit_time(ctx, written)
    try:
        return parse_instant(written, field=field)
    except Invalid as problem:
        if written[:1].isdigit():
            raise
        raise Invalid(
            f"{field} is neither a moment in time nor a commit that git knows here: {written[:60]!r}",
            hint="write 2026-05-08, 2026-05-08T09:30:00Z, yesterday, a commit, a branch, a tag or a Tx id",
        ) from problem


def as_of_note(ctx: CallContext, as_of: str | None) -> tuple[str, ...]:
    """A note for an answer as of a commit that was indexed from the working tree, not from git."""
    if as_of is None or not (looks_like_sha(as_of) or names_commit(ctx, as_of)):
        return ()
    name, found = as_of[:40], _of_commit(ctx, as_of)
    if commit_began(ctx, found) is not None:
        return ()
    if first_look_ended(ctx, found) is not None:
        return (
            f"commit {name} was read from the working tree, which may have held changes that were not committed;"
            f" `weft index --commit {name}` reads the commit itself",
        )
    if len(found) == TRANSACTIONS_OF_COMMIT:
        return (f"of what was indexed at commit {name} only the last {len(found):,} changes were looked through",)
    return (f"commit {name} was never indexed: this is what held at its time; `weft index --commit {name}`",)


def looks_like_tx(written: str) -> bool:
    """Whether it has the form of a transaction id."""
    return written.startswith("tx-")


def looks_like_sha(written: str) -> bool:
    """Whether it is seven or more hexadecimal digits and not a compact date."""
    hexadecimal = all(c in "0123456789abcdef" for c in written)
    compact_date = len(written) == 8 and written.isdigit()
    return hexadecimal and len(written) in SHA_CHARACTERS and not compact_date


def tx_time(ctx: CallContext, tx_id: str) -> int:
    """The commit time of a transaction."""
    tx = ctx.store.transaction(ctx.viewer, tx_id)
    if tx is None:
        raise NotFound(f"there is no transaction {tx_id!r}", hint="`weft diff` lists what changed since a moment")
    return tx.at


def names_commit(ctx: CallContext, written: str) -> bool:
    """Whether git knows it as a commit here: HEAD, a branch, a tag. Dates are not."""
    named = not written[:1].isdigit() and _GIT_NAME.fullmatch(written) is not None
    return named and git.commit_of(ctx.settings.root, written) is not None


def commit_time(ctx: CallContext, name: str) -> int:
    """When a git commit was indexed here; the commit's own time if it was not."""
    found = [tx for tx in _of_commit(ctx, name) if of_project(ctx, tx)]
    return found[0].at if found else _made(ctx, name)


def valid_time(ctx: CallContext, name: str) -> int:
    """The valid time from which the content of a git commit holds.

    If it was indexed from git, the commit's time; else when it was first read from the disk while checked out.
    """
    found = _of_commit(ctx, name)
    began = commit_began(ctx, found)
    if began is None:
        began = first_look_ended(ctx, found)
    return _made(ctx, name) if began is None else began


def _made(ctx: CallContext, name: str) -> int:
    """The commit's time, ordered among commits of the same second."""
    commit, made = git.commit_of(ctx.settings.root, name), git.commit_time_us(ctx.settings.root, name)
    if commit is None or made is None:
        raise NotFound(f"git commit {name} is not known here", hint="give a moment instead, such as 2026-05-08")
    return made + git.rank_in_second(ctx.settings.root, commit)


def _of_commit(ctx: CallContext, name: str) -> tuple[Tx, ...]:
    """The transactions of a commit in any project, latest first."""
    sha = git.commit_of(ctx.settings.root, name) or name
    return ctx.store.transactions(ctx.viewer, limit=TRANSACTIONS_OF_COMMIT, git_commit=sha)


def check_interval(valid_from: str | None, valid_to: str | None) -> tuple[int | None, int | None]:
    """Both ends of an interval, in order. Raises Invalid for one that ends before it begins."""
    begin = None if valid_from is None else parse_instant(valid_from, field="valid_from")
    end = None if valid_to is None else parse_instant(valid_to, field="valid_to")
    if begin is not None and end is not None and end <= begin:
        raise Invalid("the interval ends before it begins", hint="valid_to must be later than valid_from")
    return begin, end
