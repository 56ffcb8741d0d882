"""`key_new` and `key_rotate`: encryption keys of sensitive memories, and re-encryption with another key."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Annotated, Final, Literal

from msgspec import Meta, Struct

from weft.append.privacy import KeyRotation, reencrypted
from weft.core.clock import to_iso
from weft.core.errors import Misconfigured
from weft.core.types import Viewer
from weft.runtime.call_context import CallContext
from weft.runtime.operation import Operation
from weft.text.encryption import NO_KEY_HINT, keys_in, new_key, next_step
from weft.writing.build.pseudonyms import check_key

if TYPE_CHECKING:
    from weft.erasure.rotate_keys import ReencryptResult

READ_AT_ONCE: Final = 1_000  # events


class KeyNew(Struct, frozen=True, kw_only=True):
    """Input of `key_new`."""

    name: (
        Annotated[str, Meta(max_length=32, description="its name; today's date and a random suffix if unset")] | None
    ) = None


class KeyMade(Struct, frozen=True, kw_only=True):
    """A new key, in the form of the setting `sensitive_key`. It is not stored."""

    key: str


class KeyRotate(Struct, frozen=True, kw_only=True):
    """Input of `key_rotate`."""


class KeyRotated(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The re-encrypted strings and events.

    `partial` if something could not be decrypted with the given keys, `failed` if nothing could.
    """

    status: Literal["saved", "partial", "failed"]
    key: str
    strings: int
    events: int
    longest_hold_ms: float
    notes: tuple[str, ...] = ()


def key_new(ctx: CallContext, given: KeyNew) -> KeyMade:
    """Prints a new key for sensitive memories: export WEFT_SENSITIVE_KEY="$(weft key-new)".

    Keep it where you keep passwords. Nobody can read what was encrypted with a lost key.
    """
    today = to_iso(ctx.clock.now_us())[:10].replace("-", "")
    name = given.name or f"k{today}-{secrets.token_hex(2)}"  # two keys of one day need different names
    return KeyMade(key=new_key(name))


def key_rotate(ctx: CallContext, given: KeyRotate) -> KeyRotated:
    """Re-encrypts all sensitive memories with the first key of WEFT_SENSITIVE_KEY.

    The other keys are then obsolete, unless a note says that other processes still use one of them.

    Put the new key first and the old ones after it: WEFT_SENSITIVE_KEY="$(weft key-new),$WEFT_SENSITIVE_KEY". An
    interrupted call is finished by repeating it. Text encrypted with old keys is then removed from the files.
    """
    from weft.erasure.rewrite_log import RewriteAccess
    from weft.erasure.rotate_keys import reencrypt

    viewer = ctx.operator("change the key of sensitive memories")
    keys = ctx.privacy.keys
    if not keys or keys.first is None:
        raise Misconfigured("no key is set to encrypt with", hint=NO_KEY_HINT)
    check_key(ctx)
    counts = KeyRotation()
    done = reencrypt(RewriteAccess.of(ctx, viewer), lambda raw: reencrypted(raw, keys, counts))
    swept = ctx.store.sweep(viewer, progress=lambda part, total: ctx.progress("sweeping", part, total))
    late = _sealed_late(ctx, viewer, keys.first, done)
    left = tuple(f"not re-encrypted: {line}" for line in next_step(counts.left))
    waits = ctx.outbox is not None and ctx.outbox.waits()
    waiting = ("writes in the outbox keep their old key: run `weft deliver-pending`, then this again",) if waits else ()
    return KeyRotated(
        status=("partial" if counts.strings else "failed") if left else "partial" if waits or late else "saved",
        key=keys.first,
        strings=counts.strings,
        events=done.events,
        longest_hold_ms=done.longest_hold_ms,
        notes=(*left, *late, *waiting, *swept),
    )


def _sealed_late(ctx: CallContext, viewer: Viewer, first: str, done: ReencryptResult) -> tuple[str, ...]:
    """A note that other processes still encrypt with another key, which they need until they are updated."""
    found, after = set[str](), done.upto
    while page := ctx.store.payloads(viewer, after=after, limit=READ_AT_ONCE):
        found |= {name for each in page for name in keys_in(each.payload or b"")} - {first}
        after = page[-1].pos
    still = (
        f"other processes still encrypt with {' and '.join(sorted(found))}"
        if found
        else "other processes encrypted with an older key"
    )
    step = "give every process the new key first, then repeat this; keep the older keys until this note disappears"
    return (f"{still} while this ran: {step}",) if found or done.late else ()


OPERATIONS = (
    Operation(
        name="key_new",
        summary="print a new key for sensitive memories",
        input=KeyNew,
        output=KeyMade,
        effect="read",
        toolset="admin",
        audited_words="arguments",
        reach="terminal",
        run=key_new,
        arguments=("name",),
    ),
    Operation(
        name="key_rotate",
        summary="re-encrypt all sensitive memories with the first key",
        input=KeyRotate,
        output=KeyRotated,
        effect="write",
        toolset="admin",
        audited_words="arguments",
        reach="terminal",
        run=key_rotate,
    ),
)
