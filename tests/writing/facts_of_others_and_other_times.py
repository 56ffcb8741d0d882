"""Facts that end nothing: of another time, of somebody or something else, for others, or in doubt."""

from __future__ import annotations

from tests.writing.told_facts import NOW, REVIEW, SKIPPED, Case, S, fact, mira

OF_OTHERS = [
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
