"""Options of `weft recall` as they are typed."""

from __future__ import annotations

import json

from tests.surfaces.conftest import Cli


def test_numbers_with_a_point_are_taken_and_bounded(cli: Cli) -> None:
    cli("remember", "The ferry to Aas leaves at nine.")
    found = json.loads(cli("recall", "ferry", "--min-score", "0", "--json").stdout)
    assert [hit["node"]["text"] for hit in found["hits"]] == ["The ferry to Aas leaves at nine."]
    strict = json.loads(cli("recall", "ferry zebra quartz", "--min-score", "1.9", "--json").stdout)
    assert strict["status"] == "empty"
    assert any("of 1.900 needed" in note for note in strict["notes"])
    refused = cli("recall", "ferry", "--min-score", "9")
    assert refused.exit_code == 2
    assert "--min-score" in refused.stderr


def test_a_whole_is_found_by_its_kind_and_shows_its_parts(cli: Cli) -> None:
    row = {"id": "s", "text": "user: My gym is Ironworks.\n\nassistant: Noted, Ironworks it is."}
    (cli.root / "rows.jsonl").write_text(json.dumps(row))
    assert cli("ingest", "rows.jsonl").exit_code == 0
    (hit,) = json.loads(cli("recall", "which gym", "--kinds", "Session", "--json").stdout)["hits"]
    assert hit["node"]["kind"] == "Session"
    assert [part["by"] for part in hit["parts"]] == ["user", "assistant"]
    assert "My gym is Ironworks." in cli("recall", "which gym").stdout


def test_one_empty_field_is_none_of_them(cli: Cli) -> None:
    cli("remember", "The ferry to Aas leaves at nine.", "--name", "Ferry")
    (whole,) = json.loads(cli("memory-search", "ferry", "--json").stdout)["results"]
    (named,) = json.loads(cli("memory-search", "ferry", "--fields", "name", "--json").stdout)["results"]
    (bare,) = json.loads(cli("memory-search", "ferry", "--fields", "", "--json").stdout)["results"]
    shown = [(each["hit"]["node"]["name"], each["hit"]["node"]["text"]) for each in (whole, named, bare)]
    assert shown == [("Ferry", "The ferry to Aas leaves at nine."), ("Ferry", ""), ("", "")]
