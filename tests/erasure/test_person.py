"""A person planted everywhere a person can be, erased by name: no byte, no answer and no moment has them any more."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

import weft
from tests.erasure.byte_search import Planted, search
from weft.core.clock import to_iso
from weft.core.errors import Busy, WeftError
from weft.core.types import NodeVersion
from weft.log.draft import Draft
from weft.log.kinds import memory as memory_kinds
from weft.operations import OPERATIONS
from weft.testing.clock import DAY_US, ManualClock
from weft.text.lexical import content_hash

NAME = "Quindle Zhorvathane"
ALIAS = "Brackwether"
SECRETS = (
    "Zhorvathane",
    "Brackwether",
    "murgelstoff",
    "plimsorvane",
    "drimbolatex",
    "snevorminth",
    "hexquadrine",
    "jhakundraal",
    "vuorneskall",
    "xylotrachen",
)
NEUTRAL = "who met whom at the harbour at noon, and what do they like?"
KEPT = ("The harbour opens at noon.", "Jon keeps the boats at the harbour.", "Mira likes black tea at noon.")


class World:
    """A project with a person in all of it."""

    def __init__(self, scratch: Path) -> None:
        self.scratch, self.root, self.clock = scratch, scratch / "ferry", ManualClock()
        self.root.mkdir()
        environment = {"HOME": str(scratch / "home"), "WEFT_OUTBOX": str(scratch / "outbox"), "WEFT_AUDIT": "on"}
        self.memory = weft.open(
            f"sqlite://{scratch / 'store'}", directory=self.root, environment=environment, clock=self.clock
        )
        self.ids: list[str] = []

    def call(self, operation: str, /, **given: Any) -> Any:
        self.clock.step(1_000_000)
        return self.memory.call(operation, **given)

    def plant(self) -> None:
        """The person over every sort of thing that weft keeps."""
        for number in range(40):
            self.call("remember", text=f"Berth {number} of the harbour was painted on day {number}.")
        for text in KEPT:
            self.call("remember", text=text)
        person = self.call("add_entity", name=NAME, kind="Person", aliases=[ALIAS], description="Likes murgelstoff.")
        said = self.call("remember", text=f"{NAME} met Jon at noon. I like murgelstoff.", speaker=NAME)
        self.call("remember", text=f"At the harbour, {ALIAS} fell ill because of drimbolatex.")
        fact = self.call("add_fact", subject=NAME, predicate="lives_in", object="Plimsorvane", subject_kind="Person")
        self.clock.step(DAY_US)
        self.call("add_fact", subject=NAME, predicate="lives_in", object="Vuorneskall", subject_kind="Person")
        self.call("correct", id=fact.id, text="Plimsorvane North", reason="snevorminth told so")
        self.call("add_event", description="The hexquadrine was lost.", occurred_at="2025", entities=[NAME])
        self.call("memory_feedback", id=said.id, outcome="confirmed", note="hexquadrine knows")
        self.call("compile_truth", entity=NAME)
        self.call("remember", text=f"{NAME} lives in Drimbolatex.")
        assert self.call("proposal_list").proposals, "it contradicts what stands"
        self.call("recall", query=f"what does {NAME} like?", receipt=True)
        self.call("recall", query="who likes murgelstoff?", receipt=True)
        self.call("record_turns", session="chat", turns=[f"{NAME}: jhakundraal at noon", "Jon: at the harbour"])
        pages = f"# Harbour\nIt opens at noon.\n\n# Guests\n{NAME} brought xylotrachen.\n"
        (self.root / "guests.md").write_text(pages)
        self.call("ingest", path=str(self.root / "guests.md"))
        gone = self.call("remember", text=f"{NAME} was at the harbour and left snevorminth.")
        self.call("delete", target=gone.id, reason="drimbolatex")
        self.wait(f"{NAME} waits with jhakundraal.")
        self.ids = [person.id, said.id, fact.id, gone.id, "ferry/chat#00001", "ferry/guests.md#Guests"]

    def wait(self, text: str) -> None:
        """Leaves a write in the outbox."""
        ctx = self.memory.ctx
        assert ctx.outbox is not None
        draft = Draft(kind="memory.remembered", payload=memory_kinds.Remembered(id="w1", text=text))
        ctx.outbox.put(
            [draft], writer=ctx.writer, viewer=ctx.viewer, request_id=None, at=1, problem=Busy("another writes")
        )

    def planted(self) -> list[Planted]:
        """What the store made of every node that holds a secret, before it goes."""
        ctx = self.memory.ctx
        viewer = ctx.operator("look")
        rows = [row for row in ctx.store.graph_rows(viewer) if isinstance(row, NodeVersion)]
        own = [row for row in rows if any(word.casefold() in str(row).casefold() for word in SECRETS)]
        assert len({row.kind for row in own}) >= 8
        texts = [(row.name, row.summary, row.text) for row in own if row.name or row.summary or row.text]
        model = ctx.embedding.model or ""
        hashes = [content_hash(*each) for each in texts]
        vectors = ctx.store.vectors(viewer, model, hashes)
        found = [
            Planted(words=(), name=name, summary=summary, text=text, vector=vectors.get(key, b""))
            for (name, summary, text), key in zip(texts, hashes, strict=True)
        ]
        return [Planted(words=SECRETS, text=" ".join(SECRETS)), *found]

    def moments(self) -> Iterator[str]:
        """Every moment at which weft learnt something."""
        viewer = self.memory.ctx.operator("look")
        for commit, _ in self.memory.ctx.store.log(viewer, after=0, limit=100_000):
            yield to_iso(commit.at)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.memory.close()


def test_a_person_is_erased_everywhere(world: World) -> None:
    world.plant()
    planted = world.planted()
    told = world.call("erase", subject=NAME)
    assert (told.status, told.outbox, told.receipts) == ("previewed", 1, 2)
    assert told.audit > 5
    done = world.call("erase", subject=NAME, yes=True)
    assert (done.status, done.by, bool(done.citations)) == ("erased", "operator", True)
    assert "Person" in done.kinds
    assert "Receipt" in done.kinds
    assert "Feedback" in done.kinds
    found = search(world.scratch / "store", planted) + search(world.scratch / "outbox", planted)
    assert found == []
    check_reads(world)
    assert world.call("log_verify").problem is None
    assert world.call("rebuild").equal
    exported = world.scratch / "log.jsonl"
    world.call("log_export", path=str(exported))
    assert not secrets_in(exported.read_text())
    for text in KEPT:
        assert text in json.dumps(msgspec.to_builtins(world.memory.recall(text))), "others' memories stay"


def secrets_in(text: str) -> list[str]:
    return [word for word in SECRETS if word.casefold() in text.casefold()]


def check_reads(world: World) -> None:
    """Every operation that reads, at every moment that it can be asked about."""
    moments = list(world.moments())
    for operation in OPERATIONS:
        if operation.effect != "read" or operation.name in ("log_export", "backup", "config"):
            continue
        known = "known_at" in operation.input.__struct_fields__
        some = moments[:: max(1, len(moments) // 25)] if known else [None]
        for given in arguments(world, operation.input):
            for at in some:
                try:
                    answer = world.memory.run(operation, given | ({"known_at": at} if at else {}), audited=False)
                except WeftError:
                    continue  # what is not there is said so, in words of the question
                told = json.dumps(msgspec.to_builtins(answer), ensure_ascii=False)
                assert not secrets_in(told), (operation.name, given, at)


def arguments(world: World, kind: type[msgspec.Struct]) -> Iterator[dict[str, Any]]:
    """Questions that ask for what is gone without naming it, but where an id is all there is."""
    fields = kind.__struct_fields__
    if "query" in fields:
        yield {"query": NEUTRAL}
    elif "id" in fields:
        yield from ({"id": each} for each in world.ids)
    elif "entity_ids" in fields:
        yield from ({"entity_ids": [each]} for each in world.ids)
    elif "nodes" in fields or "views" in fields:
        return
    elif "citation" in fields:
        yield from ({"citation": f"weft://operator/events/{seq}"} for seq in range(1, 80))
    elif "keyword" in fields:
        yield {"keyword": "harbour"}
    elif "task" in fields:
        yield {"task": NEUTRAL}
    else:
        yield {"limit": 100} if "limit" in fields else {}
