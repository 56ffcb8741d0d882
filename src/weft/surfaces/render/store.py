"""The log and the store: events, verification, counts, self-tests, hygiene, settings, keys, backups, measurements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from weft.surfaces.render.nodes import erased
from weft.surfaces.render.page import (
    REASON_CHARACTERS,
    Colour,
    TextPage,
    as_json,
    counted,
    facts,
    minute,
    one_line,
)
from weft.text.one_line import flat

if TYPE_CHECKING:
    from weft.append.import_log import ImportResult
    from weft.log.verify import VerifyResult
    from weft.surfaces.bench.retrieval import RetrievalBenched
    from weft.upkeep.configuration import ConfigShown, Initialised
    from weft.upkeep.hygiene.apply import HygieneApplied
    from weft.upkeep.hygiene.checks import CheckResult
    from weft.upkeep.hygiene.run import HygieneReport
    from weft.upkeep.keys import KeyMade, KeyRotated
    from weft.upkeep.log import Events, Exported, HeadShown
    from weft.upkeep.reindex import Reindexed
    from weft.upkeep.statistics import Statistics
    from weft.upkeep.store import BackedUp, Changed, Diagnosis, Rebuilt, Stats

TRANSACTIONS_SHOWN: Final = 10
ONLY_COUNTED: Final = ("Mention", "Feedback")  # beside what names them
EXTRACTED: Final = ("Cause", "Preference")  # out of what is shown above them
KINDS_NAMED: Final = 4
CHECKS: Final = {
    "duplicate": "duplicates",
    "decision": "old decisions",
    "pattern": "patterns to validate",
    "entity": "one name, several nodes",
    "write": "stuck writes",
}
STATUSES: Final[dict[str, Colour]] = {"saved": "green", "succeeded": "green", "partial": "yellow", "stale": "yellow"}


# ---- the log


def events(p: TextPage, answer: Events) -> None:
    if not answer.events:
        p.empty("events")
        return
    p.say(f"{counted(len(answer.events), 'event')} of the log.")
    for event in answer.events:
        about = (one_line(event.kind), f"by {one_line(event.agent)}", minute(event.recorded_at))
        p.block(facts(p.bold(flat(event.citation)), *about))
        p.lines(p.dim(erased(event.erased_at, event.erased_by)) if event.erased else "")
        told = _told(event.payload)
        p.lines(f"  {p.words(told, 300)}" if told and not p.for_model else "")
        if event.payload and p.for_model:
            p.quote(as_json(event.payload))
        elif event.payload:
            p.lines(p.dim(f"> {one_line(as_json(event.payload), 200)}"))


def _told(payload: Any) -> str:
    if not isinstance(payload, dict):
        return ""
    nodes = payload.get("nodes")
    first = nodes[0] if isinstance(nodes, list) and nodes and isinstance(nodes[0], dict) else payload
    if isinstance(payload.get("reason"), str) and payload["reason"]:
        props = first.get("props")
        said = first.get("text") or (props.get("intent") if isinstance(props, dict) else "")
        return ": ".join(filter(None, (str(payload["reason"]), str(said or ""))))
    kind, props = first.get("kind") or first.get("node_kind"), first.get("props")
    said = [str(first.get(part)) for part in ("name", "text") if isinstance(first.get(part), str) and first.get(part)]
    state = props.get("type") or props.get("status") if isinstance(props, dict) else ""
    return f"{facts(str(kind or ''), str(state or ''))} {': '.join(dict.fromkeys(said))}".strip() if said else ""


def verified(p: TextPage, answer: VerifyResult) -> None:
    read = f"{counted(answer.events, 'event')} in {counted(answer.commits, 'commit')}"
    if answer.problem is not None:
        p.say(f"{p.paint('The log is broken', 'red')}: {one_line(answer.problem, 500)} ({read} read).")
        return
    replaced = f", {answer.erased:,} with replaced payloads (erased, or encrypted again)" if answer.erased else ""
    p.say(f"{p.paint('The log is whole', 'green')}: every hash of {read} fits{replaced}; its head is {answer.digest}.")


def head(p: TextPage, answer: HeadShown) -> None:
    when = f", written {minute(answer.at)}" if answer.at else ""
    p.say(f"The log of account {p.name(answer.account)} has {counted(answer.pos, 'event')}{when}.")
    p.block(f"digest {answer.digest}")
    rows = [(p.name(each.session), f"{each.seq:,}", each.hash[:16]) for each in answer.sessions]
    p.table(("session", "events", "hash"), rows, right=("events",))


def exported(p: TextPage, answer: Exported) -> None:
    p.say(f"{counted(answer.events, 'event')} written to {p.words(answer.path, 4_096)}; the head is {answer.digest}.")


def adopted(p: TextPage, answer: ImportResult) -> None:
    how = "exactly as they were" if answer.exact else "known from now on"
    there = f"{answer.already_there:,} were here already"
    p.say(f"{counted(answer.events, 'event')} imported, {how}; {there}. The head is {answer.digest}.")


def rebuilt(p: TextPage, answer: Rebuilt) -> None:
    same = {True: p.paint(", equal to before", "green"), False: p.paint(", different from before", "yellow"), None: ""}
    p.say(f"The graph was rebuilt from {counted(answer.events, 'event')}{same[answer.equal]}.")
    p.block(p.dim(f"digest {answer.digest_after}"))


def changed(p: TextPage, answer: Changed) -> None:
    sides = (("+", "added", answer.added), ("-", "removed", answer.removed), ("~", "changed", answer.modified))
    told = [
        f"{sum(map(len, kinds.values())):,} {done} ({_kinds(kinds)})" for _, done, kinds in sides if any(kinds.values())
    ]
    edges = len(answer.edges_added) + len(answer.edges_removed)
    told += [counted(edges, "relation")] if edges else []
    p.say(f"Since {one_line(answer.since)[:19].replace('T', ' ')}: {', '.join(told) or 'nothing changed'}.")
    p.block()
    for sign, _, kinds in sides:
        for kind in sorted(kinds, key=lambda each: (each in EXTRACTED, each)):
            for node in kinds[kind] if kind not in ONLY_COUNTED else ():
                words = p.words(answer.words[node]) if node in answer.words else ""
                p.lines(facts(f"{sign} {p.kind(kind)} {words}".rstrip(), p.dim(p.name(node))))
    more = len(answer.transactions) - TRANSACTIONS_SHOWN
    p.section(
        f"the last of {counted(len(answer.transactions), 'transaction')}" if more > 0 else "transactions",
        (
            p.dim(
                facts(
                    each.id, minute(each.at), each.kind, f"by {one_line(each.agent)}", "unfinished" if each.open else ""
                )
            )
            for each in answer.transactions[:TRANSACTIONS_SHOWN]
        ),
    )


def _kinds(kinds: dict[str, tuple[str, ...]]) -> str:
    most = sorted(kinds, key=lambda each: -len(kinds[each]))
    named = [f"{len(kinds[each]):,} {flat(each)}" for each in most[:KINDS_NAMED] if kinds[each]]
    return ", ".join(named) + (" and others" if len(most) > KINDS_NAMED else "")


# ---- what there is


def stats(p: TextPage, answer: Stats) -> None:
    from weft.writing.build.missing_vectors import vectors_summary

    store = answer.store
    size = f", {store.bytes_on_disk / 1e6:.1f} MB" if store.bytes_on_disk else ""
    p.say(f"{counted(store.events, 'event')} in {counted(store.sessions, 'session')}{size}.")
    nodes = f"{counted(store.nodes, 'node')} ({counted(store.node_versions, 'version')})"
    p.block(
        f"{nodes}, {counted(store.edges, 'edge')}, {counted(store.texts, 'text')}",
        f"{store.backend} store, schema {store.schema_version}",
    )
    if answer.vectors is not None and answer.vectors.wanted is not None:
        p.lines(f"vectors: {one_line(vectors_summary(answer.vectors), 500)}")
    rows = [
        (f"{each.nodes:,}", one_line(each.kind), ", ".join(each.views), one_line(", ".join(each.props), 500))
        for each in answer.kinds
    ]
    p.table(("nodes", "kind", "views", "properties"), rows, right=("nodes",))


def statistics(p: TextPage, answer: Statistics) -> None:
    edges, events = counted(answer.edges, "relation"), counted(answer.events, "event")
    p.say(f"{counted(answer.nodes, 'node')}, {edges}, {events} in {counted(answer.sessions, 'session')}.")
    waits = (
        counted(answer.open_proposals, "open proposal"),
        counted(answer.active_alerts, "active alert"),
        counted(answer.waiting_writes, "waiting write"),
    )
    p.block(f"{facts(*waits)} · {answer.backend} store")
    for title, counts in (("views", answer.views), ("kinds", answer.kinds)):
        named = ", ".join(f"{one_line(name)} {number:,}" for name, number in counts.items() if number)
        p.lines(f"{title}: {named}" if named else "")


def diagnosis(p: TextPage, answer: Diagnosis) -> None:
    failed = sum(not each.ok for each in answer.checks)
    p.say(f"{failed} of {counted(len(answer.checks), 'self-test')} failed." if failed else "Every self-test passes.")
    p.block()
    for each in answer.checks:
        mark = p.paint("ok    ", "green") if each.ok else p.paint("FAILED", "red")
        p.lines(f"{mark}  {one_line(each.name):11}  {one_line(each.detail, 500)}")
        p.lines(f"        {p.dim('next:')} {one_line(each.hint, 500)}" if each.hint else "")


def config(p: TextPage, answer: ConfigShown) -> None:
    changed_count = sum(each.origin != "default" for each in answer.settings)
    p.say(f"{counted(len(answer.settings), 'setting')}, {changed_count} of them not the default.")
    p.block()
    for each in answer.settings:
        value = p.value(each.value) if each.value not in ("", None, ()) else "(none)"
        p.lines(facts(f"{p.bold(one_line(each.name))}: {value}", p.dim(one_line(each.origin, 500))))
        p.lines(p.dim(f"  {one_line(each.summary, 500)} ({each.variable})"))


def initialised(p: TextPage, answer: Initialised) -> None:
    p.say(f"Wrote {p.words(answer.path, 4_096)}.")
    p.say(f"This is project {p.name(answer.project)}; its memories go to {p.words(answer.store, 4_096)}.")


# ---- upkeep


def hygiene(p: TextPage, answer: HygieneReport) -> None:
    where = f"project {one_line(answer.project)}" if answer.project else "what is kept for all projects"
    found = sum(each.found for each in answer.checks)
    p.say(f"{counted(found, 'finding')} in {counted(answer.nodes, 'node')} of {where}; nothing was changed.")
    quiet = [CHECKS[each.check] for each in answer.checks if not each.found and not each.problem]
    for check in answer.checks:
        if check.found or check.problem:
            _check(p, check)
    p.block(f"nothing found: {', '.join(quiet)}" if quiet else "")
    p.lines(p.dim(f"last hygiene {minute(answer.last_hygiene_at)}") if answer.last_hygiene_at else "")


def _check(p: TextPage, check: CheckResult) -> None:
    least = "at least " if check.at_least else ""
    p.block(f"{p.bold(CHECKS[check.check])}: {least}{check.found}")
    p.lines(p.paint(f"  could not be checked: {p.words(check.problem, 500)}", "red") if check.problem else "")
    for each in check.findings:
        measure = f"{each.measure} {each.similarity:.2f}".strip() if each.similarity is not None else ""
        p.lines(f"  {facts(p.words(each.why, 500), measure, p.dim(p.name(each.id)))}")
        for words in each.shows:
            p.quote(words, short=True, indent="    " if not p.for_model else "")
        p.lines(*(f"    fix: {_call(p, fix)}" for fix in (each.fix, *each.instead)))
    p.lines(p.dim(f"  and {check.left_out} more") if check.left_out else "")


def _call(p: TextPage, line: str) -> str:
    return p.call(line) if p.for_model and line.startswith("weft ") else flat(line)


def hygiene_applied(p: TextPage, answer: HygieneApplied) -> None:
    p.say(f"{answer.done:,} of {counted(len(answer.findings), 'finding')} mended.")
    p.block()
    for each in answer.findings:
        status = p.paint(each.status, STATUSES.get(each.status, "red"))
        p.lines(
            facts(
                f"{p.name(each.id)}: {status}", p.words(each.why, 500) if each.why else "", p.dim(flat(each.citation))
            )
        )
        p.lines(p.dim(f"  undo: {_call(p, each.undo)}") if each.undo else "")
        p.lines(*(p.dim(f"  note: {one_line(note, 500)}") for note in each.notes))


def backed_up(p: TextPage, answer: BackedUp) -> None:
    audit = ", and the audit with it" if answer.audit_digest else ""
    p.say(f"The store was copied to {p.words(answer.path, 4_096)}{audit}; its head is {answer.digest}.")
    p.block(p.dim(f"head of the audit {answer.audit_digest}") if answer.audit_digest else "")


def reindexed(p: TextPage, answer: Reindexed) -> None:
    model = f" with {one_line(answer.model)}" if answer.model else ""
    p.say(f"{counted(answer.embedded, 'text')} embedded{model}.")
    if answer.switched_from is not None:
        p.say(f"Questions use {one_line(answer.in_use or '')} from now on, no longer {one_line(answer.switched_from)}.")
    p.block(*(f"{counted(gone, 'vector')} of {one_line(each)} dropped" for each, gone in answer.dropped.items()))
    p.lines(*(p.dim(one_line(each, REASON_CHARACTERS)) for each in answer.indexes))


def key_made(p: TextPage, answer: KeyMade) -> None:
    p.say("A new key was made; keep it in the setting `key` or WEFT_KEY.")
    p.text(one_line(answer.key, 500))


def key_rotated(p: TextPage, answer: KeyRotated) -> None:
    how = {"saved": "encrypted again", "partial": "encrypted again so far", "failed": "encrypted before it failed"}
    what = f"{counted(answer.strings, 'text')} in {counted(answer.events, 'event')}"
    p.say(f"{what} {how[answer.status]} with key {one_line(answer.key)}.")


def retrieval_benched(p: TextPage, answer: RetrievalBenched) -> None:
    p.say(f"{counted(answer.questions, 'question')} over {counted(answer.rows, 'row')} in {answer.scopes} scopes.")
    times = f", {answer.store_bytes / answer.text_bytes:.1f} times the text" if answer.text_bytes else ""
    rows = [
        ("run", answer.out),
        ("recipe", f"{answer.recipe}, limit {answer.limit}, embedder {answer.embedder or 'none'}"),
        ("memory", f"{answer.peak_memory_mb:,.0f} MB at most"),
        ("store", f"{answer.store_bytes / 1e6:.1f} MB{times}"),
        ("empty", f"{answer.empty} of {counted(answer.questions, 'answer')}"),
    ]
    if answer.ingest_seconds is not None:
        rows.insert(2, ("ingest", f"{answer.ingest_rows_per_second:,} rows/s ({answer.ingest_seconds:.1f} s)"))
    if answer.query_p50_ms is not None:
        rows.insert(-3, ("query", f"p50 {answer.query_p50_ms} ms, p95 {answer.query_p95_ms} ms"))
    rows += [("skipped", counted(answer.skipped_rows, "row"))] if answer.skipped_rows else []
    rows += [("refused", f"{count}: {reason}") for reason, count in answer.refused.items()]
    p.block(*(f"{title:8} {value}" for title, value in rows))
