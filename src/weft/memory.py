"""The facade and composition root: opens a store by URL, and runs operations on it.

with weft.open() as memory:
    memory.remember("We chose Redis for sessions because Postgres locks were slow.")
    for hit in memory.recall("why redis?").hits:
        print(hit.score, hit.node.text, hit.node.citation)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, cast

from msgspec import Struct
from msgspec.structs import replace

from weft.append import Writer
from weft.calls import Call, Surface
from weft.config import Effective, Settings, load_settings
from weft.counsel import Counsel
from weft.errors import BlockedScope, NeedsApproval, Unproven, WeftError
from weft.instants import Clock, SystemClock
from weft.log_lines import OperationLog
from weft.loom import Loom, Progress, no_progress
from weft.models import reranker_from
from weft.models.chat import chat_from
from weft.opening import opening
from weft.operations import approvals, operation
from weft.operations.live_memory import check_live
from weft.operations.redacting import redacted_input, with_notes
from weft.operations.registry import PRODUCED_BY, Operation, read_input
from weft.screen import Screen
from weft.sealing import Keyring
from weft.stores import audit_of, open_store, outbox_of, viewer_of
from weft.types import Actor
from weft.vector_spaces import spaces_from
from weft.workshop import Workshop

if TYPE_CHECKING:  # what methods return; each method imports only its own
    from weft.context import code_pack
    from weft.operations import (
        alike,
        checking_out,
        citing,
        deleting,
        erasing,
        explained,
        finding,
        ingesting,
        reading,
        recalling,
        recording,
        setting_up,
        tending,
        upkeep,
    )
    from weft.operations.remembered import Remembered


WORK_S = 5.0  # for what goes on beside calls to end


def open(  # noqa: A001 - the package's front door: weft.open()
    url: str | None = None,
    *,
    directory: str | Path = ".",
    environment: Mapping[str, str] | None = None,
    clock: Clock | None = None,
) -> Memory:
    """Opens the memory of a directory: settings from the environment and `weft.toml`; `url` names another store."""
    settings = load_settings(Path(directory), environment)
    if url is not None:
        given = Effective(value=url, origin="argument")
        settings = replace(settings, store=url, origins={**settings.origins, "store": given})
    ticking = clock or SystemClock()
    # Models first: what is misconfigured stops here, with no store open.
    embedding = spaces_from(settings.embedder, url=settings.embedder_url, key=settings.embedder_key, clock=ticking)
    reranker = reranker_from(settings.reranker, clock=ticking, url=settings.reranker_url, key=settings.reranker_key)
    chat = chat_from(settings.model, url=settings.model_url, key=settings.model_key)
    lines = OperationLog(settings.log)
    store = open_store(settings.store, clock=ticking)
    writer = Writer(
        account=settings.account,
        session=settings.session,
        actor=Actor(agent=settings.agent, role=settings.role),
    )
    screen = Screen(redacts=settings.redaction == "on", keys=Keyring(settings.sensitive_key))
    return Memory(
        Loom(
            store=opening(store, screen),
            screen=screen,
            clock=ticking,
            settings=settings,
            viewer=viewer_of(settings),
            writer=writer,
            embedding=embedding,
            reranker=reranker,
            counsel=Counsel(chat, ticking),
            outbox=outbox_of(settings),
            audit=audit_of(settings, clock=ticking),
            lines=lines,
        )
    )


def _run(loom: Loom, operation: Operation, given: dict[str, Any]) -> Struct:
    check_live(loom, operation)
    made = redacted_input(loom, operation, read_input(operation, given))
    try:
        loom, made = approvals.admitted(loom, operation, made)
        return operation.run(_for_task(loom, made), made)
    except NeedsApproval as problem:
        from weft.operations import approving

        if (told := approving.refused(operation, made, problem)) is None:
            raise
        return told
    except (BlockedScope, Unproven) as problem:
        from weft.operations.remembered import Remembered

        if operation.output is not Remembered:
            raise
        status: Literal["blocked_scope", "failed"] = "blocked_scope" if isinstance(problem, BlockedScope) else "failed"
        return Remembered(status=status, id="", citation="", notes=(problem.message, problem.hint))


def _for_task(loom: Loom, made: Struct) -> Loom:
    if getattr(made, PRODUCED_BY, None) is None:
        return loom
    from weft.operations.tasks import for_task

    return for_task(loom, made)


class Memory:
    """An open memory. Every method is an operation of `weft.operations`, with its arguments as keywords."""

    def __init__(self, loom: Loom) -> None:
        self.loom = loom

    def run(
        self,
        operation: Operation,
        given: dict[str, Any],
        *,
        progress: Progress = no_progress,
        surface: Surface = "python",
        audited: bool = True,
    ) -> Struct:
        """Validates arguments and runs an operation; surfaces call this, and say which they are.

        A write that has no place to go, or that the operator has not approved, is told as its status, not raised. Every
        call goes into the audit, but for one that a workflow makes and keeps as a step of its own: it is not `audited`.
        """
        call = Call(self.loom, operation, given, surface=surface, audited=audited)

        def work(loom: Loom) -> Struct:
            screen = loom.screen.fresh()  # of this call: what it takes out and cannot open is told in the answer
            own = {"screen": screen, "embedding": loom.embedding.serving(loom.store, loom.viewer)}
            loom = replace(loom, progress=progress, store=opening(loom.store, screen), **own)
            return with_notes(loom, _run(loom, operation, given))

        return call.run(work)

    def refuse(self, operation: Operation, given: dict[str, Any], problem: WeftError, *, surface: Surface) -> None:
        """Records a call that a surface turned away before it could be run."""
        Call(self.loom, operation, given, surface=surface).refused(problem)

    def serving(self, settings: Settings) -> Memory:
        """The same open store for another caller: who that is and what it may see is in these settings.

        Only one of them is to be closed: they share the files.
        """
        writer = Writer(
            account=settings.account,
            session=settings.session,
            actor=Actor(agent=settings.agent, role=settings.role),
        )
        loom = replace(
            self.loom, settings=settings, viewer=viewer_of(settings), writer=writer, outbox=outbox_of(settings)
        )
        return Memory(loom)

    def in_workshop(self, workshop: Workshop) -> Memory:
        """The same memory in a process that goes on after its calls. It watches at once what it is to watch."""
        loom = replace(self.loom, workshop=workshop)
        workshop.own = loom
        if workshop.serves:
            from weft.operations.watching import begin_watching

            begin_watching(loom)
        return Memory(loom)

    def remember(self, text: str, **more: Any) -> Remembered:
        """Keeps words for good. See `weft.operations.remembering.Remember` for what more can be said."""
        return cast("Remembered", self._call("remember", {"text": text, **more}))

    def add_fact(self, subject: str, predicate: str, object: str, **more: Any) -> Remembered:  # noqa: A002
        """Records that something holds of something, from a moment on."""
        given = {"subject": subject, "predicate": predicate, "object": object, **more}
        return cast("Remembered", self._call("add_fact", given))

    def add_entity(self, name: str, **more: Any) -> Remembered:
        """Records somebody or something, and the names it goes by."""
        return cast("Remembered", self._call("add_entity", {"name": name, **more}))

    def link_entities(self, source: str, relation: str, target: str, **more: Any) -> Remembered:
        """Records that one entity is related to another."""
        given = {"source": source, "relation": relation, "target": target, **more}
        return cast("Remembered", self._call("link_entities", given))

    def add_event(self, description: str, occurred_at: str, **more: Any) -> Remembered:
        """Records what happened, when, and whom it involved."""
        given = {"description": description, "occurred_at": occurred_at, **more}
        return cast("Remembered", self._call("add_event", given))

    def add_causal_link(self, cause: str, effect: str, **more: Any) -> Remembered:
        """Records that one thing led to another."""
        given = {"cause": cause, "effect": effect, **more}
        return cast("Remembered", self._call("add_causal_link", given))

    def add_concept(self, name: str, **more: Any) -> Remembered:
        """Records an idea, what it means and what it stands for."""
        return cast("Remembered", self._call("add_concept", {"name": name, **more}))

    def memory_write(self, kind: str, text: str = "", **more: Any) -> Remembered:
        """Writes a node of any kind, with properties and relations."""
        given = {"kind": kind, "text": text, **more}
        return cast("Remembered", self._call("memory_write", given))

    def correct(self, id: str, text: str, **more: Any) -> Remembered:  # noqa: A002
        """Says that a memory was wrong all along, and what is right."""
        return cast("Remembered", self._call("correct", {"id": id, "text": text, **more}))

    def forget(self, id: str, **more: Any) -> Remembered:  # noqa: A002
        """Takes a memory out of sight; with `undo` it comes back."""
        return cast("Remembered", self._call("forget", {"id": id, **more}))

    def delete(self, target: str, **more: Any) -> deleting.Deleted:
        """Takes a document, a conversation or a memory out of sight, with its parts; `restore` brings it back."""
        return cast("deleting.Deleted", self._call("delete", {"target": target, **more}))

    def restore(self, id: str, **more: Any) -> deleting.Deleted:  # noqa: A002
        """Brings back what was deleted, with all that went with it."""
        return cast("deleting.Deleted", self._call("restore", {"id": id, **more}))

    def erase(self, **given: Any) -> erasing.Erasure:
        """Erases a subject, a source or a session for good; without `yes` it only says what would go."""
        return cast("erasing.Erasure", self._call("erase", given))

    def compile_truth(self, entity: str, **more: Any) -> tending.TruthCompiled:
        """Sums up what is true of a thing today, with its sources."""
        return cast("tending.TruthCompiled", self._call("compile_truth", {"entity": entity, **more}))

    def recall(self, query: str, **more: Any) -> recalling.Recalled:
        """Finds memories, best first, each with its citation."""
        return cast("recalling.Recalled", self._call("recall", {"query": query, **more}))

    def memory_checkout(self, query: str, **more: Any) -> checking_out.Checkout:
        """What to know before a piece of work, for a purpose and within a budget: see `weft checkout --help`."""
        return cast("checking_out.Checkout", self._call("memory_checkout", {"query": query, **more}))

    def answer(self, receipt: str) -> recalling.Recalled:
        """An earlier answer again, exactly, from its receipt."""
        return cast("recalling.Recalled", self._call("answer", {"id": receipt}))

    def explain(self, query: str, id: str | None = None, **more: Any) -> explained.Explained:  # noqa: A002
        """Why a node has its rank in an answer, or why it is not there."""
        given = {"query": query, "id": id, **more}
        return cast("explained.Explained", self._call("explain", given))

    def conversation_search(self, query: str, **more: Any) -> finding.MessagesFound:
        """What was said in conversations, with the turns around it."""
        given = {"query": query, **more}
        return cast("finding.MessagesFound", self._call("conversation_search", given))

    def context_pack(self, task: str, **more: Any) -> code_pack.ContextPack:
        """A briefing for a piece of work on code; its `text` is what an agent reads."""
        return cast("code_pack.ContextPack", self._call("context_pack", {"task": task, **more}))

    def find_similar(self, id: str | None = None, **more: Any) -> alike.SimilarFound:  # noqa: A002
        """What is most like a node, or with `text`, like a text."""
        return cast("alike.SimilarFound", self._call("find_similar", {"id": id, **more}))

    def recent(self, **more: Any) -> reading.NodeList:
        """What was written last."""
        return cast("reading.NodeList", self._call("recent", more))

    def show(self, id: str, **more: Any) -> reading.Shown:  # noqa: A002
        """One node, what it is joined to, its history."""
        return cast("reading.Shown", self._call("show", {"id": id, **more}))

    def cite(self, citation: str, **more: Any) -> citing.Cited:
        """What a citation points at."""
        return cast("citing.Cited", self._call("cite", {"citation": citation, **more}))

    def ingest(self, path: str | Path, **more: Any) -> ingesting.Ingested:
        """Reads documents."""
        return cast("ingesting.Ingested", self._call("ingest", {"path": str(path), **more}))

    def record_turns(self, session: str, turns: Sequence[str | dict[str, str]], **more: Any) -> recording.TurnsRecorded:
        """Adds turns to a conversation: 'speaker: words', or {"speaker": …, "text": …}."""
        given = {"session": session, "turns": list(turns), **more}
        return cast("recording.TurnsRecorded", self._call("record_turns", given))

    def diff(self, since: str | None = None, **more: Any) -> upkeep.Changed:
        """What changed since a moment."""
        return cast("upkeep.Changed", self._call("diff", {"since": since, **more}))

    def stats(self) -> upkeep.Stats:
        """Counts of what may be seen."""
        return cast("upkeep.Stats", self._call("stats", {}))

    def doctor(self) -> upkeep.Diagnosis:
        """Self-tests of every part."""
        return cast("upkeep.Diagnosis", self._call("doctor", {}))

    def config(self) -> setting_up.ConfigShown:
        """Every setting as it holds."""
        return cast("setting_up.ConfigShown", self._call("config", {}))

    def _call(self, name: str, given: dict[str, Any]) -> Struct:
        called = operation(name)
        answer = self.run(called, given)
        assert isinstance(answer, called.output)
        return answer

    def close(self) -> None:
        """Releases files, after the last calls are in the audit. What was written is safe without it."""
        self.loom.workshop.close(WORK_S)
        if self.loom.audit is not None:
            self.loom.audit.close()
        if self.loom.lines is not None:
            self.loom.lines.close()
        self.loom.store.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
