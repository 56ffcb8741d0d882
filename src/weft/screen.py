"""What every draft passes on its way to a disk: secrets are taken out, and what is sensitive is sealed.

And the way back: sealed words are opened for those who hold the key, and stand-ins are given to others. One screen
serves one call, and remembers what it took out and what it could not open, for the notes of the answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from weft import sealing
from weft.errors import Invalid
from weft.log.canonical import canonical, decode
from weft.log.draft import Draft
from weft.log.kinds import kind_named
from weft.log.words import OWN_PROPS, Word, edge_of, is_sensitive, reworded, stays_clear
from weft.projection.moves import PutNode
from weft.sealing import PROPS, Keyring, is_sealed
from weft.types import EdgeVersion, Event, NodeVersion

MAX_DEPTH: Final = 64
NO_KEYS: Final = Keyring()
IsSensitive = Callable[[Sequence[str]], bool | None]


def unknown(ids: Sequence[str]) -> None:
    """Where nobody can be asked."""


class Revealed(NamedTuple):
    """A node's words, open as far as they can be; `whole` if that is all of them."""

    words: Mapping[str, str]
    props: Mapping[str, Any]
    whole: bool


class Screen:
    """Redaction and sealing for one call. With `keys` None nothing is sealed or opened: for tools that mean it."""

    def __init__(self, *, redacts: bool = True, keys: Keyring | None = NO_KEYS) -> None:
        self.redacts, self.keys = redacts, keys
        self.redacted: Counter[str] = Counter()
        self.unopened: dict[str, str] = {}

    def fresh(self) -> Screen:
        """The same for another call."""
        return Screen(redacts=self.redacts, keys=self.keys)

    @property
    def notes(self) -> tuple[str, ...]:
        """What an answer should say: what was taken out, by sort, and what could not be opened."""
        counted = ", ".join(
            f"{count} {sort}{'s' if count > 1 else ''}" for sort, count in sorted(self.redacted.items())
        )
        taken = (f"redacted before it was kept: {counted}",) if counted else ()
        return (*taken, *sealing.next_step(self.unopened))

    # In

    def drafts(self, drafts: Sequence[Draft], *, sensitive: IsSensitive = unknown) -> tuple[Draft, ...]:
        """Drafts as they may be kept. Given again they stay as they are; those that are ready have been here.

        `sensitive` says whether nodes that a reason is about are; where that is not known (None), it is sealed if
        there is a key. Raises Misconfigured for sensitive words and no key.
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
        """A text without secrets, counted."""
        from weft.redaction import redact  # its forms take ten milliseconds to read: only where something is written

        return redact(text, self.redacted) if self.redacts else text

    def holds_secret(self, name: str) -> bool:
        """Whether a name holds a secret: names are kept in clear or not at all."""
        return self.masked(name) != name

    def masked(self, name: str) -> str:
        """A name without secrets, to be shown; not counted, as nothing is kept."""
        from weft.redaction import redact

        return redact(name) if self.redacts else name

    def redact_all(self, value: Any, *, name: str = "", depth: int = 0) -> Any:
        """The same for every string inside a value, keys of objects included.

        One that its name gives away goes as a whole: {"password": "hunter2"}. Raises Invalid for what is nested so
        deeply that nobody looks through it.
        """
        if isinstance(value, str):
            from weft.redaction import named_secret

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
        """A key without secrets; of several that are alike then, each keeps a place of its own."""
        if not isinstance(key, str) or (made := self.redact(key)) == key:
            return key
        return next(each for number in count(1) if (each := made if number == 1 else f"{made} {number}") not in taken)

    def _redact(self, word: Word, said: Any) -> Any:
        if isinstance(said, str):
            return said if is_sealed(said) else self.redact(said)
        if is_sealed(str(said.get(PROPS, ""))):
            return said
        own = {name: value for name, value in said.items() if name in OWN_PROPS}
        words = {name: value for name, value in said.items() if name not in OWN_PROPS}
        return {**own, **self.redact_all(words)}

    def _seal(self, word: Word, said: Any, *, about: bool) -> Any:
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
        """A version with its words open, as far as they can be."""
        if self.keys is None or not row.recorded_guard.sensitive:
            return row
        name, summary, text = (self._open(getattr(row, field), row.id, field) for field in ("name", "summary", "text"))
        return replace(row, name=name, summary=summary, text=text, props=self._props(row.props, row.id))

    def put(self, move: PutNode) -> PutNode:
        """The same for what an event asserts."""
        if self.keys is None or not move.guard.sensitive:
            return move
        name, summary, text = (
            self._open(getattr(move, field), move.id, field) for field in ("name", "summary", "text")
        )
        return replace(move, name=name, summary=summary, text=text, props=self._props(move.props, move.id))

    def words(self, of: str, words: Mapping[str, str], props: Mapping[str, Any]) -> Revealed:
        """The same for a node's fields and properties by name, and whether all that is sealed could be opened."""
        if self.keys is None:
            sealed = any(map(is_sealed, (*words.values(), *(each for each in props.values() if isinstance(each, str)))))
            return Revealed(words, props, whole=not sealed)
        before, self.unopened = self.unopened, {}
        told = {field: self._open(said, of, field) for field, said in words.items()}
        shown = self._props(props, of)
        whole = not self.unopened
        self.unopened = {**before, **self.unopened}
        return Revealed(told, shown, whole=whole)

    def edge(self, row: EdgeVersion) -> EdgeVersion:
        """The same for an edge."""
        if self.keys is None or not row.guard.sensitive or not row.props:
            return row
        return replace(row, props=self._props(row.props, edge_of(row.src, row.rel, row.dst)))

    def event(self, event: Event) -> Event:
        """An event with the words of its payload open. Its hashes are those of what was sealed."""
        if self.keys is None or event.payload is None or sealing.PREFIX.encode() not in event.payload:
            return event
        return replace(event, payload=canonical(self.payload(decode(event.payload))))

    def payload(self, payload: dict[str, Any]) -> dict[str, Any]:
        """The same for a payload alone, as JSON has it."""
        return payload if self.keys is None else reworded(payload, self._reopen)

    def _reopen(self, word: Word, said: Any) -> Any:
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


class Resealing(Struct):
    """Counts of a change of keys."""

    strings: int = 0
    left: dict[str, str] = {}


def resealed(raw: bytes, keys: Keyring, counts: Resealing) -> bytes | None:
    """A payload with everything in it sealed by the first key; None if it is so already, or holds nothing sealed.

    What cannot be opened stays as it is, and is counted.
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

    def change(word: Word, said: Any) -> Any:
        if isinstance(said, str):
            return again(said, word.of, word.field)
        fields = {name: "props" if name == PROPS else name for name in said}
        return {
            name: again(each, word.of, fields[name]) if isinstance(each, str) else each for name, each in said.items()
        }

    made = reworded(before, change)
    return None if made == before else canonical(made)
