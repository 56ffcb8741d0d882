"""Types of episodes, and what each must tell beside its content."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, get_args

import msgspec

from weft.core.errors import Invalid
from weft.core.types import NodeVersion

EpisodeType = Literal["OBSERVATION", "DECISION", "EDIT", "TEST_RESULT", "ERROR", "REFLECTION", "LEARNING"]
EPISODE_TYPES: Final[tuple[EpisodeType, ...]] = get_args(EpisodeType)
EPISODE: Final = "Episode"
DECISION: Final = "Decision"
LEARNING: Final = "Learning"
EPISODE_KINDS: Final = (EPISODE, DECISION, LEARNING)
MAX_METADATA_BYTES: Final = 20_000

_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_Check = tuple[Callable[[Any], bool], str]
_TEXT: Final[_Check] = (lambda value: isinstance(value, str) and bool(value.strip()), "a text")
_TEXTS: Final[_Check] = (
    lambda value: isinstance(value, list) and all(isinstance(each, str) and each.strip() for each in value),
    "a list of texts",
)
_COUNT: Final[_Check] = (
    lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= 0,
    "a whole number",
)
_NUMBER: Final[_Check] = (lambda value: isinstance(value, int | float) and not isinstance(value, bool), "a number")
_SHARE: Final[_Check] = (lambda value: _NUMBER[0](value) and 0 <= value <= 1, "a number from 0 to 1")

REQUIRED: Final[Mapping[EpisodeType, Mapping[str, _Check]]] = {
    "DECISION": {"title": _TEXT, "rationale": _TEXT, "tradeoffs": _TEXTS, "affected_files": _TEXTS},
    "EDIT": {"file": _TEXT, "diff_summary": _TEXT, "lines_before": _COUNT, "lines_after": _COUNT, "reason": _TEXT},
    "TEST_RESULT": {"passed": _COUNT, "failed": _COUNT, "test_files": _TEXTS},
    "ERROR": {"error_type": _TEXT, "stack_summary": _TEXT},
}
_NEW: Final[_Check] = (lambda value: value == "new", "new, which says that it is no other one")
OPTIONAL: Final[Mapping[EpisodeType, Mapping[str, _Check]]] = {
    "DECISION": {"supersedes": _TEXT, "decision": _NEW},
    "TEST_RESULT": {"coverage_delta": _NUMBER},
    "ERROR": {"recovery_action": _TEXT},
    "OBSERVATION": {"confidence": _SHARE, "query_used": _TEXT},
    "LEARNING": {"confidence": _SHARE},
}
PATHS: Final[Mapping[str, _Check]] = {"file": _TEXT, "affected_files": _TEXTS, "test_files": _TEXTS}  # of any type
RESERVED: Final = frozenset(
    {
        "type",
        "agent",
        "session",
        "task",
        "outcome",
        "status",
        "content_hash",
        "derived_from",
        "key",
        "evidence",
        "claims",
    }
)


def checked_metadata(kind: EpisodeType, given: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata under its own names (camelCase is understood). Raises Invalid that names every field at fault."""
    told = {_HUMP.sub("_", name).lower(): value for name, value in given.items()}
    required, optional = REQUIRED.get(kind, {}), {**PATHS, **OPTIONAL.get(kind, {})}
    missing = [name for name in required if told.get(name) is None]
    wrong = [
        f"{name} must be {check[1]}"
        for name, check in {**optional, **required}.items()
        if told.get(name) is not None and not check[0](told[name])
    ]
    if missing or wrong:
        lacks = f"the metadata of this {kind} lacks {', '.join(missing)}" if missing else ""
        raise Invalid("; ".join(filter(None, (lacks, *wrong))), hint=needs(kind))
    if taken := sorted(RESERVED & told.keys()):
        raise Invalid(f"metadata may not hold {', '.join(taken)}", hint="weft sets these; choose other names")
    size = len(msgspec.json.encode(told))
    if size > MAX_METADATA_BYTES:
        raise Invalid(
            f"the metadata is {size:,} bytes; the limit is {MAX_METADATA_BYTES:,}",
            hint="tell the essential, and keep long output in a file",
        )
    return {name: value for name, value in told.items() if value is not None}


def needs(kind: EpisodeType) -> str:
    """What the metadata of a type must hold, in words."""
    required, optional = REQUIRED.get(kind, {}), OPTIONAL.get(kind, {})
    said = ", ".join(f"{name} ({check[1]})" for name, check in required.items()) or "nothing"
    more = "; it may hold " + ", ".join(f"{name} ({check[1]})" for name, check in optional.items()) if optional else ""
    return f"{kind} metadata needs {said}{more}"


def type_of_episode(node: NodeVersion) -> EpisodeType | None:
    """The type of the episode that a node is; None if it is none."""
    if node.kind == DECISION:
        return "DECISION"
    if node.kind == LEARNING:
        return "LEARNING"
    said = node.props.get("type")
    return said if node.kind == EPISODE and said in EPISODE_TYPES else None


def kinds_of(types: tuple[EpisodeType, ...]) -> tuple[str, ...]:
    """The kinds of nodes that hold episodes of these types; of all if none are given."""
    own = {"DECISION": DECISION, "LEARNING": LEARNING}
    return tuple(dict.fromkeys(own.get(each, EPISODE) for each in types)) or EPISODE_KINDS


def files_of(node: NodeVersion) -> tuple[str, ...]:
    """The files that an episode names in its metadata."""
    said = [node.props.get("file"), *_list(node.props.get("affected_files")), *_list(node.props.get("test_files"))]
    return tuple(dict.fromkeys(each for each in said if isinstance(each, str) and each))


def _list(held: Any) -> list[Any]:
    return list(held) if isinstance(held, list | tuple) else []
