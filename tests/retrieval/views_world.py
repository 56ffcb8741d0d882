"""A night at a ferry company, as its agents wrote it down: who, when, and what led to what.

Lantern takes the payments of Tidebook, where crossings are booked; Gullmail writes to passengers. A certificate runs
out, and five causes later nobody can book.
"""

from __future__ import annotations

from typing import Any

import msgspec

from tests.retrieval.small_worlds import PROJECT, context_over
from weft.core.ports import Store
from weft.log.draft import Draft
from weft.log.kinds import graph
from weft.operations import OPERATIONS
from weft.runtime.call_context import CallContext
from weft.runtime.operation import read_input
from weft.testing.clock import ManualClock
from weft.testing.scribe import Scribe, memory_of

NOW_US = 1_775_001_600_000_000  # 2026-04-01

ENTITIES = {
    "ines": ("Person", "Ines Calder", "Engineer who looks after payments."),
    "tomasz": ("Person", "Tomasz Bielak", "Engineer, on call in the first week of March."),
    "noor": ("Person", "Noor Haddad", "Leads the Harbour Desk."),
    "desk": ("Organization", "Harbour Desk", "The team that runs bookings."),
    "tidebook": ("Service", "Tidebook", "Where passengers book a crossing."),
    "lantern": ("Service", "Lantern", "The payment gateway."),
    "gullmail": ("Service", "Gullmail", "Writes to passengers."),
    "warrant": ("Organization", "Warrant Nine", "The authority that issues certificates."),
}
RELATIONS = (
    ("ines", "WORKS_AT", "desk"),
    ("tomasz", "WORKS_AT", "desk"),
    ("noor", "LEADS", "desk"),
    ("desk", "RUNS", "tidebook"),
    ("ines", "MAINTAINS", "lantern"),
    ("tidebook", "PAYS_THROUGH", "lantern"),
    ("tidebook", "TELLS", "gullmail"),
    ("lantern", "TRUSTS", "warrant"),
)
EVENTS = {
    "renewed": ("2025-03-02T10:00:00Z", "Ines renewed the certificate of Lantern by hand.", ("ines", "lantern")),
    "muted": ("2025-03-02T10:20:00Z", "The reminder for certificates was switched off.", ("lantern",)),
    "sale": ("2026-02-27T08:00:00Z", "The spring sale of crossings began.", ("tidebook",)),
    "expired": ("2026-03-03T00:00:00Z", "The certificate of Lantern ran out.", ("lantern", "warrant")),
    "paged": ("2026-03-03T00:14:00Z", "Tomasz was paged: payments failed.", ("tomasz", "tidebook")),
    "down": ("2026-03-03T00:31:00Z", "Tidebook stopped taking bookings.", ("tidebook",)),
    "mails": ("2026-03-03T00:40:00Z", "Passengers got the same mail again and again.", ("gullmail",)),
    "fixed": ("2026-03-03T02:35:00Z", "Ines put in a new certificate and bookings worked again.", ("ines", "tidebook")),
    "review": ("2026-03-05T13:00:00Z", "The Harbour Desk held its review of the night.", ("desk", "noor")),
}
CONCEPTS = {
    "concept-certificate": ("expired certificate", "A certificate that ran out before it was renewed.", "lantern"),
    "concept-outage": ("booking outage", "Nobody can book a crossing: the bookings are down.", "tidebook"),
    "concept-storm": ("retry storm", "Failed calls repeated without a pause until nothing is left.", "tidebook"),
}
CAUSES = {
    "c1-by-hand": ("The certificate was renewed by hand and its reminder switched off", "lantern", "muted"),
    "c2-expired": ("The certificate of Lantern ran out unnoticed", "lantern", "expired"),
    "c3-retries": ("Tidebook repeated every failed payment without a pause", "tidebook", None),
    "c4-connections": ("The retries used up all database connections of Tidebook", "tidebook", None),
    "c5-outage": ("Nobody could book a crossing for two hours", None, "down"),
    "c6-sale": ("The spring sale doubled the number of payments", None, "sale"),
    "c7-mails": ("Gullmail sent one reminder for every failed payment", "gullmail", "mails"),
}
CHAIN = ("c1-by-hand", "c2-expired", "c3-retries", "c4-connections", "c5-outage")
LEADS_TO = (
    ("c1-by-hand", "c2-expired", 0.9),
    ("c2-expired", "c3-retries", None),
    ("c3-retries", "c4-connections", 0.8),
    ("c4-connections", "c5-outage", None),
    ("c6-sale", "c4-connections", 0.5),
    ("c3-retries", "c7-mails", 0.7),
)
MEMORIES = {
    "robot": ("Decision", "2026-03-05T15:00:00Z", "Certificates are renewed by the robot from now on, never by hand."),
    "pause": ("Decision", "2026-03-06T09:00:00Z", "Tidebook waits longer after each failed payment."),
    "phone": ("Memory", "2026-03-04T08:00:00Z", "Tomasz wants to be paged by phone, as he slept through the message."),
}
INVOLVED = {"robot": ("lantern", "ines"), "pause": ("tidebook",), "phone": ("tomasz",)}
APART = "The lighthouse at Skerry is painted every spring."  # has nothing to do with that night


