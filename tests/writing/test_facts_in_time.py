"""Facts in time: what a newer one ends, and above all what it must not end.

Each case is a list of facts in the order in which they are told, and what holds at which moments afterwards. The clock
stands at 2026-01-01 and moves an hour with each fact. `ended` is how many of them superseded another one.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

import pytest

import weft
from tests.places import Place
from weft.core.clock import parse_instant
from weft.core.types import Find, When
from weft.testing.clock import ManualClock

NOW = "now"
Holds = dict[str, list[str]]


@dataclass(frozen=True)
class Fact:
    subject: str
    predicate: str
    value: str
    more: dict[str, Any]
    project: str | None = None


def fact(subject: str, predicate: str, value: str, at: str | None = None, to: str | None = None, **more: Any) -> Fact:
    project = more.pop("in_project", None)
    times = {"valid_from": at, "valid_to": to}
    return Fact(subject, predicate, value, {k: v for k, v in times.items() if v is not None} | more, project)


def mira(predicate: str, value: str, at: str | None = None, to: str | None = None, **more: Any) -> Fact:
    return fact("Mira", predicate, value, at, to, **more)


@dataclass(frozen=True)
class Case:
    name: str
    told: list[Fact]
    holds: Holds
    ended: int = 0
    statuses: list[str] | None = field(default=None)


MAILS = ["m@fjord.example", "m@home.example"]
S, SUPERSEDED, SKIPPED, REVIEW = "saved", "superseded", "duplicate_skip", "manual_review"

# ---- these end what stood before, where they begin

ENDING = [
    Case(
        "a newer value",
        [mira("lives_in", "Paris", "2020"), mira("lives_in", "Oslo", "2023")],
        {"2019": [], "2021": ["Paris"], "2022-12-31": ["Paris"], "2023": ["Oslo"], NOW: ["Oslo"]},
        ended=1,
    ),
    Case(
        "three in a row",
        [mira("role", "intern", "2019"), mira("role", "engineer", "2020"), mira("role", "lead", "2024")],
        {"2019-06": ["intern"], "2022": ["engineer"], NOW: ["lead"]},
        ended=2,
    ),
    Case(
        "there and back again",
        [mira("lives_in", "Paris", "2020"), mira("lives_in", "Oslo", "2022"), mira("lives_in", "Paris", "2024")],
        {"2021": ["Paris"], "2023": ["Oslo"], NOW: ["Paris"]},
        ended=2,
    ),
    Case(
        "told without dates",
        [mira("status", "draft"), mira("status", "final")],
        {"2025": [], NOW: ["final"]},
        ended=1,
    ),
    Case(
        "the predicate in other words",
        [mira("lives in", "Paris", "2020"), mira("living in", "Oslo", "2023"), mira("residesIn", "Rome", "2025")],
        {"2021": ["Paris"], "2024": ["Oslo"], NOW: ["Rome"]},
        ended=2,
    ),
    Case(
        "employed by is works at",
        [mira("works at", "Fjordline", "2020"), mira("employed by", "Kestrel Maps", "2024")],
        {"2021": ["Fjordline"], NOW: ["Kestrel Maps"]},
        ended=1,
    ),
    Case(
        "with is and capitals",
        [mira("Currently Lives In", "Paris", "2020"), mira("LIVES_IN", "Oslo", "2023")],
        {"2021": ["Paris"], NOW: ["Oslo"]},
        ended=1,
    ),
    Case(
        "the subject in other spelling",
        [fact("Café Lumen", "owner", "Ida", "2020"), fact("CAFE LUMEN.", "owner", "Bo", "2021")],
        {"2020-06": ["Ida"], NOW: ["Bo"]},
        ended=1,
    ),
    Case(
        "the same beginning: the later told wins",
        [mira("lives_in", "Paris", "2020"), mira("lives_in", "Oslo", "2020")],
        {"2020": ["Oslo"], NOW: ["Oslo"]},
        ended=1,
    ),
    Case(
        "a time of its own inside an open one",
        [mira("lives_in", "Paris", "2020"), mira("lives_in", "Tokyo", "2022", "2023")],
        {"2021": ["Paris"], "2022-06": ["Tokyo"], "2023": ["Paris"], NOW: ["Paris"]},
        ended=1,
    ),
    Case(
        "a time of its own that lies over two",
        [
            mira("lives_in", "Paris", "2018"),
            mira("lives_in", "Oslo", "2021"),
            mira("lives_in", "Rome", "2020", "2022"),
        ],
        {"2019": ["Paris"], "2020": ["Rome"], "2021-06": ["Rome"], "2022": ["Oslo"], NOW: ["Oslo"]},
        ended=2,
    ),
    Case(
        "a future one ends the present one then, not now",
        [mira("works_at", "Fjordline", "2020"), mira("works_at", "Kestrel Maps", "2027")],
        {NOW: ["Fjordline"], "2026-12-31": ["Fjordline"], "2027": ["Kestrel Maps"]},
        ended=1,
    ),
    Case(
        "one that slips in between ends the earlier, not the later",
        [mira("role", "engineer", "2020"), mira("role", "head", "2024"), mira("role", "lead", "2022")],
        {"2021": ["engineer"], "2023": ["lead"], NOW: ["head"]},
        ended=2,
    ),
    Case(
        "an unknown predicate said to have one value",
        [mira("mood", "calm", "2025", cardinality="one"), mira("mood", "merry", "2025-06", cardinality="one")],
        {"2025-02": ["calm"], NOW: ["merry"]},
        ended=1,
    ),
    Case(
        "numbers that differ",
        [mira("age", "33", "2024"), mira("age", "34", "2025")],
        {"2024-06": ["33"], NOW: ["34"]},
        ended=1,
    ),
    Case(
        "versions are not numbers",
        [fact("Tidebook", "version", "3.1", "2024"), fact("Tidebook", "version", "3.10", "2025")],
        {"2024-06": ["3.1"], NOW: ["3.10"]},
        ended=1,
    ),
    Case(
        "units that differ",
        [fact("Skerry Path", "price", "5 EUR", "2024"), fact("Skerry Path", "price", "5 NOK", "2025")],
        {NOW: ["5 NOK"]},
        ended=1,
    ),
    Case(
        "a unit is told, then another",
        [
            fact("Skerry Path", "price", value, at)
            for value, at in (("5", "2023"), ("5 EUR", "2024"), ("5 USD", "2025"))
        ],
        {"2023-06": ["5"], "2024-06": ["5 EUR"], NOW: ["5 USD"]},
        ended=1,
        statuses=[S, S, SUPERSEDED],
    ),
    Case(
        "one of two owners",
        [fact("Tidebook", "owner", "Ana, Bob", "2020"), fact("Tidebook", "owner", "Bob", "2024")],
        {"2021": ["Ana, Bob"], NOW: ["Bob"]},
        ended=1,
    ),
    Case(
        "two towns of one name",
        [mira("lives_in", "Paris, France", "2020"), mira("lives_in", "Paris, Texas", "2023")],
        {"2021": ["Paris, France"], NOW: ["Paris, Texas"]},
        ended=1,
    ),
    Case(
        "a longer role is another role",
        [mira("role", "engineer", "2020"), mira("role", "senior engineer", "2023")],
        {"2021": ["engineer"], NOW: ["senior engineer"]},
        ended=1,
    ),
    Case(
        "nobody is a value",
        [fact("Tidebook", "owner", "Ida", "2020"), fact("Tidebook", "owner", "nobody", "2024")],
        {NOW: ["nobody"]},
        ended=1,
    ),
    Case(
        "sure enough",
        [mira("lives_in", "Paris", "2020"), mira("lives_in", "Oslo", "2024", confidence=0.5)],
        {NOW: ["Oslo"]},
        ended=1,
    ),
    Case(
        "for all projects",
        [mira("role", "lead", "2020", level="global"), mira("role", "head", "2024", level="global")],
        {NOW: ["head"]},
        ended=1,
    ),
    Case(
        "among the agents it is meant for",
        [mira("role", "lead", "2020", agents=["scout"]), mira("role", "head", "2024", agents=["scout"])],
        {NOW: ["head"]},
        ended=1,
    ),
    Case(
        "one that said until when",
        [mira("works_at", "Fjordline", "2020", "2027"), mira("works_at", "Kestrel Maps", "2024", "2025")],
        {"2023": ["Fjordline"], "2024-06": ["Kestrel Maps"], NOW: ["Fjordline"], "2027": []},
        ended=1,
    ),
    Case(
        "by the thing's id",
        [
            fact("Mira", "role", "lead", "2020", subject_kind="Person"),
            fact("she", "role", "head", "2024", subject_entity="person:mira"),
        ],
        {NOW: ["head"]},
        ended=1,
    ),
    Case(
        "by the one thing of that name, whatever its kind",
        [fact("Mira", "role", "lead", "2020", subject_kind="Person"), mira("role", "head", "2024")],
        {"2021": ["lead"], NOW: ["head"]},
        ended=1,
    ),
]

# ---- these end nothing

SPARING = [
    # many values
    Case("likes", [mira("likes", "oolong"), mira("likes", "sencha")], {NOW: ["oolong", "sencha"]}),
    Case("visits", [mira("visited", "Rome", "2020"), mira("visited", "Oslo", "2021")], {NOW: ["Oslo", "Rome"]}),
    Case("sayings", [mira("said", "yes", "2020"), mira("said", "no", "2021")], {NOW: ["no", "yes"]}),
    Case("possessions", [mira("owns", "a boat"), mira("owns", "a dog")], {NOW: ["a boat", "a dog"]}),
    Case("acquaintances", [mira("knows", "Ida"), mira("knows", "Bo")], {NOW: ["Bo", "Ida"]}),
    Case("languages", [mira("speaks", "Dutch"), mira("speaks", "Finnish")], {NOW: ["Dutch", "Finnish"]}),
    Case("tools", [fact("Tidebook", "uses", "Redis"), fact("Tidebook", "uses", "Kafka")], {NOW: ["Kafka", "Redis"]}),
    Case(
        "dependencies",
        [fact("Tidebook", "depends on", "Lantern"), fact("Tidebook", "depends_on", "Gullmail")],
        {NOW: ["Gullmail", "Lantern"]},
    ),
    Case(
        "places of deployment",
        [fact("Tidebook", "deployed to", "staging"), fact("Tidebook", "deployed_to", "production")],
        {NOW: ["production", "staging"]},
    ),
    Case(
        "an address is no town",
        [fact("Fjordline", "located_in", "Oslo"), fact("Fjordline", "located_at", "3 Quay Road")],
        {NOW: ["3 Quay Road", "Oslo"]},
    ),
    Case(
        "a position is no role", [mira("role", "lead"), mira("position", "goalkeeper")], {NOW: ["goalkeeper", "lead"]}
    ),
    Case("e-mail addresses", [mira("email", "m@fjord.example"), mira("email", "m@home.example")], {NOW: MAILS}),
    Case("unknown predicates", [mira("juggles", "clubs"), mira("juggles", "rings")], {NOW: ["clubs", "rings"]}),
    Case("memberships", [mira("member_of", "choir"), mira("member_of", "chess club")], {NOW: ["chess club", "choir"]}),
    Case("allergies", [mira("allergic to", "nuts"), mira("allergic to", "soy")], {NOW: ["nuts", "soy"]}),
    Case(
        "a known one said to have many",
        [mira("role", "lead", cardinality="many"), mira("role", "mentor", cardinality="many")],
        {NOW: ["lead", "mentor"]},
    ),
    Case(
        "one of many does not end the one",
        [mira("role", "lead", "2020"), mira("role", "mentor", "2024", cardinality="many")],
        {NOW: ["lead", "mentor"]},
    ),
    Case(
        "nor does the one end the many",
        [mira("role", "mentor", "2020", cardinality="many"), mira("role", "lead", "2024")],
        {NOW: ["lead", "mentor"]},
    ),
    Case(
        "the past tense", [mira("lives_in", "Oslo", "2020"), mira("lived in", "Rome", "2024")], {NOW: ["Oslo", "Rome"]}
    ),
    Case(
        "used to",
        [mira("works_at", "Fjordline", "2020"), mira("used to work at", "Kestrel Maps")],
        {NOW: ["Fjordline", "Kestrel Maps"]},
    ),
    Case(
        "a visit twice",
        [mira("visited", "Rome", "2020"), mira("visited", "Rome", "2023")],
        {"2021": ["Rome"], NOW: ["Rome", "Rome"]},
    ),
    Case("a visit told twice without a date", [mira("visited", "Rome"), mira("visited", "Rome")], {NOW: ["Rome"] * 2}),
    # the same value
    Case(
        "the same value",
        [mira("lives_in", "Paris", "2020"), mira("lives_in", "Paris", "2023")],
        {"2021": ["Paris"], NOW: ["Paris"]},
        statuses=[S, SKIPPED],
    ),
    Case(
        "in other spelling",
        [mira("lives_in", "New York", "2020"), mira("lives_in", " new  york. ")],
        {NOW: ["New York"]},
        statuses=[S, SKIPPED],
    ),
    Case(
        "with a hyphen",
        [mira("role", "co-founder", "2020"), mira("role", "Co founder")],
        {NOW: ["co-founder"]},
        statuses=[S, SKIPPED],
    ),
    Case(
        "with accents",
        [mira("lives_in", "Zürich", "2020"), mira("lives_in", "Zurich")],
        {NOW: ["Zürich"]},
        statuses=[S, SKIPPED],
    ),
    Case(
        "with an article",
        [mira("role", "head of platform", "2020"), mira("role", "the head of platform")],
        {NOW: ["head of platform"]},
        statuses=[S, SKIPPED],
    ),
    Case(
        "numbers written otherwise",
        [fact("Skerry", "price", "1,000", "2020"), fact("Skerry", "price", "1000.0")],
        {NOW: ["1,000"]},
        statuses=[S, SKIPPED],
    ),
    Case(
        "a number with its unit",
        [mira("age", "34", "2025"), mira("age", "34 years"), mira("age", "34")],
        {NOW: ["34 years"]},
        statuses=[S, S, SKIPPED],
    ),
    Case(
        "of many values, told again",
        [mira("likes", "oolong", "2020"), mira("likes", "Oolong")],
        {NOW: ["oolong"]},
        statuses=[S, SKIPPED],
    ),
    Case(
        "the same since earlier",
        [mira("lives_in", "Paris", "2022"), mira("lives_in", "Paris", "2020")],
        {"2021": ["Paris"], "2023": ["Paris"], NOW: ["Paris"]},
        statuses=[S, S],
    ),
    Case(
        "the same after a pause",
        [mira("lives_in", "Paris", "2020", "2021"), mira("lives_in", "Paris", "2023")],
        {"2020-06": ["Paris"], "2022": [], NOW: ["Paris"]},
        statuses=[S, S],
    ),
    Case(
        "the same, within",
        [mira("lives_in", "Paris", "2020"), mira("lives_in", "Paris", "2021", "2022")],
        {"2021": ["Paris"], "2023": ["Paris"]},
        statuses=[S, SKIPPED],
    ),
    Case(
        "the same, told for a longer time",
        [mira("lives_in", "Paris", "2020", "2022"), mira("lives_in", "Paris", "2021", "2024")],
        {"2020-06": ["Paris"], "2023": ["Paris"], "2024": []},
        statuses=[S, S],
    ),
    Case(
        "the same before a later other one",
        [mira("role", "lead", "2020"), mira("role", "head", "2024"), mira("role", "lead", "2022")],
        {"2021": ["lead"], "2023": ["lead"], NOW: ["head"]},
        ended=1,
        statuses=[S, SUPERSEDED, SKIPPED],
    ),
    # saying more of the same, or less
    Case(
        "a country is added",
        [mira("lives_in", "Paris", "2020"), mira("lives_in", "Paris, France", "2022")],
        {"2021": ["Paris"], NOW: ["Paris, France"]},
        statuses=[S, S],
    ),
    Case(
        "a town is added",
        [mira("lives_in", "France", "2020"), mira("lives_in", "Paris, France", "2022")],
        {"2021": ["France"], NOW: ["Paris, France"]},
        statuses=[S, S],
    ),
    Case(
        "in brackets",
        [mira("lives_in", "Oslo", "2020"), mira("lives_in", "Oslo (Norway)", "2022")],
        {NOW: ["Oslo (Norway)"]},
        statuses=[S, S],
    ),
    Case(
        "brackets are commas",
        [mira("lives_in", "Oslo, Norway", "2020"), mira("lives_in", "Oslo (Norway)")],
        {NOW: ["Oslo, Norway"]},
        statuses=[S, SKIPPED],
    ),
    Case(
        "the country is left out",
        [mira("lives_in", "Paris, France", "2020"), mira("lives_in", "paris")],
        {NOW: ["Paris, France"]},
        statuses=[S, SKIPPED],
    ),
    Case(
        "the town is left out",
        [mira("lives_in", "Paris, France", "2020"), mira("lives_in", "France")],
        {NOW: ["Paris, France"]},
        statuses=[S, SKIPPED],
    ),
    Case(
        "twice finer",
        [
            mira("lives_in", "Norway", "2020"),
            mira("lives_in", "Oslo, Norway", "2021"),
            mira("lives_in", "Grünerløkka, Oslo, Norway", "2022"),
        ],
        {"2020-06": ["Norway"], "2021-06": ["Oslo, Norway"], NOW: ["Grünerløkka, Oslo, Norway"]},
        statuses=[S, S, S],
    ),
    # the past and the future
    Case(
        "long over",
        [mira("lives_in", "Oslo", "2020"), mira("lives_in", "Rome", "2010", "2015")],
        {"2012": ["Rome"], "2016": [], NOW: ["Oslo"]},
    ),
    Case(
        "over where the other begins",
        [mira("lives_in", "Oslo", "2020"), mira("lives_in", "Rome", "2015", "2020")],
        {"2019-12-31": ["Rome"], "2020": ["Oslo"], NOW: ["Oslo"]},
    ),
    Case(
        "an older one that comes late",
        [mira("lives_in", "Oslo", "2020"), mira("lives_in", "Rome", "2010")],
        {"2012": ["Rome"], "2019": ["Rome"], "2020": ["Oslo"], NOW: ["Oslo"]},
    ),
    Case(
        "older ones that come late, in turn",
        [mira("role", "head", "2024"), mira("role", "lead", "2022"), mira("role", "engineer", "2020")],
        {"2021": ["engineer"], "2023": ["lead"], NOW: ["head"]},
    ),
    Case(
        "one that comes late does not end one with a time of its own",
        [mira("lives_in", "Tokyo", "2022", "2023"), mira("lives_in", "Paris", "2020")],
        {"2021": ["Paris"], "2022-06": ["Tokyo"], NOW: ["Paris"]},
    ),
    Case(
        "nor does one that begins inside it",
        [mira("lives_in", "Tokyo", "2022", "2024"), mira("lives_in", "Paris", "2023")],
        {"2023-06": ["Tokyo"], "2024": ["Paris"], NOW: ["Paris"]},
    ),
    Case(
        "one after the other, each with its time",
        [mira("role", "intern", "2019", "2020"), mira("role", "engineer", "2020", "2024")],
        {"2019-06": ["intern"], "2020": ["engineer"], "2024": []},
    ),
    Case(
        "a future time of its own ends no present one",
        [mira("status", "on leave", "2027", "2028"), mira("status", "at work", "2025")],
        {NOW: ["at work"], "2027-06": ["on leave"], "2028": ["at work"]},
    ),
    Case(
        "told for a future that another told first",
        [mira("role", "head", "2028"), mira("role", "lead", "2025")],
        {NOW: ["lead"], "2028": ["head"]},
    ),
    # somebody or something else
    Case(
        "another person",
        [mira("lives_in", "Paris"), fact("Mirabel", "lives_in", "Oslo")],
        {NOW: ["Oslo", "Paris"]},
    ),
    Case(
        "a longer name",
        [mira("lives_in", "Paris"), fact("Mira Holt", "lives_in", "Oslo")],
        {NOW: ["Oslo", "Paris"]},
    ),
    Case(
        "a ship of that name",
        [
            fact("Mira", "status", "at home", subject_kind="Person"),
            fact("Mira", "status", "in dock", subject_kind="Product"),
        ],
        {NOW: ["at home", "in dock"]},
    ),
    Case(
        "another property",
        [mira("lives_in", "Paris"), mira("works_at", "Fjordline"), mira("role", "lead")],
        {NOW: ["Fjordline", "Paris", "lead"]},
    ),
    Case(
        "where it lives is not where it stands",
        [fact("Fjordline", "lives_in", "Oslo"), fact("Fjordline", "located_in", "Bergen")],
        {NOW: ["Bergen", "Oslo"]},
    ),
    Case(
        "owner is not owns",
        [fact("Tidebook", "owner", "Ida"), fact("Tidebook", "owner of", "Bo")],
        {NOW: ["Bo", "Ida"]},
    ),
    Case(
        "title is not role",
        [mira("title", "Dr"), mira("role", "lead")],
        {NOW: ["Dr", "lead"]},
    ),
    # other rights, other projects
    Case(
        "another scope",
        [mira("lives_in", "Paris", "2020"), mira("lives_in", "Oslo", "2024", scope="shared")],
        {NOW: ["Oslo", "Paris"]},
    ),
    Case(
        "a public one beside an internal one",
        [mira("status", "layoffs planned", scope="admin"), mira("status", "all is well", scope="public")],
        {NOW: ["all is well", "layoffs planned"]},
    ),
    Case(
        "for another agent",
        [mira("role", "lead", "2020", agents=["scout"]), mira("role", "head", "2024", agents=["clerk"])],
        {NOW: ["head", "lead"]},
    ),
    Case(
        "for an agent beside for all",
        [mira("role", "lead", "2020"), mira("role", "head", "2024", agents=["clerk"])],
        {NOW: ["head", "lead"]},
    ),
    Case(
        "a sensitive one",
        [mira("status", "at work", "2020"), mira("status", "on sick leave", "2024", sensitive=True)],
        {NOW: ["at work", "on sick leave"]},
    ),
    Case(
        "another project",
        [mira("role", "lead", "2020"), mira("role", "guest", "2024", in_project="barge")],
        {NOW: ["guest", "lead"]},
    ),
    Case(
        "for all projects beside for one",
        [mira("role", "lead", "2020"), mira("role", "guest", "2024", level="global")],
        {NOW: ["guest", "lead"]},
    ),
    # what is no other value
    Case(
        "denied",
        [mira("lives_in", "Paris", "2020"), mira("lives_in", "not Oslo", "2024")],
        {NOW: ["Paris", "not Oslo"]},
    ),
    Case(
        "no longer",
        [mira("lives_in", "Paris", "2020"), mira("lives_in", "no longer Oslo", "2024")],
        {NOW: ["Paris", "no longer Oslo"]},
    ),
    Case(
        "a denied predicate",
        [mira("lives_in", "Paris", "2020"), mira("does not live in", "Oslo", "2024")],
        {NOW: ["Oslo", "Paris"]},
    ),
    Case(
        "no longer works at",
        [mira("works_at", "Fjordline", "2020"), mira("no longer works at", "Kestrel Maps", "2024")],
        {NOW: ["Fjordline", "Kestrel Maps"]},
    ),
    Case(
        "unknown",
        [fact("Tidebook", "owner", "Ida", "2020"), fact("Tidebook", "owner", "unknown", "2024")],
        {NOW: ["Ida", "unknown"]},
    ),
    Case(
        "to be decided",
        [fact("Tidebook", "deadline", "2026-05-01"), fact("Tidebook", "deadline", "TBD")],
        {NOW: ["2026-05-01", "TBD"]},
    ),
    # what is not sure
    Case(
        "less than half sure",
        [mira("lives_in", "Paris", "2020"), mira("lives_in", "Oslo", "2024", confidence=0.4)],
        {NOW: ["Paris"]},
        statuses=[S, REVIEW],
    ),
    Case(
        "maybe",
        [mira("lives_in", "Paris", "2020"), mira("lives_in", "maybe Oslo", "2024")],
        {NOW: ["Paris"]},
        statuses=[S, REVIEW],
    ),
    Case(
        "I think",
        [mira("lives_in", "Paris", "2020"), mira("lives_in", "I think Rome", "2024")],
        {NOW: ["Paris"]},
        statuses=[S, REVIEW],
    ),
    Case(
        "either or",
        [mira("lives_in", "Paris", "2020"), mira("lives_in", "either Rome or Bonn", "2024")],
        {NOW: ["Paris"]},
        statuses=[S, REVIEW],
    ),
    Case(
        "a version with its letter",
        [fact("Tidebook", "version", "v3.1", "2024"), fact("Tidebook", "version", "3.1")],
        {NOW: ["v3.1"]},
        statuses=[S, SKIPPED],
    ),
    Case(
        "a question",
        [mira("lives_in", "Paris", "2020"), mira("lives_in", "Oslo?", "2024")],
        {NOW: ["Paris"]},
        statuses=[S, REVIEW],
    ),
    Case(
        "not sure, and nothing stands there",
        [mira("lives_in", "Oslo", "2024", confidence=0.2)],
        {NOW: ["Oslo"]},
        statuses=[S],
    ),
    Case(
        "not sure, and the same",
        [mira("lives_in", "Oslo", "2020"), mira("lives_in", "oslo", "2024", confidence=0.2)],
        {NOW: ["Oslo"]},
        statuses=[S, SKIPPED],
    ),
]

CASES = [*ENDING, *SPARING]


def test_the_table_is_as_long_as_it_should_be() -> None:
    assert len(CASES) >= 80
    assert sum(case.ended == 0 for case in CASES) >= len(CASES) / 2
    assert len({case.name for case in CASES}) == len(CASES)


def tell(place: Place, clock: ManualClock, told: list[Fact]) -> list[Any]:
    answers = []
    for each in told:
        clock.step()
        memory = place.open(project=each.project) if each.project else place.open()
        answers.append(memory.add_fact(each.subject, each.predicate, each.value, **each.more))
    return answers


def holding(memory: weft.Memory, moment: str) -> list[str]:
    """Every value that holds at a moment, in any project."""
    at = None if moment == NOW else parse_instant(moment)
    found = memory.ctx.store.find(memory.ctx.viewer, When(valid_at=at), Find(kinds=("Fact",)), limit=100)
    return sorted(node.props["object"] for node in found.nodes)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_holds_when(place: Place, clock: ManualClock, case: Case) -> None:
    answers = tell(place, clock, case.told)
    all_seeing = place.open(sensitive="yes")
    found = {moment: holding(all_seeing, moment) for moment in case.holds}
    assert found == {moment: sorted(values) for moment, values in case.holds.items()}
    assert sum(answer.status == SUPERSEDED for answer in answers) == case.ended
    assert sum(bool(answer.supersedes) for answer in answers) == case.ended
    if case.statuses is not None:
        assert [answer.status for answer in answers] == case.statuses


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_past_is_not_told_otherwise(place: Place, clock: ManualClock, case: Case) -> None:
    """As it was known before each fact, everything holds as it held then."""
    memory = place.open(sensitive="yes")
    pinned: list[tuple[int, list[tuple[str, str]]]] = []

    def known(at: int) -> list[tuple[str, str]]:
        shown = []
        for moment in ("2012", "2021", "2023", "2025", "2027-06"):
            when = When(valid_at=parse_instant(moment), known_at=at)
            nodes = memory.ctx.store.find(memory.ctx.viewer, when, Find(kinds=("Fact",)), limit=100).nodes
            shown += sorted((moment, str(node.props["object"])) for node in nodes)
        return shown

    for each in case.told:
        tell(place, clock, [each])
        at = memory.ctx.store.head(memory.ctx.viewer).at
        pinned.append((at, known(at)))
    assert [known(at) for at, _ in pinned] == [then for _, then in pinned]


def test_every_assertion_stays_in_the_log(place: Place, clock: ManualClock) -> None:
    """Also the one that was ended and the one that was skipped: the log tells all of them."""
    told = [mira("lives_in", "Paris", "2020"), mira("lives_in", "Oslo", "2023"), mira("lives_in", "oslo")]
    first, second, third = tell(place, clock, told)
    memory = place.open()
    assert third.id == second.id
    assert [node.text for node in memory.cite(first.citation).nodes if node.kind == "Fact"] == ["Mira lives in Paris"]
    history = memory.show(first.id).history
    assert [version.valid_to is None for version in history] == [True, False]
    assert memory.cite(third.citation).nodes[0].props["about"] == second.id
    shown = memory.show(second.id)
    assert ("out", "INVOLVES") in {(edge.direction, edge.rel) for edge in shown.edges}


# ---- what cannot be


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"subject": "..."}, "letter or digit"),
        ({"predicate": "?!"}, "letter or digit"),
        ({"object": "  "}, "a value"),
        ({"object": ""}, "object"),
        ({"valid_from": "2026-02-30"}, "valid_from"),
        ({"valid_to": "someday"}, "valid_to"),
        ({"valid_from": "2026", "valid_to": "2025"}, "ends before it begins"),
        ({"valid_from": "2026", "valid_to": "2026"}, "ends before it begins"),
        ({"confidence": 1.5}, "confidence"),
        ({"confidence": -0.1}, "confidence"),
        ({"cardinality": "several"}, "cardinality"),
        ({"subject_kind": "Feedback"}, "records itself"),
        ({"expires_at": "soon"}, "expires_at"),
        ({"importance": 11.0}, "importance"),
    ],
)
def test_what_is_no_fact_is_refused(memory: weft.Memory, given: dict[str, Any], complaint: str) -> None:
    with pytest.raises(weft.Invalid, match=complaint):
        memory.add_fact(**{"subject": "Mira", "predicate": "role", "object": "lead", **given})
    assert memory.stats().store.events == 0


def test_an_interval_may_not_end_before_now_unless_it_says_when_it_began(memory: weft.Memory) -> None:
    with pytest.raises(weft.Invalid, match="end before it begins"):
        memory.add_fact("Mira", "role", "lead", valid_to="2020")


def test_a_subject_that_several_share_must_be_told_apart(memory: weft.Memory) -> None:
    memory.add_fact("Mira", "status", "at home", subject_kind="Person")
    memory.add_fact("Mira", "status", "in dock", subject_kind="Product")
    with pytest.raises(weft.Invalid, match="matches 2 nodes") as caught:
        memory.add_fact("mira", "status", "gone")
    assert "person:mira" in caught.value.hint
    assert "product:mira" in caught.value.hint
    with pytest.raises(weft.NotFound, match="no thing"):
        memory.add_fact("Mira", "status", "gone", subject_entity="nobody of that name")
    assert memory.add_fact("Mira", "status", "gone", subject_entity="product:mira").status == "superseded"


def test_a_fact_never_names_a_thing_to_those_who_may_not_see_it(place: Place) -> None:
    inside = place.open()
    inside.add_fact("Project Heron", "status", "secret")
    with pytest.raises(weft.Invalid, match="some who may see the fact may not see") as caught:
        inside.add_fact("it", "status", "public now", subject_entity="entity:project heron", scope="public")
    assert "admin" in caught.value.hint
    outside = place.open(scopes="public")
    assert outside.add_fact("Project Heron", "status", "a bird").status == "saved"
    assert holding(outside, NOW) == ["a bird"]


def test_one_that_takes_no_moment_says_so(memory: weft.Memory) -> None:
    memory.add_fact("Mira", "lives_in", "Tokyo", valid_from="2020", valid_to="9999")
    memory.add_fact("Mira", "lives_in", "Rome", valid_from="9999")
    told = memory.add_fact("Mira", "lives_in", "Paris", valid_from="2021")
    assert told.status == "saved"
    assert any("at no time" in note for note in told.notes)
    assert holding(memory, NOW) == ["Tokyo"]


def test_a_setting_adds_to_the_registry_but_no_projects_file_does(place: Place, clock: ManualClock) -> None:
    memory = place.open(single_valued="mood, favourite colour")
    memory.add_fact("Mira", "Favourite Colour", "teal", valid_from="2024")
    assert memory.add_fact("Mira", "favourite_colour", "ochre", valid_from="2025").status == "superseded"
    (place.root / "weft.toml").write_text('single_valued = ["likes"]\n')
    with pytest.raises(weft.Misconfigured, match="may not set single_valued"):
        place.open()


def test_a_repeated_request_is_written_once_whatever_it_became(place: Place, clock: ManualClock) -> None:
    memory = place.open()
    memory.add_fact("Mira", "lives_in", "Paris", valid_from="2020")
    requests = [
        ("r-finer", {"object": "Paris, France", "valid_from": "2021"}),
        ("r-same", {"object": "paris"}),
        ("r-unsure", {"object": "Rome", "confidence": 0.1}),
        ("r-other", {"object": "Oslo", "valid_from": "2023"}),
    ]
    for request_id, given in requests:
        clock.step()
        first = memory.add_fact("Mira", "lives_in", request_id=request_id, **given)  # type: ignore[arg-type]
        events = memory.stats().store.events
        clock.step()
        again = memory.add_fact("Mira", "lives_in", request_id=request_id, **given)  # type: ignore[arg-type]
        assert (again.status, again.id) == ("duplicate_skip", first.id), request_id
        assert memory.stats().store.events == events, request_id
    with pytest.raises(weft.Conflict):
        memory.add_fact("Mira", "lives_in", "Bergen", request_id="r-other")


@pytest.mark.parametrize("stands", [None, "Oslo", "Oslo, Norway", "Norway", "Rome"])
@pytest.mark.parametrize("other", [{"valid_from": "2022"}, {"valid_to": "2030"}, {"object": "Norway"}])
def test_a_request_id_is_not_used_for_another_time_or_value(
    memory: weft.Memory, stands: str | None, other: dict[str, str]
) -> None:
    if stands is not None:
        memory.add_fact("Ana", "lives_in", stands, valid_from="2020")
    first = {"subject": "Ana", "predicate": "lives_in", "object": "Oslo, Norway", "request_id": "f"}
    memory.add_fact(**first)  # type: ignore[arg-type]
    assert memory.add_fact(**first).status == "duplicate_skip"  # type: ignore[arg-type]
    with pytest.raises(weft.Conflict, match="used for something else"):
        memory.add_fact(**{**first, **other})  # type: ignore[arg-type]


def test_what_a_write_may_say_is_kept_with_the_fact(memory: weft.Memory) -> None:
    told = memory.add_fact(
        "Mira", "role", "lead", confidence=0.8, keywords=["staff"], importance=2.0, purpose="review", expires_at="2030"
    )
    node = memory.show(told.id).node
    assert node is not None
    assert node.props["confidence"] == 0.8
    assert (node.props["keywords"], node.props["importance"], node.props["purpose"]) == (["staff"], 2.0, "review")
    assert node.props["expires_at"] == "2030-01-01T00:00:00.000000Z"


def test_the_same_again_strengthens_what_is_there(memory: weft.Memory) -> None:
    first = memory.add_fact("Mira", "role", "lead", valid_from="2020")
    memory.add_fact("Mira", "role", "LEAD")
    steps = memory.ctx.store.neighbours(memory.ctx.viewer, When(), [first.id], rels=("ABOUT",), direction="in")
    assert [step.node.props["outcome"] for step in steps] == ["surfaced"]


def test_of_writers_at_once_each_ends_the_one_before(place: Place) -> None:
    """Decided under the fence: two that saw the same value standing do not both end it."""
    memories = [place.open(session=f"s{number}") for number in range(4)]
    answers: list[Any] = []

    def tell_some(number: int) -> None:
        answers.extend(memories[number].add_fact("Mira", "status", f"step {number} {each}") for each in range(6))

    threads = [threading.Thread(target=tell_some, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 24
    ended = [older for answer in answers for older in answer.supersedes]
    assert len(ended) == len(set(ended)) == 23
    (last,) = {answer.id for answer in answers} - set(ended)
    (standing,) = holding(memories[0], NOW)
    node = memories[0].show(last).node
    assert node is not None
    assert node.props["object"] == standing
