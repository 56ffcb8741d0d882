"""Conversations and records from the command line."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

from tests.surfaces.conftest import Cli

ROWS = [
    {"id": "r1", "title": "Ferry", "text": "The ferry to Aas leaves at nine."},
    {"id": "r2", "session": 1, "text": "Mira: I missed it.", "date": "9:20 am on 9 March, 2024"},
    {"id": "r3", "session": 1, "text": "Jon: Walk.", "date": "last week"},
]


def test_a_file_of_records_can_be_asked_at_once(cli: Cli) -> None:
    lines = [json.dumps(row) for row in ROWS]
    (cli.root / "rows.jsonl").write_text("\n".join([*lines, "{oops", ""]))
    done = cli("ingest", "rows.jsonl")
    assert done.exit_code == 0
    assert "Read 3 records (2 turns of conversations); 0 unchanged, 1 skipped." in done.stdout
    assert "rows.jsonl:4: is not JSON" in done.stdout
    assert "row 3: 'last week' is not read as a date" in done.stdout
    assert "The ferry to Aas" in cli("recall", "when does the ferry leave?").stdout
    again = json.loads(cli("ingest", "rows.jsonl", "--json").stdout)
    assert (again.get("records", 0), again["unchanged"]) == (0, 3)


def test_a_conversation_as_it_happens(cli: Cli) -> None:
    done = cli("record-turns", "chat", "--turns", "user: Is it late?", "--turns", "Mira: It is late: wait.")
    assert done.exit_code == 0, done.output
    citation = next(word for word in done.stdout.split() if word.startswith("weft://"))
    assert "Is it late?" in cli("cite", citation).stdout
    refused = cli("record-turns", "chat", "--turns", "nobody")
    assert refused.exit_code == 2
    assert "has no speaker" in refused.stderr


def test_processes_that_talk_at_once_keep_every_turn(cli: Cli) -> None:
    def talk(name: str) -> int:
        return cli.real("record-turns", "chat", "--turns", f"{name}: one", "--turns", f"{name}: two").code

    with ThreadPoolExecutor(4) as pool:
        codes = list(pool.map(talk, ["Ann", "Bo", "Cy", "Di"]))
    assert codes == [0] * 4
    (last,) = json.loads(cli("record-turns", "chat", "--turns", "user: all there?", "--json").stdout)["turns"]
    assert last["seq"] == 9
    shown = [cli("show", f"{last['id'].partition('#')[0]}#{seq:05d}").stdout for seq in range(1, 9)]
    pairs = [" ".join(text for text in ("one", "two") if f": {text}" in page) for page in shown]
    assert pairs == ["one", "two"] * 4, "turns written together stay together"
