"""What is told of rebuilds beside the store, cleared of what is erased."""

from __future__ import annotations

from weft.loom import Loom
from weft.operations.jobs import JobBook
from weft.operations.mentioned import Mentioned
from weft.operations.selection import Selected


class Jobs:
    """The records of jobs that concern one erasure. `ended` is how many of them go.

    They name files in many ways, such as by a folder or in an error: with any code, all of them go.
    """

    def __init__(self, loom: Loom, selected: Selected, mentioned: Mentioned, written: str, *, has_code: bool) -> None:
        self._book, self._account = JobBook(loom), loom.writer.account
        given = (written,) if selected.what == "source" else ()
        path = Mentioned(ids=given, paths=selected.files, all=has_code)
        self._mentions = lambda text: path(text) or mentioned(text)
        self.ended, _ = self._book.forget(self._account, self._mentions, write=False)

    def clear(self) -> tuple[str, ...]:
        """Removes them. Returns a note where one runs that may name what is erased."""
        _, running = self._book.forget(self._account, self._mentions, write=True)
        told = "a rebuild runs meanwhile, and may name it: erase it again when that has ended"
        return (told,) if running else ()
