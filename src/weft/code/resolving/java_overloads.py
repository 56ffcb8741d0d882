"""Which of several Java methods by one name a call means: by how many arguments it has, and of which types.

What cannot be told of an argument speaks for no method and against none. If nothing speaks for one of them, it is the
first that is not the caller itself: methods by one name mostly call each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from weft.code.facts import FileFacts
from weft.code.resolving.java_kinds import PRIMITIVES, Instance, Nowhere, Typed, Value
from weft.code.resolving.java_project import Found

if TYPE_CHECKING:
    from weft.code.resolving.java_values import Values

_SAME, _NEAR, _BOXED, _MAYBE, _ANY = 5.0, 4.0, 2.0, 1.5, 1.0
_WIDER: Final = ("byte", "short", "int", "long", "float", "double")
_BOXES: Final = {
    "boolean": "Boolean",
    "byte": "Byte",
    "char": "Character",
    "double": "Double",
    "float": "Float",
    "int": "Integer",
    "long": "Long",
    "short": "Short",
}
_FINAL: Final = {  # classes that nothing extends, and all that they are
    "String": frozenset({"CharSequence", "Comparable", "Object", "Serializable", "Constable"}),
    "Class": frozenset({"Object", "Serializable", "Type", "AnnotatedElement", "GenericDeclaration"}),
    **{box: frozenset({"Comparable", "Number", "Object", "Serializable"}) for box in _BOXES.values()},
}


class Given(NamedTuple):
    """What a call is given, and where it stands."""

    facts: FileFacts
    owner: int
    line: int
    chains: tuple[str, ...]


class Candidate(NamedTuple):
    """A method by the name that is called, and the types that it takes."""

    found: Found
    taken: tuple[str, ...]


def takes(taken: tuple[str, ...], count: int) -> bool:
    """Whether a method can be called with so many arguments."""
    return count == len(taken) or (bool(taken) and taken[-1].endswith("+") and count >= len(taken) - 1)


def best(candidates: list[Candidate], given: Given, values: Values) -> Candidate:
    """The one that is meant."""
    held = [values.value(given.facts, given.owner, chain, given.line) for chain in given.chains]
    fixed: list[tuple[float, Candidate]] = []
    spread: list[tuple[float, Candidate]] = []
    for each in sorted(candidates, key=lambda one: one.found == (given.facts, given.owner)):
        any_number = bool(each.taken) and each.taken[-1].endswith("+")
        types = [text.removesuffix("+") for text in each.taken]
        if any_number:
            whole = [*types[:-1], f"[]{types[-1]}"]
            if (
                len(whole) == len(held)
                and (score := _score(held, whole, each, values)) is not None
                and _array(held[-1])
            ):
                fixed.append((score, each))
            types = types[:-1] + types[-1:] * (len(held) - len(types) + 1)
        if len(types) == len(held) and (score := _score(held, types, each, values)) is not None:
            (spread if any_number else fixed).append((score, each))
    # Those that take just so many come before those that take any number.
    ranked = fixed or spread
    return max(ranked, key=lambda each: each[0])[1] if ranked else candidates[0]


def _array(value: Value) -> bool:
    return isinstance(value, Typed) and value.text.startswith("[]")


def _score(held: list[Value], types: list[str], of: Candidate, values: Values) -> float | None:
    """How well arguments fit; None if one of them does not."""
    total = 0.0
    for value, text in zip(held, types, strict=True):
        fits = _fit(value, Typed(of.found.facts, of.found.definition.parent, text), values)
        if fits is None:
            return None
        total += fits
    return total


def _fit(value: Value, taken: Typed, values: Values) -> float | None:
    if taken.text == "?":
        return _ANY
    if isinstance(value, Typed):
        return _fit_text(value, taken, values)
    if isinstance(value, Instance):
        return _fit_class(value.found, taken, values)
    return 0.0


def _fit_text(value: Typed, taken: Typed, values: Values) -> float | None:
    own, to = value.text, taken.text
    last = to.rpartition(".")[2]
    if own == "?":
        return 0.0
    if own == "null":
        return None if to in PRIMITIVES else _ANY
    if own == "->":
        return None if to in PRIMITIVES or to.startswith("[]") or last in ("Object", "String") else _ANY
    if own in PRIMITIVES:
        return _fit_primitive(own, to, last)
    if own.startswith("[]"):
        return _fit_array(value, taken, values, last)
    if to.startswith("[]"):
        return None
    if to in PRIMITIVES:
        return _BOXED if _BOXES.get(to) == own.rpartition(".")[2] else None
    named = values.type(value.facts, value.place, own)
    if isinstance(named, Found):
        return _fit_class(named, taken, values)
    if not named.outside:
        return 0.0
    return _fit_outside(own.rpartition(".")[2], taken, values, last)


def _fit_primitive(own: str, to: str, last: str) -> float | None:
    if own == to:
        return _SAME
    if to in PRIMITIVES:
        narrow = "int" if own == "char" and to in _WIDER[2:] else own
        if narrow in _WIDER and to in _WIDER and _WIDER.index(narrow) <= _WIDER.index(to):
            return _NEAR - (_WIDER.index(to) - _WIDER.index(narrow)) / 10
        return None
    if last == _BOXES[own] if own in _BOXES else False:
        return _BOXED
    return _ANY if last in ("Object", "Number", "Comparable", "Serializable") else None


def _fit_array(value: Typed, taken: Typed, values: Values, last: str) -> float | None:
    if not taken.text.startswith("[]"):
        return _ANY if last in ("Object", "Cloneable", "Serializable") else None
    own, to = value._replace(text=value.text[2:]), taken._replace(text=taken.text[2:])
    if own.text in PRIMITIVES or to.text in PRIMITIVES:
        return _SAME if own.text == to.text else None
    return _fit_text(own, to, values) if to.text != "?" else _ANY


def _fit_class(found: Found, taken: Typed, values: Values) -> float | None:
    to = values.type(taken.facts, taken.place, taken.text)
    outside = False
    for depth, (each, beyond) in enumerate(values.supertypes(found)):
        outside = outside or beyond
        if each == to:
            return _SAME if depth == 0 else _NEAR - min(depth, 30) / 10
    if isinstance(to, Found) or taken.text in PRIMITIVES or taken.text.startswith("[]"):
        return None
    if taken.text.rpartition(".")[2] == "Object":
        return _ANY
    return _MAYBE if outside or (isinstance(to, Nowhere) and not to.outside) else None


def _fit_outside(own: str, taken: Typed, values: Values, last: str) -> float | None:
    if own == last:
        return _SAME
    if last == "Object":
        return _ANY
    if own in _FINAL:
        return _NEAR if last in _FINAL[own] else None
    if isinstance(values.type(taken.facts, taken.place, taken.text), Found) or last in _FINAL:
        return None
    return _MAYBE
