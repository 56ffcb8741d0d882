"""What a command says at the end: one truth, in the right number, with the next step; and its exit code fits it."""

from __future__ import annotations

from tests.surfaces.conftest import Cli


def test_files_of_which_none_could_be_read_are_a_failure(cli: Cli) -> None:
    (cli.root / "big.md").write_text("word " * 200_000)
    alone = cli("ingest", "big.md")
    assert alone.exit_code == 1
    assert "Nothing was read: 1 skipped." in alone.stdout
    assert "document_bytes" in alone.stdout
    (cli.root / "small.md").write_text("# Quay\n\nThe quay opens at nine.\n")
    assert cli("ingest", ".").exit_code == 0
    assert cli("ingest", ".").exit_code == 0, "unchanged ones were read before"


def test_reading_names_the_files_that_held_secrets(cli: Cli) -> None:
    secret = "hunter2" + "-x9"
    for number in range(4):
        (cli.root / f"gate{number}.md").write_text(f"# Gate {number}\n\npassword: {secret}\n")
    (cli.root / "quay.md").write_text("# Quay\n\nThe quay opens at nine.\n")
    told = cli("ingest", ".").stdout
    assert "secrets were redacted in gate0.md, gate1.md, gate2.md and 1 more" in told
    assert secret not in told


def test_an_empty_bake_says_why(cli: Cli) -> None:
    (cli.root / "agents").mkdir()
    (cli.root / "agents" / "desk.toml").write_text('scopes = ["public"]\n')
    assert "nothing is tagged for it (`weft remember … --agents desk" in cli("bake", "desk").stdout
    cli("remember", "The desk opens at nine.", "--agents", "desk")
    closed = cli("bake", "desk")
    assert "1 memory that is meant for it may not be seen by it (its scopes: public)" in closed.stdout, closed.output
    cli("remember", "The desk closes at six.", "--agents", "desk", "--scope", "public")
    told = cli("bake", "desk").stdout
    assert "1 memory, 1 tagged for it" in told
    assert "meant for it" not in told


def test_whether_a_briefing_was_due_is_said_once(cli: Cli) -> None:
    unknown = cli("session-compact", "chat", "--asked", "Mend the pump").stdout
    assert "note: " in unknown
    assert "Compaction is" not in unknown
    known = cli("session-status", "chat", "--used-tokens", "10", "--window-tokens", "100").stdout
    assert "Compaction is not due" in known


def test_a_compaction_into_a_file_does_not_say_that_nothing_was_written(cli: Cli) -> None:
    cli("remember", "The quay opens at nine.")
    for _ in range(2):
        told = cli("compact", "--purpose", "coding", "--output", "quay.compaction.json").stdout
        assert "written to" in told
        assert "nothing was written" not in told


def test_one_is_told_as_one_and_no_conversation_says_where_to_look(cli: Cli) -> None:
    assert "--everywhere" in cli("conversation-list").stdout
    (cli.root / "talk.txt").write_text("Ana: Shall we move the desk?\nBen: Yes.\n")
    told = cli("ingest-transcript", "talk.txt").stdout
    assert "1 conversation, 2 turns in 1 file:" in told
    assert any(line.startswith("project ") and line.endswith(": 2 turns") for line in told.splitlines())
    assert "--everywhere" not in cli("conversation-list").stdout


def test_help_tells_sentences_from_names(cli: Cli) -> None:
    assert "--asked TEXT" in cli("session-compact", "--help").stdout
    assert "--agents NAME" in cli("remember", "--help").stdout
