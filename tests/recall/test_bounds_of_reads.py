"""Every operation that reads stays within 80,000 characters in a store of very long texts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import weft
from tests.code.indexed import write_files, write_links
from weft.code.communities.keep import find_communities
from weft.operations import OPERATIONS
from weft.recall.answer_limits import OUTPUT_CHARACTERS, size

LONG = "giraffe " + "word " * 8_000
# They print one thing whole, whatever its length: what a cut answer points to. Agents get them within a profile.
WHOLE = {"show", "cite"}
# They answer with paths and counts, or need what is not made here; nothing of memories is in them.
APART = {"answer", "agent_knowledge", "backup", "compaction_show", "log_export"}


class Long:
    """A store of long texts, and what to ask it."""

    def __init__(self, memory: weft.Memory) -> None:
        self.memory = memory
        symbols, herd = self.code()
        saved = [
            memory.remember(f"{number} {LONG}", props={f"key{each}": "v" * 900 for each in range(8)})
            for number in range(5)
        ]
        memory.add_fact("Mira", "works_at", "harbour")
        memory.record_turns("standup", [f"Mira: {number} " + "talk " * 2_000 for number in range(10)])
        for number in range(12):
            self.run(
                "work_create", kind="task", title=f"Task {number}", description="d " * 900, inputs={"a": "b" * 19_000}
            )
            self.run("alert_raise", message=f"{number} " + "m" * 1_900)
            self.run("episode_add", type="OBSERVATION", content=f"{number} giraffe " + "o" * 1_900)
            self.run("finding_report", text=f"{number} giraffe " + "f" * 1_900, evidence=[saved[0].citation])
            self.run(
                "task_create", title=f"Step {number} " + "t" * 150, feature=self.run("feature_create", title="Zoo").id
            )
            self.run("save_decision", title=f"Giraffe {number}", rationale="r " * 900)
            self.run("report_write", title=f"Report {number}", body="r " * 4_500, keywords=["night"])
        everything = {"limit": 100, "min_score": 0.0}
        self.asked: dict[str, dict[str, Any]] = {
            **{key: {"query": "giraffe", **everything} for key in ("recall", "ask", "recall_raw", "memory_search")},
            **{key: {"query": "giraffe"} for key in ("memory_checkout", "assemble_context")},
            **{key: {"limit": 100} for key in ("recent", "work_list", "alert_list", "log_show", "tool_calls")},
            **{key: {"entity_ids": ["Mira"]} for key in ("entity_lookup", "temporal_expand", "causal_expand")},
            "graph_query": {"query": "giraffe", "mode": "hybrid", "limit": 100},
            "community_list": {"limit": 100},
            "find_similar_code": {"element": symbols[1], "threshold": 0.0, "limit": 100},
            "graph_edges": {"limit": 10_000},
            "diff_since": {"since": "2020", "limit": 1_000},
            "search_docs": {"query": "giraffe", "limit": 100},
            "context_pack": {"task": "feed a giraffe of the keeper", "budget": 20_000},
            "semantic_slice": {"file": herd, "context": "full"},
            "code_explain": {"element": symbols[1], "depth": 5},
            "impact_analyze": {"symbols": symbols, "depth": 5},
            "conversation_search": {"query": "talk", "limit": 50, "neighbours": 3},
            "find_similar": {"text": "giraffe", "limit": 100},
            "explain": {"query": "giraffe", "id": saved[0].id},
            "semantic_search": {"query": "giraffe"},
            "screen": {"message": "giraffe " * 400},
            "report_read_latest": {"keyword": "night", "limit": 10},
            "subgraph_merge": {
                "views": [{"view": "semantic", "nodes": [{"id": each.id, "score": 1.0} for each in saved]}]
            },
            "linearize_context": {"nodes": [{"id": each.id} for each in saved]},
            **{key: {"query": "giraffe", "limit": 100} for key in ("episode_recall", "decision_query")},
            **{key: {"limit": 100} for key in ("progress_query", "blocking_issues", "coordination_overview")},
            **{key: {"limit": 100} for key in ("agent_status", "finding_list")},
            "feature_status": {"feature": "Zoo"},
            "diff": {"since": "2020"},
            "analysis_route": {"task": "plan " * 300},
            "work_show": {"id": self.run("work_list", limit=1).tasks[0].id},
            "work_made": {"conversation": "standup"},
            "session_status": {"session": "standup"},
        }

    def code(self) -> tuple[list[str], str]:
        """Long names in long files far down, that call each other. Returns ids of symbols, and the longest file."""
        folder = "far/" * 40
        paths = [f"{folder}zoo{n}/step.py" for n in range(90)]
        files = {
            path: f'def giraffe_{"x" * 80}{n}():\n    """{"Feeds a giraffe " * 20}."""\n'
            for n, path in enumerate(paths)
        }
        herd = f"{folder}herd.py"
        files[herd] = "".join(f"def keeper{n}(herd):\n    return [{'herd, ' * 40}]\n\n\n" for n in range(400))
        write_files(self.memory.ctx, files)
        symbols = [f"{path}::giraffe_{'x' * 80}{n}" for n, path in enumerate(paths)]
        write_links(self.memory.ctx, [(f"{herd}::keeper{n}", "CALLS", symbols[n % 90]) for n in range(400)])
        write_links(self.memory.ctx, [(each, "CALLS", symbols[1]) for each in symbols[2:]])
        find_communities(self.memory.ctx)
        text = "".join(f"# Giraffe {n} {'tall ' * 200}\n\n{LONG[:900]}\n\n" for n in range(90))
        (self.memory.ctx.settings.root / "zoo.md").write_text(text, encoding="utf-8")
        self.run("index_docs")
        return symbols, herd

    def run(self, name: str, **given: Any) -> Any:
        return self.memory.call(name, **given)


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Long]:
    root = tmp_path_factory.mktemp("long")
    environment = {"HOME": str(root), "WEFT_EMBEDDER": "none", "WEFT_AUDIT": "on"}
    with weft.open(directory=Path(root), environment=environment) as memory:
        yield Long(memory)


@pytest.mark.parametrize("name", sorted(each.name for each in OPERATIONS if each.effect == "read"))
def test_no_read_is_longer_than_an_answer_may_be(long: Long, name: str) -> None:
    if name in WHOLE | APART:
        return
    answer = long.run(name, **long.asked.get(name, {}))
    assert size(answer) <= OUTPUT_CHARACTERS


@pytest.mark.parametrize(
    ("name", "rows", "least"),
    [("recent", "nodes", 40), ("work_list", "tasks", 12), ("report_read_latest", "reports", 10)],
)
def test_rows_are_shortened_before_they_are_left_out(long: Long, name: str, rows: str, least: int) -> None:
    answer = long.run(name, **long.asked[name])
    assert len(getattr(answer, rows)) >= least
    assert any("to stay within 80,000 characters" in note for note in answer.notes)


@pytest.mark.parametrize(
    ("name", "rows", "least"),
    [("diff_since", "added", 100), ("impact_analyze", "direct", 100), ("semantic_slice", "members", 50)],
)
def test_of_several_lists_what_matters_least_goes_first(long: Long, name: str, rows: str, least: int) -> None:
    answer = long.run(name, **long.asked[name])
    assert len(getattr(answer, rows)) >= least
    assert any("to stay within 80,000 characters" in note for note in answer.notes)


def test_relations_go_on_where_an_answer_ended(long: Long) -> None:
    first = long.run("graph_edges", limit=10_000)
    assert first.next is not None
    pages = [first]
    while pages[-1].next is not None:
        pages.append(long.run("graph_edges", limit=10_000, after=pages[-1].next))
    edges = [(each.src, each.rel, each.dst) for page in pages for each in page.edges]
    assert len(edges) == len(set(edges)) == 490 + 400 + 88  # what files contain, and calls
