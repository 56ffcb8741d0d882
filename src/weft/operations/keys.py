"""Keys of what is sensitive: making one, and sealing everything anew with another."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Annotated, Final, Literal

from msgspec import Meta, Struct

from weft.errors import Misconfigured
from weft.instants import to_iso
from weft.loom import Loom
from weft.operations.hidden import check_key
from weft.operations.registry import Operation
from weft.screen import Resealing, resealed
from weft.sealing import NO_KEY_HINT, keys_in, new_key, next_step
from weft.types import Viewer

if TYPE_CHECKING:
    from weft.resealing import Resealed

READ_AT_ONCE: Final = 1_000  # events


class KeyNew(Struct, frozen=True, kw_only=True):
    """Input of `key_new`."""

    name: (
        Annotated[str, Meta(max_length=32, description="what to call it; today's date and a chance ending if unset")]
        | None
    ) = None


class KeyMade(Struct, frozen=True, kw_only=True):
    """A fresh key, as the setting `sensitive_key` takes it. Nothing of it is kept."""

    key: str


class KeyRotate(Struct, frozen=True, kw_only=True):
    """Input of `key_rotate`."""


class KeyRotated(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was sealed anew: how many texts and properties, in how many events.

    `partial` where something is left that no key given here opens, `failed` where nothing could be opened.
    """

    status: Literal["saved", "partial", "failed"]
    key: str
    strings: int
    events: int
    longest_hold_ms: float
    notes: tuple[str, ...] = ()


def key_new(loom: Loom, given: KeyNew) -> KeyMade:
    """Prints a fresh key for sensitive memories: export WEFT_SENSITIVE_KEY="$(weft key-new)".

    Keep it where you keep passwords. Without it nobody reads what was sealed with it, weft's makers included.
    """
    today = to_iso(loom.clock.now_us())[:10].replace("-", "")
    name = given.name or f"k{today}-{secrets.token_hex(2)}"  # two keys of one day must not share a name
    return KeyMade(key=new_key(name))


def key_rotate(loom: Loom, given: KeyRotate) -> KeyRotated:
    """Seals everything sensitive anew with the first key of WEFT_SENSITIVE_KEY; the others are not needed afterwards.

    Unless a note says otherwise: other processes may seal with an older key meanwhile.

    Put the new key first and the old ones behind it: WEFT_SENSITIVE_KEY="$(weft key-new),$WEFT_SENSITIVE_KEY". Stopped
    at any moment, call it again. What was sealed with the old keys is then removed from the files.
    """
    from weft.resealing import reseal

    viewer = loom.operator("change the key of sensitive memories")
    keys = loom.screen.keys
    if not keys or keys.first is None:
        raise Misconfigured("there is no key to seal with", hint=NO_KEY_HINT)
    check_key(loom)
    counts = Resealing()
    done = reseal(
        loom.store,
        loom.writer,
        viewer=viewer,
        change=lambda raw: resealed(raw, keys, counts),
        clock=loom.clock,
        progress=loom.progress,
    )
    swept = loom.store.sweep(viewer, progress=lambda part, total: loom.progress("sweeping", part, total))
    late = _sealed_late(loom, viewer, keys.first, done)
    left = tuple(f"not sealed anew: {line}" for line in next_step(counts.left))
    waits = loom.outbox is not None and loom.outbox.waits()
    waiting = (
        ("writes that wait in the outbox keep their key: `weft deliver-pending`, then this again",) if waits else ()
    )
    return KeyRotated(
        status=("partial" if counts.strings else "failed") if left else "partial" if waits or late else "saved",
        key=keys.first,
        strings=counts.strings,
        events=done.events,
        longest_hold_ms=done.longest_hold_ms,
        notes=(*left, *late, *waiting, *swept),
    )


def _sealed_late(loom: Loom, viewer: Viewer, first: str, done: Resealed) -> tuple[str, ...]:
    """That other processes still seal with another key: it is needed for as long as they do."""
    found, after = set[str](), done.upto
    while page := loom.store.payloads(viewer, after=after, limit=READ_AT_ONCE):
        found |= {name for each in page for name in keys_in(each.payload or b"")} - {first}
        after = page[-1].pos
    still = f"others seal with {' and '.join(sorted(found))} still" if found else "others sealed with an older key"
    step = "give every process the new key first, then repeat this; keep the older keys until it says nothing more"
    return (f"{still} while this went on: {step}",) if found or done.late else ()


OPERATIONS = (
    Operation(
        name="key_new",
        summary="print a fresh key for sensitive memories",
        input=KeyNew,
        output=KeyMade,
        effect="read",
        toolset="admin",
        reach="terminal",
        run=key_new,
        arguments=("name",),
    ),
    Operation(
        name="key_rotate",
        summary="seal everything sensitive anew, with the first key",
        input=KeyRotate,
        output=KeyRotated,
        effect="write",
        toolset="admin",
        reach="terminal",
        run=key_rotate,
    ),
)
