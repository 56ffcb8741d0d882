"""Profiles that a client or the command line asks for, and how tokens are counted."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from mcp import ClientSession

from tests.surfaces.conftest import Cli
from tests.surfaces.mcp.clients import Bench, refused, text_of
from tests.surfaces.mcp.test_find_tool import call
from weft.context.tokens import count_tokens

# ---- over MCP


def test_every_tool_takes_a_profile_also_through_find_tool(tmp_path: Path) -> None:
    async def story(session: ClientSession) -> None:
        for number in range(20):
            await session.call_tool("remember", {"text": f"Buoy {number} is lit by a lamp that Jon repaired in May."})
        short = await session.call_tool("recall", {"query": "buoy", "profile": "compact"})
        assert short.structured_content["profile"] == "compact"
        assert short.structured_content["token_estimate"] <= 300
        assert count_tokens(text_of(short)) <= 300
        usual = await session.call_tool("recall", {"query": "buoy"})
        assert usual.structured_content["profile"] == "default"
        for sent in (
            {"tool": "recent", "arguments": {"limit": 20, "profile": "compact"}},
            {"tool": "recent", "arguments": {"limit": 20}, "profile": "compact"},
            {"tool": "recent", "arguments": {"limit": 20, "profile": "compact"}, "profile": "debug"},
        ):
            found = await session.call_tool("find_tool", sent)
            assert found.structured_content["profile"] == "compact"
            assert found.structured_content["token_estimate"] <= 300
        saved = await session.call_tool("remember", {"text": "Buoy 20 is dark.", "profile": "compact"})
        assert saved.structured_content["ok"]
        assert saved.structured_content["data"]["citation"] in text_of(saved)
        wrong = await refused(session, "recall", {"query": "buoy", "profile": "tiny"})
        assert wrong["error_code"] == "invalid"
        assert "compact (300 tokens), balanced (1,200) or debug" in wrong["hint"]
        too_small = await refused(session, "find_tool", {"tool": "recall", "profile": "compact"})
        assert too_small["error_code"] == "over_budget"
        assert too_small["hint"].startswith("ask with profile ")

    Bench(tmp_path).run(story)


def test_a_profile_of_its_own_is_the_operation_s(tmp_path: Path) -> None:
    """memory_search ranks by a profile; what only says how much is told still does."""

    async def story(session: ClientSession) -> None:
        for number in range(20):
            await session.call_tool("remember", {"text": f"Buoy {number} is lit. " + "It shines over the bay. " * 30})
        for profile, within in (("temporal", "debug"), ("balanced", "debug"), ("compact", "compact")):
            answered = await call(session, "memory_search", {"query": "buoy", "profile": profile, "limit": 20})
            assert answered["profile"] == within
        assert answered["token_estimate"] <= 300
        whole = await call(session, "memory_search", {"query": "buoy", "limit": 20})
        assert len(whole["data"]["results"]) == 20  # bounded by limit and 80,000 characters
        assert 4_000 < whole["token_estimate"] <= 20_000

    Bench(tmp_path).run(story)


# ---- on the command line


def test_the_command_line_prints_the_text_of_a_profile(cli: Cli) -> None:
    for number in range(15):
        cli("remember", f"Buoy {number} is lit by a lamp that Jon repaired in May.")
    short = cli("recall", "buoy", "--profile", "compact").stdout
    assert count_tokens(short) <= 300
    assert "Sources\n[1] weft://" in short
    assert len(cli("recall", "buoy", "--profile", "balanced", "--limit", "15").stdout) > len(short)
    answer = json.loads(cli("recall", "buoy", "--profile", "compact", "--json").stdout)
    assert len(answer["hits"]) == 10  # for programs the answer is whole, and its context short
    assert count_tokens(answer["context"]) <= 300
    assert cli("recall", "buoy", "--profile", "tiny").exit_code == 2


# ---- tokens


COUNTING = """
import sys
sys.path.insert(0, sys.argv[1])
from weft.context.tokens import count_tokens
from weft.surfaces.mcp.answer import success
from weft.surfaces.mcp.find_tool import ToolsFound
answer = success(ToolsFound(notes=("one two three",)), wording=str, profile="compact")
print(count_tokens("four words of text"), answer.envelope.token_estimate)
"""


def test_tokens_are_counted_by_a_real_tokenizer_where_there_is_one(tmp_path: Path) -> None:
    """tiktoken fetches its vocabulary over the network, so a stand-in with its interface counts words here."""

    def counted(directory: Path) -> list[int]:
        done = subprocess.run(
            [sys.executable, "-c", COUNTING, str(directory)], capture_output=True, text=True, check=True
        )
        return [int(each) for each in done.stdout.split()]

    (tmp_path / "with").mkdir()
    (tmp_path / "with" / "tiktoken.py").write_text(
        "class Encoding:\n"
        "    def encode(self, text, disallowed_special):\n"
        "        return text.split()\n"
        "def get_encoding(name):\n"
        "    assert name == 'o200k_base'\n"
        "    return Encoding()\n",
        encoding="utf-8",
    )
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "tiktoken.py").write_text(
        "def get_encoding(name):\n    raise OSError('no network')\n", encoding="utf-8"
    )
    (tmp_path / "without").mkdir()
    (tmp_path / "without" / "tiktoken.py").write_text("raise ImportError('not installed')\n", encoding="utf-8")
    words, estimate = counted(tmp_path / "with")
    assert words == 4
    for other in ("broken", "without"):
        quarter, longer = counted(tmp_path / other)
        assert quarter == 5  # 18 characters
        assert longer > estimate
