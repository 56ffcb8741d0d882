"""Saving decisions, patterns, contexts and preferences: what is written once, what replaces, what is asked about."""

from __future__ import annotations

from typing import Any

import pytest

import weft
from tests.places import Place
from weft.append.append import Fence
from weft.core.errors import Conflict, Forbidden, Invalid, NotFound
from weft.core.types import NOW
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.testing.clock import ManualClock
from weft.writing.build.commit import MAX_DECISIONS, WriteDecision, decide_and_commit
from weft.writing.write_contract import WriteResult


def decide(memory: weft.Memory, title: str, rationale: str = "", **more: Any) -> WriteResult:
    answer = memory.call("save_decision", title=title, rationale=rationale, **more)
    assert isinstance(answer, WriteResult)
    return answer


def decisions(memory: weft.Memory) -> int:
    return sum(stat.nodes for stat in memory.ctx.store.indexes(memory.ctx.viewer) if stat.kind == "Decision")


def position(memory: weft.Memory) -> int:
    return memory.ctx.store.head(memory.ctx.viewer).pos


# ---- step one: the same again


def test_a_decision_is_kept_with_its_reasons_and_found(memory: weft.Memory) -> None:
    saved = decide(memory, "Keep sessions in Redis", "Postgres locks were slow.", alternatives=["Memcached"])
    assert saved.status == "saved"
    node = memory.recall("where do sessions live and why?").hits[0].node
    assert (node.id, node.name, node.kind, node.citation) == (
        saved.id,
        "Keep sessions in Redis",
        "Decision",
        saved.citation,
    )
    assert node.text.startswith("Postgres locks were slow.")
    assert node.props["status"] == "accepted"
    assert [hit.node.id for hit in memory.recall("memcached").hits] == [saved.id]


@pytest.mark.parametrize(
    ("title", "rationale"),
    [
        ("Keep sessions in Redis", "Postgres locks were slow."),
        ("keep  SESSIONS in redis.", "  postgres locks were slow"),
        ("“Keep sessions in Redis”".strip("“”"), "Postgres\nlocks were slow."),
    ],
)
def test_the_same_decision_again_is_skipped(memory: weft.Memory, title: str, rationale: str) -> None:
    first = decide(memory, "Keep sessions in Redis", "Postgres locks were slow.")
    before = position(memory)
    again = decide(memory, title, rationale)
    assert (again.status, again.id, again.citation) == ("duplicate_skip", first.id, first.citation)
    assert decide(memory, title, rationale, decision="new").status == "duplicate_skip"
    assert position(memory) == before


def test_title_and_rationale_are_not_run_together(memory: weft.Memory) -> None:
    decide(memory, "Ship on", "Friday afternoons")
    assert decide(memory, "Ship on Friday", "afternoons").status != "duplicate_skip"


def test_a_decision_that_was_deleted_or_ended_can_be_taken_again(memory: weft.Memory) -> None:
    first = decide(memory, "Keep sessions in Redis")
    memory.ctx.append([Draft(kind="graph.deleted", payload=graph.Deleted(nodes=(first.id,)))])
    second = decide(memory, "Keep sessions in Redis")
    assert second.status == "saved"
    memory.ctx.append([Draft(kind="graph.ended", payload=graph.Ended(nodes=(second.id,)))])
    assert decide(memory, "Keep sessions in Redis").status == "saved"


def test_patterns_are_compared_by_hash_only(memory: weft.Memory) -> None:
    first = memory.call("save_pattern", title="Retry with jitter", description="Back off.", examples=["the mailer"])
    again = memory.call("save_pattern", title="retry with jitter", description="back off")
    assert (first.status, again.status, again.id) == ("saved", "duplicate_skip", first.id)
    assert memory.call("save_pattern", title="Retry with jitter", description="Back off twice.").status == "saved"
    assert memory.recall("mailer").hits[0].node.id == first.id
    assert decide(memory, "Retry with jitter", "Back off.").status == "saved", "another kind"


