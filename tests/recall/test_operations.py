"""The operations as a user of `weft.open` meets them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import weft
from tests.places import Place
from weft.core.clock import to_iso
from weft.core.errors import Conflict, Forbidden, Invalid, NotFound, TooLarge
from weft.log.draft import Draft
from weft.log.kinds import graph, transaction
from weft.operations import OPERATIONS
from weft.recall.recall import Recalled
from weft.testing.clock import DAY_US, ManualClock, day

SHA = "abcdef0123456789abcdef0123456789abcdef01"


def texts(answer: Recalled) -> list[str]:
    return [hit.node.text for hit in answer.hits]


# ---- remember and recall


def test_words_are_kept_verbatim_and_found_at_once_with_a_citation(memory: weft.Memory) -> None:
    said = "  Deploys freeze on Fridays.\n\tAsk Mira — she knows. 東京 "
    written = memory.remember(said, name="Freeze")
    hit = memory.recall("when do deploys freeze?").hits[0]
    assert (written.status, hit.node.text, hit.node.id) == ("saved", said, written.id)
    assert hit.node.citation == written.citation
    assert memory.cite(written.citation).nodes[0].text == said


def test_the_best_answer_comes_first_and_the_limit_holds(memory: weft.Memory) -> None:
    for number in range(5):
        memory.remember(f"The build server number {number} runs jobs.")
    memory.remember("The release key lives in the vault; ask Jonas for the release key.")
    answer = memory.recall("where is the release key?", limit=3)
    assert "vault" in answer.hits[0].node.text
    assert len(memory.recall("server jobs", limit=3).hits) == 3
    scores = [hit.score for hit in memory.recall("build server release").hits]
    assert scores == sorted(scores, reverse=True)


def test_an_answer_says_when_there_is_nothing(memory: weft.Memory) -> None:
    memory.remember("about contexts")
    answer = memory.recall("submarines")
    assert (answer.status, answer.hits) == ("empty", ())
    assert any("--everywhere" in note for note in answer.notes)
    assert any("no words" in note for note in memory.recall("?!").notes)
    assert any("small talk" in note for note in memory.recall("thanks!").notes)
    assert any("no words" in note for note in memory.recall("?!", min_score=0.0).notes)


def test_the_parts_of_every_score_add_up(memory: weft.Memory) -> None:
    memory.remember("Redis keeps the sessions.", name="Session store")
    memory.remember("Sessions expire after a day in Redis.")
    memory.add_fact("Redis", "status", "in use")
    answer = memory.recall("Redis sessions: the session store", explain=True)
    assert len(answer.hits) >= 2
    for hit in answer.hits:
        assert hit.why
        assert hit.score == pytest.approx(sum(source.part for source in hit.why))
        for source in hit.why:
            assert source.part > 0
            assert source.rank >= 1
            assert source.detail
    assert {source.name for hit in answer.hits for source in hit.why} >= {"name", "text"}
    assert {"text", "names", "base", "rank"} <= {stage.stage for stage in answer.stages}
    plain = memory.recall("Redis sessions: the session store")
    assert [hit.score for hit in plain.hits] == [hit.score for hit in answer.hits]
    assert all(hit.why == () for hit in plain.hits)


@pytest.mark.parametrize(
    "question", ["Acme Inc.", "What about Acme Inc.'s plans?", "is (acme inc) there", "ACME   INC", "Acme Inc.’s"]
)
def test_a_name_inside_a_question_is_found(memory: weft.Memory, question: str) -> None:
    memory.add_fact("Acme Inc.", "status", "fine")
    answer = memory.recall(question, explain=True, kinds=["Entity", "Fact"])
    named = [hit for hit in answer.hits if any(source.name == "name" for source in hit.why)]
    assert [hit.node.name for hit in named] == ["Acme Inc."]


def test_an_id_is_the_best_question(memory: weft.Memory) -> None:
    wanted = memory.remember("one thing")
    memory.remember("another thing")
    assert memory.recall(wanted.id).hits[0].node.id == wanted.id


def test_kinds_narrow_the_answer(memory: weft.Memory) -> None:
    memory.remember("we decided for Redis", kind="Decision")
    memory.remember("Redis is a cache")
    assert [hit.node.kind for hit in memory.recall("redis", kinds=["Decision"]).hits] == ["Decision"]
    assert [node.kind for node in memory.recent(kinds=["Decision"]).nodes] == ["Decision"]


@pytest.mark.parametrize("text", ["", " ", "\n\t"])
def test_empty_words_are_refused(memory: weft.Memory, text: str) -> None:
    with pytest.raises(Invalid):
        memory.remember(text)
    assert memory.recent().nodes == ()


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"scope": "secret"}, "scope"),
        ({"colour": "red"}, "no argument colour"),
        ({"valid_from": "2026-02-30"}, "valid_from"),
        ({"valid_from": "2026-02", "valid_to": "2026-01"}, "ends before it begins"),
        ({"occurred_at": "soon"}, "occurred_at"),
        ({"kind": "Tx"}, "weft creates Tx nodes itself"),
        ({"kind": "not a kind"}, "kind"),
        ({"props": {"a": [1]}}, "props"),
        ({"props": {f"k{n}": n for n in range(65)}}, "props"),
        ({"level": "planet"}, "level"),
        ({"agents": ["no spaces"]}, "agents"),
        ({"request_id": "no spaces"}, "request_id"),
        ({"name": "lone \udce9"}, "surrogate"),
        ({"account": "someone-else"}, "no argument account"),
    ],
)
def test_arguments_that_do_not_fit_are_named(memory: weft.Memory, given: dict[str, Any], complaint: str) -> None:
    with pytest.raises(Invalid, match=complaint) as caught:
        memory.remember("words", **given)
    assert caught.value.hint
    assert memory.stats().store.events == 0


@pytest.mark.parametrize(
    "operation", ["recall", "show", "cite", "diff", "ingest", "log_export", "log_import", "backup"]
)
def test_what_is_not_text_is_refused_everywhere(memory: weft.Memory, operation: str) -> None:
    memory.remember("so that there is a file to ask")
    first = next(each for each in OPERATIONS if each.name == operation).arguments[0]
    with pytest.raises((Invalid, NotFound)) as caught:
        memory.call(operation, **{first: "caf\udce9"})
    assert caught.value.hint


def test_too_much_is_refused(memory: weft.Memory) -> None:
    with pytest.raises(TooLarge):
        memory.remember("é" * 600_000)
    with pytest.raises(Invalid):
        memory.recall("x" * 40_000)
    for limit in (0, -1, 101):
        with pytest.raises(Invalid, match="limit"):
            memory.recall("x", limit=limit)


def test_a_repeated_request_is_written_once(memory: weft.Memory) -> None:
    first = memory.remember("once", request_id="r-1")
    again = memory.remember("once", request_id="r-1")
    assert (again.status, again.id, again.citation) == ("duplicate_skip", first.id, first.citation)
    assert again.notes
    with pytest.raises(Conflict):
        memory.remember("something else", request_id="r-1")
    assert memory.stats().store.events == 1


def test_a_repeated_fact_is_written_once_though_the_world_moved_on(memory: weft.Memory) -> None:
    memory.add_fact("Mira", "role", "engineer", valid_from="2024")
    first = memory.add_fact("Mira", "role", "lead", valid_from="2025", request_id="r-1")
    again = memory.add_fact("Mira", "role", "lead", valid_from="2025", request_id="r-1")
    assert (first.status, again.status) == ("superseded", "duplicate_skip")
    assert (again.id, again.citation) == (first.id, first.citation)
    with pytest.raises(Conflict):
        memory.add_fact("Mira", "role", "chief", valid_from="2025", request_id="r-1")
    assert memory.stats().store.events == 2


def test_expected_head_guards_against_lost_updates(memory: weft.Memory) -> None:
    memory.remember("one", expected_head=0)
    with pytest.raises(Conflict, match="is at 1, you wrote after 0"):
        memory.remember("two", expected_head=0)
    memory.remember("two", expected_head=1)


# ---- facts and the two clocks


def test_a_newer_value_ends_the_older_one_and_both_stay_askable(memory: weft.Memory, clock: ManualClock) -> None:
    older = memory.add_fact("Mira", "role", "engineer", valid_from="2024-01-01")
    known = to_iso(clock.now_us())
    clock.step(DAY_US)
    newer = memory.add_fact("Mira", "role", "lead", valid_from="2025-06-01")
    assert (newer.status, newer.supersedes) == ("superseded", (older.id,))
    ask = {"kinds": ["Fact"]}
    assert texts(memory.recall("Mira role", **ask)) == ["Mira role lead"]
    assert texts(memory.recall("Mira role", **ask, as_of="2024-12-31")) == ["Mira role engineer"]
    assert texts(memory.recall("Mira role", **ask, as_of="2025-06-01")) == ["Mira role lead"]
    assert texts(memory.recall("Mira role", **ask, as_of="2023")) == []
    assert texts(memory.recall("Mira role", **ask, known_at=known)) == ["Mira role engineer"]
    assert texts(memory.recall("Mira role", **ask, known_at=known, as_of="2025-07")) == ["Mira role engineer"]
    assert texts(memory.recall("Mira role", **ask, known_at="2020")) == []


def test_a_backdated_fact_slips_in_between(memory: weft.Memory) -> None:
    memory.add_fact("Mira", "role", "engineer", valid_from="2020")
    memory.add_fact("Mira", "role", "head", valid_from="2024")
    memory.add_fact("Mira", "role", "lead", valid_from="2022")
    found = [texts(memory.recall("Mira role", kinds=["Fact"], as_of=year)) for year in ("2021", "2023", "2025")]
    assert found == [["Mira role engineer"], ["Mira role lead"], ["Mira role head"]]


def test_an_explicit_interval_is_an_exception(memory: weft.Memory) -> None:
    memory.add_fact("Mira", "lives_in", "Paris", valid_from="2020")
    memory.add_fact("Mira", "lives_in", "Tokyo", valid_from="2022", valid_to="2023")
    found = [texts(memory.recall("Mira lives", kinds=["Fact"], as_of=at))[0][-5:] for at in ("2021", "2022-06", "2024")]
    assert found == ["Paris", "Tokyo", "Paris"]


def test_many_valued_properties_keep_every_value(memory: weft.Memory) -> None:
    for tea in ("oolong", "sencha"):
        assert memory.add_fact("Mira", "likes", tea).status == "saved"
    assert {text.split()[-1] for text in texts(memory.recall("Mira likes", kinds=["Fact"]))} == {"oolong", "sencha"}
    memory.add_fact("Mira", "mood", "calm", cardinality="one")
    assert memory.add_fact("Mira", "mood", "merry", cardinality="one").status == "superseded"
    memory.add_fact("Mira", "role", "lead", cardinality="many")
    assert memory.add_fact("Mira", "role", "mentor", cardinality="many").status == "saved"


def test_spelling_does_not_make_two_things(memory: weft.Memory) -> None:
    memory.add_fact("Mira", "role", "engineer", valid_from="2024")
    assert memory.add_fact(" MIRA. ", "Role", "lead", valid_from="2025").status == "superseded"
    assert memory.stats().store.nodes == 2, "one person, one fact that holds"


@pytest.mark.parametrize(("subject", "predicate"), [("...", "role"), ("Mira", "?"), ("", "role")])
def test_a_fact_needs_a_subject_and_a_predicate(memory: weft.Memory, subject: str, predicate: str) -> None:
    with pytest.raises(Invalid):
        memory.add_fact(subject, predicate, "x")


def test_an_answer_tells_the_moment_it_stands_for(memory: weft.Memory, clock: ManualClock) -> None:
    memory.remember("words")
    clock.step(DAY_US)
    answer = memory.recall("words")
    assert (answer.valid_at, answer.known_at) == (to_iso(day(1)), to_iso(day(0)))
    assert memory.recall("words", as_of="2026-01-01T12:00:00Z").valid_at == "2026-01-01T12:00:00.000000Z"


def test_occurred_at_says_since_when_it_holds(memory: weft.Memory) -> None:
    memory.remember("the outage", occurred_at="2025-03-01")
    assert texts(memory.recall("outage", as_of="2025-04")) == ["the outage"]
    assert texts(memory.recall("outage", as_of="2025-02")) == []


def test_a_transaction_or_a_git_commit_stands_for_its_time(memory: weft.Memory, clock: ManualClock) -> None:
    memory.remember("an early note")
    clock.step()
    note_commit(memory, "file:a", SHA)
    tx = memory.diff().transactions[0].id
    clock.step()
    memory.remember("a late note")
    for moment in (tx, SHA, SHA[:8]):
        assert texts(memory.recall("note", known_at=moment)) == ["an early note"]
    for missing in ("tx-0000000000000000", "1234567"):
        with pytest.raises(NotFound):
            memory.recall("x", known_at=missing)


# ---- show


def test_show_by_id_by_name_and_by_citation(memory: weft.Memory, clock: ManualClock) -> None:
    fact = memory.add_fact("Mira", "role", "engineer", valid_from="2024")
    clock.step()
    memory.add_fact("Mira", "role", "lead", valid_from="2025")
    by_id, by_citation, mira = memory.show(fact.id, as_of="2024-06"), memory.show(fact.citation), memory.show("mira")
    assert by_id.node is not None
    assert by_id.node.text == "Mira role engineer"
    assert by_citation.history == by_id.history
    assert [version.valid_to for version in by_id.history] == [None, to_iso(day(-365))]
    assert by_id.history[0].retired_at is not None
    assert mira.node is not None
    assert mira.node.kind == "Entity"
    assert [(edge.direction, edge.rel, edge.name) for edge in mira.edges] == [("in", "INVOLVES", "Mira role lead")]
    assert ("out", "INVOLVES", "Mira") in [(edge.direction, edge.rel, edge.name) for edge in by_id.edges]
    gone = memory.show(fact.id)
    assert gone.node is None
    assert any("does not hold" in note for note in gone.notes)
    newer = memory.show("weft://operator/events/2")
    assert any(edge.rel == "SUPERSEDES" for edge in newer.edges) or newer.node is not None


def test_show_says_what_it_cannot_tell(memory: weft.Memory) -> None:
    memory.remember("one", name="Twin")
    memory.remember("two", name="twin")
    with pytest.raises(Invalid, match="names 2 nodes") as caught:
        memory.show("Twin")
    assert "give an id" in caught.value.hint
    for missing in ("nobody", "weft://operator/events/99", "weft://nowhere/events/1"):
        with pytest.raises(NotFound):
            memory.show(missing)


# ---- recent, levels, projects


def test_recent_is_newest_first_and_says_when_there_is_nothing(memory: weft.Memory, clock: ManualClock) -> None:
    assert "weft remember" in memory.recent().notes[0]
    for number in range(4):
        memory.remember(f"note {number}")
        clock.step()
    assert [node.text for node in memory.recent(limit=3).nodes] == ["note 3", "note 2", "note 1"]


def test_projects_are_apart_and_global_memories_are_for_all(place: Place, tmp_path: Path) -> None:
    here = place.open()
    (tmp_path / "barge").mkdir()
    there = place.open(tmp_path / "barge")
    here.remember("the ferry docks at noon")
    there.remember("the barge docks at night")
    here.remember("docks are wet", level="global")
    assert set(texts(here.recall("docks"))) == {"the ferry docks at noon", "docks are wet"}
    assert set(texts(there.recall("docks"))) == {"the barge docks at night", "docks are wet"}
    assert len(here.recall("docks", everywhere=True).hits) == 3
    assert "the barge docks at night" in texts(here.recall("docks", project="barge"))
    assert len(here.recent().nodes) == 2
    assert len(here.recent(everywhere=True).nodes) == 3


def test_accounts_never_see_each_other(place: Place) -> None:
    place.open(account="acme").remember("acme's plan")
    other = place.open(account="globex")
    assert other.recall("plan", everywhere=True).status == "empty"
    assert other.stats().store.events == 0
    with pytest.raises(NotFound):
        other.cite("weft://operator/events/1")


# ---- guards


def test_sensitive_memories_are_left_out_unless_asked_for(place: Place) -> None:
    plain, entitled = place.open(), place.open(sensitive="true")
    written = plain.remember("the salary list", sensitive=True)
    assert plain.recall("salary").status == "empty"
    assert plain.recent().nodes == ()
    for hidden in (written.id, written.citation):
        with pytest.raises(NotFound):
            plain.show(hidden)
    with pytest.raises(NotFound):
        plain.cite(written.citation)
    assert texts(entitled.recall("salary")) == ["the salary list"]
    assert entitled.cite(written.citation).matches


def test_scopes_bound_what_is_seen(place: Place) -> None:
    admin = place.open()
    for scope in ("public", "shared", "admin"):
        admin.remember(f"plan for {scope}", scope=scope)
    seen = {
        scopes: {text.split()[-1] for text in texts(place.open(scopes=scopes).recall("plan"))}
        for scopes in ("public", "public,shared", "public,shared,admin")
    }
    assert seen == {
        "public": {"public"},
        "public,shared": {"public", "shared"},
        "public,shared,admin": {"public", "shared", "admin"},
    }


def test_scores_do_not_tell_of_what_is_hidden(place: Place) -> None:
    admin, guest = place.open(), place.open(scopes="public")
    admin.remember("the ferry plan", scope="public")
    admin.remember("a plan for docks", scope="public")
    before = guest.recall("ferry plan", explain=True)
    for number in range(20):
        admin.remember(f"secret ferry plan {number}")
    after = guest.recall("ferry plan", explain=True)
    assert [(hit.node.id, hit.score, hit.why) for hit in after.hits] == [
        (hit.node.id, hit.score, hit.why) for hit in before.hits
    ]


def test_a_public_agent_sees_only_what_is_tagged_for_it(place: Place) -> None:
    admin = place.open()
    admin.remember("tea for ann", agents=["ann"], scope="public")
    admin.remember("tea for bob", agents=["bob"], scope="public")
    admin.remember("tea for all", scope="public")
    assert texts(place.open(agent="ann", audience="public", scopes="public").recall("tea")) == ["tea for ann"]
    assert len(place.open(agent="ann", scopes="public").recall("tea").hits) == 3, "tags bind public agents only"


def test_a_hidden_subject_cannot_be_taken_over(place: Place) -> None:
    place.open().add_fact("Mira", "role", "lead")
    guest = place.open(scopes="public", role="agent", agent="guest", session="guest")
    guest.add_fact("Mira", "role", "intern", scope="public")
    assert set(texts(place.open().recall("Mira role", kinds=["Fact"]))) == {"Mira role lead", "Mira role intern"}
    assert texts(guest.recall("Mira role", kinds=["Fact"])) == ["Mira role intern"]


@pytest.mark.parametrize("name", ["log_verify", "log_head", "log_export", "log_import", "rebuild", "backup", "doctor"])
@pytest.mark.parametrize("identity", [{"role": "agent"}, {"audience": "public"}, {"scopes": "public"}], ids=str)
def test_upkeep_is_the_operator_s(place: Place, tmp_path: Path, name: str, identity: dict[str, str]) -> None:
    place.open().remember("words")
    (tmp_path / "log.jsonl").write_text("{}")
    target = str(tmp_path / ("log.jsonl" if name == "log_import" else "target"))
    given = {"path": target} if name in ("log_export", "log_import", "backup") else {}
    with pytest.raises(Forbidden, match="only the operator may") as caught:
        place.open(**identity).call(name, **given)
    assert "operator" in caught.value.hint
    assert "WEFT_" not in caught.value.hint, "nobody is told how to become another"
    assert not (tmp_path / "target").exists()


# ---- cite


def test_a_citation_with_a_wrong_hash_says_so(memory: weft.Memory) -> None:
    written = memory.remember("words")
    right = memory.cite(written.citation)
    assert (right.matches, right.notes) == (True, ())
    wrong = memory.cite(written.citation.split("#")[0] + "#00000000")
    assert wrong.matches is False
    assert written.citation in wrong.notes[0]
    assert wrong.nodes[0].text == "words"
    assert memory.cite("weft://operator/events/1").matches


def test_a_citation_of_nothing_is_not_found(memory: weft.Memory) -> None:
    memory.remember("words")
    for missing in ("weft://operator/events/2", "weft://other/events/1", "file://none.md:1"):
        with pytest.raises(NotFound):
            memory.cite(missing)
    with pytest.raises(Invalid, match="not a citation"):
        memory.cite("somewhere")


def test_a_file_citation_prints_the_lines(place: Place, memory: weft.Memory) -> None:
    (place.root / "a.md").write_text("# One\n\nfirst\n\n# Two\n\nsecond\nthird\n")
    memory.ingest(place.root)
    hit = memory.recall("second").hits[0]
    assert hit.node.citation == "file://a.md:7"
    assert hit.node.source is not None
    assert hit.node.source.startswith("weft://")
    cited = memory.cite(hit.node.citation)
    assert (cited.matches, cited.lines) == (True, ("second", "third"))
    assert memory.cite("file://a.md:5").lines == ("# Two", "", "second", "third")
    assert memory.cite("file://a.md:7-7").lines == ("second",)
    assert memory.cite(hit.node.source).matches


def test_a_file_that_changed_or_vanished_is_told(place: Place, memory: weft.Memory) -> None:
    file = place.root / "a.md"
    file.write_text("# One\n\nfirst\n\n# Two\n\nsecond\n")
    memory.ingest(place.root)
    file.write_text("# One\n\nfirst\n\n# Two\n\nsecond, rewritten\n")
    assert memory.cite("file://a.md:1").matches, "the section cited is as it was"
    changed = memory.cite("file://a.md:5")
    assert changed.matches is False
    assert "changed since it was ingested on 2026-01-01" in changed.notes[0]
    assert changed.nodes[0].name == "Two"
    assert changed.lines == ("# Two", "", "second"), "what was never ingested is not printed"
    file.unlink()
    gone = memory.cite("file://a.md:5")
    assert gone.matches is False
    assert "is missing" in gone.notes[0]
    assert gone.lines == ("# Two", "", "second")


def test_a_file_of_the_same_name_in_another_project_is_another_file(place: Place, tmp_path: Path) -> None:
    here = place.open()
    (place.root / "a.md").write_text("# Ours\n\nferry\n")
    here.ingest(place.root)
    barge = tmp_path / "barge"
    barge.mkdir()
    (barge / "a.md").write_text("# Theirs\n\nbarge\n")
    there = place.open(barge)
    there.ingest(barge)
    for memory, title in ((here, "Ours"), (there, "Theirs")):
        cited = memory.cite("file://a.md:1")
        assert (cited.matches, cited.nodes[0].name) == (True, title)


def test_every_section_of_a_long_document_can_be_cited(place: Place, memory: weft.Memory) -> None:
    (place.root / "long.md").write_text("".join(f"# Part {n}\n\nbody {n}\n\n" for n in range(150)))
    assert memory.ingest(place.root).sections == 150
    for number in (0, 75, 149):
        assert memory.cite(f"file://long.md:{4 * number + 1}").nodes[0].name == f"Part {number}"


def test_a_citation_cannot_climb_out_of_the_project(place: Place, memory: weft.Memory, tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text("secret")
    (place.root / "a.md").write_text("# One\n")
    memory.ingest(place.root)
    for path in ("../outside.md", str(tmp_path / "outside.md")):
        with pytest.raises(NotFound):
            memory.cite(f"file://{path}:1")
    (place.root / "a.md").unlink()
    (place.root / "a.md").symlink_to(tmp_path / "outside.md")
    assert "secret" not in repr(memory.cite("file://a.md:1"))


# ---- ingest


def test_unchanged_files_cost_nothing_and_changed_ones_get_new_versions(
    place: Place, memory: weft.Memory, clock: ManualClock
) -> None:
    file = place.root / "notes" / "a.md"
    file.parent.mkdir()
    file.write_text("# One\n\nfirst\n\n# Gone\n\nold\n")
    (place.root / "b.txt").write_text("plain words")
    first = memory.ingest(place.root)
    assert (first.documents, first.sections, first.unchanged, first.skipped) == (2, 3, 0, ())
    events = memory.stats().store.events
    again = memory.ingest(place.root)
    assert (again.documents, again.unchanged) == (0, 2)
    assert memory.stats().store.events == events
    clock.step()
    known = to_iso(clock.now_us() - 1)
    file.write_text("# One\n\nfirst, revised\n")
    assert memory.ingest(file).documents == 1
    assert texts(memory.recall("first", kinds=["Chunk"])) == ["first, revised"]
    assert "old" not in texts(memory.recall("old", kinds=["Chunk"]))
    assert texts(memory.recall("old", kinds=["Chunk"], known_at=known))[0] == "old"
    assert [edge.rel for edge in memory.show("ferry/notes/a.md").edges] == ["CONTAINS"]


def test_what_cannot_be_read_is_listed_and_the_rest_goes_on(place: Place, memory: weft.Memory) -> None:
    root = place.root
    (root / "good.md").write_text("# Good\n\nwords\n")
    (root / "latin.md").write_bytes(b"caf\xe9")
    (root / "nul.txt").write_bytes(b"a\x00b")
    (root / "huge.txt").write_text("x" * 600_000)
    (root / "quotes.txt").write_text('"' * 510_000)
    (root / "image.png").write_bytes(b"\x89PNG")
    (root / ".hidden.md").write_text("# Hidden")
    (root / ".git").mkdir()
    (root / ".git" / "x.md").write_text("# Inside")
    (root / "link.md").symlink_to(root / "good.md")
    with open(bytes(root) + b"/bad\xff.md", "w") as file:
        file.write("# Bad name\n")
    done = memory.ingest(root)
    assert (done.documents, done.sections) == (1, 1)
    reasons = {each.path: each.reason for each in done.skipped}
    assert set(reasons) == {"latin.md", "nul.txt", "huge.txt", "quotes.txt", "bad?.md"}
    assert "not UTF-8" in reasons["latin.md"]
    assert "NUL" in reasons["nul.txt"]
    assert "larger than" in reasons["huge.txt"]
    assert "limit" in reasons["quotes.txt"]
    assert "name" in reasons["bad?.md"]


def test_ingest_stays_inside_the_project(place: Place, memory: weft.Memory, tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text("# Out")
    with pytest.raises(Invalid, match="outside the project") as caught:
        memory.ingest(tmp_path / "outside.md")
    assert "weft init" in caught.value.hint
    with pytest.raises(NotFound):
        memory.ingest(place.root / "missing.md")


def test_sections_nest_and_headings_of_one_name_stay_apart(place: Place, memory: weft.Memory) -> None:
    text = "\ufeff# Top\n\n## Same\n\none\n\n# Other\n\n## Same\n\ntwo\n\n# X\n\na\n\n# X~2\n\nb\n\n# X\n\nc\n"
    (place.root / "a.md").write_text(text, encoding="utf-8")
    memory.ingest(place.root)
    inside = [edge.name for edge in memory.show("ferry/a.md#Top").edges if edge.direction == "out"]
    assert inside == ["Same"], "a byte order mark does not hide the first heading"
    one, two = memory.show("ferry/a.md#Top#Same¶1").node, memory.show("ferry/a.md#Other#Same¶1").node
    assert one is not None
    assert two is not None
    assert (one.text, two.text) == ("one", "two")
    bodies = [node.text for node in memory.recent(kinds=["Chunk"], limit=100).nodes if "#X" in node.id]
    assert sorted(bodies) == ["a", "b", "c"], "no section is lost to a heading that looks like a number of ours"


def test_progress_is_told(place: Place, memory: weft.Memory) -> None:
    for number in range(3):
        (place.root / f"{number}.md").write_text(f"# {number}\n")
    told: list[tuple[str, int, int]] = []
    operation = next(each for each in OPERATIONS if each.name == "ingest")
    memory.run(operation, {"path": str(place.root)}, progress=lambda *args: told.append(args))
    assert told == [("reading", 1, 3), ("reading", 2, 3), ("reading", 3, 3)]


# ---- diff


def note_commit(memory: weft.Memory, node_id: str, sha: str, text: str = "code") -> None:
    """What an indexer will do: a commit of nodes that says which git commit it belongs to."""
    assertion = graph.NodeAssertion(id=node_id, kind="File", name=node_id, text=text)
    memory.ctx.append(
        [
            Draft(kind="tx.noted", payload=transaction.Noted(tx_kind="incremental", git_commit=sha, files=("a.py",))),
            Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(assertion,))),
        ]
    )


def test_diff_since_a_transaction_a_moment_and_a_git_commit(memory: weft.Memory, clock: ManualClock) -> None:
    note_commit(memory, "file:a", SHA)
    first = memory.diff()
    assert first.since == "the beginning"
    assert first.added == {"File": ("file:a",)}
    tx = first.transactions[0]
    assert (tx.kind, tx.git_commit, tx.files, tx.counts["nodes"]) == ("incremental", SHA, ("a.py",), 1)
    moment = to_iso(clock.now_us())
    clock.step()
    note_commit(memory, "file:a", "1" * 40, text="code, changed")
    later = memory.remember("a memory")
    memory.add_fact("Mira", "role", "lead", valid_from="2025")
    for since in (tx.id, moment, SHA, SHA[:7]):
        found = memory.diff(since)
        assert found.modified == {"File": ("file:a",)}, since
        assert later.id in found.added["Memory"]
        assert found.added["Entity"] == ("entity:mira",)
        assert any("-INVOLVES-> entity:mira" in edge for edge in found.edges_added)
        assert len(found.transactions) == 3
    now = memory.diff(to_iso(clock.now_us() + 60_000_000))
    assert (now.added, now.modified, now.transactions) == ({}, {}, ())


def test_diff_shows_what_is_gone(memory: weft.Memory, clock: ManualClock) -> None:
    note_commit(memory, "file:a", SHA)
    clock.step()
    ended = graph.Ended(nodes=("file:a",))
    memory.ctx.append([Draft(kind="graph.ended", payload=ended)])
    assert memory.diff(SHA).removed == {"File": ("file:a",)}
    assert memory.diff().added == {}, "come and gone since the beginning is no change"


def test_diff_by_agent(place: Place, clock: ManualClock) -> None:
    ann = place.open(agent="ann", session="ann")
    bob = place.open(agent="bob", session="bob")
    mine = ann.remember("by ann")
    clock.step()
    theirs = bob.remember("by bob")
    assert ann.diff(agent="ann").added == {"Memory": (mine.id,)}
    assert ann.diff(agent="bob").added == {"Memory": (theirs.id,)}
    assert [tx.agent for tx in ann.diff(agent="bob").transactions] == ["bob"]
    assert ann.diff(agent="nobody").added == {}


def test_diff_says_when_there_is_more(memory: weft.Memory) -> None:
    for number in range(4):
        memory.remember(f"note {number}")
    found = memory.diff(limit=3)
    assert len(found.added["Memory"]) == 3
    assert "--limit" in found.notes[0]
    assert memory.diff(limit=4).notes == ()


@pytest.mark.parametrize("since", ["tx-0000000000000000", "abcdef0", "last week", "2026-02-30"])
def test_diff_since_nothing_known_is_refused(memory: weft.Memory, since: str) -> None:
    with pytest.raises((Invalid, NotFound)) as caught:
        memory.diff(since)
    assert caught.value.hint


# ---- upkeep


def test_doctor_and_rebuild_find_a_sound_store(memory: weft.Memory, place: Place) -> None:
    memory.remember("words")
    memory.add_fact("Mira", "role", "lead")
    diagnosis = memory.doctor()
    assert diagnosis.ok
    names = ["settings", "files", "log", "graph", "text index", "vectors", "clock", "outbox", "audit"]
    assert [check.name for check in diagnosis.checks] == names
    rebuilt = memory.call("rebuild")
    assert rebuilt.equal
    assert rebuilt.events == 2
    assert texts(memory.recall("Mira role", kinds=["Fact"])) == ["Mira role lead"]


def test_doctor_notices_a_clock_that_went_back(memory: weft.Memory, clock: ManualClock) -> None:
    memory.remember("words")
    clock.step(-DAY_US)
    diagnosis = memory.doctor()
    assert not diagnosis.ok
    broken = [check for check in diagnosis.checks if not check.ok]
    assert [check.name for check in broken] == ["clock"]
    assert "86400 s ahead" in broken[0].detail
    assert broken[0].hint


def test_stats_count_what_may_be_seen(place: Place) -> None:
    memory = place.open()
    memory.remember("one", props={"colour": "blue"})
    memory.remember("two", sensitive=True)
    figures = memory.stats()
    assert (figures.store.nodes, figures.store.events, figures.store.backend) == (1, 1, "sqlite")
    assert [(kind.kind, kind.nodes, kind.props) for kind in figures.kinds] == [("Memory", 1, ("colour",))]
    everything = {kind.kind: kind.nodes for kind in place.open(sensitive="yes").stats().kinds}
    assert everything["Memory"] == 2


def test_the_log_is_told_in_order(memory: weft.Memory) -> None:
    for number in range(3):
        memory.remember(f"note {number}")
    latest = memory.call("log_show", limit=2)
    assert [event.pos for event in latest.events] == [2, 3]
    assert latest.events[0].payload["text"] == "note 1"
    assert [event.pos for event in memory.call("log_show", session="operator", after=1).events] == [2, 3]
    with pytest.raises(NotFound):
        memory.call("log_show", session="nobody")
    with pytest.raises(Invalid, match="within a session"):
        memory.call("log_show", after=1)
    head = memory.call("log_head")
    assert (head.pos, [each.session for each in head.sessions]) == (3, ["operator"])
    assert memory.call("log_verify", head=head.digest).problem is None
    memory.remember("one more")
    assert "not at the digest given" in memory.call("log_verify", head=head.digest).problem


def test_a_backup_is_a_store(place: Place, tmp_path: Path) -> None:
    memory = place.open()
    memory.remember("words")
    done = memory.call("backup", path=str(tmp_path / "copy"))
    with weft.open(f"sqlite://{done.path}", directory=place.root, environment={"HOME": str(tmp_path)}) as copy:
        assert texts(copy.recall("words")) == ["words"]
        assert copy.call("log_head").digest == done.digest
        copy.remember("more")
    assert memory.stats().store.events == 1
    with pytest.raises(Invalid, match="exists already"):
        memory.call("backup", path=str(tmp_path / "copy"))


def test_a_store_in_memory_says_that_it_cannot_be_backed_up(tmp_path: Path) -> None:
    with weft.open("memory://", directory=tmp_path, environment={}) as memory:
        memory.remember("words")
        assert texts(memory.recall("words")) == ["words"]
        with pytest.raises(weft.StoreError) as caught:
            memory.call("backup", path=str(tmp_path / "copy"))
        assert "log export" in caught.value.hint