def night(store: Store, clock: ManualClock, *, embedder: Any = None, **guard: Any) -> CallContext:
    """Writes the story, family by family, and returns somebody who asks about it on 1 April 2026."""
    guard = {"project": PROJECT, "scope": "public"} | guard
    clock.set(NOW_US)
    writer = Scribe(store, clock, session="harbour")
    for draft in story(guard):
        clock.step(60_000_000)
        writer.write(draft)
    writer.write(memory_of("skerry", APART, **guard))
    return context_over(store, clock, embedder=embedder)


def story(guard: dict[str, Any]) -> list[Draft]:
    """One event of the log for each family, but one for each happening: its citation is its own."""

    def nodes(*made: graph.NodeAssertion, edges: tuple[graph.EdgeAssertion, ...] = ()) -> Draft:
        return Draft(kind="graph.asserted", payload=graph.Asserted(nodes=made, edges=edges))

    def node(node_id: str, kind: str, **fields: Any) -> graph.NodeAssertion:
        return graph.NodeAssertion(id=node_id, kind=kind, **fields, **guard)

    def edge(src: str, rel: str, dst: str, **fields: Any) -> graph.EdgeAssertion:
        return graph.EdgeAssertion(src=src, rel=rel, dst=dst, **fields, **guard)

    drafts = [
        nodes(
            *(node(each, kind, name=name, text=text) for each, (kind, name, text) in ENTITIES.items()),
            edges=tuple(edge(*relation) for relation in RELATIONS),
        )
    ]
    for each, (at, text, who) in EVENTS.items():
        involves = tuple(edge(each, "INVOLVES", entity) for entity in who)
        drafts.append(nodes(node(each, "Event", text=text, valid_from=at), edges=involves))
    for each, (name, text, entity) in CONCEPTS.items():
        drafts.append(nodes(node(each, "Concept", name=name, text=text), edges=(edge(each, "REPRESENTS", entity),)))
    for each, (text, entity, event) in CAUSES.items():
        affects = (edge(each, "AFFECTS", entity),) if entity else ()
        refers = (edge(each, "REFERS_TO", event),) if event else ()
        drafts.append(nodes(node(each, "Cause", text=text), edges=affects + refers))
    sure = [{} if confidence is None else {"confidence": confidence} for _, _, confidence in LEADS_TO]
    links = zip(LEADS_TO, sure, strict=True)
    drafts.append(nodes(edges=tuple(edge(cause, "CAUSES", effect, props=props) for (cause, effect, _), props in links)))
    for each, (kind, at, text) in MEMORIES.items():
        involves = tuple(edge(each, "INVOLVES", entity) for entity in INVOLVED[each])
        drafts.append(nodes(node(each, kind, text=text, valid_from=at), edges=involves))
    return drafts


def call(ctx: CallContext, name: str, **given: Any) -> dict[str, Any]:
    """Runs an operation the way a surface does: plain values in, checked, plain values out."""
    operation = next(each for each in OPERATIONS if each.name == name)
    answer: dict[str, Any] = msgspec.to_builtins(operation.run(ctx, read_input(operation, given)))
    return answer


def asked(ctx: CallContext, question: str, intent: str, *views: str, **more: Any) -> dict[str, Any]:
    """A question followed through the tools, each called with exactly what the one before gave."""
    found = call(ctx, "semantic_search", query=question)
    seeds = found["seed_entity_ids"]
    expanded = [call(ctx, view, entity_ids=seeds) for view in views]
    merged = call(ctx, "subgraph_merge", views=[{"view": "semantic", "nodes": found["matches"]}, *expanded])
    return call(ctx, "linearize_context", nodes=merged["nodes"], intent=intent, **more)
