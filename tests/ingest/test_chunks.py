"""What a document becomes, and what an edit changes of it."""

from __future__ import annotations

import hashlib
import time

from hypothesis import given
from hypothesis import strategies as st

import weft
from tests.places import Place
from weft.documents.keep.document_records import Numbered, chunk_numbers
from weft.log.draft import Draft
from weft.log.kinds import document
from weft.recall.show_values import NodeShown

TOPICS = {
    "ropes": "Ropes are checked on Mondays. A frayed rope is cut and burnt.",
    "pumps": "Pumps run in pairs. The second one starts when the first one fails.",
    "lamps": "Lamps burn whale oil no more. They are electric since the new pier.",
    "bells": "Bells ring for fog. Three strokes mean that a ship is near.",
}


def chunks(memory: weft.Memory) -> dict[str, NodeShown]:
    return {node.id: node for node in memory.recent(kinds=["Chunk"], limit=100).nodes}


def versions(memory: weft.Memory, node_id: str) -> int:
    return len({version.source for version in memory.show(node_id).history})


def page(*topics: str) -> str:
    """Sections long enough that each is a chunk of its own."""
    return "# Harbour\n\n" + "\n".join(f"## {topic}\n\n{TOPICS[topic]}\n" for topic in topics)


def test_a_document_has_sections_and_sections_have_chunks_all_found_and_cited(
    place: Place, memory: weft.Memory
) -> None:
    (place.root / "a.md").write_text(page("ropes", "pumps"))
    done = memory.ingest(place.root)
    assert done.documents == 1
    assert done.chunks >= 2
    hit = memory.recall("what happens to a frayed rope?", kinds=["Chunk"]).hits[0].node
    assert hit.id == "ferry/a.md#Harbour#ropes¶1"
    assert hit.name == ""
    assert hit.summary == "Harbour › ropes"
    path, _, line = hit.citation.rpartition(":")
    assert path == "file://a.md"
    lines = (place.root / "a.md").read_text().splitlines()
    assert hit.text == "\n".join(lines[int(line) - 1 : hit.props["end_line"]])
    assert memory.cite(hit.citation).matches
    section = memory.show("ferry/a.md#Harbour#ropes").node
    assert section is not None
    assert (section.name, section.text) == ("ropes", "")
    assert memory.show("ferry/a.md").node is not None


def test_an_edit_in_the_middle_writes_that_chunk_and_nothing_else(place: Place, memory: weft.Memory) -> None:
    file = place.root / "a.md"
    file.write_text(page("ropes", "pumps", "lamps"))
    memory.ingest(place.root)
    before = chunks(memory)
    file.write_text(page("ropes", "pumps", "lamps").replace("in pairs", "in threes"))
    memory.ingest(place.root)
    after = chunks(memory)
    assert set(after) == set(before)
    changed = {node_id for node_id in after if after[node_id].text != before[node_id].text}
    assert changed == {"ferry/a.md#Harbour#pumps¶1"}
    assert {node_id: versions(memory, node_id) for node_id in after} == {
        node_id: 2 if node_id in changed else 1 for node_id in after
    }
    assert versions(memory, "ferry/a.md#Harbour#ropes") == 1


def test_lines_added_at_the_top_move_every_citation_below(place: Place, memory: weft.Memory) -> None:
    file = place.root / "a.md"
    file.write_text(page("ropes", "lamps"))
    memory.ingest(place.root)
    known = set(chunks(memory))
    file.write_text("Of the port.\n\nWritten by its master.\n\n" + page("ropes", "lamps"))
    memory.ingest(place.root)
    lines = file.read_text().splitlines()
    after = chunks(memory)
    assert known < set(after)
    for node in after.values():
        assert node.text == "\n".join(lines[node.props["line"] - 1 : node.props["end_line"]])
        assert memory.cite(node.citation).matches


def test_what_goes_ends_and_its_number_is_not_given_again(place: Place, memory: weft.Memory) -> None:
    file = place.root / "a.txt"
    texts = ["\n".join(f"{topic} {number}: {words}" for number in range(12)) for topic, words in TOPICS.items()]
    file.write_text("\n\n\n".join(texts))
    memory.ingest(place.root)
    first = chunks(memory)
    assert len(first) > 1, "a long text without headings is more than one chunk"
    last = max(first, key=lambda node_id: first[node_id].props["line"])
    file.write_text("\n\n\n".join(texts[:-1]))
    memory.ingest(place.root)
    assert last not in chunks(memory)
    file.write_text("\n\n\n".join([*texts[:-1], "\n".join(f"cranes {n}: they turn slowly." for n in range(40))]))
    memory.ingest(place.root)
    assert last not in chunks(memory), "another text is another chunk"
    assert memory.show(last).history, "and the one that ended can still be looked at"


