"""Access as text: tokens, recorded calls, tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from weft.surfaces.render.page import Colour, TextPage, as_json, counted, day, facts, minute, one_line

if TYPE_CHECKING:
    from weft.access.audit import ToolCallShown, ToolCallsShown
    from weft.access.token_commands import TokenCreated, TokenRevoked, TokenShown, TokensListed
    from weft.surfaces.mcp.find_tool import ToolsFound

STATUSES: Final[dict[str, Colour]] = {"live": "green", "expired": "yellow", "revoked": "red"}


def token_created(p: TextPage, answer: TokenCreated) -> None:
    p.text(one_line(answer.token, 500))
    p.say(f"Token {p.name(answer.made.id)} was made; it is shown this once.")
    p.block(*_token(p, answer.made), "Send it as a header: Authorization: Bearer TOKEN")
    p.lines(f"To revoke it: {p.call(f'token revoke {answer.made.id}')}")


def tokens(p: TextPage, answer: TokensListed) -> None:
    if not answer.tokens:
        p.empty("tokens")
        p.say(f"{p.call('token create --agent NAME')} makes one.")
        return
    shown = f", {len(answer.tokens)} shown" if len(answer.tokens) < answer.total else ""
    p.say(f"{counted(answer.total, 'token')}, {answer.live:,} of them live{shown}.")
    p.block(*(line for each in answer.tokens for line in _token(p, each)))


def token_revoked(p: TextPage, answer: TokenRevoked) -> None:
    when = f"was revoked {minute(answer.token.revoked)}" if answer.already else "is revoked"
    p.say(f"Token {p.name(answer.token.id)} {when}.")
    p.block(*_token(p, answer.token))


def _token(p: TextPage, token: TokenShown) -> tuple[str, str]:
    role = f" ({one_line(token.role)})" if token.role != "agent" else ""
    whose = f"agent {one_line(token.agent)}{role} of account {one_line(token.account)}"
    end = f"until {minute(token.expires)}" if token.expires else "until it is revoked"
    allowed = "" if token.allow == ("admin",) else f" allowed {','.join(token.allow)}"
    may = facts(
        f"scopes {','.join(map(one_line, token.scopes))}",
        f"project {p.name(token.project)}" if token.project else "",
        token.audience if token.audience != "internal" else "",
        "sensitive" if token.sensitive else "",
        "approves" if token.approves else "",
        f"tools {','.join(token.toolsets)}{allowed}",
        f"made {day(token.created)}",
        f"revoked {day(token.revoked)}" if token.revoked else end,
    )
    status = p.paint(token.status, STATUSES.get(token.status, ""))
    return facts(p.name(token.id), status, whose, p.words(token.name) if token.name else ""), p.dim(f"  {may}")


def calls(p: TextPage, answer: ToolCallsShown) -> None:
    if not answer.calls:
        p.empty("recorded calls")
        return
    p.say(f"{counted(len(answer.calls), 'call')}, the latest first.")
    p.say(f"Older ones: before {p.name(answer.before)}." if answer.before else "")
    for call in answer.calls:
        _call(p, call)


def _call(p: TextPage, call: ToolCallShown) -> None:
    outcome = p.paint(call.code, "red") if call.error else call.status
    who = f"{one_line(call.agent)} ({one_line(call.role)}) by {call.surface}"
    about = (outcome, f"{call.ms:.1f} ms", who, p.dim(p.name(call.session)))
    p.block(facts(f"{minute(call.started)} {p.bold(one_line(call.operation))}", *about))
    for title, words, size in (("given", call.input, call.input_bytes), ("answered", call.output, call.output_bytes)):
        if words and p.for_model:
            p.lines(f"{title}:")
            p.quote(words)
        elif size:
            p.lines(p.dim(f"  {title}: {p.words(words, 200) if words else f'({size:,} bytes, not shown)'}"))
    if call.dropped:
        p.lines(p.dim(f"  {counted(call.dropped, 'call')} before this one: not recorded, too many came at once"))


def tools_found(p: TextPage, answer: ToolsFound) -> None:
    """Tools in lines, or one of them in full. They are weft's own words, so nothing is quoted."""
    if (tool := answer.described) is not None:
        p.say(f"`find_tool` with tool={tool.name} and `arguments` calls it.")
        p.passage(f"{tool.name} (toolset {tool.toolset}, {tool.effect})\n{tool.description}")
        p.block(f"arguments: {as_json(tool.input_schema)}")
        return
    if answer.names:
        p.say(f"{sum(map(len, answer.names.values()))} tools; `tool` describes one.")
    elif answer.found:
        p.say("Best first; `tool` describes one, with `arguments` it is called.")
    else:
        p.empty("tools")
    p.block(*(f"{each.name} (toolset {each.toolset}, {each.effect}): {each.does}" for each in answer.found))
    p.lines(*(f"{toolset}: {', '.join(names)}" for toolset, names in answer.names.items()))
