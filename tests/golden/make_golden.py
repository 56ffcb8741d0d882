"""Writes a mixed log of every kind of event. Run by hand, once per release, and never again for that release:

    python -m tests.golden.make_golden v0.1

What it wrote stays as it is for ever: every later weft must fold it to the digest beside it. The clock and the salts
of the mix are fixed, so that the same code writes the same bytes of it; a real project's code comes after it.
"""

from __future__ import annotations

import hashlib
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import weft
from tests.golden.real_code import read_history
from weft.append.append import AppendOptions, AppendResult, append
from weft.core.clock import to_iso
from weft.core.ports import Store
from weft.core.types import SCOPES, Actor, Viewer, Writer
from weft.erasure import erase_log as erasure
from weft.erasure.rewrite_log import RewriteAccess
from weft.graph import placeholders as tokens
from weft.graph.digest import graph_digest
from weft.log import draft as drafting
from weft.log.draft import Draft
from weft.log.jsonl import write_lines
from weft.log.kinds import code, conversation, document, graph, memory, transaction
from weft.log.verify import read_commits
from weft.memory.facade import Memory
from weft.testing.scribe import UNSEALED

HERE = Path(__file__).parent
ACCOUNT = "golden"
OPERATOR = Viewer(account=ACCOUNT, scopes=frozenset(SCOPES), sensitive=True)
START_US = 1_767_225_600_000_000  # 2026-01-01
DAY_US = 86_400_000_000
EVENTS = 260
SESSIONS = ("operator", "chat:2026-01", "ingest.docs", "code@ferry", "merge+1")
AGENTS = ("ann", "bob", "carol-7")
WORDS = (
    "ferry dock Redis session naïve 東京 😀 retry_count parseHeader “quoted” Ångström limit vault \u2028 tab\tnewline\n"
)


class FixedClock:
    """Stands still until it is moved."""

    def __init__(self, now_us: int = START_US) -> None:
        self.now = now_us

    def now_us(self) -> int:
        return self.now


def fixed_salts() -> Iterator[bytes]:
    """Salts that are the same on every run."""
    number = 0
    while True:
        number += 1
        yield hashlib.sha256(f"salt {number}".encode()).digest()[:16]


class Pool:
    """What events may refer to. A change that spans commits keeps to its own until it is closed."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.ids: list[str] = []
        self.edges: list[tuple[str, str, str]] = []
        self.documents: dict[str, tuple[str, ...]] = {}
        self.sources: dict[str, tuple[str, ...]] = {}
        self.links: dict[str, set[tuple[str, str, str]]] = {}
        self.conversations: dict[str, int] = {}

    def take_over(self, other: Pool) -> None:
        """The other's change is closed: all of it may be referred to from here."""
        self.ids += other.ids
        self.edges += other.edges
        self.documents |= other.documents
        self.sources |= other.sources
        self.links |= other.links
        self.conversations |= other.conversations


