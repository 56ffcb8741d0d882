"""Names of predicates and relations: normal forms, cardinality, and the ones reserved by weft.

A single-valued property has one value at a time: a newer value ends the older one. The list is short on purpose:
properties not in it have many values, so that nothing is ended by a guess. The setting `single_valued` extends it,
`cardinality` overrides it for one call.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Annotated, Final, Literal

from msgspec import Meta

from weft.core.errors import Invalid
from weft.core.kinds import FEEDBACK_RELATION
from weft.text.lexical import name_key

Cardinality = Literal["one", "many"]

# One value at a time. Left the name that is kept, right what else it is called. No name is in the past tense ("lived
# in") and none is denied ("no longer works at"): such a statement ends nothing. What may well have two values (e-mail,
# licence, maintainer) or means two things ("born in" a year or a town, "state", "position") is not here. Another name
# is here only if it is the same property beyond doubt: an address is no city, a birthday no date of birth.
SINGLE_VALUED: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "lives_in": ("live_in", "living_in", "resides_in", "residing_in"),
        "works_at": ("work_at", "working_at", "employed_by", "employed_at", "employer"),
        "role": ("job_role",),
        "title": (),
        "status": ("current_status",),
        "owner": ("owned_by",),
        "version": ("current_version",),
        "located_in": (),
        "headquartered_in": (),
        "uses_database": (),
        "deployed_on": (),
        "spouse": ("married_to", "husband", "wife"),
        "age": (),
        "birthday": (),
        "date_of_birth": ("born_on", "birth_date"),
        "birthplace": ("place_of_birth", "birth_place"),
        "reports_to": (),
        "deadline": ("due_on", "due_date", "due_by"),
        "priority": (),
        "price": ("costs",),
        "capital": ("capital_city",),
        "ceo": ("chief_executive",),
        "default_branch": (),
        "timezone": ("time_zone",),
    }
)

# Many values: two of them are no contradiction.
MANY_VALUED: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "likes": ("like", "loves", "enjoys", "fond_of"),
        "dislikes": ("dislike", "hates"),
        "owns": ("own", "owner_of"),
        "has": (),
        "knows": ("know",),
        "speaks": ("speak",),
        "uses": ("use",),
        "depends_on": ("requires",),
        "works_on": ("working_on",),
        "deployed_to": (),
        "hosted_on": (),
        "member_of": (),
        "part_of": (),
        "contains": (),
        "interested_in": (),
        "allergic_to": (),
    }
)

# Predicates of events, which may repeat: the same statement twice may mean two events.
HAPPENINGS: Final[frozenset[str]] = frozenset(
    [
        "visited",
        "said",
        "met",
        "called",
        "attended",
        "bought",
        "sold",
        "joined",
        "left",
        "released",
        "deployed",
        "fixed",
        "broke",
        "reported",
        "asked",
        "answered",
        "travelled_to",
        "traveled_to",
        "moved_to",
        "moved_from",
        "talked_to",
        "spoke_to",
        "wrote",
        "read",
        "watched",
        "played",
        "won",
        "lost",
        "saw",
        "created",
        "changed",
        "renewed",
        "failed",
        "paid",
    ]
)

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_APART = re.compile(r"[\s_\-]+")
_AUXILIARIES = ("is", "has", "are", "currently", "now", "is_currently", "is_now", "currently_is", "his", "her", "its")


def _named(families: Iterable[Mapping[str, tuple[str, ...]]]) -> dict[str, str]:
    return {name: kept for family in families for kept, others in family.items() for name in (kept, *others)}


_KEPT: Final[Mapping[str, str]] = _named((SINGLE_VALUED, MANY_VALUED))


def predicate_of(written: str) -> str:
    """The normal form of a property name: `Lives in`, `livesIn` and `currently resides in` are all `lives_in`.

    Unknown names keep their own words. Empty if there is no letter or digit.
    """
    words = name_key(_CAMEL.sub(" ", written))
    name = _APART.sub("_", words).strip("_")
    if name in _KEPT:
        return _KEPT[name]
    for auxiliary in _AUXILIARIES:
        rest = name.removeprefix(f"{auxiliary}_")
        if rest != name and rest in _KEPT:
            return _KEPT[rest]
    return name


def is_single(predicate: str, *, cardinality: Cardinality | None = None, extra: Iterable[str] = ()) -> bool:
    """Whether a property has one value at a time: as the call says, else by this list, else by the setting."""
    if cardinality is not None:
        return cardinality == "one"
    if predicate in SINGLE_VALUED:
        return True
    return predicate in {predicate_of(each) for each in extra}


RelationName = Annotated[str, Meta(min_length=1, max_length=64, description="the relation, such as WORKS_AT")]

# Relations with a fixed meaning, and what makes each.
OWN: Final[Mapping[str, str]] = {
    "CONTAINS": "ingest and record_turns write it for parts of documents and conversations",
    "MENTIONS_CODE": "ingest joins documents to the code that they name",
    "NEXT": "record_turns writes it to keep the order of messages",
    "SUPERSEDES": "add_fact and save_decision write it for what they replace",
    "MERGES_INTO": "merge_entities joins two nodes for one entity",
    "PRODUCED": "give produced_by_task_id to a write instead",
    "RAISED_DURING": "work_create writes it for the conversation of a task",
    FEEDBACK_RELATION: "memory_feedback writes it",
}
# Relations that join the views of the graph, never two entities.
ACROSS: Final[Mapping[str, str]] = {
    "INVOLVES": "add_event and add_fact name the entities they involve",
    "REPRESENTS": "add_concept names the entities it represents",
    "AFFECTS": "add_causal_link names the entities it affects",
    "REFERS_TO": "add_causal_link names the events it refers to",
    "CAUSES": "add_causal_link joins a cause and its effect",
    "FOLLOWS": "events are ordered by their times",
    "CONFLICTS_WITH": "proposals write it for the fact that they contradict",
}

_WRITTEN = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*")


def check_relation(name: str, *, between_entities: bool) -> str:
    """Raises Invalid unless the name is UPPER_SNAKE_CASE and not reserved."""
    if not _WRITTEN.fullmatch(name):
        better = "_".join(re.findall(r"[A-Z0-9]+", name.upper()))
        better = better if better[:1].isalpha() else "WORKS_AT"
        raise Invalid(f"the relation {name[:64]!r} is not in UPPER_SNAKE_CASE", hint=f"write it as {better}")
    instead = OWN.get(name) or (ACROSS.get(name) if between_entities else None)
    if instead is not None:
        raise Invalid(f"the relation {name} is reserved by weft", hint=instead)
    return name
