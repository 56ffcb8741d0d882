"""Placeholders of erased names: random tokens for ids, slots and relations, each name one token everywhere.

No two names share a token, so a log with tokens projects to the same rows as before: order and closings are unchanged.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from os.path import commonprefix
from typing import Any, Final

from weft.core.kinds import CHUNK_MARK, ERASED
from weft.text.name_search import NameSearch

KEPT_KINDS: Final = frozenset({"Project", "Focus"})  # they keep their names, even with an erased name inside
SYMBOL: Final = "::"  # between a source file's id and a symbol's key

# Relations that weft itself writes: they hold nobody's words.
OWN_RELATIONS: Final = frozenset(
    {
        "ABOUT",
        "AFFECTS",
        "APPLIES_TO",
        "CALLS",
        "CAUSES",
        "CONFLICTS_WITH",
        "CONTAINS",
        "DEFINED_IN",
        "FOLLOWS",
        "IMPORTS",
        "INVOLVES",
        "MENTIONS",
        "MENTIONS_CODE",
        "MERGES_INTO",
        "NAMES",
        "NEXT",
        "PRODUCED",
        "RAISED_DURING",
        "REFERS_TO",
        "REPRESENTS",
        "SUPERSEDES",
        "TESTS",
    }
)
TOKEN: Final = re.compile(rf"{ERASED}[0-9a-f]{{32}}".encode())
_RELATION: Final = re.compile(r"ERASED_[0-9a-f]{8}")


def new_token() -> str:
    """A random placeholder."""
    return f"{ERASED}{os.urandom(16).hex()}"


def words_pattern(names: Collection[str]) -> NameSearch | None:
    """A search for any of these names; None for no names."""
    return NameSearch(names) or None


def strings(value: Any) -> Iterator[str]:
    """Every text in a JSON value, the keys of objects included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield key
            yield from strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from strings(item)


def around_chunk(node_id: str) -> Iterator[str]:
    """The ids of the sections and the document around a chunk, derived from its id; includes ids with the
    same prefix.
    """
    section, mark, _ = node_id.rpartition(CHUNK_MARK)
    while mark:
        yield section
        section, mark, _ = section.rpartition("#")


def is_free(rel: str) -> bool:
    """Whether a relation was named by a caller: neither weft's own nor a token."""
    return rel not in OWN_RELATIONS and not _RELATION.fullmatch(rel)