@given(
    st.lists(st.sampled_from("abcdefgh"), max_size=12),
    st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=12), min_size=1, max_size=6),
)
def test_numbers_are_kept_by_what_stays_and_never_shared(first: list[str], edits: list[list[str]]) -> None:
    numbers = chunk_numbers(Numbered(), first)
    assert numbers == list(range(1, len(first) + 1))
    standing, highest = list(zip(numbers, first, strict=True)), len(first)
    for texts in edits:
        made = chunk_numbers(Numbered(standing=tuple(standing), highest=highest), texts)
        assert len(set(made)) == len(texts)
        if texts == [text for _, text in standing]:
            assert made == [number for number, _ in standing]
        new = set(made) - {number for number, _ in standing}
        assert all(number > highest for number in new)
        standing, highest = list(zip(made, texts, strict=True)), max([highest, *made])


def test_a_thousand_chunks_alike_are_aligned_at_once() -> None:
    many = tuple((number, "the same") for number in range(1, 5_001))
    assert chunk_numbers(Numbered(standing=many, highest=5_000), ["new", *(text for _, text in many)])[-1] == 5_000


def test_headings_that_look_like_chunks_or_numbers_are_sections(place: Place, memory: weft.Memory) -> None:
    (place.root / "a.md").write_text(
        "# Intro\n\nwords of it\n\n# Intro¶1\n\nothers\n\n# ¶\n\nmore\n\n# Intro\n\nagain\n"
    )
    done = memory.ingest(place.root)
    assert (done.documents, done.sections, done.skipped) == (1, 4, ())
    assert {node.text.rpartition("\n")[2] for node in chunks(memory).values()} == {
        "words of it",
        "others",
        "more",
        "again",
    }


def test_a_document_of_an_early_version_gets_chunks_when_it_is_read_again(place: Place, memory: weft.Memory) -> None:
    text = page("ropes")
    (place.root / "a.md").write_text(text)
    early = document.Ingested(
        id="ferry/a.md",
        source="a.md",
        title="Harbour",
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        sections=(
            document.SectionText(
                id="ferry/a.md#Harbour", title="Harbour", level=1, line=1, end_line=1, text="# Harbour"
            ),
            document.SectionText(
                id="ferry/a.md#Harbour#ropes",
                title="ropes",
                level=2,
                line=3,
                end_line=5,
                text=f"## ropes\n\n{TOPICS['ropes']}",
                parent="ferry/a.md#Harbour",
            ),
        ),
        project="ferry",
    )
    memory.ctx.append([Draft(kind="document.ingested", payload=early)])
    done = memory.ingest(place.root)
    assert (done.documents, done.unchanged) == (1, 0), "though its bytes are the same"
    section = memory.show("ferry/a.md#Harbour#ropes").node
    assert section is not None
    assert section.text == ""
    assert TOPICS["ropes"] in chunks(memory)["ferry/a.md#Harbour#ropes¶1"].text
    assert memory.ingest(place.root).unchanged == 1


def test_a_long_document_is_kept_whole_over_many_commits(place: Place, memory: weft.Memory) -> None:
    parts = [f"# Part {n}\n\nberth {n} is for ship number {n * 7}\n" for n in range(300)]
    (place.root / "long.md").write_text("\n".join(parts))
    done = memory.ingest(place.root)
    assert (done.documents, done.sections) == (1, 300)
    assert memory.recall("berth 299", kinds=["Chunk"]).hits[0].node.id == "ferry/long.md#Part 299¶1"
    assert memory.ingest(place.root).unchanged == 1
    (place.root / "long.md").write_text("\n".join(parts[:10]))
    memory.ingest(place.root)
    assert len(memory.recent(kinds=["Section"], limit=100).nodes) == 10


def test_rights_change_with_the_next_reading(place: Place, memory: weft.Memory) -> None:
    (place.root / "a.md").write_text(page("bells"))
    memory.ingest(place.root)
    done = memory.ingest(place.root, scope="public")
    assert (done.documents, done.unchanged) == (1, 0)
    assert {node.scope for node in memory.recent(limit=100).nodes} == {"public"}


def test_the_graph_is_the_same_when_it_is_built_again(place: Place, memory: weft.Memory) -> None:
    file = place.root / "a.md"
    for words in (page("ropes", "pumps"), page("pumps", "lamps", "ropes"), "", page("bells")):
        file.write_text(words)
        memory.ingest(place.root)
    assert memory.call("rebuild").equal


def test_many_chunks_that_come_again_and_again_are_numbered_at_once() -> None:
    old = [("a" if at % 2 else f"u{at}") for at in range(900)]
    new = [("a" if at % 2 else f"v{at}") for at in range(900)]
    began = time.process_time()
    numbers = chunk_numbers(Numbered(standing=tuple(enumerate(old, 1)), highest=900), new)
    assert time.process_time() - began < 0.5
    assert numbers == list(range(1, 901)), "each replaced the one that stood in its place"
