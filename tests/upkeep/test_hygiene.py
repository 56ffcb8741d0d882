"""Hygiene finds what is planted and nothing else, tells nobody of what is hidden, and counts only when all was done."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import weft
from tests.places import Place
from tests.writing.noting import note
from weft.backends.sqlite.files import write_lock as turnstile
from weft.backends.sqlite.files.directory import ACCOUNTS
from weft.backends.sqlite.files.write_lock import WriteQueue
from weft.core.clock import to_iso
from weft.core.errors import Invalid, StoreError
from weft.core.types import Find, When
from weft.log.draft import Draft
from weft.log.kinds import graph, memory
from weft.upkeep.hygiene.run import HygieneReport

DAY_US = 86_400_000_000


def told(mem: weft.Memory, node_id: str, text: str, *, kind: str = "Memory", days: float = 1, **more: Any) -> str:
    """Writes one node as operations do, holding since so many days."""
    begin = to_iso(mem.ctx.clock.now_us() - int(days * DAY_US))
    given = {"project": "ferry", "valid_from": begin} | more
    payload = memory.Remembered(id=node_id, node_kind=kind, text=text, **given)
    mem.ctx.append([Draft(kind="memory.remembered", payload=payload)])
    return node_id


def thing(mem: weft.Memory, node_id: str, kind: str, name: str, **more: Any) -> str:
    node = graph.NodeAssertion(id=node_id, kind=kind, name=name, **more)
    mem.ctx.append([Draft(kind="graph.asserted", payload=graph.Asserted(nodes=(node,)))])
    return node_id


def hygiene(mem: weft.Memory, **given: Any) -> HygieneReport:
    answer = mem.call("run_hygiene", **given)
    assert isinstance(answer, HygieneReport)
    return answer


def found(report: HygieneReport, check: str) -> set[tuple[str, ...]]:
    (only,) = [each for each in report.checks if each.check == check]
    assert only.found == len(only.findings) + only.left_out
    return {finding.ids for finding in only.findings}


LONG = "the night ferry takes lorries on the lower deck and passengers climb the stairs beside the galley"


def near_duplicates(mem: weft.Memory) -> set[tuple[str, ...]]:
    """Pairs that say the same."""
    told(mem, "dup1a", LONG, days=3)
    told(mem, "dup1b", f"{LONG.capitalize()}!")
    told(mem, "dup2a", "winch cables are greased every spring by whoever has the morning watch on deck", days=3)
    told(mem, "dup2b", "winch cables are thoroughly greased every spring by whoever has the morning watch on deck")
    told(mem, "dup3a", "pump before the tide turns and note how long it took in the log", kind="Learning", days=3)
    told(mem, "dup3b", "Pump before the tide turns, and note how long it took in the log.", kind="Learning")
    told(mem, "dup4a", "grease the ramp hinges with the blue tin, which is under the bench", kind="Decision", days=3)
    told(mem, "dup4b", "grease the ramp hinges with the blue tin which is under the bench", kind="Decision")
    return {(f"dup{number}a", f"dup{number}b") for number in range(1, 5)}


def near_misses(mem: weft.Memory) -> None:
    """A few hundred that share nearly all of their words with another, and are another matter."""
    base = "the harbour crane lifts containers of tonnes at the north quay when the wind is under knots of force"
    for number in range(60):
        told(mem, f"number{number}", base.replace("containers of", f"containers of {number}"))
        told(
            mem,
            f"version{number}",
            f"crane firmware v{number}.2 must be loaded before any lift at the north quay begins",
        )
        told(
            mem,
            f"name{number}",
            f"ask {chr(65 + number % 26)}{'aeiou'[number % 5]}lva{number % 7} before the ramp moves",
        )
    for person in ("Ada", "Ben", "Cleo"):
        told(
            mem,
            f"who{person}",
            f"before the ferry leaves the ramp is checked by {person} and the result goes in the log",
        )
        told(
            mem,
            f"where{person}",
            f"the spare fuses for the bridge are kept in the {person.lower()} cupboard next to it",
        )
    told(mem, "yes", "passengers may stay on the car deck while the ferry is under way across the sound")
    told(mem, "no", "passengers may not stay on the car deck while the ferry is under way across the sound")
    told(mem, "never", "passengers may never stay on the car deck while the ferry is under way across the sound")
    told(mem, "only", "passengers may stay on the car deck only while the ferry is under way across the sound")
    told(mem, "forth", "the tug Orca tows the barge Lena from the mole to the dry dock every Monday at high water")
    told(mem, "back", "the barge Lena tows the tug Orca from the mole to the dry dock every Monday at high water")
    told(mem, "into", "the tug Orca tows the barge Lena from the dry dock to the mole every Monday at high water")
    told(
        mem,
        "whose",
        "the tug Orca tows the barge Lena for Mr Birk from the mole to the dry dock every Monday at high water",
    )
    told(mem, "more", "gauges reading > 5 bar are reported to the chief at once, whoever is on watch below")
    told(mem, "less", "gauges reading < 5 bar are reported to the chief at once, whoever is on watch below")
    told(mem, "elsewhere", LONG, project="barge")
    told(mem, "everywhere", LONG, project=None)
    told(mem, "other-kind", LONG, kind="Context")
    told(mem, "other-focus", LONG, focus="engines")
    told(mem, "tagged", LONG, agents=("ann",))
    told(mem, "wider", LONG, scope="shared")
    told(mem, "read-out", LONG, props={"derived_from": "dup1a"})
    told(mem, "other-subject", LONG, props={"subject": "person:ann"})
    told(mem, "old-news", LONG)
    told(mem, "old-news-again", "the galley closes for the winter", supersedes=("old-news",))
    told(mem, "forgotten", LONG)
    mem.call("forget", id="forgotten")
    told(mem, "ended", LONG, days=9)
    mem.call("memory_invalidate", id="ended")
    told(
        mem,
        "bell1",
        "the bell on the foredeck rang for no reason that anybody on watch could find",
        kind="Event",
        days=4,
    )
    told(
        mem,
        "bell2",
        "the bell on the foredeck rang for no reason that anybody on watch could find",
        kind="Event",
        days=2,
    )


def old_decisions(mem: weft.Memory) -> set[tuple[str, ...]]:
    told(mem, "dec1", "paint the hull red", kind="Decision", days=181)
    told(mem, "dec2", "buy the second radar", kind="Decision", days=4_000)
    told(mem, "dec3", "sell tickets aboard", kind="Decision", days=300, focus="engines")
    # Not these: just young enough, superseded, of elsewhere, ended, read out of something, no decision, confirmed.
    told(mem, "dec-young", "paint the deck green", kind="Decision", days=179)
    told(mem, "dec-exactly", "paint the rail white", kind="Decision", days=180)
    told(mem, "dec-gone", "sail on Sundays", kind="Decision", days=400)
    told(mem, "dec-now", "sail on Saturdays", kind="Decision", days=10, supersedes=("dec-gone",))
    told(mem, "dec-elsewhere", "moor at the mole", kind="Decision", days=400, project="barge")
    told(mem, "dec-ended", "burn coal", kind="Decision", days=4_000)
    mem.call("memory_invalidate", id="dec-ended")
    told(mem, "dec-derived", "so we burn oil", kind="Decision", days=400, props={"derived_from": "dec1"})
    told(mem, "no-decision", "the old charter", days=4_000)
    told(mem, "dec-confirmed", "keep two lookouts", kind="Decision", days=400)
    mem.call("memory_feedback", id="dec-confirmed", outcome="confirmed")
    return {("dec1",), ("dec2",), ("dec3",)}


def old_patterns(mem: weft.Memory) -> set[tuple[str, ...]]:
    now = mem.ctx.clock.now_us()
    told(mem, "pat1", "prime the pump twice", kind="Pattern", days=91)
    told(mem, "pat2", "back off at the buoy", kind="Pattern", days=800)
    told(
        mem, "pat3", "sound the tanks", kind="Pattern", days=800, props={"last_validated_at": to_iso(now - 91 * DAY_US)}
    )
    told(mem, "pat4", "swing the lamp", kind="Pattern", days=800, props={"last_validated_at": "some day"})
    told(mem, "pat-young", "oil the winch", kind="Pattern", days=89)
    told(
        mem,
        "pat-valid",
        "trim by the stern",
        kind="Pattern",
        days=800,
        props={"last_validated_at": to_iso(now - 89 * DAY_US)},
    )
    told(mem, "pat-gone", "ring before casting off", kind="Pattern", days=800)
    told(mem, "pat-now", "whistle before casting off", kind="Pattern", days=5, supersedes=("pat-gone",))
    told(mem, "pat-confirmed", "count the lines", kind="Pattern", days=800)
    mem.call("memory_feedback", id="pat-confirmed", outcome="confirmed")
    return {("pat1",), ("pat2",), ("pat3",), ("pat4",)}


def same_names(mem: weft.Memory) -> set[tuple[str, ...]]:
    thing(mem, "person:ida holm", "Person", "Ida Holm")
    thing(mem, "mention:ida holm", "Mention", "ida  holm")
    thing(mem, "entity:kestrel", "Entity", "Kestrel")
    thing(mem, "mention:kestrel", "Mention", "Kestrel")
    thing(mem, "vessel:gull", "Vessel", "Gull")
    thing(mem, "entity:gull", "Entity", "Gull")
    thing(mem, "imported:1", "Service", "Tide Table", project="ferry")
    thing(mem, "imported:2", "Service", "tide table", project="ferry")
    thing(mem, "service:tidebook", "Service", "Tidebook")
    thing(mem, "organization:tidebook", "Organization", "Tidebook")
    # Not these: a person and a product of one name, other rights, merged already, an alias, a file, a note called so.
    thing(mem, "person:mercury", "Person", "Mercury")
    thing(mem, "product:mercury", "Product", "Mercury")
    thing(mem, "mention:mercury", "Mention", "Mercury")
    thing(mem, "person@shared/ida holm", "Person", "Ida Holm", scope="shared")
    thing(mem, "person@admin,ann/ida holm", "Person", "Ida Holm", agents=("ann",))
    thing(mem, "person:olaf", "Person", "Olaf")
    thing(mem, "mention:olaf", "Mention", "Olaf")
    mem.call("merge_entities", duplicate="mention:olaf", into="person:olaf", reason="one man")
    mem.add_entity("Orca Two", kind="Product", aliases=("Orca II",))
    thing(mem, "a/file", "File", "Kestrel", project="ferry")
    thing(mem, "a-note", "Memory", "Kestrel", project="ferry")
    return {
        ("mention:ida holm", "person:ida holm"),
        ("mention:kestrel", "entity:kestrel"),
        ("entity:gull", "vessel:gull"),
        ("imported:2", "imported:1"),
        ("organization:tidebook", "service:tidebook"),
    }


def test_hygiene_of_what_is_global_looks_at_things(memory: weft.Memory) -> None:
    memory.add_entity("Tidebook", kind="Service")
    memory.add_entity("Tidebook", kind="Organization")
    for level in ("project", "global"):
        report = memory.call("run_hygiene", level=level)
        (found,) = [each for check in report.checks if check.check == "entity" for each in check.findings]
        assert "'Tidebook'" in found.why


def stuck_writes(mem: weft.Memory, place: Place) -> None:
    with WriteQueue(place.scratch / "store" / ACCOUNTS, "default").turn():
        assert note(mem, "held up").status == "pending_retry"
        assert note(mem, "held up too").status == "pending_retry"


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turnstile, "WAIT_S", 0.05)


def test_what_is_planted_is_found_and_nothing_else(memory: weft.Memory, place: Place) -> None:
    place.clock.step(20_000 * DAY_US)
    near_misses(memory)
    expected = {
        "duplicate": near_duplicates(memory),
        "decision": old_decisions(memory),
        "pattern": old_patterns(memory),
        "entity": same_names(memory),
    }
    stuck_writes(memory, place)
    report = hygiene(memory, limit=100)
    assert report.status == "succeeded"
    assert {check: found(report, check) for check in expected} == expected
    writes = report.checks[-1].findings
    assert [each.id.split("/")[-1] for each in writes] == ["pending_retry", "pending_retry"]
    for check in report.checks:
        for finding in check.findings:
            assert finding.why
            assert finding.fix.startswith("weft hygiene apply ")
            assert finding.id in finding.fix
    pairs = {finding.ids[0]: finding for finding in report.checks[0].findings}
    assert all((pair.similarity or 0) > 0.9 and pair.measure == "words" for pair in pairs.values())
    assert pairs["dup1a"].similarity == 1.0
    assert f"{pairs['dup2a'].similarity:.3f} of their words" in pairs["dup2a"].why


def test_nothing_is_changed_but_when_it_was_done(memory: weft.Memory, place: Place) -> None:
    place.clock.step(20_000 * DAY_US)
    near_duplicates(memory)
    old_decisions(memory)
    same_names(memory)
    stuck_writes(memory, place)
    before = memory.ctx.store.head(memory.ctx.viewer).pos
    report = hygiene(memory)
    viewer = memory.ctx.operator("look")
    events = [event for _, some in memory.ctx.store.log(viewer, after=before, limit=100) for event in some]
    assert [event.kind for event in events] == ["graph.asserted"]
    project = memory.show("project:ferry").node
    assert project is not None
    assert project.props == {"last_hygiene_at": report.last_hygiene_at}
    assert len(memory.call("pending_list").waiting) == 2, "not even what waits was delivered"
    again = hygiene(memory)
    assert [found(again, name) for name in ("duplicate", "decision", "entity")] == [
        found(report, name) for name in ("duplicate", "decision", "entity")
    ]


def test_hygiene_is_due_again_after_thirty_days(memory: weft.Memory, place: Place) -> None:
    memory.call("project_create", name="ferry", description="boats")
    assert memory.call("project_context").hygiene_due
    hygiene(memory)
    assert not memory.call("project_context").hygiene_due
    place.clock.step(30 * DAY_US)
    assert not memory.call("project_context").hygiene_due
    place.clock.step(1)
    assert memory.call("project_context").hygiene_due
    (shown,) = memory.call("project_list").projects
    assert (shown.description, shown.last_hygiene_at != "") == ("boats", True)
    hygiene(memory, level="global")
    assert memory.call("project_context").hygiene_due, "hygiene of what is for all projects is not the project's"


class Troubled:
    """The real store, of which one read fails."""

    def __init__(self, store: Any, fails: str, when: Any = None) -> None:
        self._store, self._fails, self._when = store, fails, when

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._store, name)
        if name != self._fails:
            return real

        def asked(*given: Any, **more: Any) -> Any:
            if self._when is None or self._when(*given, **more):
                raise StoreError("the line is cut")
            return real(*given, **more)

        return asked


def last_hygiene(mem: weft.Memory) -> str:
    (here,) = [project for project in mem.call("project_list").projects if project.here]
    assert here.last_hygiene_at
    return str(here.last_hygiene_at)


def of_things(_viewer: Any, _when: Any, find: Find, **_more: Any) -> bool:
    return "Memory" in find.without_kinds


@pytest.mark.parametrize(
    ("fails", "when", "checks"),
    [
        ("find", None, {"duplicate", "decision", "pattern", "entity"}),
        ("find", of_things, {"entity"}),
        ("neighbours", lambda *_, rels=(), **__: rels == ("SUPERSEDES",), {"duplicate", "decision", "pattern"}),
    ],
)
def test_a_check_that_fails_is_told_and_hygiene_does_not_count(
    memory: weft.Memory, place: Place, fails: str, when: Any, checks: set[str]
) -> None:
    hygiene(memory)
    first = last_hygiene(memory)
    place.clock.step(200 * DAY_US)
    near_duplicates(memory)
    old_decisions(memory)
    old_patterns(memory)
    same_names(memory)
    report = hygiene(weft.Memory(replace(memory.ctx, store=Troubled(memory.ctx.store, fails, when))))
    assert report.status == "failed"
    assert {each.check for each in report.checks if "the line is cut" in each.problem} == checks
    assert report.last_hygiene_at == first
    assert last_hygiene(memory) == first
    assert memory.call("project_context").hygiene_due
    if "entity" not in checks:
        assert found(report, "entity"), "what could be looked at is told"


def test_a_store_that_takes_no_writes_is_looked_through_all_the_same(memory: weft.Memory, place: Place) -> None:
    near_duplicates(memory)
    with WriteQueue(place.scratch / "store" / ACCOUNTS, "default").turn():
        report = hygiene(memory)
    assert report.last_hygiene_at == ""
    assert any("could not be recorded" in line for line in report.notes)
    assert found(report, "duplicate")
    assert memory.call("pending_list").waiting == (), "that it was done does not wait for later"


def test_an_agent_is_told_of_nothing_that_it_may_not_see(place: Place) -> None:
    owner = place.open()
    place.clock.step(4_000 * DAY_US)
    near_duplicates(owner)
    old_decisions(owner)
    old_patterns(owner)
    same_names(owner)
    guest = place.open(scopes="shared", agent="guest", role="agent")
    before = hygiene(guest)
    assert [each.found for each in before.checks] == [0, 0, 0, 0, 0]
    assert before.nodes == 0
    told(owner, "open1", LONG, scope="shared", days=3)
    told(owner, "open2", f"{LONG}.", scope="shared")
    # What is hidden replaced one of the two: to the guest both still stand.
    told(owner, "secret", "other words", supersedes=("open1",))
    assert found(hygiene(guest), "duplicate") == {("open1", "open2")}
    assert ("open1", "open2") not in found(hygiene(owner, limit=100), "duplicate")


def test_who_is_not_the_operator_hears_of_its_own_writes_only(place: Place) -> None:
    owner, guest = place.open(), place.open(scopes="shared", agent="guest", role="agent")
    note(guest, "first", scope="shared")
    stuck_writes(owner, place)
    assert len(found(hygiene(owner), "write")) == 2
    assert found(hygiene(guest), "write") == set()


def test_lists_are_bounded_and_say_what_is_left_out(memory: weft.Memory) -> None:
    for number in range(40):
        told(memory, f"d{number:02}", f"decision {number}", kind="Decision", days=400 + number)
    for number in range(30):
        told(memory, f"same{number:02}", LONG, days=30 - number)
    report = hygiene(memory, limit=5)
    decisions = report.checks[1]
    assert [finding.ids[0] for finding in decisions.findings] == ["d39", "d38", "d37", "d36", "d35"], "the oldest first"
    assert (decisions.found, decisions.left_out) == (40, 35)
    assert (report.checks[0].found, report.checks[0].left_out) == (29, 24), "each beside the newest, not every two"
    assert {finding.ids[1] for finding in report.checks[0].findings} == {"same29"}


def test_another_project_and_what_is_for_all_are_looked_through_by_name(memory: weft.Memory) -> None:
    told(memory, "here1", LONG, days=3)
    told(memory, "here2", LONG)
    told(memory, "there1", LONG, project="barge", days=3)
    told(memory, "there2", LONG, project="barge")
    told(memory, "all1", LONG, project=None, days=3)
    told(memory, "all2", LONG, project=None)
    assert found(hygiene(memory), "duplicate") == {("here1", "here2")}
    assert found(hygiene(memory, project="barge"), "duplicate") == {("there1", "there2")}
    assert found(hygiene(memory, level="global"), "duplicate") == {("all1", "all2")}
    with pytest.raises(weft.NotFound, match="no project"):
        hygiene(memory, project="atlantis")
    with pytest.raises(Invalid):
        hygiene(memory, project="barge", level="global")


def test_progress_is_told(memory: weft.Memory) -> None:
    near_duplicates(memory)
    steps: list[str] = []
    operation = next(each for each in weft.operations.OPERATIONS if each.name == "run_hygiene")
    memory.run(operation, {}, progress=lambda what, done, total: steps.append(what))
    assert set(steps) == {"reading", "comparing", "entities"}


def test_meanings_that_are_nearer_than_the_words_are_found_by_stored_vectors(place: Place) -> None:
    mem = place.open(embedder="builtin")
    first = mem.remember("the worker restarts the queue when memory is low")
    place.clock.step(DAY_US)
    second = mem.remember("the worker quietly restarts the queue when memory is low")
    mem.remember("the worker restarts the queue when memory is not low")
    mem.remember("the worker restarts the queue when disk is low")
    report = hygiene(mem)
    (pair,) = report.checks[0].findings
    assert (pair.ids, pair.measure) == ((first.id, second.id), "meaning")
    assert 0.9 < (pair.similarity or 0) < 1
    assert hygiene(place.open()).checks[0].found == 0, "without an embedder there is no meaning to compare"


def test_a_broken_file_moves_nothing(place: Place, tmp_path: Path) -> None:
    from tests.retrieval.broken_store import rename

    mem = place.open()
    near_duplicates(mem)
    mem.close()
    rename("edge")(tmp_path / "store")
    mem = place.open()
    report = hygiene(mem)
    assert report.status == "failed"
    assert any(each.problem for each in report.checks)
    found_node = mem.ctx.store.find(mem.ctx.viewer, When(), Find(kinds=("Project",)), limit=1).nodes
    assert found_node == ()
