"""Reads the two clocks from what a caller wrote."""

from __future__ import annotations

import re
from typing import Final

from weft import git
from weft.errors import Invalid, NotFound
from weft.instants import parse_instant
from weft.loom import Loom
from weft.operations.looks import commit_began, first_look_ended, of_project
from weft.types import Tx, When

SHA_CHARACTERS = range(7, 65)
TRANSACTIONS_OF_COMMIT: Final = 10_000
_GIT_NAME = re.compile(r"[A-Za-z][\w./-]{0,200}(?:[~^]\d{0,4}){0,4}")


def read_when(loom: Loom, *, as_of: str | None, known_at: str | None) -> When:
    """`as_of` is valid time, `known_at` is record time. A git commit or a Tx id stands for its time."""
    return When(valid_at=_read(loom, as_of, "as_of"), known_at=_read(loom, known_at, "known_at"))


def _read(loom: Loom, written: str | None, field: str) -> int | None:
    if written is None:
        return None
    if looks_like_tx(written):
        return tx_time(loom, written)
    if looks_like_sha(written) or names_commit(loom, written):
        return valid_time(loom, written) if field == "as_of" else commit_time(loom, written)
    try:
        return parse_instant(written, field=field)
    except Invalid as problem:
        if written[:1].isdigit():
            raise
        raise Invalid(
            f"{field} is neither a moment in time nor a commit that git knows here: {written[:60]!r}",
            hint="write 2026-05-08 or 2026-05-08T09:30:00Z, a commit, a branch, a tag or a Tx id",
        ) from problem


def as_of_note(loom: Loom, as_of: str | None) -> tuple[str, ...]:
    """What to say of an answer about code as of a commit that was not read out of git: whose files it is of."""
    if as_of is None or not (looks_like_sha(as_of) or names_commit(loom, as_of)):
        return ()
    name, found = as_of[:40], _of_commit(loom, as_of)
    if commit_began(loom, found) is not None:
        return ()
    if first_look_ended(loom, found) is not None:
        return (
            f"commit {name} was read from the working tree, which may have held changes that were not committed;"
            f" `weft index --commit {name}` reads the commit itself",
        )
    if len(found) == TRANSACTIONS_OF_COMMIT:
        return (f"of what was indexed at commit {name} only the last {len(found):,} changes were looked through",)
    return (f"commit {name} was never indexed: this is what held at its time; `weft index --commit {name}`",)


def looks_like_tx(written: str) -> bool:
    """Written as weft names transactions."""
    return written.startswith("tx-")


def looks_like_sha(written: str) -> bool:
    """Seven or more hexadecimal digits that no date could be."""
    hexadecimal = all(c in "0123456789abcdef" for c in written)
    compact_date = len(written) == 8 and written.isdigit()
    return hexadecimal and len(written) in SHA_CHARACTERS and not compact_date


def tx_time(loom: Loom, tx_id: str) -> int:
    """When a transaction landed."""
    tx = loom.store.transaction(loom.viewer, tx_id)
    if tx is None:
        raise NotFound(f"there is no transaction {tx_id!r}", hint="`weft diff` lists what changed since a moment")
    return tx.at


def names_commit(loom: Loom, written: str) -> bool:
    """Whether it is a name that git knows here for a commit: HEAD, a branch, a tag. No date is one."""
    named = not written[:1].isdigit() and _GIT_NAME.fullmatch(written) is not None
    return named and git.commit_of(loom.settings.root, written) is not None


def commit_time(loom: Loom, name: str) -> int:
    """When what belongs to a git commit landed here; if nothing does, when the commit was made."""
    found = [tx for tx in _of_commit(loom, name) if of_project(loom, tx)]
    return found[0].at if found else _made(loom, name)


def valid_time(loom: Loom, name: str) -> int:
    """Since when what belongs to a git commit holds.

    Read out of git, since it was made; else since it was first read from the disk, while it was checked out.
    """
    found = _of_commit(loom, name)
    began = commit_began(loom, found)
    if began is None:
        began = first_look_ended(loom, found)
    return _made(loom, name) if began is None else began


def _made(loom: Loom, name: str) -> int:
    """When a commit was made, in order with others of the same second."""
    commit, made = git.commit_of(loom.settings.root, name), git.commit_time_us(loom.settings.root, name)
    if commit is None or made is None:
        raise NotFound(f"git commit {name} is not known here", hint="give a moment instead, such as 2026-05-08")
    return made + git.rank_in_second(loom.settings.root, commit)


def _of_commit(loom: Loom, name: str) -> tuple[Tx, ...]:
    """The transactions that belong to a commit, in any project, the latest first."""
    sha = git.commit_of(loom.settings.root, name) or name
    return loom.store.transactions(loom.viewer, limit=TRANSACTIONS_OF_COMMIT, git_commit=sha)


def check_interval(valid_from: str | None, valid_to: str | None) -> tuple[int | None, int | None]:
    """Both ends of an interval, in order. Raises Invalid for one that ends before it begins."""
    begin = None if valid_from is None else parse_instant(valid_from, field="valid_from")
    end = None if valid_to is None else parse_instant(valid_to, field="valid_to")
    if begin is not None and end is not None and end <= begin:
        raise Invalid("the interval ends before it begins", hint="valid_to must be later than valid_from")
    return begin, end
