"""`weft mcp` as another's client meets it: the command line of the MCP inspector, which shares no code with the SDK."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.mcp.clients import WEFT, Bench

PACKAGE = "@modelcontextprotocol/inspector@2.12.0"
INSTALL_SECONDS = 90  # below the time that a test may take

pytestmark = pytest.mark.timeout(200)


@pytest.fixture(scope="session")
def inspector(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The program, installed once per run into a directory of the run's own."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.skip("node and npm are not on this machine: the MCP inspector cannot be tried")
    place = tmp_path_factory.mktemp("inspector")
    command = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(place), PACKAGE]
    environment = {"PATH": os.environ["PATH"], "HOME": str(place)}
    for name in ("npm_config_registry", "NPM_CONFIG_REGISTRY", "npm_config_cache", "NODE_EXTRA_CA_CERTS"):
        environment |= {name: os.environ[name]} if name in os.environ else {}
    environment |= {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
    try:
        done = subprocess.run(command, capture_output=True, timeout=INSTALL_SECONDS, env=environment, check=False)
    except subprocess.TimeoutExpired:
        pytest.skip(f"{PACKAGE} could not be installed within {INSTALL_SECONDS} s: the registry of npm is too slow")
    program = place / "node_modules" / ".bin" / "mcp-inspector"
    if done.returncode != 0 or not program.exists():
        said = done.stderr.decode(errors="replace").strip().splitlines()
        pytest.skip(f"{PACKAGE} could not be installed: {said[-1] if said else done.returncode}")
    return str(program)


class Inspector:
    """Calls one method of a new server, and reads what the inspector prints."""

    def __init__(self, program: str, bench: Bench) -> None:
        self._program, self._bench = program, bench

    def run(self, method: str, *arguments: str, **settings: str) -> tuple[int, str, str]:
        environment = self._bench.environment(**settings)
        given = [word for name, value in environment.items() for word in ("-e", f"{name}={value}")]
        command = [self._program, "--cli", *given, WEFT, "mcp", "--method", method, *arguments]
        done = subprocess.run(
            command, capture_output=True, timeout=60, env=environment, cwd=self._bench.root, check=False
        )
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def ask(self, method: str, *arguments: str, **settings: str) -> dict[str, Any]:
        code, out, errors = self.run(method, *arguments, **settings)
        assert code == 0, errors
        answer: dict[str, Any] = json.loads(out)
        return answer


@pytest.fixture
def client(inspector: str, tmp_path: Path) -> Inspector:
    return Inspector(inspector, Bench(tmp_path))


def test_tools_are_listed_and_their_schemas_are_portable(client: Inspector) -> None:
    code, out, problems = client.run("tools/list", "--strict", toolsets="all")
    assert code == 0, problems  # 6 if a schema has an error that some client would trip over
    names = [tool["name"] for tool in json.loads(out)["tools"]]
    assert {"remember", "recall", "cite", "find_tool", "add_fact"} <= set(names)


def test_what_one_call_writes_the_next_one_reads(client: Inspector) -> None:
    words = "text=Ferries leave at nine."
    saved = client.ask("tools/call", "--tool-name", "remember", "--tool-arg", words)
    citation = saved["structuredContent"]["data"]["citation"]
    found = client.ask("tools/call", "--tool-name", "recall", "--tool-arg", "query=ferries")
    assert found["structuredContent"]["data"]["hits"][0]["node"]["citation"] == citation
    (content,) = client.ask("resources/read", "--uri", citation)["contents"]
    assert "> Ferries leave at nine." in content["text"]
    (message,) = client.ask("prompts/get", "--prompt-name", "checkout", "--prompt-args", "task=ferries")["messages"]
    assert "Ferries leave at nine." in message["content"]["text"]


def test_resources_and_prompts_are_listed(client: Inspector) -> None:
    listed = client.ask("resources/list")["resources"]
    assert {each["uri"] for each in listed} == {"weft://schema", "weft://health", "weft://recent"}
    templates = client.ask("resources/templates/list")["resourceTemplates"]
    assert [each["name"] for each in templates] == ["citation", "file-citation"]
    prompts = client.ask("prompts/list")["prompts"]
    assert [each["name"] for each in prompts] == [
        "checkout",
        "review_memory",
        "impact_before_edit",
        "fleet_board",
        "carry_on",
    ]
    code, _, problem = client.run("resources/read", "--uri", "weft://nobody/events/1")
    assert code != 0
    assert "Resource not found" in problem