class Tokens:
    """The tokens of one erasure, and the replacement of old names in texts.

    `ids` and `slots` map old to new; `files` are erased sources; `names` finds the words that nothing may contain,
    `sealed` are encrypted texts that contain them; `longer` are ids that stay and contain an erased one; `edges` are
    relations whose names are erased although their ends stay; `around` are sections and documents that lose a chunk and
    stay. Relations get tokens on first use.
    """

    def __init__(
        self,
        ids: Mapping[str, str],
        slots: Mapping[str, str] | None = None,
        *,
        names: NameSearch | None = None,
        sealed: Collection[str] = (),
        files: Collection[str] = (),
        longer: Collection[str] = (),
        relations: dict[str, str] | None = None,
        edges: Collection[tuple[str, str, str]] = (),
        around: Collection[str] = (),
    ) -> None:
        self._edges, self._around = edges, frozenset(around)
        self.ids, self.slots, self.names, self.files = ids, slots or {}, names, frozenset(files)
        self._relations = {} if relations is None else relations
        self._longer, self._sealed = tuple(longer), frozenset(sealed)

    @cached_property
    def _embedded(self) -> str:
        """A pattern for ids inside longer texts; an id that is a plain word is not matched there."""
        return one_of([each for each in (*self.ids, *self._longer) if not each.isalnum()])

    @cached_property
    def _in_words(self) -> re.Pattern[str] | None:
        return re.compile(rf"(?<![\w/])(?:{self._embedded})(?!\w)") if self._embedded else None

    @cached_property
    def _in_slots(self) -> re.Pattern[str] | None:
        """A slot may be a path with an id as one part."""
        return re.compile(rf"(?<!\w)(?:{self._embedded})(?!\w)") if self._embedded else None

    def only(self, given: Collection[str]) -> Tokens:
        """The subset of given tokens. The rest keep their names, and their words, for now."""
        return Tokens(
            {old: new for old, new in self.ids.items() if new in given},
            {old: new for old, new in self.slots.items() if new in given},
            files=self.files,
            longer=(*self._longer, *self.ids),
            relations=self._relations,
        )

    def stood_in(self, node_id: str) -> bool:
        """Whether an erased chunk was in this section or document, so that its summary may describe it."""
        return node_id in self._around

    def summed_up(self) -> Tokens:
        """No names, only the sections and documents around erased chunks: their summaries are erased first."""
        return Tokens({}, around=self._around)

    def gone(self, node_id: str | None) -> bool:
        """Whether a node is erased."""
        return node_id in self.ids

    def id(self, node_id: str) -> str:
        """A node's new id."""
        return self.ids.get(node_id, node_id)

    def slot(self, name: str | None) -> str | None:
        """A shared slot's new name."""
        if name is None or name in self.slots:
            return None if name is None else self.slots[name]
        return self._in_slots.sub(self._token, name) if self._in_slots else name

    def relation(self, src: str, rel: str, dst: str) -> str:
        """A relation's new name: a token if a caller named it and one of its ends or a word in it is erased."""
        if not is_free(rel):
            return rel
        if self.gone(src) or self.gone(dst) or (src, rel, dst) in self._edges or self.names_one(rel):
            return self._relations.setdefault(rel, f"ERASED_{os.urandom(4).hex()}")
        return rel

    def all_tokens(self) -> frozenset[str]:
        """Every token of an id or a slot."""
        return frozenset((*self.ids.values(), *self.slots.values()))

    def bound(self) -> dict[str, str]:
        """The tokens of symbols whose file is erased too, with that file's token: their ids contain its id."""
        files = ((new, old.split(SYMBOL, 1)[0]) for old, new in self.ids.items() if SYMBOL in old)
        return {new: self.ids[file] for new, file in files if file in self.ids}

    def named_relations(self) -> frozenset[str]:
        """The tokens of relations that lost their names although an end or both may stay."""
        alone = {rel for _, rel, _ in self._edges}
        return frozenset(token for rel, token in self._relations.items() if rel in alone or self.names_one(rel))

    def names_one(self, rel: str) -> bool:
        """Whether a relation's name contains an erased name, as words or spelt as a relation."""
        return self.names is not None and (self.names.holds(rel) or self.names.holds_as_relation(rel))

    def holds_name(self, value: Any) -> bool:
        """Whether a value contains an erased name."""
        names = self.names
        return names is not None and any(text in self._sealed or names.holds(text) for text in strings(value))

    def clean(self, text: str) -> str:
        """A text with tokens in place of erased ids."""
        if text in self.ids:
            return self.ids[text]
        return self._in_words.sub(self._token, text) if self._in_words else text

    def _token(self, found: re.Match[str]) -> str:
        return self.ids.get(found[0], found[0])

    def clean_value(self, value: Any) -> Any:
        """A JSON value with tokens in place of erased ids; the same object if it has none."""
        if isinstance(value, str):
            return self.clean(value)
        if isinstance(value, dict):
            items = {self.clean(key): self._property(key, item) for key, item in value.items()}
            return value if items == value else items
        if isinstance(value, list | tuple):
            cleaned = [self.clean_value(item) for item in value]
            return value if cleaned == list(value) else cleaned
        return value

    def _property(self, key: str, value: Any) -> Any:
        """Facts name their slot in a property of that name."""
        return self.slot(value) if key == "slot" and isinstance(value, str) else self.clean_value(value)

    def holds_id(self, text: str) -> bool:
        """Whether a text contains an erased id: what `clean` would change."""
        if self._in_words is None or text in self.ids:
            return text in self.ids
        return any(found[0] in self.ids for found in self._in_words.finditer(text))


class _Branch:
    """A node of a prefix tree: a common prefix and its continuations."""

    def __init__(self, begins: str, *, ends: bool) -> None:
        self.begins, self.ends = begins, ends  # whether it is itself one of the texts
        self.ways: list[str] = []

    def pattern(self, above: int) -> str:
        """The pattern behind the characters of the parent node."""
        rest = self.ways[0] if len(self.ways) == 1 and not self.ends else f"(?:{'|'.join(self.ways)})"
        return re.escape(self.begins[above:]) + (rest + "?" * self.ends if self.ways else "")


def one_of(texts: Collection[str]) -> str:
    """A regular expression for any of many texts, longest first, about as fast to search as one of them."""
    root = _Branch("", ends=False)
    path = [root]  # iterative: ids may be long, and prefixes of one another

    def leave() -> None:
        left = path.pop()
        path[-1].ways.append(left.pattern(len(path[-1].begins)))

    for text in sorted(set(texts) - {""}):
        shared = commonprefix((path[-1].begins, text))  # noqa: RUF071 (letter by letter is what is meant)
        while len(path[-1].begins) > len(shared):
            if len(path[-2].begins) < len(shared):
                path.insert(-1, _Branch(shared, ends=False))
            leave()
        path.append(_Branch(text, ends=True))
    while len(path) > 1:
        leave()
    return root.pattern(0) if root.ways else ""
