"""weft: the long-term memory and context engine for LLM agents.

import weft
with weft.open() as memory:
    memory.remember("Deploys freeze on Fridays.")
    print(memory.recall("when do deploys freeze?").hits[0].node.text)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from weft.version import __version__

if TYPE_CHECKING:
    from weft.core import errors, types  # noqa: F401 - weft.errors.Conflict is known too
    from weft.core.errors import (
        Away,
        BlockedScope,
        Busy,
        Conflict,
        Corrupt,
        DiskFull,
        Forbidden,
        Invalid,
        Misconfigured,
        ModelError,
        NeedsApproval,
        NotAStore,
        NotFound,
        OverBudget,
        ReadOnly,
        SchemaMismatch,
        StoreError,
        TooLarge,
        Unproven,
        WeftError,
    )
    from weft.core.types import Actor, Event, Viewer, When
    from weft.memory.facade import Memory, open  # noqa: A004 - weft.open() is the front door

__all__ = [
    "Actor",
    "Away",
    "BlockedScope",
    "Busy",
    "Conflict",
    "Corrupt",
    "DiskFull",
    "Event",
    "Forbidden",
    "Invalid",
    "Memory",
    "Misconfigured",
    "ModelError",
    "NeedsApproval",
    "NotAStore",
    "NotFound",
    "OverBudget",
    "ReadOnly",
    "SchemaMismatch",
    "StoreError",
    "TooLarge",
    "Unproven",
    "Viewer",
    "WeftError",
    "When",
    "__version__",
    "open",
]

# Public names are loaded when they are first used: `weft --help` needs none of them. All others are errors.
_HOMES: Final = {
    "Actor": "core.types",
    "Event": "core.types",
    "Memory": "memory.facade",
    "Viewer": "core.types",
    "When": "core.types",
    "open": "memory.facade",
}
_MODULES: Final = ("errors", "types")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"weft.core.{name}")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = getattr(import_module(f"weft.{_HOMES.get(name, 'core.errors')}"), name)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
