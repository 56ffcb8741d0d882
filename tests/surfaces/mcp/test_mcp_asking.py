"""Where a write needs the operator's approval, the person at the client is asked, in both ages of the protocol."""

from __future__ import annotations

import time
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.client import ClientRequestContext
from mcp.types import ElicitRequestFormParams, ElicitRequestParams, ElicitResult, InputRequiredResult

from tests.surfaces.mcp.clients import Bench, Raw, quiet, text_of
from tests.surfaces.mcp.mcp_eras import ERAS, run
from weft.text.encryption import new_key

RULE = {"text": "All services log in UTC.\nLocal time is for people.", "level": "global"}


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    chosen: str = request.param
    return chosen


class Person:
    """Sits at the client, and answers as told."""

    def __init__(self, action: Any = "accept", content: dict[str, Any] | None = None) -> None:
        self.reply = ElicitResult(action=action, content=content)
        self.asked: list[str] = []

    async def answer(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        assert isinstance(params, ElicitRequestFormParams)
        assert params.requested_schema["required"] == ["approve"]
        self.asked.append(params.message)
        return self.reply


YES = ("accept", {"approve": True})


def approvals(bench: Bench, status: str = "all") -> list[Any]:
    with bench.open() as memory:
        return list(memory.call("approval_list", status=status).approvals)  # type: ignore[attr-defined]


def everywhere(bench: Bench) -> list[str]:
    with bench.open() as memory:
        return sorted(each.text for each in memory.recent(limit=50).nodes if each.project is None)


def test_a_yes_writes_what_was_shown_once_and_is_on_record(bench: Bench, era: str) -> None:
    person = Person(*YES)

    async def story(client: Client) -> None:
        saved = await client.call_tool("remember", RULE)
        assert text_of(saved).startswith("Saved as weft://")
        (shown,) = person.asked
        assert "> All services log in UTC.\n> Local time is for people." in shown
        assert "test-client (agent), at Test Client, wants to call remember" in shown
        assert "level:\n> global" in shown
        assert "needs the operator's approval" in shown
        again = await client.call_tool("remember", {"text": "Logs are kept for a year.", "level": "global"})
        assert not again.is_error
        assert len(person.asked) == 2  # one yes is good for one write

    run(bench, era, story, client={"elicitation_callback": person.answer})
    assert everywhere(bench) == [RULE["text"], "Logs are kept for a year."]
    for each in approvals(bench):
        assert (each.status, each.agent, each.decided_by) == ("used", "test-client", "person-at-test-client")
        assert (each.reason, each.why) == ("asked at Test Client", "asked at Test Client")


def test_anything_but_a_yes_leaves_it_as_it_was(bench: Bench, era: str) -> None:
    person = Person()
    replies: tuple[tuple[Any, Any], ...] = (
        ("decline", None),
        ("cancel", None),
        ("accept", {"approve": False}),
        ("accept", None),
        ("accept", {"approve": "true"}),
    )

    async def story(client: Client) -> None:
        for number, (action, content) in enumerate(replies, start=1):
            person.reply = ElicitResult(action=action, content=content)
            refused = await client.call_tool("remember", RULE)
            assert refused.structured_content is not None
            assert refused.structured_content["data"]["status"] == "failed"
            assert any("approval" in note for note in refused.structured_content["notes"])
            assert len(person.asked) == number

    run(bench, era, story, client={"elicitation_callback": person.answer})
    assert (everywhere(bench), approvals(bench)) == ([], [])


@pytest.mark.parametrize("settings", [{"elicit": "off"}, {}])
def test_nobody_is_asked_who_may_not_be_or_cannot(bench: Bench, era: str, settings: dict[str, str]) -> None:
    person = Person(*YES)
    client = {"elicitation_callback": person.answer} if settings else {}

    async def story(connected: Client) -> None:
        refused = await connected.call_tool("remember", RULE)
        assert refused.structured_content is not None
        assert refused.structured_content["data"]["status"] == "failed"

    run(bench, era, story, client=client, **settings)
    assert person.asked == []
    assert (everywhere(bench), approvals(bench)) == ([], [])


def test_what_is_sensitive_is_shown_only_to_who_may_see_it(bench: Bench, era: str) -> None:
    secret = {"text": "The insurance number of Orla Finn is 55-1861.", "level": "global", "sensitive": True}
    key = new_key("k1")

    for sensitive, asked in (("off", 0), ("on", 1)):
        person = Person("decline")

        async def story(client: Client) -> None:
            await client.call_tool("remember", secret)

        run(bench, era, story, client={"elicitation_callback": person.answer}, sensitive=sensitive, sensitive_key=key)
        assert len(person.asked) == asked, sensitive


def test_what_is_too_long_to_be_read_is_not_asked_about(bench: Bench) -> None:
    person = Person(*YES)

    async def story(client: Client) -> None:
        refused = await client.call_tool("remember", {"text": "Long. " * 3_000, "level": "global"})
        assert refused.structured_content is not None
        assert refused.structured_content["data"]["status"] == "failed"

    run(bench, ERAS[0], story, client={"elicitation_callback": person.answer})
    assert person.asked == []


def test_what_is_called_through_find_tool_is_asked_about_too(bench: Bench, era: str) -> None:
    person = Person(*YES)
    arguments = {"subject": "UTC", "predicate": "IS_USED_BY", "object": "all services", "level": "global"}

    async def story(client: Client) -> None:
        saved = await client.call_tool("find_tool", {"tool": "add_fact", "arguments": arguments})
        assert "Saved as" in text_of(saved)
        assert "wants to call add_fact" in person.asked[0]

    run(bench, era, story, client={"elicitation_callback": person.answer})
    assert [each.operation for each in approvals(bench)] == ["add_fact"]


def test_a_client_that_fails_to_ask_costs_only_the_question(bench: Bench) -> None:
    async def fail(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        raise RuntimeError("no screen")

    async def story(client: Client) -> None:
        refused = await client.call_tool("remember", RULE)
        assert refused.structured_content is not None
        assert refused.structured_content["data"]["status"] == "failed"
        assert (await client.call_tool("recall", {"query": "x"})).structured_content["ok"]  # type: ignore[index]

    run(bench, ERAS[0], story, client={"elicitation_callback": fail})


# ---- a reply that comes with the call itself could be made up


def test_a_reply_counts_only_for_the_call_that_was_shown_and_only_once(bench: Bench) -> None:
    yes = {"approval": ElicitResult(action="accept", content={"approve": True})}

    async def never(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        raise AssertionError("the test answers itself")

    async def story(client: Client) -> None:
        async def ask(arguments: dict[str, Any]) -> str:
            asked = await client.session.call_tool("remember", arguments, allow_input_required=True)
            assert isinstance(asked, InputRequiredResult)
            assert asked.request_state is not None
            return asked.request_state

        async def send(arguments: dict[str, Any], state: str) -> Any:
            return await client.session.call_tool(
                "remember", arguments, input_responses=yes, request_state=state, allow_input_required=True
            )

        state = await ask(RULE)
        for sent, told in (
            ({**RULE, "text": "Nobody logs anything."}, state),  # other words than were shown
            (RULE, state[:-4] + ("AAAA" if state[-4:] != "AAAA" else "BBBB")),
            (RULE, "approved"),
        ):
            with pytest.raises(MCPError, match="Invalid or expired requestState"):
                await send(sent, told)
        assert (await send(RULE, state)).structured_content["data"]["status"] == "saved"
        twice = await send({**RULE}, state)
        assert twice.structured_content["data"]["status"] in ("failed", "duplicate_skip")
        other = {"text": "Logs are kept for a year.", "level": "global"}
        first = await ask(other)
        assert (await send(other, first)).structured_content["data"]["status"] == "saved"
        repeated = await client.session.call_tool(
            "remember", other | {"text": "And a day."}, input_responses=yes, allow_input_required=True
        )
        assert isinstance(repeated, InputRequiredResult)  # a reply to nothing is no reply

    run(bench, ERAS[1], story, client={"elicitation_callback": never})
    assert [each.status for each in approvals(bench)] == ["used", "used"]


def test_a_question_of_another_server_s_is_not_answered_here(bench: Bench) -> None:
    states: list[str] = []

    async def never(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        raise AssertionError("the test answers itself")

    async def asked(client: Client) -> None:
        first = await client.session.call_tool("remember", RULE, allow_input_required=True)
        assert isinstance(first, InputRequiredResult)
        assert first.request_state is not None
        states.append(first.request_state)

    async def elsewhere(client: Client) -> None:
        yes = {"approval": ElicitResult(action="accept", content={"approve": True})}
        with pytest.raises(MCPError, match="Invalid or expired requestState"):
            await client.session.call_tool("remember", RULE, input_responses=yes, request_state=states[0])

    run(bench, ERAS[1], asked, client={"elicitation_callback": never})
    run(bench, ERAS[1], elsewhere, client={"elicitation_callback": never})


# ---- ends


def test_a_question_that_is_open_at_the_end_holds_up_nothing(bench: Bench) -> None:
    server = Raw(bench)
    try:
        server.ask(
            "initialize",
            {
                "protocolVersion": "2025-11-25",
                "capabilities": {"elicitation": {}},
                "clientInfo": {"name": "quiet", "version": "1"},
            },
        )
        server.line(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')
        server.send("tools/call", {"name": "remember", "arguments": RULE})
        assert server.read()["method"] == "elicitation/create"
        began = time.monotonic()
        out, errors = server.end()
        assert time.monotonic() - began < 8.0
        assert server.process.returncode == 0
        assert quiet(errors) == []
        assert b'"error"' in out or out == b""
    finally:
        server.process.kill()
        server.process.wait()
    assert (everywhere(bench), approvals(bench)) == ([], [])
