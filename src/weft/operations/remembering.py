"""Writing memories: free text, and facts that hold for a time."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct, field
from msgspec.structs import asdict

from weft.append import Appended
from weft.errors import Invalid
from weft.instants import MIN_INSTANT_US, parse_instant, to_iso
from weft.kinds import RECORD_KINDS
from weft.log.draft import Draft
from weft.log.kinds import memory
from weft.loom import Loom
from weft.operations.committing import WriteStatus
from weft.operations.dedup import Alike
from weft.operations.fields import KindName, Label, Moment, ScopeAsked, Tags
from weft.operations.moments import check_interval
from weft.operations.registry import Operation
from weft.operations.rights import write_guard

Text = Annotated[str, Meta(min_length=1, max_length=1_000_000, description="the words to keep, verbatim")]
Props = dict[str, str | int | float | bool | None]

ALWAYS = to_iso(MIN_INSTANT_US)
REPEATED = "this request was written before; nothing was written again"


class Remember(Struct, frozen=True, kw_only=True):
    """Input of `remember`."""

    text: Text
    name: Annotated[str, Meta(max_length=512, description="a short title")] = ""
    kind: Annotated[KindName, Meta(description="what sort of memory")] = "Memory"
    scope: ScopeAsked = None
    agents: Annotated[Tags, Meta(description="agents it is meant for")] = ()
    sensitive: Annotated[bool, Meta(description="leave it out of ordinary reads")] = False
    valid_from: Annotated[Moment | None, Meta(description="since when it holds; when it happened if unset")] = None
    valid_to: Annotated[Moment | None, Meta(description="until when it holds")] = None
    occurred_at: Annotated[Moment | None, Meta(description="when it happened")] = None
    level: Annotated[Literal["project", "global"], Meta(description="for this project, or for all")] = "project"
    props: Annotated[Props, Meta(max_length=64, description="properties to filter by")] = field(default_factory=dict)
    request_id: Annotated[Label | None, Meta(description="repeat a call with the same id and it is written once")] = (
        None
    )
    expected_head: Annotated[int, Meta(ge=0, description="write only if the session stands here")] | None = None


class Remembered(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of a write. Where nothing was written for now (`manual_review`), `candidates` are what it is like.

    `linked` are the ids of what it was joined to, in the order given.
    """

    status: WriteStatus
    id: str = ""
    citation: str = ""
    supersedes: tuple[str, ...] = ()
    candidates: tuple[Alike, ...] = ()
    linked: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def remember(loom: Loom, given: Remember) -> Remembered:
    """Keeps words for good, verbatim, with who said them and when.

    They can be found at once by `weft recall`, cited by the citation this prints, and asked for as they were
    known at any later moment.
    """
    if not given.text.strip():
        raise Invalid("the text is empty", hint="say what to remember")
    if given.kind in RECORD_KINDS:
        raise Invalid(f"{given.kind} is weft's own kind of record", hint="choose another kind, such as Memory")
    check_interval(given.valid_from, given.valid_to)
    project = None if given.level == "global" else loom.settings.project
    guard = write_guard(loom, scope=given.scope, agents=given.agents, sensitive=given.sensitive, project=project)
    node_id = loom.new_id(given.request_id)
    payload = memory.Remembered(
        id=node_id,
        text=given.text,
        node_kind=given.kind,
        name=given.name,
        props=dict(given.props),
        **asdict(guard),
        valid_from=_iso(given.valid_from, "valid_from"),
        valid_to=_iso(given.valid_to, "valid_to"),
    )
    occurred_at = None if given.occurred_at is None else parse_instant(given.occurred_at, field="occurred_at")
    draft = Draft(kind="memory.remembered", payload=payload, occurred_at=occurred_at)
    done = loom.append([draft], request_id=given.request_id, expected_head=given.expected_head)
    return Remembered(
        status="duplicate_skip" if done.repeated else "saved",
        id=node_id,
        citation=done.events[0].citation,
        notes=_notes(done),
    )


def _notes(done: Appended) -> tuple[str, ...]:
    repeated = (REPEATED,) if done.repeated else ()
    return (*repeated, done.note) if done.note else repeated


def _iso(written: str | None, field_name: str) -> str | None:
    return None if written is None else to_iso(parse_instant(written, field=field_name))


OPERATIONS = (
    Operation(
        name="remember",
        summary="keep words for good, verbatim, with their source",
        input=Remember,
        output=Remembered,
        effect="write",
        toolset="core",
        run=remember,
        arguments=("text",),
        eager=True,
    ),
)
