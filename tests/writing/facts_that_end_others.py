"""Facts that end what stood before, where they begin."""

from __future__ import annotations

from tests.writing.told_facts import NOW, SUPERSEDED, Case, S, fact, mira

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
