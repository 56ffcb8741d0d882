"""`alert_raise`, `alert_suppress`, `alert_list`, `digest_write`: alerts, and digests of what happened."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct

from weft.core.clock import to_iso
from weft.core.errors import Invalid
from weft.core.types import NOW, Find, NodeVersion
from weft.fleet.reports import MAX_BODY
from weft.recall.answer_limits import bounded
from weft.recall.show_values import NodeShown, flagged, show_nodes
from weft.runtime.call_context import CallContext
from weft.runtime.fields import Limit, Moment, NodeName, RequestId
from weft.runtime.moments import check_interval
from weft.runtime.operation import Operation
from weft.writing.build.commit import WriteDecision, decide_and_commit
from weft.writing.build.entity_builder import check_text_field
from weft.writing.build.versions import (
    current_node,
    hidden_as_missing,
    new_versions,
    node_fence,
    result_of,
    version_draft,
)
from weft.writing.build.write_once import TextOnce, TimedText, once_a_minute, write_once
from weft.writing.write_contract import WriteOptions, WriteResult, focus_of, guard_of, props_of

ALERT: Final = "Alert"
DIGEST: Final = "Digest"
Severity = Literal["info", "warning", "critical"]
DAY_US: Final = 86_400_000_000
ACTIVE_US: Final = DAY_US  # how long an alert is active
MAX_ALERTS: Final = 1_000  # read for one answer


class AlertRaise(WriteOptions, frozen=True, kw_only=True):
    """Input of `alert_raise`."""

    message: Annotated[str, Meta(min_length=1, max_length=2_000, description="the message, in a sentence")]
    severity: Annotated[Severity, Meta(description="severity of the alert")] = "warning"


def alert_raise(ctx: CallContext, given: AlertRaise) -> WriteResult:
    """Raises an alert, which is shown for 24 hours or until it is suppressed.

    The same message while an alert is active is not written again.
    """
    message = check_text_field(given.message, field="message").strip()
    guard = guard_of(ctx, given)
    now = ctx.clock.now_us()

    def active() -> NodeVersion | None:
        alike = (node for node in _alerts(ctx, (guard.project,)) if node.text == message and node.guard == guard)
        return next((node for node in alike if _is_active(node, ctx.clock.now_us())), None)

    props: dict[str, Any] = props_of(ctx, given) | {"severity": given.severity}
    piece = TextOnce(
        id=ctx.new_id(given.request_id),
        kind=ALERT,
        name="",
        text=message,
        guard=guard,
        at=now,
        props=props,
        focus=focus_of(ctx, given),
    )
    note = "nothing was written: this alert is already active"
    return write_once(ctx, piece, request_id=given.request_id, stands=active, note=note)


class AlertSuppress(Struct, frozen=True, kw_only=True):
    """Input of `alert_suppress`."""

    id: NodeName
    reason: Annotated[str, Meta(max_length=1_000, description="why it need not be shown any more")] = ""
    request_id: RequestId = None


def alert_suppress(ctx: CallContext, given: AlertSuppress) -> WriteResult:
    """Suppresses an alert: it is no longer shown. It stays in the log, with who suppressed it and why."""

    def choose(pos: int) -> WriteDecision[WriteResult]:
        node = current_node(ctx, given.id)
        if node.kind != ALERT:
            raise Invalid(
                f"{given.id[:80]!r} is a {node.kind}, not an alert", hint="`weft alert-list` shows the ids of alerts"
            )
        if "suppressed_at" in node.props:
            return WriteDecision(
                answer=WriteResult(
                    status="duplicate_skip", id=node.id, notes=("nothing was written: it is already suppressed",)
                )
            )
        props = dict(node.props) | {"suppressed_at": to_iso(ctx.clock.now_us())}
        props |= {"suppressed_because": given.reason} if given.reason else {}
        draft = version_draft(ctx, node, new_versions(ctx, node, props=props))
        return WriteDecision(
            answer=WriteResult(status="saved", id=node.id), drafts=(draft,), fence=node_fence(node, pos)
        )

    with hidden_as_missing(given.id):
        return result_of(*decide_and_commit(ctx, choose, request_id=given.request_id))


class AlertList(Struct, frozen=True, kw_only=True):
    """Input of `alert_list`."""

    limit: Limit = 20
    every: Annotated[bool, Meta(description="include expired and suppressed alerts")] = False
    everywhere: Annotated[bool, Meta(description="from every project")] = False


class AlertsListed(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Alerts, newest first; `total` is how many match."""

    alerts: tuple[NodeShown, ...]
    total: int
    notes: tuple[str, ...] = ()


