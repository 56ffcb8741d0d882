"""One fixed corpus for rendered contexts: the night at the ferry company, with facts, work, a guide and a talk.

Ids come of request ids and the clock stands where it is set, so that every rendering is the same; hashes of events are
not, and are masked.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import weft
from tests.retrieval.views_world import NOW_US, story
from weft.testing.clock import ManualClock

PROJECT = "quay"
HASH = re.compile(r"#[0-9a-f]{8}")
WHY = "why could nobody book a crossing that night?"
WHEN = "when did the certificate of Lantern run out?"
WHO = "who looks after Lantern?"
GUIDE = """# Certificates

How the harbour keeps its certificates.

## Renewing

The robot renews every certificate of the payment gateway thirty days before it runs out. Nobody renews by hand:
after the night of 3 March the reminder was found to be switched off, and nobody had noticed.

To see what the robot did last, run `lantern-robot --status`. It prints the day of the next renewal.

## When one runs out

Put in the spare certificate from the safe, then restart Lantern. Bookings work again within a minute.
Tell the Harbour Desk before the restart, because open payments are lost.
"""
TALK = (
    "Noor: how long were the bookings down?",
    "Ines: two hours and four minutes, until I put in the spare certificate",
    "Noor: and who was on call that week?",
    "Tomasz: I was. I slept through the message, please page me by phone",
    "Noor: then let us do that from April on",
)


def harbour(place: Path, **settings: str) -> weft.Memory:
    """The corpus in a store of its own, asked about on 1 April 2026. The built-in embedder reads it."""
    root = place / PROJECT
    (root / "docs").mkdir(parents=True)
    (root / "docs" / "certificates.md").write_text(GUIDE, encoding="utf-8")
    clock = ManualClock(NOW_US)
    environment = {"HOME": str(place), "WEFT_PROJECT": PROJECT, "WEFT_AUDIT": "off", "WEFT_SESSION": "harbour"}
    environment |= {f"WEFT_{name.upper()}": value for name, value in settings.items()}
    memory = weft.open(f"sqlite://{place / 'store'}", directory=root, environment=environment, clock=clock)
    for draft in story({"project": PROJECT, "scope": "admin"}):
        clock.step(60_000_000)
        memory.ctx.append([draft])
    numbers = iter(range(1, 1_000))

    def tell(name: str, **given: Any) -> Any:
        clock.step(60_000_000)
        return memory.call(name, request_id=f"r-{next(numbers):03d}", **given)

    tell("add_fact", subject="Lantern", predicate="renewed_by", object="the robot", valid_from="2026-03-05")
    tell("add_fact", subject="Harbour Desk", predicate="phone", object="extension 41")
    tell(
        "save_decision",
        title="Spare certificates lie in the safe",
        rationale="A renewal that fails at night must not wait for the authority.",
        entities=["Lantern"],
        valid_from="2026-03-07",
    )
    tell("save_preference", subject="Tomasz Bielak", preference="to be paged by phone, not by message")
    tell("remember", text="The berth of the night ferry moves to pier 4 in May.")
    tell("work_create", kind="chore", title="Test the spare certificate of Lantern", importance=3.0)
    tell("work_create", kind="chore", title="Write to the passengers of 3 March")
    tell("alert_raise", message="The next certificate of Lantern runs out in 40 days.")
    tell("digest_write", title="Week of the outage", body="Bookings were down for two hours. Two decisions were taken.")
    clock.step(60_000_000)
    memory.record_turns("standup", list(TALK), request_id="r-talk")
    clock.step(60_000_000)
    memory.ingest(root / "docs")
    clock.step(3_600_000_000)
    return memory


def masked(text: str) -> str:
    """Without the hashes of events, which are never the same twice."""
    return HASH.sub("#" + "0" * 8, text)