# ---- step two: nearly the same


def test_nearly_the_same_title_replaces_the_older_decision(memory: weft.Memory, clock: ManualClock) -> None:
    older = decide(memory, "Keep user sessions in Redis", "fast")
    clock.step()
    newer = decide(memory, "Keep the user sessions in Redis", "fast, and it expires them")
    assert (newer.status, newer.supersedes) == ("superseded", (older.id,))
    assert [hit.node.id for hit in memory.recall("user sessions").hits] == [newer.id]
    shown = memory.show(newer.id)
    assert [(edge.rel, edge.id) for edge in shown.edges] == [("SUPERSEDES", older.id)]
    assert memory.show(older.id).node is not None, "the older one keeps its words"


def test_the_latest_of_a_line_is_the_one_that_is_replaced(memory: weft.Memory, clock: ManualClock) -> None:
    line = [decide(memory, "Keep user sessions in Redis", f"reason {number}a") for number in ("x", "y", "z", "w")]
    clock.step()
    last = decide(memory, "Keep user sessions in Redis", "another reason")
    assert [each.supersedes for each in (*line[1:], last)] == [(each.id,) for each in line]


@pytest.mark.parametrize(
    ("standing", "title", "status"),
    [
        ("Use blue buttons on the login page", "Use blue buttons on every login page", "superseded"),  # 6 of 8
        ("Cache product pages", "Cache product images", "manual_review"),  # 2 of 4
        ("Cache product pages at the edge", "Rotate keys each spring", "saved"),
        ("Cache product pages", "Cache thumbnails of people", "saved"),  # 1 of 6
    ],
)
def test_how_like_titles_are_decides(memory: weft.Memory, standing: str, title: str, status: str) -> None:
    decide(memory, standing)
    assert decide(memory, title).status == status


@pytest.mark.parametrize(
    ("standing", "title", "differs_in"),
    [
        ("Use Redis", "Do not use Redis", "a negation"),
        ("Use Redis", "We should never use Redis", "a negation"),
        ("Run the nightly job on the big host", "Don't run the nightly job on the big host", "a negation"),
        ("Enable caching of the product pages", "Disable caching of the product pages", "a negation"),
        ("Keep the old index for search", "Remove the old index for search", "a negation"),
        ("Deploy with a canary on every release", "Deploy without a canary on every release", "a negation"),
        ("Allow X", "Disallow X", "a negation"),
        ("Use Redis", "Unuse Redis", "a negation"),
        ("Encrypt the nightly backups", "Decrypt the nightly backups", "a negation"),
        ("Encourage pairing", "Discourage pairing", "a negation"),
        ("Blocking calls in the gateway", "Non-blocking calls in the gateway", "a negation"),
        ("Redis verwenden", "Redis nicht verwenden", "a negation"),
        ("Mit Puffer schreiben", "Ohne Puffer mit schreiben", "a negation"),
        ("Utilise Redis", "N’utilise pas Redis", "a negation"),
        ("Usar Redis", "No usar Redis", "a negation"),
        ("Usare Redis", "Non usare Redis", "a negation"),
        ("Start Phase II", "Start Phase III", "a number"),
        ("Freeze the API for part v", "Freeze the API for part i", "a number"),
        ("Ship Harbour IV to all the customers", "Ship Harbour VI to all the customers", "a number"),
        ("Use Python 3.11 in all the services", "Use Python 3.12 in all the services", "a number"),
        ("Serve the public API at v2 for clients", "Serve the public API at v3 for clients", "a number"),
        ("Keep logs for 30 days on the archive", "Keep logs for 90 days on the archive", "a number"),
        ("Keep two replicas of the main database", "Keep three replicas of the main database", "a number"),
        ("Time out calls after 5s in the gateway", "Time out calls after 5ms in the gateway", "a number"),
        ("Use Redis instead of Postgres", "Use Postgres instead of Redis", "the order of the words"),
        ("Cache reads, not writes", "Cache writes, not reads", "the order of the words"),
        ("Write the driver in C++ for the board", "Write the driver in C for the board", "a sign"),
        ("Switch off public signup", "Enable public signup", "a negation"),
        ("Turn two-factor login on", "Turn off two-factor login", "a negation"),
        ("Open the registration", "Close the registration", "a negation"),
        ("Allow guests in the harbour", "Forbid guests in the harbour", "a negation"),
        ("Use PostgreSQL for the order store service", "Use PostgreSQL for the customer store", "what it is about"),
        ("Use GitHub Actions for backend CI", "Use GitHub Actions for frontend CI", "what it is about"),
        ("Adopt TypeScript in the admin frontend", "Adopt TypeScript in the customer frontend", "what it is about"),
        ("Deploy the API with Docker Compose", "Deploy the worker with Docker Compose", "what it is about"),
    ],
)
def test_what_turns_the_meaning_round_is_asked_about(
    memory: weft.Memory, standing: str, title: str, differs_in: str
) -> None:
    stands = decide(memory, standing)
    before = position(memory)
    answer = decide(memory, title)
    assert (answer.status, answer.id, answer.citation) == ("manual_review", "", "")
    (alike,) = answer.candidates
    assert (alike.id, alike.title, alike.citation) == (stands.id, standing, stands.citation)
    assert alike.differs_in == differs_in
    assert alike.score >= 0.5
    assert position(memory) == before, "nothing was written"


