"""Writing what files hold: several to a commit, decided again where others wrote the same in the meantime."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from weft.append import Fence, Moved
from weft.errors import Conflict, Forbidden, Invalid, NotFound, WeftError
from weft.log.draft import Draft
from weft.log.kinds import document, transaction
from weft.loom import Loom
from weft.operations.committing import MAX_DECISIONS, append_stamped
from weft.operations.deletions import revive
from weft.operations.embedding_ahead import Ahead
from weft.operations.file_versions import Decision, Seen, Version, look_up
from weft.operations.stamping import TaskClosed

NODES_PER_COMMIT: Final = 32
BYTES_PER_COMMIT: Final = 400_000
FILES_PER_COMMIT: Final = 24
MAX_WAITING: Final = 256  # files that wait for their vectors


class Kept(Struct, frozen=True, kw_only=True):
    """What became of a file: written (`citation` is that of its first event), unchanged, or skipped for a problem."""

    file: Version
    decision: Decision | None = None
    problem: WeftError | None = None
    citation: str = ""
    note: str = ""


class _Work(Struct, frozen=True, kw_only=True):
    """A decision that waits for its vectors, and the state of the graph that it was taken from."""

    file: Version
    row: int | None
    decision: Decision
    keys: tuple[bytes, ...]
    needed: int
    weight: tuple[int, int]


class Writing:
    """Files on their way into the log. `told` hears what became of each, in the order in which they came."""

    def __init__(self, loom: Loom, ahead: Ahead, commit: str | None, told: Callable[[Kept], None]) -> None:
        self._loom, self._ahead, self._commit, self._told = loom, ahead, commit, told
        self._ready = replace(loom, embedding=ahead.embedding)
        self._queue: deque[_Work] = deque()

    def add(self, file: Version, row: int | None, decision: Decision) -> None:
        """Takes a file in, and writes what is ready by now."""
        keys, needed = self._ahead.add(decision.drafts)
        self._queue.append(
            _Work(file=file, row=row, decision=decision, keys=keys, needed=needed, weight=_weight(decision.drafts))
        )
        if len(self._queue) > MAX_WAITING:  # many files that say the same make few texts
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
                self._loom.progress("embedding", self._ahead.done, self._ahead.begun)

    def _batch(self, *, whole: bool) -> list[_Work] | None:
        """As many whose vectors are made as one commit takes; None if there are none.

        With `whole`, none where a commit would take more than there are yet.
        """
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

    # One commit

    def _written(self, batch: Sequence[_Work]) -> list[Kept]:
        """Writes files together; where that is refused, by halves, until those at fault are alone."""
        try:
            return self._commit_all(batch)
        except TaskClosed:
            raise
        except (Invalid, Forbidden, Conflict, NotFound) as problem:
            if len(batch) == 1:
                return [Kept(file=batch[0].file, problem=problem)]
        middle = len(batch) // 2
        return [*self._written(batch[:middle]), *self._written(batch[middle:])]

    def _commit_all(self, batch: Sequence[_Work]) -> list[Kept]:
        for _ in range(MAX_DECISIONS):
            pos = self._loom.store.head(self._loom.viewer).pos
            seen = look_up(self._loom, [work.file.id for work in batch])
            decided = [(work.file, self._still(work, seen[work.file.id])) for work in batch]
            try:
                citation, note = self._write(pos, [(file, each) for file, each in decided if each is not None])
            except Moved:  # another process reads the same files: what it wrote is looked at
                continue
            return [Kept(file=file, decision=decision, citation=citation, note=note) for file, decision in decided]
        raise Conflict(f"others wrote it {MAX_DECISIONS} times in a row", hint="ingest it again")

    @staticmethod
    def _still(work: _Work, seen: Seen) -> Decision | None:
        """What was decided, unless the graph says something else of the file by now."""
        return work.decision if seen.row == work.row else work.file.decide(seen)

    def _write(self, pos: int, decided: Sequence[tuple[Version, Decision]]) -> tuple[str, str]:
        """One commit for all of them; of a long document one for each of its events.

        Returns the citation of the first event, and a note if vectors failed.
        """
        if not decided:
            return "", ""
        if len(decided) == 1 and (back := decided[0][1].back) is not None:
            done = revive(self._ready, back)
            return done.citation, done.note
        if len(decided) > 1 and any(len(each.drafts) != 1 for _, each in decided):
            raise Conflict("what is written together changed")  # then each by itself
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
    """Which git commit the files were read at, where there is one, so that `weft diff <commit>` knows."""
    if commit is None:
        return []
    noted = transaction.Noted(tx_kind="file_change", git_commit=commit, files=sources)
    return [Draft(kind="tx.noted", payload=noted)]


def _weight(drafts: Sequence[Draft]) -> tuple[int, int]:
    """Nodes and bytes that events bring."""
    nodes = 0
    for draft in drafts:
        if isinstance(payload := draft.payload, document.Ingested):
            nodes += 1 + len(payload.ended) + sum(1 + len(section.chunks) for section in payload.sections)
    return nodes, sum(len(msgspec.json.encode(draft.payload)) for draft in drafts)
