"""Symbolic links of a workspace: reported as skipped; their target is read at its own path or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from weft.files.document_suffixes import form_of
from weft.files.languages import language_of
from weft.files.walk import IS_LINK, Skipped, printable
from weft.runtime.call_context import CallContext

MAX_FOLLOWED: Final = 1_000  # resolved per run; others are only reported as links
INSIDE: Final = f"{IS_LINK} to a file that is indexed under its own path"
OUTSIDE: Final = f"{IS_LINK} to a place outside of the workspace, which is not indexed"
NOWHERE: Final = f"{IS_LINK} to a file that does not exist"
IN_A_CIRCLE: Final = f"{IS_LINK} to itself"


def links_told(ctx: CallContext, root: Path, links: Sequence[str]) -> Iterator[Skipped]:
    """Why these links (paths from the root) are skipped; those of documents are reported by the document reader.

    Targets are named only inside the workspace.
    """
    top = os.path.realpath(root)
    followed = iter(link for link in links if is_indexed(link))
    for link in islice(followed, MAX_FOLLOWED):
        yield Skipped(path=_shown(ctx, link), reason=ctx.privacy.masked(_reason(top, link)))
    yield from (Skipped(path=_shown(ctx, link), reason=IS_LINK) for link in followed)


def _shown(ctx: CallContext, link: str) -> str:
    return ctx.privacy.masked(printable(link))


def is_indexed(path: str) -> bool:
    """Whether reading the code of a workspace reads files of this name: sources, and what is no document."""
    return language_of(path) is not None or form_of(path) is None


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
