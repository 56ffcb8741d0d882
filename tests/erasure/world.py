"""A small world that says things about people, by every kind of event, in an order that chance decides."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, Final

from weft.core.errors import Conflict, NotFound
from weft.core.ports import Store
from weft.core.types import Actor, Writer
from weft.erasure.erase_log import ErasureCounts, erase
from weft.erasure.rewrite_log import RewriteAccess
from weft.log.draft import Draft
from weft.log.kinds import code, conversation, document, graph, memory, transaction
from weft.testing.clock import ManualClock
from weft.testing.scribe import Scribe, iso
from weft.testing.viewers import OPERATOR

PEOPLE: Final = ("Zelda", "Quentin", "Orlaith", "Boris")
PLAIN: Final = ("the kettle is on", "rain again on the quay", "nine boats came in", "ledger closed at noon")
OPERATOR_WRITER: Final = Writer(account=OPERATOR.account, session="operator", actor=Actor(agent="op", role="operator"))


def person(name: str) -> str:
    return f"person:{name.lower()}"


class World:
    """Writes to one store. `said` are the ids that exist, by what they are."""

    def __init__(self, store: Store, chance: Random) -> None:
        self.scribe = Scribe(store, ManualClock())
        self.chance = chance
        self.ids: list[str] = []
        self.number = 0
        self.change: str | None = None

    def step(self) -> None:
        """Anything but an erasure. What the fold refuses is not written."""
        choices: tuple[Callable[[], list[Draft]], ...] = (
            self._remember,
            self._remember,
            self._fact,
            self._fact,
            self._link,
            self._end,
            self._delete,
            self._document,
            self._talk,
            self._file,
            self._note,
        )
        drafts = self.chance.choice(choices)()
        if not drafts:
            return
        self.scribe.clock.step()
        try:
            marks = [] if drafts[0].kind == "tx.noted" else self._marks()
            self.scribe.write(*marks, *drafts)
            if self.change is None and self.chance.random() < 0.1:
                self.change = self.scribe.open_change(*self._remember())
        except (Conflict, NotFound):
            return

    def _marks(self) -> list[Draft]:
        """Sometimes the commit is one more slice of an open change, or its last."""
        if self.change is None or self.chance.random() < 0.5:
            return []
        tx, last = self.change, self.chance.random() < 0.4
        if last:
            self.change = None
            return [Draft(kind="tx.closed", payload=transaction.Closed(tx=tx, files=(self._path(),)))]
        return [Draft(kind="tx.continued", payload=transaction.Continued(tx=tx, cursor=str(self.number)))]

    def erase(self, ids: list[str], names: list[str], between: Callable[[], None] = lambda: None) -> ErasureCounts:
        """As the operator. `between` is called after every commit."""
        return erase(
            RewriteAccess(
                store=self.scribe.store,
                writer=OPERATOR_WRITER,
                viewer=OPERATOR,
                clock=self.scribe.clock,
                progress=lambda what, _done, _total: between() if what == "erasing" else None,
            ),
            ids=ids,
            names=names,
            what="subject",
        )

    # What may be said

    def _words(self) -> str:
        plain = self.chance.choice(PLAIN)
        return f"{self.chance.choice(PEOPLE)} says {plain}" if self.chance.random() < 0.5 else plain

    def _path(self) -> str:
        return f"notes/{self.chance.choice((*PEOPLE, 'port', 'quay')).lower()}.md"

    def _new(self, kind: str) -> str:
        self.number += 1
        self.ids.append(f"{kind}:{self.number}")
        return self.ids[-1]

    def _some(self) -> str:
        return self.chance.choice(self.ids) if self.ids else person(self.chance.choice(PEOPLE))

    def _person(self) -> graph.NodeAssertion:
        name = self.chance.choice(PEOPLE)
        self.ids.append(person(name))
        props: dict[str, Any] = {"knows": self._some()} if self.chance.random() < 0.5 else {}
        return graph.NodeAssertion(id=person(name), kind="Person", name=name, props=props, scope="public")

    def _time(self) -> str | None:
        return iso(self.scribe.clock.now_us() - self.chance.randrange(3_600_000_000 * 20)) or None

    def _remember(self) -> list[Draft]:
        who = self._person()
        memory_id = self._new("memory")
        text = self._words()
        payload = memory.Remembered(
            id=memory_id,
            text=text,
            name=self._words() if self.chance.random() < 0.2 else "",
            props={"about": who.id, "tags": [who.name.lower()]} if self.chance.random() < 0.4 else {},
            scope="public",
            slot=self.chance.choice(("status", f"mood/{who.id}")) if self.chance.random() < 0.3 else None,
            valid_from=self._time() if self.chance.random() < 0.3 else None,
            entities=(who,),
            edges=(
                graph.EdgeAssertion(src=memory_id, rel="MENTIONS", dst=who.id, props={"said": text}, scope="public"),
            ),
            supersedes=(self._some(),) if self.chance.random() < 0.3 and self.ids[:-2] else (),
            gate=memory.Novelty(tag="novel", nearest=self._some()) if self.chance.random() < 0.3 else None,
            extracted=memory.Extracted(extractor="rules-1", marks=((0, 3, "word"),)),
        )
        return [Draft(kind="memory.remembered", payload=payload)]

    def _fact(self) -> list[Draft]:
        who = self._person()
        slot = self.chance.choice((f"fact:/{who.id}/lives_in", "fact:/everybody/lives_in", "status"))
        node = graph.NodeAssertion(
            id=self._new("fact"),
            kind="Fact",
            name=f"{who.name} lives_in" if self.chance.random() < 0.7 else "somebody lives_in",
            text=self._words(),
            props={"subject": who.id, "slot": slot},
            scope="public",
            slot=slot,
            valid_from=self._time(),
            valid_to=iso(self.scribe.clock.now_us() + 5) if self.chance.random() < 0.3 else None,
        )
        edge = graph.EdgeAssertion(src=node.id, rel="INVOLVES", dst=who.id, scope="public")
        return [Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(who, node), edges=(edge,), reason="told"))]

    def _link(self) -> list[Draft]:
        one, two = self._person(), self._person()
        edge = graph.EdgeAssertion(
            src=one.id,
            rel=self.chance.choice(("adores", "owes money", "KNOWS", f"cousin_of_{two.name}")),
            dst=self._some() if self.chance.random() < 0.3 else two.id,
            props={"note": self._words(), "seen": two.id} if self.chance.random() < 0.6 else {},
            scope="public",
            slot=f"best friend of {one.id}" if self.chance.random() < 0.3 else None,
        )
        asserted = graph.Asserted(nodes=(one, two), edges=(edge,), reason=self._words())
        return [Draft(kind="graph.asserted", payload=asserted)]

    def _end(self) -> list[Draft]:
        one, two = person(self.chance.choice(PEOPLE)), person(self.chance.choice(PEOPLE))
        edges = (graph.EdgeName(src=one, rel="adores", dst=two),) if self.chance.random() < 0.5 else ()
        ended = graph.Ended(nodes=(self._some(),), edges=edges, reason=self._words())
        return [Draft(kind="graph.ended", payload=ended)]

    def _delete(self) -> list[Draft]:
        which = self._some()
        deleted = Draft(kind="graph.deleted", payload=graph.Deleted(nodes=(which,), reason=self._words()))
        back = Draft(kind="graph.restored", payload=graph.Restored(nodes=(which,), reason=self._words()))
        return [deleted] if self.chance.random() < 0.6 else [deleted, back]

    def _document(self) -> list[Draft]:
        path = self._path()
        doc = f"doc:{path}"
        self.ids += [doc, f"{doc}#1"]
        chunked = self.chance.random() < 0.6
        sections = tuple(
            document.SectionText(
                id=f"{doc}#{n}",
                title=self._words(),
                level=n,
                line=n,
                end_line=n + 1,
                text="" if chunked else self._words(),
                parent=f"{doc}#1" if n > 1 else None,
                summary=self._words() if chunked else "",
                chunks=self._chunks(f"{doc}#{n}", n) if chunked else (),
            )
            for n in range(1, self.chance.randrange(2, 5))
        )
        payload = document.Ingested(
            id=doc,
            source=path,
            title=f"Notes {self.number}",
            sha256="ab" * 32,
            sections=sections,
            summary=self._words() if chunked else "",
            scope="public",
        )
        noted = transaction.Noted(tx_kind="file_change", files=(path, "other.md"))
        return [Draft(kind="tx.noted", payload=noted), Draft(kind="document.ingested", payload=payload)]

    def _chunks(self, section: str, line: int) -> tuple[document.ChunkText, ...]:
        """Some of a section's chunks: what a version does not tell again stands as it did."""
        numbers = [n for n in range(1, 4) if self.chance.random() < 0.7]
        self.ids += [f"{section}¶{n}" for n in numbers]
        return tuple(
            document.ChunkText(
                id=f"{section}¶{n}",
                line=line,
                end_line=line,
                text=self._words(),
                summary=f"Notes › {self._words()}",
                props={"mentions": [f"ask_{self.chance.choice(PEOPLE)}", "src/a.py"]} if n == 1 else {},
            )
            for n in numbers
        )

    def _talk(self) -> list[Draft]:
        talk = f"talk/{self.chance.randrange(3)}"
        first = self.number + 1
        self.number += 3
        messages = tuple(
            conversation.MessageText(
                id=f"{talk}#{n}",
                seq=n,
                text=self._words(),
                speaker=self.chance.choice((*PEOPLE, "")),
                role="user",
                at=self._time(),
            )
            for n in range(first, first + 3)
        )
        self.ids += [talk, messages[0].id]
        payload = conversation.Recorded(
            id=talk, messages=messages, opens=True, title="a talk", whole=True, record="r7", scope="public"
        )
        return [Draft(kind="conversation.recorded", payload=payload)]

    def _file(self) -> list[Draft]:
        path = self.chance.choice(("src/a.py", "src/b.py"))
        symbols = (
            code.SymbolText(key="Boat", line=1, end_line=9, text=self._words(), kind="Class"),
            code.SymbolText(key="Boat::sail", line=2, end_line=4, text=self._words(), parent="Boat"),
            code.SymbolText(key=f"by_{self.chance.choice(PEOPLE)}", name="by", line=5, end_line=6, text="pass"),
        )
        self.ids += [path, f"{path}::Boat"]
        payload = code.Indexed(
            id=path,
            path=path,
            language="python",
            sha256="cd" * 32,
            text=self._words() if self.chance.random() < 0.3 else "import os",
            end_line=9,
            symbols=symbols,
            scope="public",
        )
        return [Draft(kind="code.indexed", payload=payload)]

    def _note(self) -> list[Draft]:
        node = graph.NodeAssertion(
            id=self._new("note"),
            kind="Note",
            text=f"see {self._some()} for more",
            props={"refs": [self._some(), {"of": self._some()}]},
            scope="public",
        )
        return [Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(node,)))]