def alert_list(ctx: CallContext, given: AlertList) -> AlertsListed:
    """Lists the alerts of the last 24 hours that nobody suppressed."""
    projects = None if given.everywhere else (ctx.settings.project, None)
    found = _alerts(ctx, projects) if given.every else active_alerts(ctx, projects)
    shown = show_nodes(ctx, found[: given.limit])
    return bounded(AlertsListed(alerts=shown, total=len(found), notes=flagged(shown)), "alerts")


def active_alerts(ctx: CallContext, projects: tuple[str | None, ...] | None) -> tuple[NodeVersion, ...]:
    """The active alerts, newest first."""
    now = ctx.clock.now_us()
    return tuple(node for node in _alerts(ctx, projects) if _is_active(node, now))


def _alerts(ctx: CallContext, projects: tuple[str | None, ...] | None) -> tuple[NodeVersion, ...]:
    found = ctx.store.find(ctx.viewer, NOW, Find(kinds=(ALERT,), projects=projects), limit=MAX_ALERTS).nodes
    return tuple(sorted(found, key=lambda node: (-node.interval.valid_from, -node.row)))


def _is_active(node: NodeVersion, now: int) -> bool:
    return "suppressed_at" not in node.props and now - node.interval.valid_from <= ACTIVE_US


class DigestWrite(WriteOptions, frozen=True, kw_only=True):
    """Input of `digest_write`."""

    body: Annotated[
        str, Meta(min_length=1, max_length=MAX_BODY, description="what happened, for readers who were not there")
    ]
    title: Annotated[str, Meta(max_length=512, description="the subject, such as Review of public chats")] = ""
    covers_from: Annotated[Moment | None, Meta(description="beginning of the time that it covers")] = None
    covers_to: Annotated[Moment | None, Meta(description="end of the time that it covers; now if unset")] = None


def digest_write(ctx: CallContext, given: DigestWrite) -> WriteResult:
    """Keeps a digest of what happened over a time. The same title in the same minute is not written again."""
    check_text_field(given.body, field="body")
    begin, end = check_interval(given.covers_from, given.covers_to)
    now = ctx.clock.now_us()
    title = " ".join(given.title.split())
    span = {"covers_from": begin, "covers_to": now if end is None else end}
    props = {name: to_iso(at) for name, at in span.items() if at is not None}
    piece = once_a_minute(ctx, given, TimedText(kind=DIGEST, title=title, text=given.body, at=now, props=props))
    note = "nothing was written: there is already a digest with this title in this minute"
    return write_once(ctx, piece, request_id=given.request_id, note=note)


OPERATIONS = (
    Operation(
        name="alert_raise",
        summary="raise an alert that is shown for 24 hours",
        input=AlertRaise,
        output=WriteResult,
        effect="write",
        toolset="reports",
        run=alert_raise,
        arguments=("message",),
    ),
    Operation(
        name="alert_suppress",
        summary="suppress an alert, so that it is no longer shown",
        input=AlertSuppress,
        output=WriteResult,
        effect="write",
        toolset="reports",
        run=alert_suppress,
        arguments=("id",),
    ),
    Operation(
        name="alert_list",
        summary="list active alerts",
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
        output=WriteResult,
        effect="write",
        toolset="reports",
        run=digest_write,
        arguments=("body",),
    ),
)