def test_a_contradiction_further_down_is_not_passed_over(memory: weft.Memory) -> None:
    decide(memory, "Use Redis for the sessions")
    against = decide(memory, "Do not use Redis for the sessions", decision="new")
    answer = decide(memory, "Use Redis for sessions", "third opinion")
    assert answer.status == "manual_review"
    assert against.id in [alike.id for alike in answer.candidates]


def test_the_same_negation_and_the_same_numbers_do_not_stand_in_the_way(memory: weft.Memory) -> None:
    first = decide(memory, "Do not use Redis 7 for sessions")
    assert decide(memory, "Never use Redis 7 for sessions", "r").status == "manual_review"  # 5 of 8
    assert decide(memory, "Do not use Redis 7 for the sessions").supersedes == (first.id,)


def test_a_roman_number_is_the_number(memory: weft.Memory) -> None:
    first = decide(memory, "Start phase IV of the harbour survey")
    assert decide(memory, "Start phase 4 of the harbour survey", "r").supersedes == (first.id,)


@pytest.mark.parametrize("rationale", ["Postgres locks were slow.", ""])
@pytest.mark.parametrize("alternatives", [[], ["Memcached"]])
def test_an_edited_decision_is_compared_as_it_is_now(
    memory: weft.Memory, rationale: str, alternatives: list[str]
) -> None:
    first = decide(memory, "Keep sessions in Redis", rationale, alternatives=alternatives)
    memory.call("memory_edit", id=first.id, name="Put carts into Valkey")
    again = decide(memory, "Put carts into Valkey", rationale)
    assert (again.status, again.id) == ("duplicate_skip", first.id)
    assert decide(memory, "Keep sessions in Redis", rationale).status == "saved"
    memory.call("memory_edit", id=first.id, text="It is faster by far.")
    assert decide(memory, "Put carts into Valkey", "It is faster by far").status == "duplicate_skip"
    assert decide(memory, "Put carts into Valkey", "Postgres locks were slow.").status == "superseded"


# ---- settling what is asked about


def test_review_is_settled_by_saying_new_or_what_it_replaces(memory: weft.Memory) -> None:
    use = decide(memory, "Use Redis")
    assert decide(memory, "Do not use Redis").candidates[0].id == use.id
    beside = decide(memory, "Do not use Redis", decision="new")
    assert (beside.status, beside.supersedes) == ("saved", ())
    instead = decide(memory, "Never use Redis", supersedes=use.id)
    assert (instead.status, instead.supersedes) == ("superseded", (use.id,))
    assert use.id not in [hit.node.id for hit in memory.recall("redis").hits]


