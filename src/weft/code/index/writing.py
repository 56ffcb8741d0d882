"""Writing the symbols and references of source files: many files per commit, or a small change in one commit.

Events are written before facts: after a crash in between, the files are read again. In a small change facts come first,
because its links are resolved before anything is written; unwritten files are then found by their hash.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final, TypeVar

from msgspec.structs import replace

from weft.append.append import Fence, FenceMoved
from weft.code.index.facts import Noting, Work
from weft.code.index.facts_file import FactsFile, OtherKnown
from weft.code.index.linking import Linking, Outcome
from weft.code.index.links import (
    ResolvedFile,
    link_drafts,
)
from weft.code.index.processes.worker import ToRead
from weft.code.index.processes.workers import resolve_files
from weft.code.index.read_file import CodeRead
from weft.code.index.reader import reader_of
from weft.code.index.records import SourceVersion, index, is_version, keys_renamed
from weft.code.parse.facts import READER_VERSION
from weft.core.errors import Conflict, Forbidden, Invalid, NotFound, TooLarge, WeftError
from weft.core.slices import in_slices
from weft.core.types import NOW, NodeVersion
from weft.documents.keep.document_records import REASON
from weft.documents.keep.file_versions import FileState, look_up
from weft.documents.keep.source_lines import symbols_of
from weft.log.draft import Draft
from weft.log.kinds import graph, transaction
from weft.models.embedding import Embedding
from weft.retrieval.citations.file_ids import file_id
from weft.runtime.call_context import CallContext
from weft.runtime.read_nodes import read_nodes
from weft.writing.build.commit import MAX_DECISIONS, append_stamped
from weft.writing.build.deletions import MAX_AT_ONCE, restore_whole
from weft.writing.checks.provenance import TaskClosed
from weft.writing.checks.rights import Rights

NODES_PER_COMMIT: Final = 360  # as many as leave others their turn after some 50 ms
BYTES_PER_COMMIT: Final = 1_500_000
FILES_PER_COMMIT: Final = 64
RELATIONS_PER_COMMIT: Final = 1_700
LINKED_AT_ONCE: Final = 60  # files whose links go into the one commit of a small change
SETTLED_AT_ONCE: Final = 200  # files: noting them waits for the disk, as a commit does

Item = TypeVar("Item")


class CodeWriting:
    """One run over the files of a workspace. The caller holds its facts, so nobody else indexes it meanwhile."""

    def __init__(
        self, ctx: CallContext, facts: FactsFile, rights: Rights, root: Path, outcome: Outcome, tx: transaction.Noted
    ) -> None:
        # Vectors of symbols are made afterwards, in the background.
        self._ctx = replace(ctx, embedding=Embedding(None, ctx.clock))
        self._facts, self._rights, self._root, self._outcome, self._tx = facts, rights, root, outcome, tx
        self._project = ctx.settings.project
        self._works: list[Work] = []
        self._weight = (0, 0)
        self._linked: list[ResolvedFile] = []  # written, and not yet noted
        self._linking = Linking(self._ctx, facts, root, outcome)
        self._noting = Noting(facts, rights, self._linking)
        self.brings_back = False  # deleted files that are there
        self._began_s, self._is_first = time.monotonic(), True

    # Taking files in

    def decide(self, read: CodeRead, seen: FileState, *, walked: bool) -> Work | None:
        """What to write for a file; None if nothing changes. Raises Invalid if it cannot be stored."""
        assert read.state is not None
        last, state = seen.last, read.state
        if last is not None and last.kind != "File":
            raise Invalid(f"is already a {last.kind} in the graph", hint="`weft erase --source` forgets it")
        guard = self._rights.of(last)
        if read.indexing is not None and last is None:
            return Work(read=read, guard=guard, seen=seen, indexing=read.indexing, walked=walked)
        if read.indexing is not None:  # it came meanwhile, by somebody else
            items, redacts = [ToRead(path=read.path)], self._ctx.privacy.redacts
            (read,) = reader_of(self._ctx).files(str(self._root), items, redacts=redacts)
            if read.state is None:
                raise Invalid(read.gone)
            state = read.state
        source = SourceVersion(path=read.path, sha256=state.sha256, read=read.source, size=state.size, blob=state.blob)
        revived = False
        if seen.gone is not None and seen.gone.deleted_at is not None:
            if not self.brings_back:
                self._outcome.deleted += 1
                return None
            revived = True
            if is_version(seen.gone, guard, source, source.language):
                self._outcome.note = self._outcome.note or restore_whole(self._ctx, seen.gone).note
                self._outcome.written.add(seen.gone.id)
                keys = keys_renamed(self._ctx, guard, source)
                return Work(read=read, guard=guard, seen=seen, walked=walked, revived=True, keys=keys)
        work = Work(read=read, guard=guard, seen=seen, walked=walked, revived=revived)
        if seen.known is not None and is_version(seen.known, guard, source, source.language):
            return replace(work, keys=keys_renamed(self._ctx, guard, source))
        return replace(work, indexing=index(self._ctx, guard, source, seen.known, is_new=last is None))

    def keep_names(self, files: Iterable[tuple[str, FileState, bool]]) -> None:
        """Records unread files that have a node, each walked or not, so that they end when they are missing."""
        with self._facts.writing():
            for path, seen, walked in files:
                if seen.known is not None and seen.known.kind == "File" and not self._facts.knows(path):
                    self._facts.put_other(path, OtherKnown("", READER_VERSION, "", walked, ""))

    def add(self, work: Work) -> None:
        """Queues a file; writes the queue when it fills a commit, except for a small change, which is written last."""
        self._works.append(work)
        nodes, size = work.weight
        self._weight = self._weight[0] + nodes, self._weight[1] + size

    def write_full(self) -> None:
        """Writes the queue if it fills a commit."""
        if (
            self._weight[0] >= NODES_PER_COMMIT
            or self._weight[1] >= BYTES_PER_COMMIT
            or len(self._works) >= FILES_PER_COMMIT
        ):
            self.write()

    def write(self) -> None:
        """Writes the queue, then its facts."""
        works, self._works, self._weight = self._works, [], (0, 0)
        if works:
            self._noting.note(self._written(works), ())

    # One commit

    def _written(self, works: Sequence[Work]) -> list[Work]:
        """Writes files together; on refusal, splits the batch to isolate the faulty ones. Returns those written."""
        try:
            return self._commit_works(works)
        except TaskClosed:
            raise
        except (Invalid, Forbidden, Conflict, NotFound) as problem:
            if len(works) == 1 and isinstance(problem, TooLarge) and works[0].read.facts is not None:
                return self._written([self._plain(works[0], problem)])
            if len(works) == 1:
                self._outcome.problem(works[0].path, problem)
                with self._facts.writing():
                    self._facts.drop([works[0].path])
                self.keep_names([(works[0].path, works[0].seen, works[0].walked)])
                return []
        middle = len(works) // 2
        return [*self._written(works[:middle]), *self._written(works[middle:])]

    def _plain(self, work: Work, problem: WeftError) -> Work:
        """A file stored by name and hash only, because its content exceeds one event."""
        self._outcome.problem(work.path, problem)
        assert work.read.state is not None
        state = work.read.state
        plain = CodeRead(path=work.path, state=state, problem=problem.message)
        source = SourceVersion(path=work.path, sha256=state.sha256, size=state.size, blob=state.blob)
        return replace(work, read=plain, indexing=index(self._ctx, work.guard, source, work.seen.known))

    def _commit_works(self, works: Sequence[Work]) -> list[Work]:
        for _ in range(MAX_DECISIONS):
            pos, now = self._again(works)
            drafts = [draft for each in now if each.indexing is not None for draft in each.indexing.drafts]
            try:
                self._append(drafts, now, fence=pos)
            except FenceMoved:
                continue
            self._count(now)
            return now
        raise Conflict(f"other writers changed it {MAX_DECISIONS} times in a row", hint="index it again")

    def _again(self, works: Sequence[Work]) -> tuple[int, list[Work]]:
        """The decision for each file, repeated if the graph has changed since."""
        pos = self._ctx.store.head(self._ctx.viewer).pos
        seen = look_up(self._ctx, [self._id(work.path) for work in works])
        decided = (
            work if seen[self._id(work.path)].row == work.seen.row else self._decided_again(work, seen)
            for work in works
        )
        return pos, [work for work in decided if work is not None]

    def _decided_again(self, work: Work, seen: Mapping[str, FileState]) -> Work | None:
        again = self.decide(work.read, seen[self._id(work.path)], walked=work.walked)
        return None if again is None else replace(again, revived=again.revived or work.revived)

    def _append(
        self, drafts: Sequence[Draft], works: Iterable[Work], *, fence: int | None, more: Iterable[str] = ()
    ) -> None:
        if not drafts:
            return
        written = [work for work in works if work.indexing is not None]
        files = tuple(dict.fromkeys((*(work.path for work in written), *more)))
        took_ms = round((time.monotonic() - self._began_s) * 1000) if self._is_first else None
        noted = replace(self._tx, files=files, duration_ms=took_ms)
        slots = tuple(self._id(work.path) for work in written)
        done = append_stamped(
            self._ctx,
            [Draft(kind="tx.noted", payload=noted), *drafts],
            fence=None if fence is None or not slots else Fence(pos=fence, slots=slots),
        )
        self._is_first = False
        self._outcome.note = self._outcome.note or done.note

    def look(self, works: Iterable[Work]) -> None:
        """Writes one of these files again unchanged, to record that the disk was looked at."""
        for work in works:
            made, state = work.read.source, work.read.state
            if state is None:
                continue
            source = SourceVersion(path=work.path, sha256=state.sha256, read=made, size=state.size, blob=state.blob)
            if work.seen.known is not None and is_version(work.seen.known, work.guard, source, source.language):
                anew = replace(work, indexing=index(self._ctx, work.guard, source, work.seen.known))
                self._append(anew.indexing.drafts if anew.indexing else (), [anew], fence=None)
                return

    def _count(self, works: Iterable[Work]) -> None:
        for work in works:
            self._outcome.revived += work.revived
            if work.indexing is None:
                self._outcome.unchanged += not (work.read.problem or work.revived)
                continue
            if work.read.facts is None:
                self._outcome.others += 1
            else:
                self._outcome.files += 1
            self._outcome.symbols += work.indexing.symbols
            self._outcome.written.add(self._id(work.path))
            if changed := self._rights.change(work.seen.last):
                self._outcome.rights.append(changed)

    # Ending what is gone

    def end(self, nodes: Sequence[NodeVersion]) -> None:
        """Ends missing files, with their symbols and links."""
        for number, node in enumerate(nodes, start=1):
            drafts = self._ending(node)
            for some in _runs(drafts):
                self._append(some, (), fence=None, more=(str(node.props.get("path") or ""),))
            self._ended([node])
            self._ctx.progress("ending", number, len(nodes))

    def _ended(self, nodes: Sequence[NodeVersion]) -> None:
        self._noting.note((), [str(node.props.get("path") or "") for node in nodes])
        self._outcome.ended += len(nodes)
        self._outcome.written.update(node.id for node in nodes)

    def _ending(self, node: NodeVersion) -> list[Draft]:
        """The events that end a file; the file itself comes last."""
        path = str(node.props.get("path") or "")
        parts = [each.id for each in symbols_of(self._ctx, NOW, node.id)]
        drafts = link_drafts(path, node.guard, self._linking.standing(path, node.guard), None, {})
        for some in in_slices((*parts, node.id), MAX_AT_ONCE):
            drafts.append(Draft(kind="graph.ended", payload=graph.Ended(nodes=tuple(some), reason=REASON)))
        return drafts

    def forget(self, paths: Sequence[str]) -> None:
        if paths:
            self._noting.note((), paths)

    # A small change, all in one

    def write_at_once(self, gone: Sequence[NodeVersion]) -> None:
        """Writes queued files, missing files and all affected links in one commit."""
        works, self._works, self._weight = self._works, [], (0, 0)
        if not works and not gone:
            return
        ending = [draft for node in gone for draft in self._ending(node)]
        paths = [str(node.props.get("path") or "") for node in gone]
        self._noting.note(works, paths)
        first = [work.path for work in works if work.read.facts is not None]
        rest = [path for path in self._facts.unsettled() if path not in set(first)]
        resolved = self._linking.resolved([*first, *rest][:LINKED_AT_ONCE])
        try:
            pos, now = self._again(works)
            if [each.path for each in now] != [each.path for each in works]:
                raise Conflict("what is written together changed")  # then each by itself
            drafts = [draft for each in now if each.indexing is not None for draft in each.indexing.drafts]
            guards = {work.path: work.guard for work in now}
            linking = self._linking.drafts(resolved, guards)
            self._append([*drafts, *ending, *linking], now, fence=pos, more=paths)
        except TaskClosed:
            raise
        except (Invalid, Forbidden, Conflict, NotFound):
            self._linking.forget()
            self._works = list(works)
            self.write()
            self.end(gone)
            return
        self._count(now)
        self._outcome.ended += len(gone)
        self._outcome.written.update(node.id for node in gone)
        self._linking.settle(resolved)

    # Links

    def link(self) -> None:
        """Resolves every file whose links may have changed, and writes the differences."""
        todo = self._facts.unsettled()
        if not todo:
            return
        batch: list[ResolvedFile] = []
        relations = 0
        found = resolve_files(self._linking.workspace(), self._facts, todo)
        with closing(found):
            for number, each in enumerate(found, start=1):
                batch.append(each)
                relations += len(each.links)
                if relations >= RELATIONS_PER_COMMIT or len(batch) >= FILES_PER_COMMIT:
                    self._write_links(batch)
                    batch, relations = [], 0
                    self._ctx.progress("linking", number, len(todo))
        self._write_links(batch)
        self._settle()
        self._ctx.progress("linking", len(todo), len(todo))

    def _write_links(self, batch: Sequence[ResolvedFile]) -> None:
        """Writes links of files together; on refusal, splits the batch to isolate the faulty ones."""
        if not batch:
            return
        try:
            self._append(self._linking.drafts(batch, {}), (), fence=None, more=[each.path for each in batch])
        except TaskClosed:
            raise
        except (Invalid, Forbidden, Conflict, NotFound) as problem:
            self._settle()
            self._linking.forget()
            if len(batch) == 1:
                self._write_some_links(batch[0], problem)
                return
            middle = len(batch) // 2
            self._write_links(batch[:middle])
            self._write_links(batch[middle:])
            return
        self._linked += batch
        if len(self._linked) >= SETTLED_AT_ONCE:
            self._settle()

    def _settle(self) -> None:
        """Marks written links as settled. Until then they are read from the graph."""
        linked, self._linked = self._linked, []
        if linked:
            self._linking.settle(linked)

    def _write_some_links(self, resolved: ResolvedFile, problem: WeftError) -> None:
        """Writes links; those to nodes that the caller may not see, or that do not exist, are left out."""
        ids = list(dict.fromkeys(each.target for each in resolved.links))
        there = {node.id for node in read_nodes(self._ctx, NOW, ids)}
        left = tuple(each for each in resolved.links if each.target in there or each.target in resolved.modules)
        if len(left) == len(resolved.links):
            self._outcome.problem(resolved.path, problem)
            return
        less = replace(resolved, links=left, unresolved=resolved.unresolved + len(resolved.links) - len(left))
        try:
            self._append(self._linking.drafts([less], {}), (), fence=None, more=[less.path])
        except (Invalid, Forbidden, Conflict, NotFound) as again:
            self._linking.forget()
            self._outcome.problem(resolved.path, again)
            return
        self._linking.settle([less])

    def _id(self, path: str) -> str:
        return file_id(self._project, path)


def _runs(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    """Batches that each fit into one commit."""
    for item in items:
        yield (item,)
