"""`context_pack`: one briefing for a piece of work. WEFT_UPDATE_SNAPSHOTS=1 rewrites the kept ones."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

import weft
from tests.code.ferry import FILES, PROJECT, TASK, ferry, many_tests, of_files, reopened
from weft.code.ask.lookup import MOST_NAMED
from weft.code.index.index import index_workspace
from weft.context.tokens import count_tokens
from weft.core.errors import Invalid
from weft.core.types import Actor
from weft.surfaces.mcp.answer import success

SNAPSHOTS = Path(__file__).parent / "packs"
BUDGETS = {"300": 240, "1200": 1_050, "whole": 20_000}
CITED = re.compile(r"file://[^\s:]+:\d+(?:-\d+)?|weft://\S+")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("packs")
    with ferry(place) as memory:
        desk = memory.call("semantic_slice", symbol="Desk.book").id
        why = "Two seats under one name were taken for a mistake."
        memory.call("save_decision", title="A name may book one seat only", rationale=why, entities=[desk])
    return place


@pytest.fixture
def memory(place: Path) -> Iterator[weft.Memory]:
    with reopened(place) as opened:
        yield opened


@pytest.mark.parametrize("name", BUDGETS)
def test_packs_as_they_reach_an_agent(memory: weft.Memory, name: str) -> None:
    pack = memory.call("context_pack", task=TASK, budget=BUDGETS[name])
    text = re.sub(r"#[0-9a-f]{8}", "#--------", pack.text) + "\n"
    file = SNAPSHOTS / f"{name}.txt"
    if os.environ.get("WEFT_UPDATE_SNAPSHOTS") == "1":
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8"), f"{name} changed: if that is meant, review the difference"


@pytest.mark.parametrize("budget", [50, 120, 240, 600, 1_050, 4_000, 20_000])
def test_a_pack_keeps_to_its_budget_and_always_says_where_to_start(memory: weft.Memory, budget: int) -> None:
    pack = memory.call("context_pack", task=TASK, budget=budget)
    assert pack.core_symbols[0].symbol_name == "Desk.book"
    assert pack.entry_point == "file://ferry/desk.py:19 Desk.book"
    assert count_tokens(pack.text) <= max(budget, 80)  # of the least, the first row
    assert pack.token_estimate >= count_tokens(msgspec.json.encode(pack).decode()) - 2  # a program reads all of it


def test_bodies_are_whole_or_not_there(memory: weft.Memory) -> None:
    for budget in (240, 500, 1_050, 20_000):
        for each in memory.call("context_pack", task=TASK, budget=budget).core_symbols:
            lines = FILES[each.file].split("\n")[each.start_line - 1 : each.end_line]
            assert each.code in ("", "\n".join(lines))
    whole = memory.call("context_pack", task=TASK, budget=20_000).core_symbols
    assert sum(bool(each.code) for each in whole) > 3


def test_what_surrounds_the_best_symbol(memory: weft.Memory) -> None:
    best = memory.call("context_pack", task=TASK, budget=20_000).core_symbols[0]
    assert [(each.name, each.citation) for each in best.callers] == [("main", "file://ferry/cli.py:14")]
    assert "DeskFull" in {each.name for each in best.callees}
    assert [each.name for each in best.tests] == ["test_a_seat_is_booked"]


def test_an_interface_brings_what_implements_it(memory: weft.Memory) -> None:
    pack = memory.call("context_pack", task="change BookingStore.find to raise for an unknown number", budget=20_000)
    names = [each.symbol_name for each in pack.core_symbols]
    assert names[0] == "BookingStore.find"
    assert {"MemoryStore.find", "FileStore.find"} <= set(names[:4])


def test_decisions_about_the_code_are_told(memory: weft.Memory) -> None:
    pack = memory.call("context_pack", task=TASK)
    assert [each.title for each in pack.decisions] == ["A name may book one seat only"]
    assert pack.core_symbols[0].decisions == (pack.decisions[0].id,)
    without = memory.call("context_pack", task=TASK, include_decisions=False)
    assert without.decisions == ()


def test_every_citation_leads_to_what_it_says(memory: weft.Memory) -> None:
    pack = memory.call("context_pack", task=TASK, budget=20_000)
    cited = set(CITED.findall(pack.text))
    assert len(cited) > 15
    for each in cited:
        assert memory.call("cite", citation=each).matches, each


def test_paths_in_the_task_count(memory: weft.Memory) -> None:
    pack = memory.call("context_pack", task="tidy ferry/weather.py", budget=240)
    assert pack.core_symbols[0].file == "ferry/weather.py"


@pytest.mark.parametrize("file", ["ferry/desk.py", "desk.py"])
def test_the_name_of_a_file_is_not_looked_for_among_symbols(
    memory: weft.Memory, monkeypatch: pytest.MonkeyPatch, file: str
) -> None:
    kind = type(memory.ctx.store)
    search, asked = kind.search_text, []

    def noted(*given: Any, **how: Any) -> Any:
        asked.extend(term for term, _ in given[3].terms if given[3].in_names and "Function" in (given[3].kinds or ()))
        return search(*given, **how)

    monkeypatch.setattr(kind, "search_text", noted)
    memory.call("context_pack", task=f"`Desk.book` in {file} fails")
    assert "book" in asked
    assert "py" not in asked  # which every file's name ends with


def test_a_pack_claims_nothing_by_itself_and_says_how(memory: weft.Memory) -> None:
    pack = memory.call("context_pack", task=TASK, claim=True)
    assert pack.active_blockers == ()
    assert any("weft agent-claim" in note for note in pack.notes)
    assert not memory.call("coordination_overview").active


def test_a_pack_tells_what_others_hold_and_what_was_learnt_there(tmp_path: Path) -> None:
    with ferry(tmp_path, WEFT_EMBEDDER="none") as memory:
        pack = memory.call("context_pack", task=TASK)
        file = pack.core_symbols[0].file
        ctx = memory.ctx
        other = weft.Memory(replace(ctx, writer=replace(ctx.writer, session="ben-1", actor=Actor(agent="ben"))))
        other.call("agent_claim", target=file, intent="rename the desk")
        metadata = {"file": file, "diff_summary": "x", "lines_before": 1, "lines_after": 2, "reason": "y"}
        for number in range(3):
            other.call("episode_add", type="EDIT", content=f"edit {number}", metadata=metadata)
        other.call("reflect")
        told = memory.call("context_pack", task=TASK)
        assert any("ben holds" in line and "rename the desk" in line for line in told.active_blockers)
        assert "edited again and again" in told.learnings[0].title
        assert told.core_symbols[0].learnings == (told.learnings[0].id,)
        assert "Held by others" in told.text
        assert "Learnt here" in told.text
        other.call("agent_release", target=file)
        assert memory.call("context_pack", task=TASK).active_blockers == ()


def test_a_plan_is_told_with_its_task(place: Path) -> None:
    with reopened(place) as memory:
        task = memory.call(
            "work_create", kind="feature", title="One seat for each name", description="refuse, then tell the desk"
        )
        pack = memory.call("context_pack", task=TASK, task_id=task.id)
        assert (pack.plan.title, pack.plan.status) == ("One seat for each name", "open")
        unknown = memory.call("context_pack", task=TASK, task_id="no-such-task")
    assert unknown.plan is None
    assert any("no-such-task" in note for note in unknown.notes)


def test_a_task_without_words_is_refused(memory: weft.Memory) -> None:
    for task in ("   ", "…?!"):
        with pytest.raises(Invalid):
            memory.call("context_pack", task=task)


def test_over_mcp_both_forms_fit_and_hold_symbols(memory: weft.Memory) -> None:
    from weft.operations import operation

    called = operation("context_pack")
    for profile, budget in (("compact", 240), ("balanced", 1_050)):
        made = memory.call("context_pack", task=TASK, budget=budget)
        answer = success(made, wording=str, profile=profile, operation=called)
        assert answer.envelope.token_estimate <= {"compact": 300, "balanced": 1_200}[profile]
        assert answer.envelope.data is not None
        assert answer.envelope.data["core_symbols"][0]["symbol_name"] == "Desk.book"
        assert "file://ferry/desk.py:19" in answer.text


def test_files_that_changed_since_are_named(tmp_path: Path) -> None:
    with ferry(tmp_path) as memory:
        path = tmp_path / PROJECT / "ferry/desk.py"
        path.write_text(path.read_text(encoding="utf-8") + "\n# later\n", encoding="utf-8")
        pack = memory.call("context_pack", task=TASK)
    assert any("ferry/desk.py" in note and "weft index" in note for note in pack.notes)


def test_what_a_caller_may_not_see_appears_nowhere(tmp_path: Path) -> None:
    ferry(tmp_path, WEFT_SCOPES="public").close()
    (tmp_path / PROJECT / "ferry/crew.py").write_text(
        "from ferry.desk import Desk\n\n\ndef book_for_crew(desk: Desk) -> int:\n"
        '    """Books a seat for the crew."""\n    return desk.book("crew", 30)\n',
        encoding="utf-8",
    )
    with reopened(tmp_path) as memory:
        index_workspace(memory.ctx, paths=["ferry/crew.py"])
        memory.call("reindex")
    for scopes, there in (("public,shared,admin", True), ("public", False)):
        with reopened(tmp_path, WEFT_SCOPES=scopes) as memory:
            slices = memory.call("semantic_slice", symbol="Desk.book", context="full")
            assert ("book_for_crew" in {each.name for each in slices.callers}) is there
            explained = memory.call("code_explain", element="Desk.book")
            assert ("book_for_crew" in {each.name for each in explained.callers}) is there
            affected = memory.call("impact_analyze", symbols=["Desk.book"])
            assert ("book_for_crew" in {each.name for each in affected.direct}) is there
            pack = memory.call("context_pack", task="book a seat for the crew", budget=20_000)
            assert ("crew.py" in pack.text) is there


def test_callers_are_told_beside_many_tests(tmp_path: Path) -> None:
    with of_files(tmp_path, many_tests(80)) as memory:
        pack = memory.call("context_pack", task="launch() returns its number twice", budget=20_000)
    best = next(each for each in pack.core_symbols if each.symbol_name == "launch")
    assert {each.name for each in best.callers} == {"caller_0", "caller_1", "Client.get"}
    assert len(best.tests) + best.more_tests == 80
    assert "and 77 more" in pack.text


def test_a_name_that_nothing_goes_by_is_said_to_be_unknown(memory: weft.Memory) -> None:
    pack = memory.call("context_pack", task="make `refund_ticket` and Desk.book agree on a ValueError")
    assert [note for note in pack.notes if "here is named" in note] == [
        'no symbol or file here is named "refund_ticket"'
    ]


def test_a_name_that_hundreds_share_means_what_goes_by_all_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forms = "\n\n".join(f"class Form{n}:\n    def to_json(self):\n        return {n}\n" for n in range(MOST_NAMED + 20))
    files = {"forms.py": forms, "writing.py": "def to_json(form):\n    return form.to_json()\n"}
    with of_files(tmp_path, files) as memory:

        def gone_through(*_: object, **__: object) -> None:
            raise AssertionError("all names are gone through")

        monkeypatch.setattr(type(memory.ctx.store), "relations", gone_through, raising=False)
        pack = memory.call("context_pack", task="`to_json` should sort its keys")
    assert pack.core_symbols[0].id.endswith("writing.py::to_json")
    assert not any("here is named" in note for note in pack.notes)


def test_files_of_nothing_and_files_of_one_name(tmp_path: Path) -> None:
    files = {
        "boats/__init__.py": "",
        "boats/app.py": "def sail_boats(wind):\n    return wind\n",
        "boats/one/app.py": "def sail_boats_fast(wind):\n    return wind\n",
        "boats/two/app.py": "def sail_boats_slow(wind):\n    return wind\n",
        "boats/sail.css": "body {}\n",
    }
    with of_files(tmp_path, files) as memory:
        (tmp_path / PROJECT / "boats/sail.png").write_bytes(bytes(range(256)))
        index_workspace(memory.ctx)
        pack = memory.call("context_pack", task="sail boats in any wind", budget=20_000)
    assert {each.file for each in pack.core_symbols} == {path for path in files if path.endswith("app.py")}
    assert len(set(re.findall(r"[\w/]+\.py", pack.summary))) == 3


def test_signatures_hold_no_remarks_to_tools(tmp_path: Path) -> None:
    text = "def hoist(  # type: ignore[override]\n    flag,  # noqa: ARG001, E501\n    /,\n):\n    return flag\n"
    with of_files(tmp_path, {"flags.py": text}) as memory:
        assert memory.call("semantic_slice", symbol="hoist").signature == "def hoist(flag, /)"