def test_what_was_replaced_is_told_and_can_be_decided_again(memory: weft.Memory, clock: ManualClock) -> None:
    first = decide(memory, "Keep user sessions in Redis", "fast")
    clock.step()
    second = decide(memory, "Keep the user sessions in Redis", "expires them")
    clock.step()
    again = decide(memory, "Keep user sessions in Redis", "fast")
    assert (again.status, again.id) == ("duplicate_skip", first.id)
    assert second.id in again.notes[0]
    back = decide(memory, "Keep user sessions in Redis", "fast", supersedes=second.id)
    assert (back.status, back.supersedes) == ("superseded", (second.id,))
    assert [hit.node.id for hit in memory.recall("user sessions").hits] == [back.id]


def test_only_a_decision_that_may_be_seen_can_be_replaced(place: Place) -> None:
    memory = place.open()
    note = memory.remember("not a decision")
    with pytest.raises(NotFound):
        decide(memory, "Use Redis", supersedes="nothing")
    with pytest.raises(Invalid, match="is a Memory"):
        decide(memory, "Use Redis", supersedes=note.id)
    hidden = decide(memory, "Use Memcached")
    visitor = place.open(scopes="public")
    with pytest.raises(NotFound):
        decide(visitor, "Use Redis", supersedes=hidden.id)


# ---- who takes part


def test_what_is_hidden_neither_stands_in_the_way_nor_shows_itself(place: Place) -> None:
    staff, visitor = place.open(), place.open(scopes="public", agent="guest")
    secret = decide(staff, "Move the office to Lyon", "rents")
    for rationale in ("rents", "better trains"):
        answer = decide(visitor, "Move the office to Lyon", rationale)
        assert answer.status in ("saved", "superseded")
        assert secret.id not in answer.supersedes
    assert decide(visitor, "Do not move the office to Lyon").candidates != ()
    assert secret.id not in str(decide(visitor, "Do not move the office to Lyon"))
    assert staff.show(secret.id).edges == ()


def test_a_narrow_copy_does_not_keep_a_wider_one_out(place: Place) -> None:
    memory = place.open()
    decide(memory, "Close the shop in August")
    wide = decide(memory, "Close the shop in August", scope="public")
    assert wide.status == "saved"
    again = decide(memory, "Close the shop in August", scope="shared")
    assert (again.status, again.id) == ("duplicate_skip", wide.id)
    assert decide(memory, "Close the shop in August", scope="public", agents=["ann"]).status == "saved"


def test_a_sensitive_decision_of_one_who_may_not_see_it_is_kept_each_time(place: Place) -> None:
    memory, entitled = place.open(), place.open(sensitive="true")
    first = decide(memory, "Pay the ransom", sensitive=True)
    second = decide(memory, "Pay the ransom", sensitive=True)
    assert (first.status, second.status) == ("saved", "saved")
    assert decide(entitled, "Pay the ransom", sensitive=True).status == "duplicate_skip"


def test_projects_and_levels_are_kept_apart(place: Place) -> None:
    here = place.open()
    other = place.open(project="barge")
    assert decide(here, "Use trunk based development").status == "saved"
    assert decide(other, "Use trunk based development").status == "saved"
    assert decide(here, "Use trunk based development", level="global").status == "saved"
    assert decide(other, "Use trunk based development", level="global").status == "duplicate_skip"


def test_a_scope_that_is_not_held_is_refused(place: Place) -> None:
    with pytest.raises(Forbidden):
        decide(place.open(scopes="public"), "Use Redis", scope="admin")


# ---- others write meanwhile


def note(text: str) -> Draft:
    said = graph.NodeAssertion(id=text, kind="Note", text=text)
    return Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(said,)))


