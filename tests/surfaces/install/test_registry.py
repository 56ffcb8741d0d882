"""`server.json`, by which the MCP registry lists weft: it says what the package says."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

from weft.runtime.settings.declared import SETTINGS
from weft.surfaces.cli.main import mcp
from weft.version import __version__

ROOT = Path(__file__).parents[3]
SERVER: dict[str, Any] = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_it_is_of_this_version_and_this_package() -> None:
    (package,) = SERVER["packages"]
    assert SERVER["version"] == package["version"] == __version__
    assert (package["registryType"], package["identifier"]) == ("pypi", PROJECT["name"])
    assert package["runtimeHint"] == "uvx"
    assert package["transport"] == {"type": "stdio"}


def test_the_registry_finds_its_name_in_the_readme() -> None:
    """It proves that the package and the entry are one's own; what follows the name must not be part of a word."""
    assert PROJECT["readme"] == "README.md"
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"mcp-name: (\S+)(?=\s|-->)", readme) == [SERVER["name"]]


def test_it_keeps_to_the_rules_of_the_schema() -> None:
    assert re.fullmatch(
        r"https://static\.modelcontextprotocol\.io/schemas/[\d-]+/server\.schema\.json", SERVER["$schema"]
    )
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", SERVER["name"])
    assert 3 <= len(SERVER["name"]) <= 200
    assert 1 <= len(SERVER["description"]) <= 100
    assert 1 <= len(SERVER["title"]) <= 100
    assert re.fullmatch(r"\d+\.\d+\.\d+(?:[-+.\w]+)?", SERVER["version"]), "one release, no range"
    assert set(SERVER) <= {"$schema", "name", "title", "description", "version", "packages", "repository", "websiteUrl"}
    for argument in SERVER["packages"][0]["packageArguments"]:
        assert argument["type"] in ("positional", "named")
        assert "value" in argument or "name" in argument


def test_its_arguments_are_those_of_the_command() -> None:
    first, *named = SERVER["packages"][0]["packageArguments"]
    assert first == {"type": "positional", "value": mcp.name}
    options = {option: each for each in mcp.params for option in each.opts}
    assert {each["name"] for each in named} <= set(options)
    assert [each["description"] for each in named] == [options[each["name"]].help for each in named]  # type: ignore[attr-defined]


def test_its_variables_are_settings() -> None:
    known = {setting.variable: setting for setting in SETTINGS}
    listed = SERVER["packages"][0]["environmentVariables"]
    for each in listed:
        setting = known[each["name"]]
        assert each["description"] == setting.summary
        assert each["isSecret"] is setting.secret
        assert each["isRequired"] is False
    secret = {name for name, setting in known.items() if setting.secret}
    assert secret <= {each["name"] for each in listed}
    assert len({each["name"] for each in listed}) == len(listed)
