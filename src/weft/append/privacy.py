"""Redaction and encryption of drafts before they are stored, and decryption for holders of the key.

Callers without the key get placeholders. One filter serves one call, and collects what it redacted and what it could
not decrypt for the notes of the answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from weft.core.errors import Invalid
from weft.core.types import EdgeVersion, Event, NodeVersion
from weft.graph.moves import PutNode
from weft.log.canonical import canonical, decode
from weft.log.draft import Draft
from weft.log.kinds import kind_named
from weft.log.words import OWN_PROPS, WordField, edge_of, is_sensitive, reworded, stays_clear
from weft.text import encryption as sealing
from weft.text.encryption import PROPS, Keyring, is_sealed

MAX_DEPTH: Final = 64
MAX_CLEAN: Final = 256  # texts that one call remembers as free of secrets
NO_KEYS: Final = Keyring()
IsSensitive = Callable[[Sequence[str]], bool | None]


def unknown(ids: Sequence[str]) -> None:
    """For callers that cannot look up sensitivity."""


class DecryptedWords(NamedTuple):
    """A node's words, decrypted as far as possible; `whole` if that is all of them."""

    words: Mapping[str, str]
    props: Mapping[str, Any]
    whole: bool


class PrivacyFilter:
    """Redaction and encryption for one call. With `keys` None nothing is encrypted or decrypted: for
    tools that work on the stored form.
    """

    def __init__(self, *, redacts: bool = True, keys: Keyring | None = NO_KEYS) -> None:
        self.redacts, self.keys = redacts, keys
        self.redacted: Counter[str] = Counter()
        self.unopened: dict[str, str] = {}
        self._clean: set[str] = set()  # texts of this call without secrets: arguments come again, as drafts

    def fresh(self) -> PrivacyFilter:
        """The same filter for another call."""
        return PrivacyFilter(redacts=self.redacts, keys=self.keys)

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes of an answer: what was redacted, by kind, and what could not be decrypted."""
        counted = ", ".join(
            f"{count} {sort}{'s' if count > 1 else ''}" for sort, count in sorted(self.redacted.items())
        )
        taken = (f"redacted before it was kept: {counted}",) if counted else ()
        return (*taken, *sealing.next_step(self.unopened))

    # In

    def drafts(self, drafts: Sequence[Draft], *, sensitive: IsSensitive = unknown) -> tuple[Draft, ...]:
        """Drafts as they may be stored. Idempotent; drafts that are ready have passed already.

        `sensitive` tells whether the nodes that a reason is about are sensitive; if that is unknown (None), the reason
        is encrypted if there is a key. Raises Misconfigured for sensitive words without a key.
        """
        return tuple(draft if draft.ready is not None else self._draft(draft, sensitive) for draft in drafts)

    def _draft(self, draft: Draft, sensitive: IsSensitive) -> Draft:
        before = msgspec.to_builtins(draft.payload)
        made = reworded(before, self._redact) if self.redacts else before
        if self.keys is not None and (is_sensitive(made) or (made.get("reason") and self._about(made, sensitive))):
            about = bool(made.get("reason"))
            made = reworded(made, lambda word, said: self._seal(word, said, about=about))
        if made == before:
            return draft
        return replace(draft, payload=msgspec.convert(made, kind_named(draft.kind).payload))

    def _about(self, payload: Mapping[str, Any], sensitive: IsSensitive) -> bool:
        ids = [each for each in payload.get("nodes") or () if isinstance(each, str)]
        ids += [edge[end] for edge in payload.get("edges") or () for end in ("src", "dst") if "sensitive" not in edge]
        if not ids or self.keys is None:
            return False
        known = sensitive(ids)
        return bool(self.keys) if known is None else known

    def redact(self, text: str) -> str:
        """A text without secrets; counts them."""
        if not self.redacts or text in self._clean:
            return text
        from weft.text.redaction import redact

        made = redact(text, self.redacted)
        if len(self._clean) < MAX_CLEAN:
            self._clean.add(made)
        return made

    def holds_secret(self, name: str) -> bool:
        """Whether a name contains a secret: names are stored in clear or not at all."""
        return self.masked(name) != name

    def masked(self, name: str) -> str:
        """A name without secrets, for display; not counted, since nothing is stored."""
        from weft.text.redaction import redact

        return redact(name) if self.redacts else name

    def redact_all(self, value: Any, *, name: str = "", depth: int = 0) -> Any:
        """The same for every string inside a value, keys of objects included.

        A value whose key gives it away is redacted as a whole: {"password": "hunter2"}. Raises Invalid for a value
        nested too deeply to inspect.
        """
        if isinstance(value, str):
            from weft.text.redaction import named_secret

            sort = named_secret(name, value) if name and self.redacts else ""
            if sort:
                self.redacted[sort] += 1
                return f"[redacted: {sort}]"
            return self.redact(value)
        if depth > MAX_DEPTH:
            raise Invalid(f"a value is nested more than {MAX_DEPTH} deep", hint="write it flatter, or as text")
        if isinstance(value, Mapping):
            made: dict[Any, Any] = {}
            for key, item in value.items():
                made[self._key(key, made)] = self.redact_all(item, name=str(key), depth=depth + 1)
            return made
        if isinstance(value, list | tuple):
            return [self.redact_all(item, name=name, depth=depth + 1) for item in value]
        return value

    def _key(self, key: Any, taken: Mapping[Any, Any]) -> Any:
        """A key without secrets; keys that become equal get a number."""
        if not isinstance(key, str) or (made := self.redact(key)) == key:
            return key
        return next(each for number in count(1) if (each := made if number == 1 else f"{made} {number}") not in taken)

    def _redact(self, word: WordField, said: Any) -> Any:
        if isinstance(said, str):
            return said if is_sealed(said) else self.redact(said)
        if is_sealed(str(said.get(PROPS, ""))):
            return said
        own = {name: value for name, value in said.items() if name in OWN_PROPS}
        words = {name: value for name, value in said.items() if name not in OWN_PROPS}
        return {**own, **self.redact_all(words)}

    def _seal(self, word: WordField, said: Any, *, about: bool) -> Any:
        if not (word.sensitive or (about and word.field == "reason")):
            return said
        assert self.keys is not None
        if isinstance(said, str):
            return said if is_sealed(said) else self.keys.seal(said, of=word.of, field=word.field)
        kept = {name: value for name, value in said.items() if stays_clear(word.kind, name, value)}
        hidden = {name: value for name, value in said.items() if name not in kept}
        if not hidden or (hidden.keys() == {PROPS} and is_sealed(str(hidden[PROPS]))):
            return said
        return {**kept, PROPS: self.keys.seal(canonical(hidden).decode(), of=word.of, field="props")}

    # Out

    def node(self, row: NodeVersion) -> NodeVersion:
        """A version with its words decrypted, as far as possible."""
        if self.keys is None or not row.recorded_guard.sensitive:
            return row
        name, summary, text = (self._open(getattr(row, field), row.id, field) for field in ("name", "summary", "text"))
        return replace(row, name=name, summary=summary, text=text, props=self._props(row.props, row.id))

    def put(self, move: PutNode) -> PutNode:
        """The same for a node that an event asserts."""
        if self.keys is None or not move.guard.sensitive:
            return move
        name, summary, text = (
            self._open(getattr(move, field), move.id, field) for field in ("name", "summary", "text")
        )
        return replace(move, name=name, summary=summary, text=text, props=self._props(move.props, move.id))

    def words(self, of: str, words: Mapping[str, str], props: Mapping[str, Any]) -> DecryptedWords:
        """The same for a node's fields and properties by name, and whether everything could be decrypted."""
        if self.keys is None:
            sealed = any(map(is_sealed, (*words.values(), *(each for each in props.values() if isinstance(each, str)))))
            return DecryptedWords(words, props, whole=not sealed)
        before, self.unopened = self.unopened, {}
        told = {field: self._open(said, of, field) for field, said in words.items()}
        shown = self._props(props, of)
        whole = not self.unopened
        self.unopened = {**before, **self.unopened}
        return DecryptedWords(told, shown, whole=whole)

    def edge(self, row: EdgeVersion) -> EdgeVersion:
        """The same for an edge."""
        if self.keys is None or not row.guard.sensitive or not row.props:
            return row
        return replace(row, props=self._props(row.props, edge_of(row.src, row.rel, row.dst)))

    def event(self, event: Event) -> Event:
        """An event with the words of its payload decrypted. Its hashes are those of the encrypted form."""
        if self.keys is None or event.payload is None or sealing.PREFIX.encode() not in event.payload:
            return event
        return replace(event, payload=canonical(self.payload(decode(event.payload))))

    def payload(self, payload: dict[str, Any]) -> dict[str, Any]:
        """The same for a payload alone, as JSON."""
        return payload if self.keys is None else reworded(payload, self._reopen)

    def _reopen(self, word: WordField, said: Any) -> Any:
        if isinstance(said, str):
            return self._open(said, word.of, word.field)
        return self._props(said, word.of)

    def _open(self, said: str, of: str, field: str) -> str:
        if self.keys is None or not is_sealed(said):
            return said
        opened = self.keys.open(said, of=of, field=field)
        if opened.text is not None:
            return opened.text
        self.unopened[opened.key] = opened.problem
        return sealing.stand_in(opened.key)

    def _props(self, props: Mapping[str, Any], of: str) -> dict[str, Any]:
        made = {
            name: self._open(value, of, name) if isinstance(value, str) else value
            for name, value in props.items()
            if name != PROPS
        }
        sealed = props.get(PROPS)
        if not isinstance(sealed, str) or not is_sealed(sealed):
            return made if sealed is None else {**made, PROPS: sealed}
        assert self.keys is not None
        opened = self.keys.open(sealed, of=of, field="props")
        if opened.text is None:
            self.unopened[opened.key] = opened.problem
            return made
        return {**made, **decode(opened.text.encode())}


class KeyRotation(Struct):
    """Counts of a key rotation."""

    strings: int = 0
    left: dict[str, str] = {}


def reencrypted(raw: bytes, keys: Keyring, counts: KeyRotation) -> bytes | None:
    """A payload encrypted with the first key throughout; None if it is already, or holds nothing encrypted.

    Strings that cannot be decrypted stay as they are, and are counted.
    """
    if sealing.PREFIX.encode() not in raw:
        return None
    before = decode(raw)

    def again(said: str, of: str, field: str) -> str:
        if not is_sealed(said) or said.startswith(f"{sealing.PREFIX}{keys.first}:"):
            return said
        opened = keys.open(said, of=of, field=field)
        if opened.text is None:
            counts.left[opened.key] = opened.problem
            return said
        counts.strings += 1
        return keys.seal(opened.text, of=of, field=field)

    def change(word: WordField, said: Any) -> Any:
        if isinstance(said, str):
            return again(said, word.of, word.field)
        fields = {name: "props" if name == PROPS else name for name in said}
        return {
            name: again(each, word.of, fields[name]) if isinstance(each, str) else each for name, each in said.items()
        }

    made = reworded(before, change)
    return None if made == before else canonical(made)