def test_what_was_decided_from_an_older_state_is_decided_again(place: Place) -> None:
    mine, other = place.open(), place.open()
    seen: list[int] = []

    def choose(pos: int) -> WriteDecision[int]:
        if not seen:
            other.ctx.append([note("theirs")])
        seen.append(len(mine.ctx.store.nodes(mine.ctx.viewer, NOW, ["theirs"])))
        return WriteDecision(answer=len(seen), drafts=[note("mine")], fence=Fence(pos=pos, kinds=("Note",)))

    told, done = decide_and_commit(mine.ctx, choose)
    assert (told, seen) == (2, [1, 1])
    assert done is not None
    assert done.events[0].pos == 2


def test_a_write_gives_up_where_others_are_always_faster(place: Place) -> None:
    mine, other = place.open(), place.open()

    def choose(pos: int) -> WriteDecision[None]:
        other.ctx.append([note(f"theirs {pos}")])
        return WriteDecision(answer=None, drafts=[note("mine")], fence=Fence(pos=pos, kinds=("Note",)))

    with pytest.raises(Conflict, match="nothing was written") as raised:
        decide_and_commit(mine.ctx, choose)
    assert raised.type is Conflict
    assert raised.value.hint
    assert mine.ctx.store.nodes(mine.ctx.viewer, NOW, ["mine"]) == ()
    assert position(mine) == MAX_DECISIONS


# ---- requests, entities, input


def test_a_repeated_request_is_written_once(memory: weft.Memory) -> None:
    first = decide(memory, "Keep user sessions in Redis", request_id="r1")
    again = decide(memory, "Keep user sessions in Redis", request_id="r1")
    assert (first.status, again.status, again.id) == ("saved", "duplicate_skip", first.id)
    assert any("already written" in note for note in again.notes)
    with pytest.raises(Conflict, match="something else"):
        decide(memory, "Rotate keys each spring", request_id="r1")
    new = decide(memory, "Keep the user sessions in Redis", decision="new", request_id="r2")
    decide(memory, "Keep all the user sessions in Redis", supersedes=new.id)
    assert decide(memory, "Keep the user sessions in Redis", decision="new", request_id="r2").id == new.id
    assert decisions(memory) == 3


def test_a_decision_is_joined_to_what_it_involves(memory: weft.Memory) -> None:
    memory.add_fact("Redis", "status", "in use")
    saved = decide(memory, "Keep sessions there", entities=["Redis", "Session store", "redis"])
    assert saved.linked == ("entity:redis", "entity:session store")
    edges = [(edge.rel, edge.id) for edge in memory.show(saved.id).edges]
    assert edges == [("INVOLVES", "entity:redis"), ("INVOLVES", "entity:session store")]


@pytest.mark.parametrize("title", ["", "?!", "  "])
def test_a_title_has_words(memory: weft.Memory, title: str) -> None:
    with pytest.raises(Invalid):
        decide(memory, title)


def test_contexts_and_preferences_are_kept_with_what_they_are_about(memory: weft.Memory) -> None:
    told = memory.call("save_context", title="Release train", body="Tuesdays, from main.", keywords=["release"])
    assert told.status == "saved"
    node = memory.recall("when does the release train leave?").hits[0].node
    assert (node.id, node.kind, node.props["keywords"]) == (told.id, "Context", ["release"])
    liked = memory.call("save_preference", subject="Mira", preference="short answers", strength=0.8)
    against = memory.call("save_preference", subject="Mira", preference="long meetings", polarity=-1)
    assert liked.linked == against.linked == ("entity:mira",)
    node = memory.show(against.id).node
    assert node is not None
    assert (node.kind, node.name, node.text) == ("Preference", "Mira dislikes", "long meetings")
    assert node.props == {"polarity": -1, "subject": "entity:mira"}
    same = memory.call("save_context", title="Release train", body="Tuesdays, from main.")
    assert same.status == "saved", "contexts are not compared"