class Mixer:
    """Writes commits of every sort, chosen by a seeded generator, and remembers what it can refer to."""

    def __init__(self, store: Store, *, seed: int, batch: int, words: int) -> None:
        self._store, self._chance, self._batch, self._words = store, random.Random(seed), batch, words
        self._clock = FixedClock()
        self._nodes: dict[str, str] = {}
        self._main = self._pool = Pool("ferry")
        self._open: list[tuple[str, Pool]] = []
        self._made = self.events = 0

    def run(self, events: int) -> None:
        """Writes until there are this many."""
        self._append("operator", [self._assert_node() for _ in range(6)])
        while self.events < events:
            self._step()

    # One commit

    def erase(self) -> None:
        """Erases some of what is there: single nodes, a document, a conversation; then goes on writing."""
        document = f"{self._main.name}/{next(iter(self._main.documents))}"
        whole = [document, next(iter(self._main.conversations))]
        for chosen in (self._main.ids[::11], self._main.ids[5::13], whole):
            self._clock.now += DAY_US
            erasure.erase(
                RewriteAccess(
                    store=self._store,
                    writer=Writer(account=ACCOUNT, session="operator", actor=Actor(agent="ann", role="operator")),
                    viewer=OPERATOR,
                    clock=self._clock,
                    progress=lambda *_: None,
                ),
                ids=set(chosen),
                what="subject",
            )
            self._append("operator", [self._assert_node()])

    def _step(self) -> None:
        self._clock.now += self._chance.choice((0, 1, 1_000_000, 3_600_000_000, -5_000_000, DAY_US // 3))
        session = self._chance.choice(SESSIONS)
        sort = self._chance.random()
        if sort < 0.08 and len(self._open) < 3:
            self._pool = Pool(f"change-{self.events}")
            opened = transaction.Opened(tx_kind="full_rebuild", git_commit="a1" * 20, files=("src/a.py",))
            done = self._append(session, [Draft(kind="tx.opened", payload=opened), *self._drafts()])
            self._open.append((f"tx-{done.events[0].hash.hex()[:16]}", self._pool))
        elif sort < 0.18 and self._open:
            tx, self._pool = self._chance.choice(self._open)
            payload = transaction.Continued(tx=tx, cursor=f"file {self.events}")
            self._append(session, [Draft(kind="tx.continued", payload=payload), *self._drafts()])
        elif sort < 0.25 and len(self._open) > 1:  # one is left open at the end
            tx, self._pool = self._open.pop(0)
            closing = transaction.Closed(tx=tx, duration_ms=1234, files=("src/b.py",))
            self._append(session, [Draft(kind="tx.closed", payload=closing), *self._drafts()])
            self._main.take_over(self._pool)
        elif sort < 0.40:
            tx_kind = self._chance.choice(("incremental", "file_change", "agent_edit", "maintenance"))
            noted = transaction.Noted(tx_kind=tx_kind, git_commit=f"{self.events:040x}", files=("a.py",), duration_ms=7)
            self._append(session, [Draft(kind="tx.noted", payload=noted), *self._drafts()])
        else:
            self._append(session, self._drafts(), request_id=f"request-{self.events}" if sort > 0.8 else None)
        self._pool = self._main

    def _drafts(self) -> list[Draft]:
        first = [] if self._pool.ids else [self._assert_node()]
        return first + [self._draft() for _ in range(self._chance.randint(1, self._batch))]

    def _append(self, session: str, drafts: list[Draft], *, request_id: str | None = None) -> AppendResult:
        actor = Actor(agent=self._chance.choice(AGENTS), role=self._chance.choice(("agent", "operator")))
        writer = Writer(account=ACCOUNT, session=session, actor=actor)
        done = append(
            self._store,
            writer,
            drafts,
            clock=self._clock,
            options=AppendOptions(request_id=request_id, privacy=UNSEALED),
        )
        self.events += len(done.events)
        return done

    # One event

    def _draft(self) -> Draft:
        makers = (
            (self._assert_node, 5),
            (self._assert_again, 4),
            (self._assert_edge, 4),
            (self._remember, 6),
            (self._fact, 5),
            (self._ingest, 2),
            (self._index, 2),
            (self._link, 2),
            (self._converse, 3),
            (self._end_node, 1),
            (self._end_edge, 1),
            (self._delete, 1),
            (self._restore, 1),
        )
        made: Draft = self._chance.choices([maker for maker, _ in makers], [weight for _, weight in makers])[0]()
        return made

    def _text(self) -> str:
        return " ".join(self._chance.choices(WORDS.split(" "), k=self._chance.randint(0, self._words)))

    def _moment(self) -> str:
        return to_iso(START_US + self._chance.randint(-400, 400) * DAY_US)

    def _interval(self) -> dict[str, Any]:
        """Open, backdated, explicit, or from the event's own time."""
        begin = START_US + self._chance.randint(-300, 200) * DAY_US
        end = begin + self._chance.randint(1, 90) * DAY_US
        return self._chance.choice(
            ({}, {}, {"valid_from": to_iso(begin)}, {"valid_from": to_iso(begin), "valid_to": to_iso(end)})
        )

    def _guard(self) -> dict[str, Any]:
        return {
            "project": self._chance.choice((None, "ferry", "barge")),
            "scope": self._chance.choice(SCOPES),
            "agents": tuple(sorted(self._chance.sample(AGENTS, self._chance.choice((0, 0, 1, 2))))),
            "sensitive": self._chance.random() < 0.15,
        }

    def _props(self) -> dict[str, Any]:
        return self._chance.choice(
            ({}, {"size": self._chance.randint(-9, 9)}, {"ratio": 0.1, "é": None}, {"list": [1, "a", {"deep": [True]}]})
        )

    def _new(self, kind: str) -> str:
        self._made += 1
        node = f"{kind.lower()}:{self._made}"
        self._nodes[node] = kind
        self._pool.ids.append(node)
        return node

    def _some(self) -> str:
        return self._chance.choice(self._pool.ids)

    def _node(self, node: str, **more: Any) -> graph.NodeAssertion:
        fields = {"name": f"{node} name", "summary": self._text()[:40], "text": self._text(), "props": self._props()}
        focus = self._chance.choice((None, "billing"))
        return graph.NodeAssertion(id=node, kind=self._nodes[node], focus=focus, **fields | self._guard() | more)

    def _assert_node(self) -> Draft:
        node = self._new(self._chance.choice(("Person", "Service", "Note", "Concept", "File", "Task")))
        return Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(self._node(node, **self._interval()),)))

    def _assert_again(self) -> Draft:
        node = self._node(self._some(), **self._interval())
        return Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(node,)))

    def _assert_edge(self) -> Draft:
        src, dst = self._some(), self._some()
        rel = self._chance.choice(("KNOWS", "CALLS", "INVOLVES"))
        slot = self._chance.choice((None, None, f"slot:{src}/{rel}"))
        edge = graph.EdgeAssertion(
            src=src,
            rel=rel,
            dst=dst,
            weight=self._chance.choice((1.0, 0.5, 2.25)),
            props=self._props(),
            slot=slot,
            **self._guard() | self._interval(),
        )
        self._pool.edges.append((src, rel, dst))
        return Draft(kind="graph.asserted", payload=graph.Asserted(edges=(edge,)))

    def _remember(self) -> Draft:
        older = (self._some(),) if self._chance.random() < 0.2 else ()
        entity = self._new("Entity")
        node = self._new("Memory")
        edge = graph.EdgeAssertion(src=node, rel="INVOLVES", dst=entity, **self._guard())
        payload = memory.Remembered(
            id=node,
            text=self._text(),
            name=self._chance.choice(("", "a title")),
            props=self._props(),
            entities=(self._node(entity),),
            edges=(edge,),
            supersedes=older,
            **self._guard() | self._interval(),
        )
        occurred_at = self._chance.choice((None, START_US - self._chance.randint(1, 100) * DAY_US))
        return Draft(
            kind="memory.remembered",
            payload=payload,
            occurred_at=occurred_at,
            caused_by=self._chance.choice(((), ("weft://operator/events/1",))),
            task=self._chance.choice((None, "task-1")),
            conversation=self._chance.choice((None, "chat-9")),
        )

    def _fact(self) -> Draft:
        """Facts that share a slot: each new one takes moments from the others."""
        node = self._new("Fact")
        who = self._chance.randint(0, self._made // 100)
        slot = f"fact:{self._pool.name}/person-{who}/{self._chance.choice(('role', 'lives_in', 'status'))}"
        fields = self._guard() | self._interval()
        payload = memory.Remembered(id=node, text=self._text(), node_kind="Fact", slot=slot, **fields)
        return Draft(kind="memory.remembered", payload=payload)

    def _ingest(self) -> Draft:
        known = list(self._pool.documents)
        source = self._chance.choice(known) if known and self._chance.random() < 0.6 else f"docs/{self._made}.md"
        doc = f"{self._pool.name}/{source}"
        titles = self._chance.sample(("Intro", "Limits", "Alarms", "東京", "End"), self._chance.randint(1, 4))
        sections = tuple(
            document.SectionText(
                id=f"{doc}#{title}", title=title, level=1 + number % 3, line=3 * number + 1, end_line=3 * number + 2,
                text=f"# {title}\n{self._text()}", parent=f"{doc}#{titles[0]}" if number % 3 else None,
            )
            for number, title in enumerate(titles)
        )  # fmt: skip
        ids = tuple(section.id for section in sections)
        gone = tuple(sorted(set(self._pool.documents.get(source, ())) - set(ids)))
        self._pool.documents[source] = ids
        payload = document.Ingested(
            id=doc, source=source, title=titles[0], sha256=hashlib.sha256(repr(sections).encode()).hexdigest(),
            sections=sections, ended=gone, **self._guard(),
        )  # fmt: skip
        return Draft(kind="document.ingested", payload=payload)

    def _converse(self) -> Draft:
        """Turns that go on, begin a conversation, or correct one that was told wrong."""
        known = sorted(self._pool.conversations)
        new = not known or self._chance.random() < 0.3
        name = f"{self._pool.name}/{self._made}" if new else self._chance.choice(known)
        turns = self._pool.conversations.get(name, 0)
        wrong = self._chance.randint(1, turns) if turns and self._chance.random() < 0.3 else None
        said = tuple(
            conversation.MessageText(
                id=f"{name}#{seq:05d}", seq=seq, text=f"Ana: {self._text()}",
                at=self._chance.choice((None, self._moment())),
                **self._chance.choice(({"speaker": "Ana"}, {"role": "user"}, {})),
            )
            for seq in ([wrong] if wrong else range(turns + 1, turns + 1 + self._chance.randint(1, 3)))
        )  # fmt: skip
        self._made += 1
        self._pool.conversations[name] = max(turns, said[-1].seq)
        opens = not turns or self._chance.random() < 0.2
        payload = conversation.Recorded(
            id=name, messages=said, opens=opens, title=self._chance.choice(("", "Tides")) if opens else "",
            begins=self._chance.choice((None, self._moment())) if opens else None,
            whole=self._chance.random() < 0.3, record=self._chance.choice((None, f"row {self._made}")),
            ended=((said[0].id,) if wrong else ()) + ((name,) if opens and turns else ()), **self._guard(),
        )  # fmt: skip
        return Draft(kind="conversation.recorded", payload=payload, conversation=name)

    def _index(self) -> Draft:
        """A version of a source file: symbols are new or changed, some are gone, now and then all are told anew."""
        known = list(self._pool.sources)
        new = f"{self._pool.name}/src/{self._made}.py"
        file = self._chance.choice(known) if known and self._chance.random() < 0.6 else new
        before = self._pool.sources.get(file, ())
        more = self._chance.sample(("Ferry.sail", "Ferry.sail~2", "dock", "fähre"), self._chance.randint(0, 3))
        symbols = tuple(
            code.SymbolText(
                key=key, kind="Class" if key == "Ferry" else "Function", name="Ferry.sail" if "~" in key else "",
                line=5 * number + 3, end_line=5 * number + 6, text=f"def {key}():\n{self._text()}",
                parent="Ferry" if "." in key else "", spans=((3, 4), (8, 8)) if key == "Ferry" else (),
            )
            for number, key in enumerate(("Ferry", *more))
        )  # fmt: skip
        ids = tuple(f"{file}::{symbol.key}" for symbol in symbols)
        withdrawn = (file, *before) if before and self._chance.random() < 0.2 else ()
        self._pool.sources[file] = ids
        payload = code.Indexed(
            id=file, path=file.partition("/")[2], language="python", text=self._text(), end_line=30, spans=((1, 1),),
            sha256=hashlib.sha256(repr(symbols).encode()).hexdigest(), symbols=symbols, withdrawn=withdrawn,
            ended=() if withdrawn else tuple(sorted(set(before) - set(ids))),
            record=self._chance.choice((None, f"row {self._made}")), **self._guard(),
        )  # fmt: skip
        occurred_at = self._chance.choice((None, START_US - self._chance.randint(1, 100) * DAY_US))
        return Draft(kind="code.indexed", payload=payload, occurred_at=occurred_at)

    def _link(self) -> Draft:
        """What a source file refers to: some more, some no longer, a module outside; now and then up to a moment."""
        if not self._pool.sources:
            return self._index()
        file = self._chance.choice(list(self._pool.sources))
        there = [each for ids in self._pool.sources.values() for each in ids]
        outside = code.Outside(f"{self._pool.name}/import:{self._made % 7}", f"tides{self._made % 7}")
        joined = {
            (key, self._chance.choice(("CALLS", "TESTS")), self._chance.choice(there))
            for key in ("", *(each.partition("::")[2] for each in self._pool.sources[file]))
        }
        over = self._pool.links.get(file, set()) if self._chance.random() < 0.5 else set()
        self._pool.links[file] = (self._pool.links.get(file, set()) - over) | joined
        payload = code.Linked(
            id=file, path=file.partition("/")[2], outside=(outside,), unresolved=self._made % 3,
            joined=(*(code.Joined(*each, 3) for each in sorted(joined)), code.Joined("", "IMPORTS", outside.id, 1)),
            parted=tuple(code.Joined(*each) for each in sorted(over - joined)),
            until=self._chance.choice((None, None, to_iso(self._clock.now + 30 * DAY_US))), **self._guard(),
        )  # fmt: skip
        return Draft(kind="code.linked", payload=payload)

    def _end_node(self) -> Draft:
        at, until = self._chance.choice(((None, None), (self._moment(), None), self._two_moments()))
        return Draft(kind="graph.ended", payload=graph.Ended(nodes=(self._some(),), at=at, until=until, reason="over"))

    def _two_moments(self) -> tuple[str, str]:
        first = START_US + self._chance.randint(-300, 200) * DAY_US
        return to_iso(first), to_iso(first + self._chance.randint(1, 90) * DAY_US)

    def _end_edge(self) -> Draft:
        if not self._pool.edges:
            return self._assert_edge()
        src, rel, dst = self._chance.choice(self._pool.edges)
        name = graph.EdgeName(src=src, rel=rel, dst=dst)
        return Draft(
            kind="graph.ended", payload=graph.Ended(edges=(name,), at=self._chance.choice((None, self._moment())))
        )

    def _delete(self) -> Draft:
        return Draft(kind="graph.deleted", payload=graph.Deleted(nodes=(self._some(),), reason="wrong"))

    def _restore(self) -> Draft:
        return Draft(kind="graph.restored", payload=graph.Restored(nodes=(self._some(),)))


def main(release: str) -> None:
    """Writes the log and its digests, unless they are there."""
    log, digests = HERE / f"{release}.jsonl", HERE / f"{release}.digest"
    if log.exists():
        sys.exit(f"{log} is there, and stays as it is for ever")
    salts = fixed_salts()
    for module in (drafting, erasure, tokens):
        module.os = SimpleNamespace(urandom=lambda size: next(salts)[:size])  # type: ignore[attr-defined]
    with tempfile.TemporaryDirectory() as scratch, project(Path(scratch) / "quay") as made:
        store = made.ctx.store
        mixer = Mixer(store, seed=1, batch=4, words=30)
        mixer.run(EVENTS)
        mixer.erase()
        read_history(made, made.ctx.settings.root)
        log.write_bytes(b"".join(write_lines(ACCOUNT, read_commits(store, OPERATOR))))
        head = store.head(OPERATOR)
        digests.write_text(
            f"graph {graph_digest(store.graph_rows(OPERATOR))}\nhead {head.digest.hex()}\nevents {head.pos}\n"
        )
    print(f"{head.pos} events in {log}")


def project(root: Path) -> Memory:
    """An empty memory of an account of its own, long after what the mixer writes."""
    root.mkdir()
    environment = {"HOME": str(root.parent), "WEFT_ACCOUNT": ACCOUNT, "WEFT_EMBEDDER": "none", "WEFT_AUDIT": "off"}
    return weft.open("memory://", directory=root, environment=environment, clock=FixedClock(START_US + 500 * DAY_US))


if __name__ == "__main__":
    main(sys.argv[1])
