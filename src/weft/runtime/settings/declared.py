"""The table of all settings: name, type, reader, help and default of each.

A setting is `name` in `weft.toml` and `WEFT_NAME` in the environment.
"""

# No postponed annotations: the table below is read from them.
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args

from msgspec import NODEFAULT, Struct
from msgspec.structs import fields, replace

from weft.core.kinds import GATED_KINDS
from weft.core.types import SCOPES, Audience
from weft.runtime.settings import values

RetentionPolicy = Literal["none", "filter_expired", "decay"]
Provenance = Literal["off", "warn", "required"]
Conversations = Literal["lazy", "forensic"]


_DEPTH: Final = values.unset_or(values.whole(0, 5))


class Setting(Struct, frozen=True):
    """How one setting is read, its help, and where it may be set."""

    read: Callable[[Any], Any]
    summary: str
    name: str = ""
    secret: bool = False
    project_file: bool = False  # a project's own weft.toml may set it
    environment_only: bool = False  # no file may hold it

    @property
    def variable(self) -> str:
        return f"WEFT_{self.name.upper()}"


class Effective(Struct, frozen=True, kw_only=True):
    """A setting's value and its origin: a file, a variable, `default`, or another source by name."""

    value: Any
    origin: str


class Settings(Struct, frozen=True, kw_only=True):
    """All settings of a process, or of one caller of a server.

    Those without a default here depend on the directory or the user: `load.py` has theirs.
    """

    store: Annotated[
        str,
        Setting(
            values.some_text,
            "where memories live: sqlite:///path, neo4j://user@host:7687, or memory:// for a throw-away store",
        ),
    ]
    project: Annotated[
        str,
        Setting(
            values.one_name, "the project that writes here belong to; the directory's name if unset", project_file=True
        ),
    ]
    focus: Annotated[
        str, Setting(values.name_or_none, "the focus area of the project that writes here belong to; none if unset")
    ] = ""
    store_password: Annotated[
        str, Setting(values.any_text, "the password of the store's user, where the store is a server", secret=True)
    ] = ""
    outbox: Annotated[
        str,
        Setting(
            values.any_text,
            "the directory where writes wait while the store is busy or unreachable; empty for none: they fail then",
        ),
    ]
    account: Annotated[str, Setting(values.one_name, "whose memory this is; accounts never see each other")] = "default"
    accounts: Annotated[tuple[str, ...], Setting(values.names, "the accounts that may be used here; any if unset")] = ()
    agent: Annotated[str, Setting(values.one_name, "the name under which this process writes")] = "operator"
    role: Annotated[str, Setting(values.one_of("operator", "agent"), "operator (may maintain the store) or agent")] = (
        "operator"
    )
    session: Annotated[str, Setting(values.one_name, "the session that writes go to")] = "operator"
    scopes: Annotated[tuple[str, ...], Setting(values.scopes, "what this process may see: public, shared, admin")] = (
        SCOPES
    )
    audience: Annotated[
        Audience, Setting(values.one_of(*get_args(Audience)), "public agents see only memories tagged for them")
    ] = "internal"
    keywords: Annotated[
        tuple[str, ...],
        Setting(values.keywords, "topics this agent follows, at most 5: memories tagged with them are also found"),
    ] = ()
    live_memory: Annotated[
        bool,
        Setting(
            values.flag, "whether this agent has memory in its session; off: no tools, only the knowledge baked for it"
        ),
    ] = True
    sensitive: Annotated[bool, Setting(values.flag, "whether sensitive memories are shown")] = False
    embedder: Annotated[str, Setting(values.some_text, "builtin, none, ollama:<model> or openai:<model>")] = "builtin"
    embedder_url: Annotated[str, Setting(values.any_text, "the embedding server's address, for ollama and openai")] = ""
    embedder_key: Annotated[str, Setting(values.any_text, "the embedding server's key", secret=True)] = ""
    model: Annotated[
        str,
        Setting(
            values.some_text,
            "the language model that helps to understand questions: none or openai:<model>; questions and the messages "
            "before them are sent to model_url",
        ),
    ] = "none"
    model_url: Annotated[
        str, Setting(values.any_text, "the language model's address, of any OpenAI-compatible server")
    ] = ""
    model_key: Annotated[str, Setting(values.any_text, "the language model's key", secret=True)] = ""
    reranker: Annotated[
        str,
        Setting(
            values.some_text,
            "none, lexical, http:<model>, late:<model> or openai:<model>; with the last three, questions and the "
            "texts found for them are sent to reranker_url",
        ),
    ] = "none"
    reranker_url: Annotated[
        str, Setting(values.any_text, "the reranking server's address; for openai, OpenAI's own if unset")
    ] = ""
    reranker_key: Annotated[str, Setting(values.any_text, "the reranking server's key", secret=True)] = ""
    answer_judge: Annotated[
        Literal["builtin", "none"],
        Setting(
            values.one_of("builtin", "none"),
            "builtin: a small model reads questions beside the notes found, so that those that answer come first, and "
            "none where none does; none: words and meaning alone decide",
        ),
    ] = "builtin"
    retention: Annotated[
        RetentionPolicy,
        Setting(
            values.one_of(*get_args(RetentionPolicy)),
            "what happens to expired memories when reading: none, filter_expired, or decay (older ones weigh less)",
        ),
    ] = "none"
    half_life_days: Annotated[
        float, Setting(values.number(0.01, 36_500.0), "with decay, the days after which a memory weighs half")
    ] = 30.0
    expired_weight: Annotated[
        float, Setting(values.number(0.0, 1.0), "with decay, the share of its weight that an expired memory keeps")
    ] = 0.35
    view_top_k: Annotated[
        int, Setting(values.whole(1, 50), "how many of the best matches the views of the graph are followed from")
    ] = 10
    view_min_score: Annotated[
        float, Setting(values.number(0.0, 1.0), "the least score of a match that views are followed from")
    ] = 0.5
    view_entity_depth: Annotated[
        int | None,
        Setting(_DEPTH, "how many steps the entity view follows; 0 leaves it out; by the question's intent if unset"),
    ] = None
    view_temporal_depth: Annotated[
        int | None,
        Setting(_DEPTH, "how many steps the temporal view follows; 0 leaves it out; by the question's intent if unset"),
    ] = None
    view_causal_depth: Annotated[
        int | None,
        Setting(_DEPTH, "how many steps the causal view follows; 0 leaves it out; by the question's intent if unset"),
    ] = None
    view_min_nodes: Annotated[
        int, Setting(values.whole(0, 100), "a view with fewer nodes is noted as one that found little")
    ] = 3
    view_max_nodes: Annotated[
        int, Setting(values.whole(1, 100), "how many nodes one view, and the merging of views, may have")
    ] = 50
    view_boost: Annotated[
        float, Setting(values.number(1.0, 10.0), "the factor on a node's score for each further view that found it")
    ] = 1.5
    grace_days: Annotated[
        float,
        Setting(
            values.number(0.0, 36_500.0),
            "how many days deleted memories can be restored; after that `weft purge` erases them",
        ),
    ] = 7.0
    extraction: Annotated[
        str,
        Setting(
            values.one_of("rules", "model", "none"),
            "what extracts names, facts, preferences and causes from memories; with model, texts are sent to model_url",
        ),
    ] = "rules"
    toolsets: Annotated[
        tuple[str, ...], Setting(values.names, "toolsets that `weft mcp` lists besides core, or all")
    ] = ("core",)
    single_valued: Annotated[
        tuple[str, ...],
        Setting(
            values.predicates,
            "properties with one value at a time, besides those weft knows: a newer value ends the older one",
        ),
    ] = ()
    audit: Annotated[
        bool, Setting(values.flag, "whether every call is recorded, in a separate store beside this one")
    ] = True
    audit_days: Annotated[float, Setting(values.number(1.0, 36_500.0), "how long recorded calls are shown")] = 90.0
    log: Annotated[
        str,
        Setting(
            values.any_text,
            "where one line of JSON per operation goes, without its texts: stderr, a file, or empty for nowhere",
        ),
    ] = ""
    conversation: Annotated[
        str,
        Setting(
            values.short_text, "the conversation that writes here belong to, as record_turns names it; none if unset"
        ),
    ] = ""
    provenance: Annotated[
        Provenance,
        Setting(
            values.one_of(*get_args(Provenance)),
            "for an agent's write of a person or another gated kind without a task or a conversation: "
            "off and warn accept it, required refuses it",
        ),
    ] = "warn"
    gated_kinds: Annotated[
        tuple[str, ...], Setting(values.names, f"kinds that need provenance, besides {', '.join(sorted(GATED_KINDS))}")
    ] = ()
    redaction: Annotated[
        str,
        Setting(
            values.one_of("on", "off"),
            "whether secrets (keys, tokens, passwords, card numbers) are removed from what is written",
        ),
    ] = "on"
    sensitive_key: Annotated[
        str,
        Setting(
            values.sealing_keys,
            "the key that encrypts sensitive memories, name:base64-of-32-bytes (`weft key-new` makes one); "
            "several with commas: the first encrypts, all decrypt",
            secret=True,
            environment_only=True,
        ),
    ] = ""
    auto_approve: Annotated[
        bool,
        Setting(
            values.flag, "whether agents' requests to write for all projects are approved at once, without a person"
        ),
    ] = False
    allow: Annotated[
        tuple[str, ...],
        Setting(
            values.names, "tools that may be called: admin (all), public (those that read memories), or names of tools"
        ),
    ] = ("admin",)
    exclude: Annotated[tuple[str, ...], Setting(values.names, "tools that are deliberately not served, by name")] = ()
    agent_files: Annotated[
        tuple[str, ...],
        Setting(
            values.paths, "agent files, or directories of them, whose tools are checked to exist when a server starts"
        ),
    ] = ()
    elicit: Annotated[
        bool,
        Setting(
            values.flag, "whether `weft mcp` asks the person at the client; a yes counts as the operator's approval"
        ),
    ] = True
    host: Annotated[str, Setting(values.some_text, "the address that `weft serve` listens on")] = "127.0.0.1"
    port: Annotated[
        int, Setting(values.whole(0, 65_535), "the port that `weft serve` listens on; 0 for any free one")
    ] = 8420
    hosts: Annotated[
        tuple[str, ...],
        Setting(
            values.host_names,
            "names under which `weft serve` may be called (the Host header), besides those of this machine",
        ),
    ] = ()
    rate_limit: Annotated[
        int,
        Setting(values.whole(1, 1_000_000), "requests per token in rate_seconds; further ones are refused with 429"),
    ] = 120
    rate_seconds: Annotated[
        float, Setting(values.number(1.0, 86_400.0), "the period in which requests are counted")
    ] = 60.0
    request_bytes: Annotated[
        int, Setting(values.whole(1_024, 67_108_864), "the largest request that `weft serve` accepts, in bytes")
    ] = 4194304
    tokens: Annotated[
        str,
        Setting(values.any_text, "the file of the tokens that `weft serve` accepts; in the store's directory if unset"),
    ] = ""
    sites: Annotated[
        str,
        Setting(
            values.any_text, "where `weft publish` writes sites and `weft serve` reads /sites/ from; empty for none"
        ),
    ]
    document_bytes: Annotated[
        int,
        Setting(
            values.whole(1_024, 67_108_864),
            "the largest file that `weft ingest` reads, in bytes; larger ones are skipped and reported",
        ),
    ] = 524288
    ignore: Annotated[
        tuple[str, ...],
        Setting(
            values.patterns,
            "files that `weft ingest` skips, as .gitignore patterns, besides those .gitignore names",
            project_file=True,
        ),
    ] = ()
    conversations: Annotated[
        Conversations,
        Setting(
            values.one_of(*get_args(Conversations)),
            "lazy: a conversation is kept from its second message on; forensic: every message, at once",
        ),
    ] = "forensic"
    workspaces: Annotated[
        tuple[str, ...],
        Setting(
            values.paths, "directories that callers of `weft serve` may choose as their workspace, besides its own"
        ),
    ] = ()
    watch: Annotated[
        bool,
        Setting(
            values.flag,
            "whether a server indexes files of its workspaces as they are saved; by default only `weft serve` does",
        ),
    ] = False
    watch_debounce_ms: Annotated[
        int, Setting(values.whole(20, 10_000), "how long no file may change before a watcher indexes the changed ones")
    ] = 200
    claim_lease_minutes: Annotated[
        int,
        Setting(
            values.whole(0, 10_080),
            "how long a claim lasts unless it is repeated, for agents that crash; 0: until it is released, its task is "
            "completed or its target changes",
        ),
    ] = 0
    silent_minutes: Annotated[
        int,
        Setting(
            values.whole(0, 10_080),
            "how long an agent must have written nothing before another may take over its task with handoff",
        ),
    ] = 15
    reflect_minutes: Annotated[
        int,
        Setting(
            values.whole(0, 10_080),
            "how often an agent's episodes are looked through for patterns as it adds one; 0: only when asked and when "
            "a task is completed",
        ),
    ] = 0
    root: Path
    origins: Mapping[str, Effective]


def _declared() -> tuple[Setting, ...]:
    named = [(name, each) for name, hint in Settings.__annotations__.items() for each in get_args(hint)[1:]]
    return tuple(replace(each, name=name) for name, each in named if isinstance(each, Setting))


SETTINGS: Final = _declared()
DEFAULTS: Final[Mapping[str, Any]] = {
    field.name: field.default for field in fields(Settings) if field.default is not NODEFAULT
}
