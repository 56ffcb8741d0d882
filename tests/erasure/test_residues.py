"""What is left of each kind of payload: its shape, and not a word."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from weft.core.errors import Corrupt
from weft.erasure.residue import RESIDUES, residue
from weft.graph.placeholders import Tokens, new_token, words_pattern
from weft.log.canonical import canonical
from weft.log.kinds import KINDS, code, conversation, document, graph, memory, rewriting, transaction

TOKEN, OTHER = new_token(), new_token()


def left(kind: str, payload: Any, tokens: Tokens) -> Any:
    """The residue, read back from its bytes."""
    made = residue(kind, payload, tokens)
    return msgspec.json.decode(canonical(msgspec.to_builtins(made)), type=type(payload))


def test_every_kind_but_the_one_that_has_no_words_has_a_residue() -> None:
    assert {kind.name for kind in KINDS} - RESIDUES.keys() == {"log.rewritten"}


def test_a_memory() -> None:
    entity = graph.NodeAssertion(id="person:zelda", kind="Person", name="Zelda", props={"age": 9}, valid_from="2020")
    payload = memory.Remembered(
        id="m",
        text="Zelda keeps bees",
        name="bees",
        summary="of bees",
        props={"tag": "bees"},
        project="farm",
        focus="hives",
        agents=("ann",),
        valid_from="2021-01-01",
        slot="mood",
        entities=(entity,),
        edges=(graph.EdgeAssertion(src="m", rel="MENTIONS", dst="person:zelda", props={"at": 3}, weight=2.0),),
        supersedes=("older", "kept"),
        gate=memory.Novelty(tag="reinforcing", nearest="older", jaccard=0.7),
        extracted=memory.Extracted(extractor="rules-1", marks=((0, 5, "name"),)),
    )
    ids = {"m": TOKEN, "person:zelda": OTHER, "older": new_token()}
    found = left("memory.remembered", payload, Tokens(ids, {"mood": "erased:mood"}))
    assert found == memory.Remembered(
        id=TOKEN,
        text="",
        project="farm",
        focus="hives",
        agents=("ann",),
        valid_from="2021-01-01",
        slot="erased:mood",
        entities=(graph.NodeAssertion(id=OTHER, kind="Person", valid_from="2020"),),
        edges=(graph.EdgeAssertion(src=TOKEN, rel="MENTIONS", dst=OTHER, weight=2.0),),
        supersedes=(ids["older"], "kept"),
    )


def test_a_memory_that_only_mentions_what_goes() -> None:
    payload = memory.Remembered(
        id="m",
        text="see person:zelda, not person:zelda smith",
        props={"of": ["person:zelda"], "person:zelda": 1, "slot": "fact:/person:zelda/age"},
        gate=memory.Novelty(tag="novel", nearest="person:zelda"),
        extracted=memory.Extracted(extractor="rules-1"),
    )
    tokens = Tokens({"person:zelda": TOKEN}, longer=["person:zelda smith"])
    assert left("memory.remembered", payload, tokens) == memory.Remembered(
        id="m",
        text=f"see {TOKEN}, not person:zelda smith",
        props={"of": [TOKEN], TOKEN: 1, "slot": f"fact:/{TOKEN}/age"},
        gate=memory.Novelty(tag="novel", nearest=TOKEN),
    )


def test_assertions_and_relations() -> None:
    payload = graph.Asserted(
        nodes=(
            graph.NodeAssertion(id="a", kind="Note", text="words"),
            graph.NodeAssertion(id="b", kind="Note", text="kept"),
        ),
        edges=(
            graph.EdgeAssertion(src="a", rel="owes money", dst="b", props={"sum": 5}, slot="debt"),
            graph.EdgeAssertion(src="a", rel="CONTAINS", dst="b"),
            graph.EdgeAssertion(src="b", rel="owes money", dst="b", props={"sum": 7}),
        ),
        reason="because of a",
    )
    found = left("graph.asserted", payload, Tokens({"a": TOKEN}, {"debt": OTHER}))
    first, second, third = found.edges
    assert [node.text for node in found.nodes] == ["", "kept"]
    assert first.rel.startswith("ERASED_")
    assert (first.src, first.props, first.slot) == (TOKEN, {}, OTHER)
    assert (second.rel, third) == ("CONTAINS", payload.edges[2])
    assert found.reason == ""


def test_endings_deletions_and_restorations() -> None:
    tokens = Tokens({"a": TOKEN})
    name = graph.EdgeName(src="a", rel="owes money", dst="b")
    ended = left("graph.ended", graph.Ended(nodes=("a", "b"), edges=(name,), at="2020-01-01", reason="a is b"), tokens)
    assert (ended.nodes, ended.at, ended.reason) == ((TOKEN, "b"), "2020-01-01", "")
    asserted = left(
        "graph.asserted", graph.Asserted(edges=(graph.EdgeAssertion(src="a", rel="owes money", dst="b"),)), tokens
    )
    assert ended.edges[0].rel == asserted.edges[0].rel, "one relation has one name"
    for kind, payload in (
        ("graph.deleted", graph.Deleted(nodes=("a",), reason="a")),
        ("graph.restored", graph.Restored(nodes=("a",), reason="a")),
    ):
        found = left(kind, payload, tokens)
        assert (found.nodes, found.reason) == ((TOKEN,), "")


def a_document() -> document.Ingested:
    return document.Ingested(
        id="doc:bees",
        source="notes/bees.md",
        title="Bees",
        sha256="ab",
        sections=(
            document.SectionText(id="doc:bees#1", title="Hives", level=1, line=1, end_line=4, text="in the garden"),
            document.SectionText(
                id="doc:bees#2", title="Honey", level=2, line=5, end_line=9, text="gold", parent="doc:bees#1"
            ),
        ),
        ended=("doc:bees#3",),
    )


def test_a_document_and_a_section_of_one() -> None:
    every = {each: new_token() for each in ("doc:bees", "doc:bees#1", "doc:bees#2", "doc:bees#3")}
    whole = left("document.ingested", a_document(), Tokens(every))
    assert (whole.id, whole.source, whole.title, whole.sha256) == (every["doc:bees"], "", "", "")
    assert [(s.id, s.title, s.text, s.line) for s in whole.sections] == [
        (every["doc:bees#1"], "", "", 1),
        (every["doc:bees#2"], "", "", 5),
    ]
    assert (whole.sections[1].parent, whole.ended) == (every["doc:bees#1"], (every["doc:bees#3"],))
    part = left("document.ingested", a_document(), Tokens({"doc:bees#1": TOKEN}))
    assert (part.id, part.source, part.title, part.sha256) == ("doc:bees", "notes/bees.md", "Bees", "")
    assert [(s.id, s.title, s.text) for s in part.sections] == [(TOKEN, "", ""), ("doc:bees#2", "Honey", "gold")]
    assert part.sections[1].parent == TOKEN


def test_a_conversation_and_a_turn_of_one() -> None:
    payload = conversation.Recorded(
        id="talk",
        messages=(
            conversation.MessageText(
                id="talk#1", seq=1, text="Zelda: bees", speaker="Zelda", role="user", at="2020-01-01"
            ),
            conversation.MessageText(id="talk#2", seq=2, text="goats", role="user"),
        ),
        opens=True,
        title="About bees",
        record="r1",
        ended=("talk#0",),
    )
    every = {each: new_token() for each in ("talk", "talk#0", "talk#1", "talk#2")}
    whole = left("conversation.recorded", payload, Tokens(every))
    assert (whole.id, whole.title, whole.record, whole.ended) == (every["talk"], "", None, (every["talk#0"],))
    assert [(s.id, s.seq, s.text, s.speaker, s.role) for s in whole.messages] == [
        (every["talk#1"], 1, "", "", ""),
        (every["talk#2"], 2, "", "", ""),
    ]
    part = left("conversation.recorded", payload, Tokens({"talk#1": TOKEN}))
    assert (part.id, part.title, part.record) == ("talk", "About bees", "r1")
    assert part.messages == (conversation.MessageText(id=TOKEN, seq=1, text="", at="2020-01-01"), payload.messages[1])


def test_a_source_file_and_a_symbol_of_one() -> None:
    payload = code.Indexed(
        id="src/bees.py",
        path="src/bees.py",
        language="python",
        sha256="ab",
        text="import honey",
        end_line=9,
        symbols=(
            code.SymbolText(key="Hive", line=1, end_line=9, text="class Hive", kind="Class"),
            code.SymbolText(key="Hive::fill", name="Hive.fill", line=2, end_line=3, text="def", parent="Hive"),
        ),
        ended=("src/bees.py::Old",),
        record="r1",
    )
    names = ("src/bees.py", "src/bees.py::Hive", "src/bees.py::Hive::fill", "src/bees.py::Old")
    every = {each: new_token() for each in names}
    whole = left("code.indexed", payload, Tokens(every))
    assert (whole.id, whole.path, whole.sha256, whole.text, whole.record) == (every[names[0]], "", "", "", None)
    assert [(s.key, s.name, s.text, s.parent) for s in whole.symbols] == [
        (every[names[1]], "", "", ""),
        (every[names[2]], "", "", every[names[1]]),
    ]
    assert (whole.ended, whole.language) == ((every[names[3]],), "python")
    part = left("code.indexed", payload, Tokens({"src/bees.py::Hive": TOKEN}))
    assert (part.id, part.path, part.text, part.sha256) == ("src/bees.py", "src/bees.py", "import honey", "")
    assert [(s.key, s.text, s.parent) for s in part.symbols] == [(TOKEN, "", ""), ("Hive::fill", "def", TOKEN)]


def test_what_a_change_says_of_files() -> None:
    tokens = Tokens({"doc": TOKEN}, files=["bees.md"], names=words_pattern(["Zelda"]))
    files = ("bees.md", "kept.md", "of/zelda/x.md")
    for kind, payload in (
        ("tx.noted", transaction.Noted(tx_kind="file_change", files=files, git_commit="a1")),
        ("tx.opened", transaction.Opened(tx_kind="file_change", files=files)),
        ("tx.closed", transaction.Closed(tx="tx-1", files=files)),
    ):
        assert left(kind, payload, tokens).files == ("kept.md",)
    continued = transaction.Continued(tx="tx-1", cursor="17")
    assert residue("tx.continued", continued, tokens) is continued


def test_what_says_that_payloads_were_replaced_is_left_alone() -> None:
    payload = rewriting.Rewritten(why="erased", what="subject", events=(("zelda", 1, "ab"),), nodes=(TOKEN,))
    assert residue("log.rewritten", payload, Tokens({"zelda": OTHER}, names=words_pattern(["zelda"]))) is payload


def test_nothing_concerned_is_the_same_object() -> None:
    payload = a_document()
    assert residue("document.ingested", payload, Tokens({"other": TOKEN})) is payload


def test_projects_kinds_and_guards_keep_their_words() -> None:
    tokens = Tokens({"a": TOKEN}, names=words_pattern(["Bees"]))
    node = graph.NodeAssertion(id="a", kind="Bees", project="bees", focus="bees", agents=("bees",), text="bees")
    place = graph.NodeAssertion(id="project:bees", kind="Project", name="bees")
    found = left("graph.asserted", graph.Asserted(nodes=(node, place)), tokens)
    assert (found.nodes[0].project, found.nodes[0].text, found.nodes[1].name) == ("bees", "", "bees")


@pytest.mark.parametrize("kind", ["Project", "Focus"])
def test_what_a_project_says_of_itself_goes_where_it_holds_a_name(kind: str) -> None:
    tokens = Tokens({}, names=words_pattern(["Zelda"]))
    place = graph.NodeAssertion(
        id="project:zelda",
        kind=kind,
        name="zelda",
        text="Zelda's hives",
        summary="of zelda",
        props={"owner": "Zelda", "zelda": 1, "rank": 2, "team": ["Jon"]},
    )
    (found,) = left("graph.asserted", graph.Asserted(nodes=(place,)), tokens).nodes
    assert (found.id, found.name, found.text, found.summary) == ("project:zelda", "zelda", "", "")
    assert found.props == {"rank": 2, "team": ["Jon"]}
    written = memory.Remembered(id="m1", node_kind=kind, text="Zelda keeps bees", summary="bees", props={"by": "zelda"})
    said = left("memory.remembered", written, tokens)
    assert (said.id, said.text, said.summary, said.props) == ("m1", "", "bees", {})


def test_relations_lose_names_that_are_written_as_weft_writes_relations() -> None:
    tokens = Tokens({}, names=words_pattern(["Zelda Fitz", "Sean O'Hara", "José"]))
    for rel in ("FUNDED_BY_ZELDA_FITZ", "KNOWS_SEAN_O_HARA", "KNOWS_SEAN_OHARA", "OF_JOSE"):
        edge = graph.EdgeAssertion(src="a", rel=rel, dst="b")
        name = graph.EdgeName(src="a", rel=rel, dst="b")
        (told,) = left("graph.asserted", graph.Asserted(edges=(edge,)), tokens).edges
        (ended,) = left("graph.ended", graph.Ended(edges=(name,)), tokens).edges
        assert told.rel == ended.rel
        assert told.rel.startswith("ERASED_")
    for rel in ("FUNDED_BY_FITZ", "JOSEPH_OF", "CONTAINS"):
        kept = graph.Asserted(edges=(graph.EdgeAssertion(src="a", rel=rel, dst="b"),))
        assert residue("graph.asserted", kept, tokens) is kept


def test_a_relation_of_wefts_own_is_no_name() -> None:
    kept = graph.Asserted(edges=(graph.EdgeAssertion(src="a", rel="FOLLOWS", dst="b"),))
    assert residue("graph.asserted", kept, Tokens({}, names=words_pattern(["follows"]))) is kept


def test_a_word_that_would_be_left_is_refused() -> None:
    """The caller must have made a tombstone of every node that holds a name."""
    kept = graph.NodeAssertion(id="b", kind="Note", text="Zelda again")
    with pytest.raises(Corrupt, match="which is to be erased"):
        residue("graph.asserted", graph.Asserted(nodes=(kept,)), Tokens({"a": TOKEN}, names=words_pattern(["zelda"])))


@pytest.mark.parametrize(
    ("name", "text", "held"),
    [
        ("Zelda", "with ZELDA's bees", True),
        ("Zelda", "zeldas", False),
        ("Zelda Fitz", "Zelda\n  fitz came", True),
        ("Zoë", "Zoe\u0308 came", True),
        ("C++", "in C++, mostly", True),
        ("O'Hara", "o'hara", True),
        ("ann", "Joanna", False),
    ],
)
def test_names_are_whole_words_in_capitals_or_not(name: str, text: str, held: bool) -> None:
    pattern = words_pattern([name])
    assert pattern is not None
    assert pattern.holds(text) is held
