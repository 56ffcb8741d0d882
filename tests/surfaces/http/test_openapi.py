"""The OpenAPI document against the live server: schemathesis calls every operation as the document says.

With WEFT_HYPOTHESIS=thorough every bound of every argument of every operation is tried, which takes minutes.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.surfaces.http.conftest import House, Server
from weft.text.encryption import new_key

SCHEMATHESIS = str(Path(sys.executable).with_name("st"))
THOROUGH = os.environ.get("WEFT_HYPOTHESIS") == "thorough"
# What every caller calls, and what takes the most kinds of arguments.
EVERYDAY = ("remember", "recall", "cite", "record_turns", "add_fact")
# Off: that what fits the schema is taken (an id that there is not, or a time that is none, fits it and is refused), and
# that every call without a token is answered with 401: after sixty of them the gate says 429.
CHECKS = """
[checks]
positive_data_acceptance.enabled = false
ignored_auth.enabled = false
missing_required_header.expected-statuses = [401, 429]
negative_data_rejection.expected-statuses = ["400", "401", "403", "404", "405", "409", "413", "415", "429"]
"""


@pytest.fixture(scope="module")
def keyed(house: House) -> Server:
    """With a key for what is sensitive, without which some calls are refused for the server's own sake."""
    return house.serve("--toolsets", "all", sensitive_key=new_key("first"))


@pytest.fixture(scope="module")
def operator(house: House) -> str:
    return house.token("boss", role="operator", toolsets=("all",))


def run(server: Server, token: str, scratch: Path, *options: str) -> None:
    settings = scratch / "schemathesis.toml"
    settings.write_text(CHECKS)
    done = subprocess.run(
        [
            *(SCHEMATHESIS, "--config-file", str(settings), "run", f"{server.url}/openapi.json"),
            *("-H", f"Authorization: Bearer {token}", "--seed", "7", "--workers", "2", "--no-color"),
            *("--generation-database", "none", *options),
        ],
        cwd=scratch,
        capture_output=True,
        text=True,
        timeout=1_000 if THOROUGH else 110,
        check=False,
    )
    assert done.returncode == 0, "\n".join(line[:400] for line in done.stdout.splitlines()[-150:]) + done.stderr
    assert " passed" in done.stdout


@pytest.mark.timeout(1_100 if THOROUGH else 120)
def test_every_operation_answers_as_the_document_says(keyed: Server, operator: str, tmp_path: Path) -> None:
    run(keyed, operator, tmp_path, "--phases", "examples,fuzzing", "--max-examples", "40" if THOROUGH else "1")


@pytest.mark.timeout(1_100 if THOROUGH else 120)
def test_the_bounds_of_arguments_are_as_the_document_says(keyed: Server, operator: str, tmp_path: Path) -> None:
    wanted = () if THOROUGH else [part for name in EVERYDAY for part in ("--include-operation-id", name)]
    run(keyed, operator, tmp_path, "--phases", "coverage", *wanted)
