"""Facts that end nothing: of many values, of the same value, or saying more of the same or less."""

from __future__ import annotations

from tests.writing.told_facts import MAILS, NOW, SKIPPED, SUPERSEDED, Case, S, fact, mira

SIDE_BY_SIDE = [
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
]
