"""What is planted for hygiene to find."""

from __future__ import annotations

from typing import Any

import weft
from tests.places import Place
from tests.writing.noting import note
from weft.backends.sqlite.files.directory import ACCOUNTS
from weft.backends.sqlite.files.write_lock import WriteQueue
from weft.core.clock import to_iso
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


def stuck_writes(mem: weft.Memory, place: Place) -> None:
    with WriteQueue(place.scratch / "store" / ACCOUNTS, "default").turn():
        assert note(mem, "held up").status == "pending_retry"
        assert note(mem, "held up too").status == "pending_retry"
