"""Symbolic links of a workspace: what they lead to is read where it lies or not at all; they are named."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from weft.code.languages import language_of
from weft.documents.forms import form_of
from weft.loom import Loom
from weft.operations.walking import IS_LINK, Skipped, printable

MAX_FOLLOWED: Final = 1_000  # of one look; of more it is told that they are links
INSIDE: Final = f"{IS_LINK}, and what it leads to is indexed where it lies"
OUTSIDE: Final = f"{IS_LINK} that leads out of the workspace: what is there is not indexed"
NOWHERE: Final = f"{IS_LINK} that leads to nothing"
IN_A_CIRCLE: Final = f"{IS_LINK} that leads to itself"


def links_told(loom: Loom, root: Path, links: Sequence[str]) -> Iterator[Skipped]:
    """Why these links (paths from the root) are not read. A document's is left to who reads documents.

    Where a link leads is told inside the workspace only: what lies outside is nobody's to know here.
    """
    top = os.path.realpath(root)
    followed = iter(link for link in links if _is_indexed(link))
    for link in islice(followed, MAX_FOLLOWED):
        yield Skipped(path=_shown(loom, link), reason=loom.screen.masked(_reason(top, link)))
    yield from (Skipped(path=_shown(loom, link), reason=IS_LINK) for link in followed)


def _shown(loom: Loom, link: str) -> str:
    return loom.screen.masked(printable(link))


def _is_indexed(link: str) -> bool:
    return language_of(link) is not None or form_of(link) is None


def _reason(top: str, link: str) -> str:
    try:
        real = os.path.realpath(os.path.join(top, link), strict=True)  # noqa: PTH118 - a name need not be UTF-8
    except (OSError, ValueError) as problem:
        in_a_circle = isinstance(problem, OSError) and problem.errno == errno.ELOOP
        return IN_A_CIRCLE if in_a_circle else NOWHERE
    if real == top:
        return f"{INSIDE}: the workspace itself"
    if not real.startswith(top + os.sep):
        return OUTSIDE
    return f"{INSIDE}: {printable(real[len(top) + 1 :])}"
