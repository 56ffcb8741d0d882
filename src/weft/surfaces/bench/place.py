"""The store of a bench: temporary, or kept for the next run over the same corpus."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from weft.core.errors import Conflict, ReadOnly
from weft.core.ports import Embedder
from weft.core.types import SCOPES, Actor, Writer
from weft.memory.facade import Memory
from weft.memory.open_store import open_store, viewer_of
from weft.models import embedder_from
from weft.models.embedding import Embedding
from weft.runtime.call_context import CallContext
from weft.surfaces.bench.files import Corpus
from weft.version import __version__

ACCOUNT = "bench"
LABEL = "bench.json"
STORE = "store"


class Label(Struct, frozen=True, kw_only=True):
    """The label of a kept directory: its corpus, its embedder, and whether it is complete."""

    corpus_sha256: str
    model: str | None
    weft: str
    whole: bool = False


class Bench(Struct, frozen=True, kw_only=True):
    """An open memory to measure. `filled` if it holds the corpus already."""

    memory: Memory
    filled: bool
    directory: Path
    label: Label

    @property
    def store_bytes(self) -> int:
        """Bytes of the store on disk: log, graph, indexes and vectors."""
        total = 0
        for file in (self.directory / STORE).rglob("*"):
            with suppress(FileNotFoundError):  # the store may replace an index file at any time
                total += file.stat().st_size if file.is_file() else 0
        return total

    def mark_whole(self) -> None:
        """Marks the corpus as complete: the next run may skip ingestion."""
        _write(self.directory, replace(self.label, whole=True))


@contextmanager
def bench_of(ctx: CallContext, corpus: Corpus, *, kept: Path | None, cache: Path | None) -> Iterator[Bench]:
    """A memory for one corpus with the caller's embedder and no other settings of the caller.

    Without `kept` it is temporary. Raises Conflict if `kept` holds anything else.
    """
    settings = ctx.settings
    embedder = embedder_from(settings.embedder, url=settings.embedder_url, key=settings.embedder_key)
    with _directory(kept) as directory, _cached(embedder, cache) as embedding_with:
        label = Label(corpus_sha256=corpus.sha256, model=None if embedder is None else embedder.model, weft=__version__)
        filled = _prepared(directory, label)
        memory = _memory(ctx, directory / STORE, embedding_with)
        try:
            yield Bench(memory=memory, filled=filled, directory=directory, label=label)
        finally:
            memory.close()


def _memory(ctx: CallContext, store: Path, embedder: Embedder | None) -> Memory:
    """A memory of the operator of a new account: the caller's rights must not change the figures."""
    settings = replace(
        ctx.settings,
        store=f"sqlite://{store}",
        account=ACCOUNT,
        agent=ACCOUNT,
        role="operator",
        session=ACCOUNT,
        scopes=SCOPES,
        audience="internal",
        sensitive=False,
    )
    return Memory(
        CallContext(
            store=open_store(settings.store, clock=ctx.clock, password=settings.store_password),
            clock=ctx.clock,
            settings=settings,
            viewer=viewer_of(settings),
            writer=Writer(account=ACCOUNT, session=ACCOUNT, actor=Actor(agent=ACCOUNT, role="operator")),
            embedding=Embedding(embedder, ctx.clock),
            progress=ctx.progress,
        )
    )


@contextmanager
def _directory(kept: Path | None) -> Iterator[Path]:
    if kept is None:
        with tempfile.TemporaryDirectory(prefix="weft-bench-") as scratch:
            yield Path(scratch)
        return
    try:
        kept.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise ReadOnly(f"{kept} cannot be made: {problem.strerror}", hint="name a directory of your own") from problem
    yield kept.absolute()


@contextmanager
def _cached(embedder: Embedder | None, cache: Path | None) -> Iterator[Embedder | None]:
    if embedder is None or cache is None:
        yield embedder
        return
    from weft.surfaces.bench.cached import CachedEmbedder

    wrapped = CachedEmbedder(embedder, cache)
    try:
        yield wrapped
    finally:
        wrapped.close()


def _prepared(directory: Path, wanted: Label) -> bool:
    """Whether the whole corpus is there. The store of an unfinished run is deleted; only a bench wrote it."""
    there = _read(directory)
    if there is None:
        if any(directory.iterdir()):
            raise Conflict(f"{directory} holds other things", hint="name a new or an empty directory for --store")
    elif replace(there, whole=False) != wanted:
        other = "another corpus" if there.corpus_sha256 != wanted.corpus_sha256 else "another embedder or version"
        raise Conflict(
            f"{directory} was filled from {other}", hint="name another directory for --store, or remove this one"
        )
    elif there.whole:
        return True
    shutil.rmtree(directory / STORE, ignore_errors=True)
    _write(directory, wanted)
    return False


def _read(directory: Path) -> Label | None:
    try:
        return msgspec.json.decode((directory / LABEL).read_bytes(), type=Label)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError) as problem:
        raise Conflict(
            f"{directory / LABEL} cannot be read: {problem}", hint="name another directory for --store"
        ) from problem


def _write(directory: Path, label: Label) -> None:
    try:
        (directory / LABEL).write_bytes(msgspec.json.encode(label) + b"\n")
    except OSError as problem:
        raise ReadOnly(f"{directory} cannot be written: {problem.strerror}", hint="check its rights") from problem
