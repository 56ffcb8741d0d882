"""Every setting there is: its name in `weft.toml`, its variable in the environment, how it is read, what it does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct

from weft.kinds import GATED_KINDS
from weft.setting_values import (
    any_text,
    flag,
    host_names,
    keywords,
    name_or_none,
    names,
    number,
    one_name,
    one_of,
    paths,
    patterns,
    predicates,
    scopes,
    sealing_keys,
    short_text,
    some_text,
    whole,
)


class Setting(Struct, frozen=True, kw_only=True):
    """One setting: its name in `weft.toml`, its variable in the environment, how it is read, what it does."""

    name: str
    read: Callable[[Any], Any]
    summary: str
    secret: bool = False
    project_file: bool = False  # may a project's own weft.toml set it?
    environment_only: bool = False  # no file may hold it

    @property
    def variable(self) -> str:
        return f"WEFT_{self.name.upper()}"


SETTINGS: Final[tuple[Setting, ...]] = (
    Setting(
        name="store", read=some_text, summary="where memories live: sqlite:///path, or memory:// for a throw-away store"
    ),
    Setting(
        name="project",
        read=one_name,
        summary="the project of what is written here; the directory's name if unset",
        project_file=True,
    ),
    Setting(
        name="focus",
        read=name_or_none,
        summary="the focus area of the project that what is written here belongs to; none if unset",
    ),
    Setting(
        name="outbox",
        read=any_text,
        summary="the directory where writes wait while the store is busy or away; empty for none: they fail then",
    ),
    Setting(name="account", read=one_name, summary="whose memory this is; accounts never see each other"),
    Setting(name="accounts", read=names, summary="the accounts that may be used here; any if unset"),
    Setting(name="agent", read=one_name, summary="the name under which this process writes"),
    Setting(name="role", read=one_of("operator", "agent"), summary="operator (may maintain the store) or agent"),
    Setting(name="session", read=one_name, summary="the session that writes go to"),
    Setting(name="scopes", read=scopes, summary="what this process may see: public, shared, admin"),
    Setting(
        name="audience", read=one_of("internal", "public"), summary="public agents see only what is tagged for them"
    ),
    Setting(
        name="keywords", read=keywords, summary="topics this agent follows, at most 5: what is tagged so is found too"
    ),
    Setting(
        name="live_memory",
        read=flag,
        summary="whether this agent's session has memory at all; off, it has no tools, only what was baked for it",
    ),
    Setting(name="sensitive", read=flag, summary="whether sensitive memories are shown"),
    Setting(name="embedder", read=some_text, summary="builtin, none, ollama:<model> or openai:<model>"),
    Setting(name="embedder_url", read=any_text, summary="the embedding server's address, for ollama and openai"),
    Setting(name="embedder_key", read=any_text, summary="the embedding server's key", secret=True),
    Setting(
        name="model",
        read=some_text,
        summary="the language model that helps to read questions: none or openai:<model>; "
        "with one, questions and what precedes them are sent to model_url",
    ),
    Setting(name="model_url", read=any_text, summary="the language model's address, of any OpenAI-compatible server"),
    Setting(name="model_key", read=any_text, summary="the language model's key", secret=True),
    Setting(
        name="reranker",
        read=some_text,
        summary="none, lexical, http:<model>, late:<model> or openai:<model>; "
        "but for the first two, questions and the texts found for them are sent to reranker_url",
    ),
    Setting(name="reranker_url", read=any_text, summary="the reranking server's address; for openai, theirs if unset"),
    Setting(name="reranker_key", read=any_text, summary="the reranking server's key", secret=True),
    Setting(
        name="retention",
        read=one_of("none", "filter_expired", "decay"),
        summary="how long memories last when read: none, filter_expired, or decay (older ones weigh less)",
    ),
    Setting(
        name="half_life_days",
        read=number(0.01, 36_500.0),
        summary="under decay, after how many days a memory weighs half",
    ),
    Setting(
        name="expired_weight",
        read=number(0.0, 1.0),
        summary="under decay, the share of its weight that an expired memory keeps",
    ),
    Setting(
        name="grace_days",
        read=number(0.0, 36_500.0),
        summary="how many days what was deleted can be brought back; then `weft purge` erases it",
    ),
    Setting(
        name="extraction",
        read=one_of("rules", "model", "none"),
        summary="what reads names, facts, preferences and causes out of memories; with model, texts go to model_url",
    ),
    Setting(name="toolsets", read=names, summary="what `weft mcp` serves beside core: names of toolsets, or all"),
    Setting(
        name="single_valued",
        read=predicates,
        summary="properties with one value at a time, beside those weft knows: a newer value ends the older one",
    ),
    Setting(name="audit", read=flag, summary="whether every call is recorded, in a store of its own beside this one"),
    Setting(name="audit_days", read=number(1.0, 36_500.0), summary="how long recorded calls are shown"),
    Setting(
        name="log",
        read=any_text,
        summary="where a line of JSON goes for each operation, without words: stderr, a file, or empty for nowhere",
    ),
    Setting(
        name="conversation",
        read=short_text,
        summary="the conversation that what is written here comes of, as record_turns names it; none if unset",
    ),
    Setting(
        name="provenance",
        read=one_of("off", "warn", "required"),
        summary="what becomes of an agent's write of a person or another gated kind that names no task and comes of no "
        "conversation: off and warn let it through, required refuses it",
    ),
    Setting(
        name="gated_kinds",
        read=names,
        summary=f"kinds that provenance asks after, beside {', '.join(sorted(GATED_KINDS))}",
    ),
    Setting(
        name="redaction",
        read=one_of("on", "off"),
        summary="whether secrets (keys, tokens, passwords, card numbers) are taken out of what is written",
    ),
    Setting(
        name="sensitive_key",
        read=sealing_keys,
        summary="the key that sensitive memories are sealed with, name:base64-of-32-bytes (`weft key-new` makes one); "
        "several with commas: the first seals, all open",
        secret=True,
        environment_only=True,
    ),
    Setting(
        name="auto_approve",
        read=flag,
        summary="whether what agents ask to write for all projects is approved at once, with nobody looking",
    ),
    Setting(
        name="allow",
        read=names,
        summary="which tools may be called: admin (all), public (what reads memories), or names of tools",
    ),
    Setting(name="exclude", read=names, summary="tools that are not served on purpose, by name"),
    Setting(
        name="agent_files",
        read=paths,
        summary="files of agents, or directories of them, whose tools must exist: checked when a server starts",
    ),
    Setting(
        name="elicit",
        read=flag,
        summary="whether `weft mcp` asks the person at the agent's program; a yes counts as the operator's approval",
    ),
    Setting(name="host", read=some_text, summary="the address that `weft serve` listens on"),
    Setting(name="port", read=whole(0, 65_535), summary="the port that `weft serve` listens on; 0 for any free one"),
    Setting(
        name="hosts",
        read=host_names,
        summary="names under which `weft serve` may be called (the Host of a request), beside those of this machine",
    ),
    Setting(
        name="rate_limit", read=whole(1, 1_000_000), summary="requests of one token in rate_seconds; more must wait"
    ),
    Setting(name="rate_seconds", read=number(1.0, 86_400.0), summary="the time over which requests are counted"),
    Setting(name="request_bytes", read=whole(1_024, 67_108_864), summary="how large a request to `weft serve` may be"),
    Setting(
        name="tokens",
        read=any_text,
        summary="the file of the tokens that `weft serve` admits; in the store's directory if unset",
    ),
    Setting(
        name="sites",
        read=any_text,
        summary="where `weft publish` puts sites, and what `weft serve` shows under /sites/; empty for none",
    ),
    Setting(
        name="document_bytes",
        read=whole(1_024, 67_108_864),
        summary="how large a file may be for `weft ingest`; larger ones are skipped, and said so",
    ),
    Setting(
        name="ignore",
        read=patterns,
        summary="files that `weft ingest` passes over, as .gitignore writes them, beside those .gitignore names",
        project_file=True,
    ),
    Setting(
        name="conversations",
        read=one_of("lazy", "forensic"),
        summary="lazy: a conversation is kept from its second message on; forensic: every message, at once",
    ),
    Setting(
        name="workspaces",
        read=paths,
        summary="directories that callers of `weft serve` may choose as their workspace, beside the one it is run in",
    ),
    Setting(
        name="watch",
        read=flag,
        summary="whether a server watches its workspaces and indexes what is saved; unset, `weft serve` does and "
        "`weft mcp` does not",
    ),
    Setting(
        name="watch_debounce_ms",
        read=whole(20, 10_000),
        summary="how long no file has to change before a watcher indexes those that did",
    ),
)
