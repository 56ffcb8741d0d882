"""What properties mean: which have one value at a time, and the names they go by.

A property that has one value at a time is a question with one answer: a newer value ends the older one. This list is
short on purpose. What is not in it has many values, so that nothing is ended by a guess; the setting `single_valued`
adds to it, and `cardinality` says so for one call.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, Literal

from weft.lexical import name_key

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

# Many values, whatever a caller of the list above might think: two of them are no contradiction.
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

# Things that happen, and may happen again: said twice, they may have happened twice.
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
    """The name under which a property is kept: `Lives in`, `livesIn` and `currently resides in` are all `lives_in`.

    One that is not known keeps its own words. Empty where there is no letter or digit.
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
    """Whether a property has one value at a time: as the call says, else the registry, else the setting."""
    if cardinality is not None:
        return cardinality == "one"
    if predicate in SINGLE_VALUED:
        return True
    return predicate in {predicate_of(each) for each in extra}
