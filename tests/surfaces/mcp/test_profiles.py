"""Profiles over MCP: how much of an answer is told, as text and as data, and what goes when there is no room for it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, settings

import weft
from tests.surfaces.any_value import fitting
from tests.surfaces.test_any_input import _grown
from weft.context.budget import PROFILE_TOKENS
from weft.context.tokens import count_tokens
from weft.core import errors
from weft.core.errors import OverBudget, WeftError
from weft.operations import OPERATIONS, operation
from weft.runtime.operation import Operation
from weft.runtime.priorities import Profile
from weft.surfaces.mcp.answer import NEXT_STEPS, ToolAnswer, failure, success
from weft.surfaces.mcp.find_tool import find_tool
from weft.surfaces.mcp.profiles import with_budget
from weft.surfaces.mcp.tools import inlined, output_schema
from weft.surfaces.render import RENDERERS
from weft.surfaces.toolsets import offer

BOUNDED: tuple[Profile, ...] = ("compact", "balanced")


OUTPUTS = {each.output.__name__: each for each in reversed(OPERATIONS)}  # each type once


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[weft.Memory]:
    """A little of everything that an agent would read in the middle of work."""
    root = tmp_path_factory.mktemp("profiles")
    environment = {"HOME": str(root), "WEFT_PROJECT": "harbour", "WEFT_AUDIT": "on", "WEFT_EMBEDDER": "none"}
    with weft.open(directory=root, environment=environment) as memory:
        for number in range(12):
            memory.remember(
                f"Quay {number} is repaired in week {number + 10} because its bollards rust; Orla Finn signs it off.",
                props={"sheet": "s" * 300, "crew": "Jon and Mira"},
            )
        memory.add_fact("Orla Finn", "WORKS_AT", "the harbour office")
        for number in range(6):
            run(memory, "work_create", kind="task", title=f"Repair quay {number}", description="Order rope. " * 20)
            run(memory, "alert_raise", message=f"Quay {number} was not inspected in time: the crane is out of order.")
        yield memory


def run(memory: weft.Memory, name: str, **given: Any) -> Any:
    return memory.run(operation(name), given, surface="mcp")


def told(memory: weft.Memory, name: str, profile: Profile | None, **given: Any) -> ToolAnswer:
    called = operation(name)
    output = memory.run(called, with_budget(called, given, profile), surface="mcp")
    return success(output, wording=str, profile=profile, operation=called)


def tokens(answer: ToolAnswer) -> tuple[int, int]:
    return count_tokens(answer.text), count_tokens(msgspec.json.encode(answer.envelope).decode())


READS: list[tuple[str, dict[str, Any]]] = [
    ("recall", {"query": "why is quay 3 repaired?"}),
    ("ask", {"query": "who signs off quay 3?"}),
    ("recent", {"limit": 20}),
    ("show", {"id": "Orla Finn"}),
    ("project_context", {}),
    ("work_list", {}),
    ("alert_list", {}),
    ("find_similar", {"text": "bollards that rust", "limit": 20}),
    ("memory_search", {"query": "quay", "limit": 20}),
    ("diff", {"since": "2020"}),
    ("log_show", {"limit": 20}),
    ("tool_calls", {"limit": 20}),
]


# ---- what a profile bounds


@pytest.mark.parametrize("profile", BOUNDED)
@pytest.mark.parametrize(("name", "given"), READS, ids=[name for name, _ in READS])
def test_text_and_data_stay_within_it_and_each_says_something(
    harbour: weft.Memory, name: str, given: dict[str, Any], profile: Profile
) -> None:
    answer = told(harbour, name, profile, **given)
    assert max(tokens(answer)) <= (PROFILE_TOKENS[profile] or 0)
    assert answer.envelope.token_estimate >= max(tokens(answer)) - 2  # its own digits may differ
    assert answer.envelope.profile == profile
    assert answer.text.startswith(answer.envelope.summary)
    if name not in ("log_show", "tool_calls"):
        assert answer.text.count("\n> ") + answer.text.count('"') // 2 >= 2, "the words of memories are there"
    assert len(msgspec.json.encode(answer.envelope.data)) > 200


def test_rows_that_are_told_keep_their_words_ids_and_citations(harbour: weft.Memory) -> None:
    answer = told(harbour, "recent", "compact", limit=20)
    assert answer.envelope.data is not None
    nodes = answer.envelope.data["nodes"]
    assert 2 <= len(nodes) < 20
    for node in nodes:
        assert node["citation"] in answer.text
        assert {"id", "kind", "name", "text", "citation"} <= set(node)
        assert "props" not in node
    (note,) = [each for each in answer.envelope.notes if "omitted" in each]
    assert re.search(r"omitted to stay within 300 tokens: \d+ of 20 nodes, .*; profile balanced has more", note)
    assert "note: omitted to stay within 300 tokens: " in answer.text


def test_recall_is_a_context_within_it_with_its_sources(harbour: weft.Memory) -> None:
    answer = told(harbour, "recall", "compact", query="why is quay 3 repaired?")
    assert answer.envelope.data is not None
    assert answer.envelope.data["context"] in answer.text
    assert "hits" not in answer.envelope.data  # the context tells them
    assert "Sources\n[1] weft://" in answer.text
    wide = told(harbour, "recall", "balanced", query="why is quay 3 repaired?")
    assert len(wide.text) > len(answer.text)
    whole = told(harbour, "recall", None, query="why is quay 3 repaired?")
    assert whole.envelope.data is not None
    assert whole.envelope.profile == "default"
    assert len(whole.envelope.data["hits"]) == 10
    row = whole.envelope.data["hits"][0]
    assert {"id", "kind", "text", "citation", "valid_from"} <= row["node"].keys()
    assert not row["node"].keys() & {"recorded_at", "project", "scope", "views"}
    assert "seen" not in row
    full = told(harbour, "recall", "debug", query="why is quay 3 repaired?", explain=True)
    assert full.envelope.data is not None
    assert full.envelope.data["hits"][0]["seen"]
    assert {"recorded_at", "project", "scope"} <= full.envelope.data["hits"][0]["node"].keys()


@pytest.mark.parametrize("tool", ["recall", "memory_checkout"])
def test_data_is_not_much_longer_than_the_text_beside_it(harbour: weft.Memory, tool: str) -> None:
    answer = told(harbour, tool, None, query="why is quay 3 repaired?")
    assert len(msgspec.json.encode(answer.envelope)) < 3 * len(answer.text)


def test_debug_holds_what_the_default_leaves_out_and_not_more_than_any_answer_may(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "WEFT_EMBEDDER": "none"}
    with weft.open("memory://", directory=tmp_path, environment=environment) as memory:
        for number in range(40):
            memory.remember(f"quay {number} " + f"bollard{number} " * 250)
        usual, whole = (told(memory, "recent", profile, limit=40) for profile in (None, "debug"))
        assert usual.envelope.data is not None
        assert whole.envelope.data is not None
        assert len(usual.text) <= 16_000 < len(whole.text) <= 80_000
        assert len(usual.envelope.data["nodes"]) < len(whole.envelope.data["nodes"])


def test_a_text_that_has_no_room_at_all_is_cut_and_says_so(harbour: weft.Memory) -> None:
    saved = harbour.remember("The harbour book begins. " + "It was a long day at the quay. " * 200)
    shown = told(harbour, "show", "compact", id=saved.id)
    assert max(tokens(shown)) <= 300
    assert "> The harbour book begins." in shown.text
    assert re.search(r"It was a long day at the quay\. … \([\d,]+ more characters\)", shown.text)
    assert any("characters of long texts; profile balanced has more" in note for note in shown.envelope.notes)
    assert saved.id in shown.text
    assert "more characters" not in told(harbour, "show", "debug", id=saved.id).text


def test_what_must_be_told_and_has_no_room_is_an_error_that_names_the_profile_to_ask_with() -> None:
    finder = find_tool(offer(("all",), network=False))
    from weft.surfaces.mcp.find_tool import ToolsFound, described

    output = ToolsFound(described=described(operation("memory_search"), offer(("all",), network=False)))
    with pytest.raises(OverBudget, match="300 tokens of profile compact") as small:
        success(output, wording=str, profile="compact", operation=finder)
    assert small.value.hint.startswith("ask with profile ")
    named: Any = small.value.hint.split()[3].rstrip(",")
    assert success(output, wording=str, profile=named, operation=finder).envelope.ok


def test_what_was_written_is_told_even_where_its_answer_has_no_room(harbour: weft.Memory) -> None:
    items = [{"name": f"Crane {number}", "id": f"crane-{number}-" + "x" * 400} for number in range(3)]
    called = operation("add_entities")
    output = msgspec.structs.replace(
        harbour.run(called, {"items": [{"name": each["name"]} for each in items]}),
        items=tuple(
            msgspec.structs.replace(each, id="i" * 1_500)
            for each in harbour.run(called, {"items": [{"name": f"{each['name']} b"} for each in items]}).items
        ),
    )
    answer = success(output, wording=str, profile="compact", operation=called)
    assert answer.envelope.ok
    assert answer.envelope.summary == "3 of 3 written."
    assert max(tokens(answer)) <= 300


def test_a_long_text_leaves_room_for_others(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "WEFT_EMBEDDER": "none"}
    with weft.open("memory://", directory=tmp_path, environment=environment) as memory:
        for number in range(4):
            memory.remember(f"Quay {number} is repaired in May.")
        memory.remember("The harbour book begins. " + "It was a long day at the quay. " * 200)
        answer = told(memory, "recent", "compact", kinds=["Memory"])
        assert answer.envelope.data is not None
        assert max(tokens(answer)) <= 300
        assert answer.text.count("is repaired in May.") >= 2
        assert len(answer.envelope.data["nodes"]) >= 3
        assert "more characters)" in answer.envelope.data["nodes"][0]["text"]


@pytest.mark.parametrize("name", sorted(OUTPUTS))
def test_whatever_an_answer_holds_it_stays_within_its_profile_and_is_as_the_schema_says(name: str) -> None:
    called = OUTPUTS[name]
    schema = output_schema(called)

    @settings(
        max_examples=2,
        phases=(Phase.generate,),
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(fitting(inlined(called.output)))
    def story(made: dict[str, Any]) -> None:
        for profile, held in (("compact", made), ("compact", _grown(made)), ("balanced", _grown(made))):
            output = msgspec.convert(held, called.output)
            try:
                answer = success(output, wording=str, profile=profile, operation=called)
            except OverBudget:
                assert called.effect == "read", "what was done is told"
                continue
            assert max(*tokens(answer), answer.envelope.token_estimate) <= PROFILE_TOKENS[profile]
            jsonschema.validate(json.loads(msgspec.json.encode(answer.envelope)), schema)

    story()


# ---- defaults


def test_code_and_fleet_tools_are_compact_unless_they_say_otherwise() -> None:
    made = {}
    for toolset in ("code", "fleet", "memory", "core"):
        known = operation("recent")
        made[toolset] = Operation(
            name="x", summary="x", input=known.input, output=known.output, effect="read", toolset=toolset, run=known.run
        ).profile
    assert made == {"code": "compact", "fleet": "compact", "memory": None, "core": None}
    for each in OPERATIONS:
        if each.toolset in ("code", "fleet"):
            roomy = each.name in ("semantic_slice", "handoff")
            assert each.profile == ("balanced" if roomy else "compact"), each.name
    assert operation("memory_search").profile == "debug"
    assert operation("recall").profile is None


def test_what_operations_declare_are_fields_that_there_are() -> None:
    for each in (*OPERATIONS, find_tool(offer(("all",), network=False))):
        known = inlined(each.output)
        for path in (*each.priorities, *each.told):
            part: Any = known
            for name in path.split("."):
                part = part.get("items", part)
                options = [part, *part.get("anyOf", ())]
                found = [one["properties"][name] for one in options if name in one.get("properties", {})]
                assert found, f"{each.name} has no {path}"
                part = found[0]
        assert not each.budget or each.budget in each.input.__struct_fields__, each.name


# ---- summaries


def test_every_answer_has_words_of_its_own() -> None:
    assert {each.output.__name__ for each in OPERATIONS} <= set(RENDERERS)


def test_summaries_are_short_whoever_answers(harbour: weft.Memory) -> None:
    for name, given_to in READS:
        for profile in (None, "compact"):
            summary = told(harbour, name, profile, **given_to).envelope.summary
            assert summary.strip()
            assert count_tokens(summary) <= 60
            assert len(re.findall(r"[.!?](?:\s|$)", summary)) <= 3, summary


@pytest.mark.parametrize("name", sorted(OUTPUTS))
def test_every_operation_sums_up_in_a_few_words(name: str) -> None:
    called = OUTPUTS[name]

    @settings(
        max_examples=3,
        phases=(Phase.generate,),
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(fitting(inlined(called.output)))
    def story(made: dict[str, Any]) -> None:
        summary = success(msgspec.convert(made, called.output), wording=str, operation=called).envelope.summary
        assert summary.strip()
        assert count_tokens(summary) <= 61
        assert "\n" not in summary

    story()


# ---- errors


def error_types() -> list[type[WeftError]]:
    found = [WeftError]
    for each in found:
        found += each.__subclasses__()
    return [each for each in found if each.__module__ == errors.__name__]


@pytest.mark.parametrize("kind", error_types(), ids=lambda kind: kind.__name__)
def test_an_error_always_says_what_to_do_next(kind: type[WeftError]) -> None:
    assert kind.code in NEXT_STEPS
    for profile in (None, "compact"):
        answer = failure(kind("it went wrong " * 300), wording=str, profile=profile)
        assert answer.envelope.hint
        assert not answer.envelope.ok
        assert answer.envelope.error_code == kind.code
        assert f"hint: {answer.envelope.hint}" in answer.text
        assert profile is None or max(tokens(answer)) <= 300
        assert failure(kind("x", hint="do this"), wording=str).envelope.hint == "do this"


# ---- fields


@pytest.mark.parametrize(
    ("name", "given", "rows"),
    [
        ("recall", {"query": "quay"}, "hits"),
        ("find_similar", {"text": "quay"}, "hits"),
        ("recent", {}, "nodes"),
        ("memory_search", {"query": "quay"}, "results"),
    ],
)
def test_fields_narrow_what_nodes_hold_and_never_what_is_found(
    harbour: weft.Memory, name: str, given: dict[str, Any], rows: str
) -> None:
    def nodes(**more: Any) -> list[Any]:
        found = getattr(run(harbour, name, **given, kinds=["Memory"], **more), rows)
        return [getattr(getattr(each, "hit", each), "node", each) for each in found]

    whole = nodes()
    none = nodes(fields=[])
    some = nodes(fields=["crew", "no_such_field"])
    assert [each.id for each in whole] == [each.id for each in none] == [each.id for each in some]
    assert any(each.props and each.text for each in whole)
    assert all(not each.props and not each.text and each.citation for each in none)
    assert all(set(each.props) <= {"crew"} for each in some)
    notes = run(harbour, name, **given, kinds=["Memory"], fields=["no_such_field"]).notes
    assert any("unknown fields skipped: no_such_field" in note for note in notes)


@pytest.mark.parametrize(("name", "field"), [("memory_checkout", "prompt"), ("assemble_context", "context")])
@pytest.mark.parametrize("profile", [None, "debug", "balanced"])
def test_the_words_of_a_context_are_in_the_data(
    harbour: weft.Memory, name: str, field: str, profile: Profile | None
) -> None:
    given = {"query": "why are the quays repaired?", "max_tokens": 1_000}
    output = run(harbour, name, **given)
    answer = success(output, wording=str, profile=profile, operation=operation(name))
    words = getattr(output, field)
    assert words
    assert isinstance(answer.envelope.data, dict)
    assert answer.envelope.data[field] == words
    assert words in answer.text
