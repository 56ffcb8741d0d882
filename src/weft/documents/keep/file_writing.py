"""Writing of documents: several per commit, decided again if others wrote the same in the meantime."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from weft.append.append import Fence, FenceMoved
from weft.core.errors import Conflict, Forbidden, Invalid, NotFound, WeftError
from weft.documents.keep.file_versions import Decision, FileState, Version, look_up
from weft.log.draft import Draft
from weft.log.kinds import document, transaction
from weft.runtime.call_context import CallContext
from weft.writing.build.commit import MAX_DECISIONS, append_stamped
from weft.writing.build.deletions import restore_whole
from weft.writing.build.embedding_ahead import Ahead
from weft.writing.checks.provenance import TaskClosed

NODES_PER_COMMIT: Final = 32
BYTES_PER_COMMIT: Final = 400_000
FILES_PER_COMMIT: Final = 24
MAX_WAITING: Final = 256  # files waiting for vectors


class FileOutcome(Struct, frozen=True, kw_only=True):
    """The outcome for a file: written (`citation` is of its first event), unchanged, or skipped for a problem."""

    file: Version
    decision: Decision | None = None
    problem: WeftError | None = None
    citation: str = ""
    note: str = ""


class _Work(Struct, frozen=True, kw_only=True):
    """A decision waiting for its vectors, and the state of the graph on which it was based."""

    file: Version
    row: int | None
    decision: Decision
    keys: tuple[bytes, ...]
    needed: int
    weight: tuple[int, int]


class Writing:
    """A queue of documents to write. `told` is called with the outcome of each, in order."""

    def __init__(self, ctx: CallContext, ahead: Ahead, commit: str | None, told: Callable[[FileOutcome], None]) -> None:
        self._ctx, self._ahead, self._commit, self._told = ctx, ahead, commit, told
        self._ready = replace(ctx, embedding=ahead.embedding)
        self._queue: deque[_Work] = deque()

    def add(self, file: Version, row: int | None, decision: Decision) -> None:
        """Queues a file, and writes those that are ready."""
        keys, needed = self._ahead.add(decision.drafts)
        self._queue.append(
            _Work(file=file, row=row, decision=decision, keys=keys, needed=needed, weight=_weight(decision.drafts))
        )
        if len(self._queue) > MAX_WAITING:  # many equal files give few texts to embed
            self._ahead.wait(self._queue[0].needed)
        while (batch := self._batch(whole=True)) is not None:
            self._finish(batch)

    def close(self) -> None:
        """Writes the rest."""
        self._ahead.flush()
        while self._queue:
            self._ahead.wait(self._queue[0].needed)
            batch = self._batch(whole=False)
            assert batch is not None
            self._finish(batch)
            if self._ahead.begun:
                self._ctx.progress("embedding", self._ahead.done, self._ahead.begun)

    def _batch(self, *, whole: bool) -> list[_Work] | None:
        """The files with vectors that fit one commit; None if there are none, or with `whole` too few to fill one."""
        taken: list[_Work] = []
        nodes = size = 0
        for work in self._queue:
            own_nodes, own_size = work.weight
            alone = len(work.decision.drafts) != 1
            full = nodes + own_nodes > NODES_PER_COMMIT or size + own_size > BYTES_PER_COMMIT
            if taken and (alone or full or len(taken) == FILES_PER_COMMIT):
                break
            if not self._ahead.is_made(work.needed):
                break
            taken.append(work)
            nodes, size = nodes + own_nodes, size + own_size
            if alone:
                break
        else:
            if whole:
                return None
        if not taken:
            return None
        for _ in taken:
            self._queue.popleft()
        return taken

    def _finish(self, batch: Sequence[_Work]) -> None:
        for kept in self._written(batch):
            self._told(kept)
        for work in batch:
            self._ahead.release(work.keys)

    # ---- commits

    def _written(self, batch: Sequence[_Work]) -> list[FileOutcome]:
        """Writes files together; if refused, by halves, to isolate the failing ones."""
        try:
            return self._commit_all(batch)
        except TaskClosed:
            raise
        except (Invalid, Forbidden, Conflict, NotFound) as problem:
            if len(batch) == 1:
                return [FileOutcome(file=batch[0].file, problem=problem)]
        middle = len(batch) // 2
        return [*self._written(batch[:middle]), *self._written(batch[middle:])]

    def _commit_all(self, batch: Sequence[_Work]) -> list[FileOutcome]:
        for _ in range(MAX_DECISIONS):
            pos = self._ctx.store.head(self._ctx.viewer).pos
            seen = look_up(self._ctx, [work.file.id for work in batch])
            decided = [(work.file, self._still(work, seen[work.file.id])) for work in batch]
            try:
                citation, note = self._write(pos, [(file, each) for file, each in decided if each is not None])
            except FenceMoved:  # another process wrote the same files
                continue
            return [
                FileOutcome(file=file, decision=decision, citation=citation, note=note) for file, decision in decided
            ]
        raise Conflict(f"other writers changed it {MAX_DECISIONS} times in a row", hint="ingest it again")

    @staticmethod
    def _still(work: _Work, seen: FileState) -> Decision | None:
        """The decision, made again if the file's state in the graph has changed."""
        return work.decision if seen.row == work.row else work.file.decide(seen)

    def _write(self, pos: int, decided: Sequence[tuple[Version, Decision]]) -> tuple[str, str]:
        """One commit for all of them; for a long document one per event.

        Returns the citation of the first event, and a note if vectors failed.
        """
        if not decided:
            return "", ""
        if len(decided) == 1 and (back := decided[0][1].back) is not None:
            done = restore_whole(self._ready, back)
            return done.citation, done.note
        if len(decided) > 1 and any(len(each.drafts) != 1 for _, each in decided):
            raise Conflict("files of one commit changed")  # they are written one by one
        slots = tuple(file.id for file, _ in decided)
        sources = tuple(file.source for file, _ in decided)
        first, *rest = decided[0][1].drafts
        drafts = [first, *(each.drafts[0] for _, each in decided[1:])]
        citation = note = ""
        for some in (drafts, *([each] for each in rest)):
            fence = Fence(pos=pos, slots=slots)
            done = append_stamped(self._ready, [*_provenance(self._commit, sources), *some], fence=fence)
            pos, note = done.events[-1].pos, note or done.note
            citation = citation or next(event.citation for event in done.events if event.kind == some[0].kind)
        return citation, note


def _provenance(commit: str | None, sources: tuple[str, ...]) -> list[Draft]:
    """The git commit at which the files were read, if any, for `weft diff <commit>`."""
    if commit is None:
        return []
    noted = transaction.Noted(tx_kind="file_change", git_commit=commit, files=sources)
    return [Draft(kind="tx.noted", payload=noted)]


def _weight(drafts: Sequence[Draft]) -> tuple[int, int]:
    """Nodes and bytes of the events."""
    nodes = 0
    for draft in drafts:
        if isinstance(payload := draft.payload, document.Ingested):
            nodes += 1 + len(payload.ended) + sum(1 + len(section.chunks) for section in payload.sections)
    return nodes, sum(len(msgspec.json.encode(draft.payload)) for draft in drafts)
