"""Alerts and digests: what should be seen soon, and what happened since somebody last looked."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct

from weft.errors import Invalid
from weft.instants import to_iso
from weft.loom import Loom
from weft.operations.bounds import bounded
from weft.operations.committing import Choice, decided
from weft.operations.fields import Limit, Moment, NodeName
from weft.operations.making import check_words
from weft.operations.moments import check_interval
from weft.operations.once import Piece, this_minute, write_once
from weft.operations.registry import Operation
from weft.operations.remembered import Remembered
from weft.operations.reports import MAX_BODY
from weft.operations.showing import NodeShown, flagged, show_nodes
from weft.operations.tending import RequestId
from weft.operations.versions import answer_of, new_versions, node_fence, standing_node, told_alike, version_draft
from weft.operations.write_options import WriteOptions, focus_of, guard_of, props_of
from weft.types import NOW, Find, NodeVersion

ALERT: Final = "Alert"
DIGEST: Final = "Digest"
Severity = Literal["info", "warning", "critical"]
DAY_US: Final = 86_400_000_000
ACTIVE_US: Final = DAY_US  # how long an alert is one
MAX_ALERTS: Final = 1_000  # that are looked through


class AlertRaise(WriteOptions, frozen=True, kw_only=True):
    """Input of `alert_raise`."""

    message: Annotated[str, Meta(min_length=1, max_length=2_000, description="what should be seen, in a sentence")]
    severity: Annotated[Severity, Meta(description="how bad it is")] = "warning"


def alert_raise(loom: Loom, given: AlertRaise) -> Remembered:
    """Raises an alert: it is shown for 24 hours, or until it is suppressed.

    The same words while one of them is active are the alert that is there already.
    """
    message = check_words(given.message, field="message").strip()
    guard = guard_of(loom, given)
    now = loom.clock.now_us()

    def active() -> NodeVersion | None:
        alike = (node for node in _alerts(loom, (guard.project,)) if node.text == message and node.guard == guard)
        return next((node for node in alike if _is_active(node, loom.clock.now_us())), None)

    props: dict[str, Any] = props_of(given) | {"severity": given.severity}
    piece = Piece(
        id=loom.new_id(given.request_id),
        kind=ALERT,
        name="",
        text=message,
        guard=guard,
        at=now,
        props=props,
        focus=focus_of(loom, given),
    )
    note = "this alert is active already; nothing was written"
    return write_once(loom, piece, request_id=given.request_id, stands=active, note=note)


class AlertSuppress(Struct, frozen=True, kw_only=True):
    """Input of `alert_suppress`."""

    id: NodeName
    reason: Annotated[str, Meta(max_length=1_000, description="why it need not be seen any more")] = ""
    request_id: RequestId = None


def alert_suppress(loom: Loom, given: AlertSuppress) -> Remembered:
    """Says that an alert need not be seen any more. It stays in the log, with who said so and why."""

    def choose(pos: int) -> Choice[Remembered]:
        node = standing_node(loom, given.id)
        if node.kind != ALERT:
            raise Invalid(f"{given.id[:80]!r} is a {node.kind}, not an alert", hint="`weft alert-list` gives their ids")
        if "suppressed_at" in node.props:
            return Choice(told=Remembered(status="duplicate_skip", id=node.id, notes=("it is suppressed already",)))
        props = dict(node.props) | {"suppressed_at": to_iso(loom.clock.now_us())}
        props |= {"suppressed_because": given.reason} if given.reason else {}
        draft = version_draft(loom, node, new_versions(loom, node, props=props))
        return Choice(told=Remembered(status="saved", id=node.id), drafts=(draft,), fence=node_fence(node, pos))

    with told_alike(given.id):
        return answer_of(*decided(loom, choose, request_id=given.request_id))


class AlertList(Struct, frozen=True, kw_only=True):
    """Input of `alert_list`."""

    limit: Limit = 20
    every: Annotated[bool, Meta(description="those that are over or suppressed, too")] = False
    everywhere: Annotated[bool, Meta(description="from every project")] = False


class AlertsListed(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Alerts, the newest first; `total` is how many there are of those asked for."""

    alerts: tuple[NodeShown, ...]
    total: int
    notes: tuple[str, ...] = ()


def alert_list(loom: Loom, given: AlertList) -> AlertsListed:
    """Lists the alerts of the last 24 hours that nobody suppressed."""
    projects = None if given.everywhere else (loom.settings.project, None)
    found = _alerts(loom, projects) if given.every else active_alerts(loom, projects)
    notes = () if found else ("no alert was raised here" if given.every else "no alert is active",)
    shown = show_nodes(loom, found[: given.limit])
    return bounded(AlertsListed(alerts=shown, total=len(found), notes=(*notes, *flagged(shown))), "alerts")


def active_alerts(loom: Loom, projects: tuple[str | None, ...] | None) -> tuple[NodeVersion, ...]:
    """The alerts that should be seen now, newest first."""
    now = loom.clock.now_us()
    return tuple(node for node in _alerts(loom, projects) if _is_active(node, now))


def _alerts(loom: Loom, projects: tuple[str | None, ...] | None) -> tuple[NodeVersion, ...]:
    found = loom.store.find(loom.viewer, NOW, Find(kinds=(ALERT,), projects=projects), limit=MAX_ALERTS).nodes
    return tuple(sorted(found, key=lambda node: (-node.interval.valid_from, -node.row)))


def _is_active(node: NodeVersion, now: int) -> bool:
    return "suppressed_at" not in node.props and now - node.interval.valid_from <= ACTIVE_US


class DigestWrite(WriteOptions, frozen=True, kw_only=True):
    """Input of `digest_write`."""

    body: Annotated[str, Meta(min_length=1, max_length=MAX_BODY, description="what happened, for who was not there")]
    title: Annotated[str, Meta(max_length=512, description="of what, such as Review of public chats")] = ""
    covers_from: Annotated[Moment | None, Meta(description="since when")] = None
    covers_to: Annotated[Moment | None, Meta(description="until when; now if unset")] = None


def digest_write(loom: Loom, given: DigestWrite) -> Remembered:
    """Keeps a digest of what happened over a time. The same title in the same minute is the one there already."""
    check_words(given.body, field="body")
    begin, end = check_interval(given.covers_from, given.covers_to)
    now = loom.clock.now_us()
    title = " ".join(given.title.split())
    span = {"covers_from": begin, "covers_to": now if end is None else end}
    props = {name: to_iso(at) for name, at in span.items() if at is not None}
    piece = this_minute(loom, given, kind=DIGEST, title=title, text=given.body, at=now, props=props)
    note = "a digest of this title and minute is there already; nothing was written"
    return write_once(loom, piece, request_id=given.request_id, note=note)


OPERATIONS = (
    Operation(
        name="alert_raise",
        summary="raise an alert that is shown for 24 hours",
        input=AlertRaise,
        output=Remembered,
        effect="write",
        toolset="reports",
        run=alert_raise,
        arguments=("message",),
    ),
    Operation(
        name="alert_suppress",
        summary="say that an alert need not be seen any more",
        input=AlertSuppress,
        output=Remembered,
        effect="write",
        toolset="reports",
        run=alert_suppress,
        arguments=("id",),
    ),
    Operation(
        name="alert_list",
        summary="list the alerts that should be seen now",
        input=AlertList,
        output=AlertsListed,
        effect="read",
        toolset="reports",
        run=alert_list,
    ),
    Operation(
        name="digest_write",
        summary="keep a digest of what happened over a time",
        input=DigestWrite,
        output=Remembered,
        effect="write",
        toolset="reports",
        run=digest_write,
        arguments=("body",),
    ),
)
