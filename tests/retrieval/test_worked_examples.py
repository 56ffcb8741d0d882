"""The examples of docs/recall.md, with the packaged model: what the page shows is what a reader gets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import weft
from tests.retrieval.views_world import CHAIN, NOW_US, story
from weft.ingest.ingest_records import ingest_records
from weft.recall.recall import Hit
from weft.testing.clock import ManualClock

ROWS = (
    {
        "id": "ship",
        "title": "The Lantern Ship",
        "text": "The Lantern Ship is a 1987 drama film about a lighthouse crew. It was directed by Oda Brandt and shot"
        " on the Lofoten islands.",
    },
    {
        "id": "oda",
        "title": "Oda Brandt",
        "text": "Oda Brandt (born 1941 in Tromsø) was a Norwegian film director. In 1969 she married the cellist Emil"
        " Rask, with whom she had two daughters.",
    },
    {
        "id": "quartet",
        "title": "Harbour Quartet",
        "text": "The Harbour Quartet is a string quartet from Bergen. It was founded in 1974 by Emil Rask and toured"
        " until 1991.",
    },
    {
        "id": "ferry",
        "title": "The Glass Ferry",
        "text": "The Glass Ferry is a 1990 comedy film directed by Jonas Lie Holm.",
    },
    {
        "id": "t1",
        "session": "mira-and-jon",
        "date": "7:10 pm on 9 May, 2025",
        "text": "Jon: Hey Mira! How was your week? Did you try anything new?",
    },
    {
        "id": "t2",
        "session": "mira-and-jon",
        "date": "7:10 pm on 9 May, 2025",
        "text": "Mira: Yes! I went to my first pottery class yesterday and made a rather crooked bowl.",
    },
    {
        "id": "t3",
        "session": "mira-and-jon",
        "date": "7:10 pm on 9 May, 2025",
        "text": "Jon: Ha, crooked bowls are the best ones. I only repaired my bike.",
    },
    {
        "id": "s1",
        "date": "2025/01/14 (Tue) 08:30",
        "text": "user: Can you help me plan my mornings? My team standup is at 9:30 every day.\n\nassistant: Of course."
        " With a standup at 9:30 you could keep 8:30 to 9:15 free for focused work.",
    },
    {
        "id": "s2",
        "date": "2025/03/03 (Mon) 09:05",
        "text": "user: A change of plans: my team standup is at 10:15 now, every day. What should I do before it?\n\n"
        "assistant: Then you have a long quiet stretch before your standup. Use it for the hardest task of the day.",
    },
)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[weft.Memory]:
    place: Path = tmp_path_factory.mktemp("examples")
    environment = {"HOME": str(place), "WEFT_EMBEDDER": "builtin", "WEFT_PROJECT": "example"}
    with weft.open(f"sqlite://{place}/store", directory=place, environment=environment) as opened:
        done = ingest_records(opened.ctx, ROWS, project="example")
        assert done.records == len(ROWS)
        yield opened


def asked(memory: weft.Memory, question: str, **more: object) -> tuple[Hit, ...]:
    return memory.recall(question, project="example", explain=True, **more).hits


def records(hits: tuple[Hit, ...]) -> list[str]:
    return [str(hit.node.props.get("record")) for hit in hits]


def test_a_when_question_finds_the_turn_with_its_date(memory: weft.Memory) -> None:
    best = asked(memory, "When did Mira go to the pottery class?")[0]
    assert best.node.props["record"] == "t2"
    assert best.node.valid_from.startswith("2025-05-09")
    assert {"speaker", "around", "tells when"} <= {source.name for source in best.why}


def test_a_chain_of_three_texts_is_found_and_drawn(memory: weft.Memory) -> None:
    hits = asked(memory, "Which quartet was founded by the husband of the director of The Lantern Ship?")
    assert records(hits)[:3] == ["ship", "oda", "quartet"]
    paths = {source.name: source.detail for source in hits[1].why} | {
        f"third {source.name}": source.detail for source in hits[2].why
    }
    assert paths["links"] == "The Lantern Ship -[oda brandt]-> Oda Brandt"
    assert paths["third bridges"] == "Oda Brandt ~[Emil Rask]~ Harbour Quartet"


def test_a_misspelt_name_is_read_as_the_one_that_is_there(memory: weft.Memory) -> None:
    answer = memory.recall("Who directed The Lantren Ship?", project="example")
    assert {"ship", "oda"} == set(records(answer.hits)[:2])
    assert "misspelt words: 'lantren' as 'lantern'" in answer.notes


def test_of_an_update_the_newer_comes_first_and_the_older_is_marked(memory: weft.Memory) -> None:
    newer, older = asked(memory, "What time is my team standup?")[:2]
    assert [newer.node.props["record"], older.node.props["record"]] == ["s2", "s1"]
    assert "10:15" in newer.parts[0].text
    assert older.marks == (f"a newer memory of 2025-03-03 may replace this: {newer.node.citation}",)
    assert memory.cite(newer.node.citation).matches
    assert newer.marks == ()


def test_of_facts_only_the_same_property_of_the_same_thing_is_marked_as_older(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "WEFT_EMBEDDER": "builtin", "WEFT_PROJECT": "example"}
    with weft.open(f"sqlite://{tmp_path}/store", directory=tmp_path, environment=environment) as opened:
        told = [
            opened.add_fact(*fact, valid_from=at, cardinality="many").id
            for fact, at in (
                (("Tova Lind", "likes", "green tea"), "2021"),
                (("Tova Lind", "likes", "strong green tea"), "2022"),
                (("Tova Lind", "dislikes", "green tea"), "2023"),
                (("Tova Berg", "likes", "green tea"), "2024"),
            )
        ]
        hits = {hit.node.id: hit for hit in opened.recall("Does Tova Lind like green tea?", project="example").hits}
    assert set(hits) == set(told[:3]), "Tova Berg is another Tova"
    newer = hits[told[1]].node.citation
    assert hits[told[0]].marks == (f"a newer memory of 2022-01-01 may replace this: {newer}",)
    assert not any(hits[other].marks for other in told[1:3])


def test_no_question_no_answer_to_it_and_no_other_thing_marks_what_was_said(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "WEFT_EMBEDDER": "builtin", "WEFT_PROJECT": "example"}
    with weft.open(f"sqlite://{tmp_path}/store", directory=tmp_path, environment=environment) as opened:
        for conversation, at, turns in (
            ("first", "2025-01-01", (("Ana", "The billing service listens on port 7443, behind the proxy."),)),
            ("first", "2025-01-02", (("assistant", "Noted: the billing service listens on port 7443."),)),
            ("second", "2025-02-01", (("Ana", "Does the billing service still listen on port 7443?"),)),
            ("third", "2025-03-01", (("Ana", "The ferry port code of the billing office is OSL-7."),)),
            ("fourth", "2025-04-01", (("Ben", "The search service listens on port 9200, behind the proxy."),)),
        ):
            messages = [{"speaker": who, "text": text, "at": at} for who, text in turns]
            opened.record_turns(conversation, messages)
        question = "On which port does the billing service listen?"
        found = [opened.recall(each, project="example").hits for each in (question, "Which port is behind the proxy?")]
        said = {hit.node.text for hits in found for hit in hits}
        assert {text.removeprefix("Ana: ").split()[0] for text in said} == {"The", "Noted:", "Does", "Ben:"}
        assert [hit.marks for hits in found for hit in hits if hit.marks] == []
        moved = {"speaker": "Ana", "text": "The billing service listens on port 8443 now.", "at": "2025-05-01"}
        opened.record_turns("fifth", [moved])
        after = opened.recall(question, project="example").hits
        newest = next(hit.node.citation for hit in after if "8443" in hit.node.text)
        marked = {hit.node.text: hit.marks for hit in after if hit.marks}
        assert marked["Ana: The billing service listens on port 7443, behind the proxy."] == (
            f"a newer memory of 2025-05-01 may replace this: {newest}",
        )
        assert opened.cite(newest).matches


def test_what_is_not_there_is_not_answered_unless_asked_to(memory: weft.Memory) -> None:
    answer = memory.recall("What is the boiling point of mercury?", project="example")
    assert (answer.status, answer.hits) == ("empty", ())
    assert any("no memory is close enough" in note for note in answer.notes)
    assert memory.recall("What is the boiling point of mercury?", project="example", min_score=0.0).hits


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> Iterator[weft.Memory]:
    place, clock = tmp_path_factory.mktemp("night"), ManualClock()
    clock.set(NOW_US)
    environment = {"HOME": str(place), "WEFT_EMBEDDER": "builtin", "WEFT_PROJECT": "p", "WEFT_SESSION": "harbour"}
    with weft.open(f"sqlite://{place}/store", directory=place, environment=environment, clock=clock) as opened:
        for draft in story({"project": "p", "scope": "public"}):
            opened.ctx.append([draft])
        yield opened


WHY = "Why could nobody book a crossing?"


def test_why_is_answered_as_the_page_shows(night: weft.Memory) -> None:
    page = (Path(__file__).parents[2] / "docs" / "recall.md").read_text(encoding="utf-8")
    example = page[page.index("## Why: along the causes") :].split("```")[1]
    real = night.recall(WHY).context.split("\n")
    shown = [line for line in example.split("\n") if line.strip("…")]
    assert len(shown) >= 11
    for line in shown:
        assert any(each == line or (line.endswith("…") and each.startswith(line[:-1])) for each in real), line


@pytest.mark.parametrize("question", [WHY, "why could nobody book a crossing that night?"])
def test_the_root_cause_is_among_the_lines_of_a_default_answer(night: weft.Memory, question: str) -> None:
    answer = night.recall(question)
    assert set(CHAIN) <= {hit.node.id for hit in answer.hits}
    assert "a recorded cause that is not shown here" not in answer.context


def test_a_cause_whose_own_cause_is_cut_says_so(night: weft.Memory) -> None:
    answer = night.recall(WHY, limit=4)
    shown = {hit.node.id for hit in answer.hits}
    assert "c5-outage" in shown
    assert not set(CHAIN) <= shown
    lines = [line for line in answer.context.split("\n") if "[Cause]" in line]
    assert any("has a recorded cause that is not shown here" in line for line in lines)
    assert all("because of" in line or "not shown here" in line for line in lines)


def test_every_score_is_the_sum_of_its_parts(memory: weft.Memory) -> None:
    for question in ("When did Mira go to the pottery class?", "What time is my team standup?", "Oda Brandt"):
        for hit in asked(memory, question):
            assert hit.score == pytest.approx(sum(source.part for source in hit.why))
            for source in hit.why:
                assert source.part == pytest.approx(source.raw * source.weight)
