"""`weft token`: making, listing and revoking tokens, and where a token is never found again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.conftest import Cli
from weft.access.tokens import Token, TokenBook, book_of
from weft.core.clock import SystemClock, parse_instant
from weft.runtime.settings.load import load_settings

BEARER = re.compile(r"weft_[0-9a-f]{12}_[0-9a-f]{64}")
DAY_US = 86_400_000_000


def create(cli: Cli, agent: str, *arguments: str) -> Any:
    done = cli("token", "create", "--agent", agent, *arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def refused(cli: Cli, *arguments: str) -> str:
    done = cli("token", "create", *(("--agent", *arguments) if arguments else ()))
    assert done.exit_code in (1, 2), done.output
    return done.output


def admitted(cli: Cli, bearer: str) -> Token | None:
    return TokenBook(cli.data / "weft" / "tokens.json").admit(bearer, SystemClock().now_us())


def files(root: Path) -> Iterator[bytes]:
    for each in root.rglob("*"):
        if each.is_file():
            yield each.read_bytes()


def test_a_token_is_made_shown_once_listed_and_taken_back(cli: Cli) -> None:
    done = cli("token", "create", "laptop", "--agent", "ann")
    bearer = done.stdout.strip()
    assert BEARER.fullmatch(bearer), "the token alone, so that it can go into a variable"
    assert "Authorization: Bearer" in done.stderr
    assert "weft token revoke" in done.stderr
    token = admitted(cli, bearer)
    assert token is not None
    assert (token.agent, token.account, token.role, token.name) == ("ann", "default", "agent", "laptop")
    listed = cli("token", "list").output
    assert "laptop" in listed
    assert "live" in listed
    assert bearer not in listed
    assert token.hash not in listed
    assert "is revoked" in cli("token", "revoke", "laptop").output
    assert admitted(cli, bearer) is None
    assert "was revoked" in cli("token", "revoke", token.id).output
    assert "revoked" in cli("token", "list").output


def test_where_there_are_no_tokens_the_list_says_how_to_make_one(cli: Cli) -> None:
    assert "weft token create" in cli("token", "list").output
    assert not cli.data.exists(), "asking makes nothing"


def test_a_token_can_be_made_before_anything_is_remembered(cli: Cli) -> None:
    bearer = create(cli, "ann")["token"]
    assert cli("remember", "The ferry leaves at noon.").exit_code == 0
    assert cli("doctor").exit_code == 0
    assert admitted(cli, bearer)


def test_it_says_all_that_its_holder_is(cli: Cli) -> None:
    made = create(
        cli,
        *("ann", "--account", "harbour", "--scopes", "shared,public", "--audience", "public", "--project", "ferry"),
        *("--toolsets", "reports,memory", "--allow", "recall", "--allow", "cite", "--approves", "--sensitive"),
        *("--expires", "2099-01-31"),
    )
    token = admitted(cli, made["token"])
    assert token is not None
    assert (token.account, token.scopes, token.audience) == ("harbour", ("public", "shared"), "public")
    assert (token.project, token.sensitive, token.approves) == ("ferry", True, True)
    assert token.toolsets == ("core", "reports", "memory")
    assert token.allow == ("recall", "cite")
    assert token.expires == "2099-01-31T00:00:00.000000Z"
    assert made["made"]["id"] == token.id
    assert "hash" not in made["made"]


@pytest.mark.parametrize(
    ("given", "allow"),
    [((), "admin"), (("--audience", "public"), "public"), (("--audience", "public", "--allow", "admin"), "admin")],
)
def test_one_for_the_public_may_only_read_unless_more_is_allowed(cli: Cli, given: tuple[str, ...], allow: str) -> None:
    token = admitted(cli, create(cli, "kiosk", *given)["token"])
    assert token is not None
    assert token.allow == (allow,)


@pytest.mark.parametrize(("written", "days"), [(None, 90), ("12h", 0.5), ("2w", 14), ("1y", 365), ("30D", 30)])
def test_a_token_ends(cli: Cli, written: str | None, days: float) -> None:
    before_us = SystemClock().now_us()
    token = admitted(cli, create(cli, "ann", *(("--expires", written) if written else ()))["token"])
    assert token is not None
    assert 0 <= parse_instant(token.expires) - before_us - days * DAY_US < 60_000_000


def test_a_token_may_never_end(cli: Cli) -> None:
    made = create(cli, "ann", "--expires", "never")
    token = admitted(cli, made["token"])
    assert token is not None
    assert token.expires == ""
    assert "expires" not in made["made"]
    assert "until it is revoked" in cli("token", "list").output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "agent is missing"),
        (("",), "agent is empty"),
        (("a b",), "agent"),
        (("ann", "--account", "../x"), "account"),
        (("ann", "--scopes", "root"), "scopes"),
        (("ann", "--role", "root"), "root"),
        (("ann", "--role", "operator", "--scopes", "public"), "every scope"),
        (("ann", "--role", "operator", "--audience", "public"), "every scope"),
        (("ann", "--project", "/"), "project"),
        (("ann", "--toolsets", "everything"), "no toolset 'everything'"),
        (("ann", "--allow", "recal"), "no tool 'recal'"),
        (("ann", "--allow", "key_new"), "cannot be called over the network"),
        (("ann", "--allow", "token_create"), "cannot be called over the network"),
        (("ann", "--allow", ""), "not be allowed to call any tool"),
        (("ann", "--expires", "soon"), "90d"),
        (("ann", "--expires", "0d"), "not in the future"),
        (("ann", "--expires", "2001-01-01"), "not in the future"),
        (("ann", "--expires", "99999y"), "not in the future"),
        (("ann", "x" * 200), "name"),
        (("ann", "a\nb"), "name"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_kept(cli: Cli, arguments: tuple[str, ...], said: str) -> None:
    assert said in refused(cli, *arguments)
    assert list(files(cli.data)) == []


def test_only_configured_accounts_get_tokens(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_ACCOUNTS", "default,harbour")
    assert "not among the configured accounts" in refused(cli, "ann", "--account", "elsewhere")
    assert create(cli, "ann", "--account", "harbour")["made"]["account"] == "harbour"


def test_only_the_operator_may(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    create(cli, "ann", "laptop")
    for name, value in (("WEFT_ROLE", "agent"), ("WEFT_SCOPES", "public"), ("WEFT_AUDIENCE", "public")):
        with monkeypatch.context() as patched:
            patched.setenv(name, value)
            for arguments in (("create", "--agent", "bob"), ("list",), ("revoke", "laptop")):
                done = cli("token", *arguments)
                assert (done.exit_code, "only the operator may" in done.output) == (1, True)
    assert json.loads(cli("token", "list", "--json").stdout)["live"] == 1


def test_an_unknown_token_is_said_to_be(cli: Cli) -> None:
    create(cli, "ann", "desk")
    create(cli, "ann", "desk")
    assert "no live token" in cli("token", "revoke", "nobody").output
    done = cli("token", "revoke", "desk")
    assert (done.exit_code, "2 tokens have the name" in done.output) == (1, True)


def test_a_damaged_file_is_told_with_the_next_step(cli: Cli) -> None:
    create(cli, "ann")
    (cli.data / "weft" / "tokens.json").write_text("{}")
    for arguments in (("list",), ("create", "--agent", "bob"), ("revoke", "x")):
        done = cli("token", *arguments)
        assert done.exit_code == 1
        assert "nobody is admitted" in done.output
        assert "hint:" in done.output


def test_a_long_list_is_cut_and_says_so(cli: Cli) -> None:
    for n in range(4):
        create(cli, f"agent-{n}")
    listed = json.loads(cli("token", "list", "--limit", "3", "--json").stdout)
    assert [each["agent"] for each in listed["tokens"]] == ["agent-3", "agent-2", "agent-1"], "the newest first"
    assert (listed["total"], listed["live"]) == (4, 4)
    assert "1 older" in listed["notes"][0]


# ---- where the file is


def test_the_file_is_where_the_settings_say(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def place(**environment: str) -> Path:
        return book_of(load_settings(cli.root, {"HOME": str(cli.home), **environment})).path

    assert place() == cli.home / ".local" / "share" / "weft" / "tokens.json"
    assert place(WEFT_STORE=f"sqlite://{cli.scratch}/x") == cli.scratch / "x" / "tokens.json"
    assert place(WEFT_STORE="sqlite://x") == cli.root / "x" / "tokens.json"
    assert place(WEFT_STORE="memory://") == cli.data / "weft" / "tokens.json"
    assert place(WEFT_TOKENS=f"{cli.scratch}/t.json") == cli.scratch / "t.json"
    monkeypatch.setenv("WEFT_TOKENS", f"{cli.scratch}/deep/er/t.json")
    bearer = create(cli, "ann")["token"]
    assert TokenBook(cli.scratch / "deep" / "er" / "t.json").admit(bearer, SystemClock().now_us())
    assert (cli.scratch / "deep" / "er").stat().st_mode & 0o077 == 0


# ---- where a token is not


def test_a_token_is_kept_nowhere(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not in the store, not in the audit, not in the log of operations; and not when somebody writes it down."""
    monkeypatch.setenv("WEFT_AUDIT", "on")
    log = cli.scratch / "operations.log"
    monkeypatch.setenv("WEFT_LOG", str(log))
    cli("remember", "The ferry leaves at noon.")
    made = create(cli, "ann", "laptop")
    bearer, secret = made["token"], made["token"].rpartition("_")[2]
    for text in (
        f"ann's token is {bearer}.",
        f"curl -H 'Authorization: Bearer {bearer}'",
        f"export WEFT_TOKEN={bearer}",
        f"https://memory.example.com/mcp?token={bearer}&x=1",
        f'["{bearer}"]',
    ):
        cli("remember", f"Note: {text}")
    cli("recall", f"who has {bearer}?")
    cli("token", "list")
    cli("token", "revoke", bearer)
    held = list(files(cli.scratch))
    assert any(b"laptop" in each for each in held)
    assert any(b"[redacted: weft token]" in each for each in held)
    assert [each for each in held if secret.encode() in each] == []
    told = json.loads(cli("tool-calls", "--json").stdout)["calls"]
    (call,) = [each for each in told if each["operation"] == "token_create"]
    assert "laptop" in call["input"], "that it was made is on record"
    assert "token_revoke" in {each["operation"] for each in told}
    assert '"op":"token_create"' in log.read_text()
    assert not any(BEARER.search(each.decode("latin-1")) for each in held)


def test_a_token_is_kept_nowhere_with_redaction_off_either(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_AUDIT", "on")
    monkeypatch.setenv("WEFT_REDACTION", "off")
    monkeypatch.setenv("WEFT_LOG", str(cli.scratch / "operations.log"))
    cli("remember", "The ferry leaves at noon.")
    secret = create(cli, "ann", "laptop")["token"].rpartition("_")[2]
    held = list(files(cli.scratch))
    assert any(b"token_create" in each for each in held)
    assert [each for each in held if secret.encode() in each] == []
