"""Follows Java expressions: types of variables, fields and results, inheritance, overloads.

Of several overloads, the one is chosen whose parameters fit the arguments, by number and then by type. An argument of
unknown type counts neither way. In a tie the first overload that is not the caller itself wins, since overloads mostly
call each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from weft.code.parse.facts import CLASS_SORTS, FILE, Binding, FileFacts
from weft.code.resolve.declared import OUTSIDE, UNKNOWN, ChainFollower, Located, Nowhere
from weft.code.resolve.java.project import Classes
from weft.code.resolve.java.types import (
    LANG,
    OBJECT,
    PRIMITIVES,
    Above,
    ClassItself,
    ClassValue,
    JavaTyped,
    Methods,
    PackageName,
    Value,
    passed,
    returned,
    steps_of,
    typed,
)
from weft.code.resolve.memo import Memo

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


class CallArguments(NamedTuple):
    """The arguments of a call, and its place."""

    facts: FileFacts | None  # None where the arguments are only counted
    owner: int
    line: int
    chains: tuple[str, ...]


class Overload(NamedTuple):
    """A method of the called name, and its parameter types."""

    found: Located
    taken: tuple[str, ...]


def takes(taken: tuple[str, ...], count: int) -> bool:
    """Whether a method accepts this number of arguments."""
    return count == len(taken) or (bool(taken) and taken[-1].endswith("+") and count >= len(taken) - 1)


def best(candidates: list[Overload], given: CallArguments, values: JavaValues) -> Overload:
    """The best matching overload."""
    facts = given.facts
    held: list[Value] = [
        UNKNOWN if facts is None else values.value(facts, given.owner, chain, given.line) for chain in given.chains
    ]
    fixed: list[tuple[float, Overload]] = []
    spread: list[tuple[float, Overload]] = []
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
    return isinstance(value, JavaTyped) and value.text.startswith("[]")


def _score(held: list[Value], types: list[str], of: Overload, values: JavaValues) -> float | None:
    """How well arguments fit; None if one of them does not."""
    total = 0.0
    for value, text in zip(held, types, strict=True):
        fits = _fit(value, JavaTyped(of.found.facts, of.found.definition.parent, text), values)
        if fits is None:
            return None
        total += fits
    return total


def _fit(value: Value, taken: JavaTyped, values: JavaValues) -> float | None:
    if taken.text == "?":
        return _ANY
    if isinstance(value, JavaTyped):
        return _fit_text(value, taken, values)
    if isinstance(value, ClassValue):
        return _fit_class(value.found, taken, values)
    return 0.0


def _fit_text(value: JavaTyped, taken: JavaTyped, values: JavaValues) -> float | None:
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
    if isinstance(named, Located):
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


def _fit_array(value: JavaTyped, taken: JavaTyped, values: JavaValues, last: str) -> float | None:
    if not taken.text.startswith("[]"):
        return _ANY if last in ("Object", "Cloneable", "Serializable") else None
    own, to = value._replace(text=value.text[2:]), taken._replace(text=taken.text[2:])
    if own.text in PRIMITIVES or to.text in PRIMITIVES:
        return _SAME if own.text == to.text else None
    return _fit_text(own, to, values) if to.text != "?" else _ANY


def _fit_class(found: Located, taken: JavaTyped, values: JavaValues) -> float | None:
    to = values.type(taken.facts, taken.place, taken.text)
    outside = False
    for depth, (each, beyond) in enumerate(values.supertypes(found)):
        outside = outside or beyond
        if each == to:
            return _SAME if depth == 0 else _NEAR - min(depth, 30) / 10
    if isinstance(to, Located) or taken.text in PRIMITIVES or taken.text.startswith("[]"):
        return None
    if taken.text.rpartition(".")[2] == "Object":
        return _ANY
    return _MAYBE if outside or (isinstance(to, Nowhere) and not to.outside) else None


def _fit_outside(own: str, taken: JavaTyped, values: JavaValues, last: str) -> float | None:
    if own == last:
        return _SAME
    if last == "Object":
        return _ANY
    if own in _FINAL:
        return _NEAR if last in _FINAL[own] else None
    if isinstance(values.type(taken.facts, taken.place, taken.text), Located) or last in _FINAL:
        return None
    return _MAYBE


MAX_SUPERTYPES: Final = 200
MAX_TYPES: Final = 100  # types that are looked up inside each other


class JavaValues(ChainFollower[Value]):
    """Follows names through the files of a project, on behalf of one of them."""

    def __init__(self, classes: Classes) -> None:
        super().__init__()
        self.classes = classes
        self._types: Memo[Located | Nowhere] = Memo(UNKNOWN, most_depth=MAX_TYPES)
        # A class that inherits from itself has nothing above it.
        self._above: Memo[tuple[list[Located], bool]] = Memo(([], False), most_depth=MAX_TYPES)

    def steps(self, chain: str) -> tuple[str, ...]:
        return steps_of(chain)

    def made(self, facts: FileFacts, owner: int, text: str) -> Value:
        return JavaTyped(facts, class_around(facts, owner), text)

    def bindings(self, facts: FileFacts, owner: int, name: str) -> Sequence[Binding]:
        return self.classes.members(facts).bound.get((owner, name), ())

    def root(self, facts: FileFacts, owner: int, name: str, line: int, chain: str) -> Value:
        place = class_around(facts, owner)
        if name == "?":
            return UNKNOWN
        if name in ("this", "super"):
            if place == FILE:
                return UNKNOWN
            return ClassValue(Located(facts, place)) if name == "this" else Above(Located(facts, place))
        if name.endswith(")"):
            called, given = _call(name)
            methods = self.unqualified(facts, owner, called, given)
            own = self._component(Located(facts, place), called) if methods == UNKNOWN and place != FILE else None
            return own or self.result(methods)
        if name.endswith("$"):
            return JavaTyped(facts, place, name[:-1])
        bound = self.local(facts, owner, name, line, chain)
        if bound is not None:
            if bound.declared:
                return typed(facts, place, bound.chain)
            return self.value(facts, owner, bound.chain, bound.line)
        return self._outer_name(facts, place, name)

    def _outer_name(self, facts: FileFacts, place: int, name: str) -> Value:
        """A field, a class, or the beginning of a package's name."""
        outside = False
        around = place
        while around != FILE:
            field = self.field(Located(facts, around), name)
            if field is not None:
                if field != OUTSIDE:
                    return field
                outside = True
            around = facts.definitions[around].parent
        named = self.type(facts, place, name)
        if isinstance(named, Located):
            return ClassItself(named)
        for each in facts.imports:
            if each.alias == "static" and each.name in (name, "*"):
                holder = self.full_name(each.module)
                field = self.field(holder, name) if isinstance(holder, Located) else None
                if field is not None and field != OUTSIDE:
                    return field
                outside = outside or (holder == OUTSIDE and each.name == name)
        if named == OUTSIDE or outside:
            return OUTSIDE
        return PackageName(name)

    def step(self, found: Value, step: str) -> Value:
        if step == "[]":
            if isinstance(found, JavaTyped):
                return found._replace(text=found.text[2:]) if found.text.startswith("[]") else self._element(found)
            return UNKNOWN
        if isinstance(found, PackageName):
            return self._in_package(found, step)
        if step.endswith(")"):
            return self._returned(found, *_call(step))
        if step.endswith("->"):
            return passed(found, step[:-2]) if self.class_of(found) == OUTSIDE else UNKNOWN
        if isinstance(found, ClassItself):
            if step in ("this", "super"):
                return ClassValue(found.found)
            if step == "class":
                return OUTSIDE
            inner = self.inner(found.found, step)
            if inner is not None:
                return ClassItself(inner)
        if step == "length" and isinstance(found, JavaTyped) and found.text.startswith("[]"):
            return found._replace(text="int")
        of = self.class_of(found)
        if isinstance(of, Nowhere):
            return of
        return self.field(of, step) or UNKNOWN

    def _returned(self, on: Value, name: str, given: CallArguments) -> Value:
        methods = self.method(on, name, given)
        of = self.class_of(on) if methods == UNKNOWN and not given.chains else UNKNOWN
        own = self._component(of, name) if isinstance(of, Located) else None
        result = own or self.result(methods)
        return returned(on, name) if result == OUTSIDE else result

    def _component(self, of: Located, name: str) -> Value | None:
        """The accessor `row.name()` that a record has for each component."""
        found = self.field(of, name)
        return None if found == OUTSIDE else found

    def _element(self, found: JavaTyped) -> Value:
        of = self.class_of(found)
        return passed(found, "forEach") if of == OUTSIDE else UNKNOWN

    def _in_package(self, found: PackageName, step: str) -> Value:
        name = f"{found.name}.{step}"
        if step.endswith(")"):
            return UNKNOWN
        top = self.classes.top(found.name, step)
        if top is not None:
            return ClassItself(top)
        if self.classes.is_package(name):
            return PackageName(name)
        if self.classes.is_package(found.name):
            return UNKNOWN
        return OUTSIDE if step[:1].isupper() else PackageName(name)

    def class_of(self, value: Value) -> Located | Nowhere:
        """The project's class of a value."""
        if isinstance(value, JavaTyped):
            return self.type(value.facts, value.place, value.text)
        if isinstance(value, (ClassValue, ClassItself, Above)):
            return value.found
        return value if isinstance(value, Nowhere) else UNKNOWN

    def result(self, methods: Methods) -> Value:
        """The result of a call of a method."""
        if isinstance(methods, Nowhere):
            return methods
        first = methods[0]
        if first.definition.sort in CLASS_SORTS:
            return ClassValue(first)
        returns = first.definition.returns
        return typed(first.facts, class_around(first.facts, first.place), returns) if returns else UNKNOWN

    def field(self, of: Located, name: str) -> Value | None:
        """A field of a class, its own or inherited; OUTSIDE if a base is external, None if there is none."""
        outside = False
        for each, beyond in self.supertypes(of):
            bound = self.classes.members(each.facts).bound.get((each.place, name))
            if bound:
                if bound[0].declared:
                    return typed(each.facts, each.place, bound[0].chain)
                return self.value(each.facts, each.place, bound[0].chain, bound[0].line)
            outside = outside or beyond
        return OUTSIDE if outside else None

    def inner(self, of: Located, name: str) -> Located | None:
        """A nested class, its own or inherited."""
        for each, _ in self.supertypes(of):
            place = self.classes.members(each.facts).classes.get((each.place, name))
            if place is not None:
                return Located(each.facts, place)
        return None

    def method(self, on: Value, name: str, given: CallArguments | None) -> Methods:
        """The method called on a value; overloads are chosen by the arguments."""
        if isinstance(on, JavaTyped) and on.text.startswith("[]"):
            return OUTSIDE
        of = self.class_of(on)
        if isinstance(of, Nowhere):
            return of
        found, outside = self._named(of, name, given, own=not isinstance(on, Above))
        if found is not None:
            return [found]
        return OUTSIDE if outside or name in OBJECT else UNKNOWN

    def _named(
        self, of: Located, name: str, given: CallArguments | None, *, own: bool = True
    ) -> tuple[Located | None, bool]:
        """A method by its name; and whether it may be an external one."""
        outside = False
        candidates: list[Overload] = []
        for each, beyond in self.supertypes(of):
            outside = outside or beyond
            if not own and each == of:
                continue
            members = self.classes.members(each.facts)
            for place in members.methods.get((each.place, name), ()):
                taken = members.taken.get(place, ())
                if all(other.taken != taken for other in candidates):  # else it is overridden
                    candidates.append(Overload(Located(each.facts, place), taken))
        if not candidates:
            return None, outside
        if given is None or (len(candidates) == 1 and not outside):
            return candidates[0].found, outside
        fitting = [each for each in candidates if takes(each.taken, len(given.chains))]
        if not fitting:
            return (None, True) if outside else (candidates[0].found, False)
        return (fitting[0] if len(fitting) == 1 else best(fitting, given, self)).found, outside

    def unqualified(self, facts: FileFacts, owner: int, name: str, given: CallArguments | None) -> Methods:
        """The method that a bare name means: of this class, of enclosing ones, or imported."""
        around = class_around(facts, owner)
        outside = False
        while around != FILE:
            found, beyond = self._named(Located(facts, around), name, given)
            if found is not None:
                return [found]
            outside = outside or beyond
            around = facts.definitions[around].parent
        for each in facts.imports:
            if each.alias != "static" or each.name not in (name, "*"):
                continue
            holder = self.full_name(each.module)
            if isinstance(holder, Located):
                found, beyond = self._named(holder, name, given)
                if found is not None:
                    return [found]
                outside = outside or beyond
            else:
                outside = outside or (holder == OUTSIDE)
        return OUTSIDE if outside or name in OBJECT else UNKNOWN

    def supertypes(self, of: Located) -> Iterator[tuple[Located, bool]]:
        """A class and its supertypes, nearest first; each with whether it has an external base."""
        seen = {(of.facts.path, of.place)}
        level = [of]
        while level and len(seen) < MAX_SUPERTYPES:
            below: list[Located] = []
            for each in level:
                above, outside = self._supertypes_of(each)
                yield each, outside
                for one in above:
                    if (one.facts.path, one.place) not in seen:
                        seen.add((one.facts.path, one.place))
                        below.append(one)
            level = below

    def _supertypes_of(self, of: Located) -> tuple[list[Located], bool]:
        return self._above.once((of.facts.path, of.place), lambda: self._find_supertypes(of))

    def _find_supertypes(self, of: Located) -> tuple[list[Located], bool]:
        definition = of.definition
        # A class names its supertypes from outside: its own inner classes are not in scope.
        named = [self.type(of.facts, definition.parent, each) for each in (*definition.bases, *definition.interfaces)]
        above = [each for each in named if isinstance(each, Located)]
        return above, len(above) < len(named)

    def type(self, facts: FileFacts, place: int, text: str) -> Located | Nowhere:
        """The class that a type names inside a class of a file."""
        return self._types.once((facts.path, place, text), lambda: self._find_type(facts, place, text))

    def _find_type(self, facts: FileFacts, place: int, text: str) -> Located | Nowhere:
        if text in PRIMITIVES or text.startswith("["):
            return OUTSIDE
        first, *rest = text.split(".")
        if first in ("?", "", "var"):
            return UNKNOWN
        found = self._simple_type(facts, place, first)
        if isinstance(found, Located):
            return self._inside(found, rest)
        return self.full_name(text) if rest and first[:1].islower() else found

    def _simple_type(self, facts: FileFacts, place: int, name: str) -> Located | Nowhere:
        outside = False
        around = place
        while around != FILE:
            own = Located(facts, around)
            if own.definition.name == name:
                return own
            inner = self.inner(own, name)
            if inner is not None:
                return inner
            outside = outside or any(beyond for _, beyond in self.supertypes(own))
            around = facts.definitions[around].parent
        for each in facts.imports:
            if each.name == name:
                return self.full_name(f"{each.module}.{name}")
        package = facts.extra.get("package", "")
        top = self.classes.top(package, name)
        if top is not None:
            return top
        for each in facts.imports:
            if each.name == "*":
                found = self.full_name(f"{each.module}.{name}")
                if isinstance(found, Located):
                    return found
        # java.lang needs no import; and a class may be inherited from outside, or come with all of a package.
        return OUTSIDE if name in LANG or outside or self._wild_outside(facts) else UNKNOWN

    def _wild_outside(self, facts: FileFacts) -> bool:
        return any(each.name == "*" and not self.classes.is_package(each.module) for each in facts.imports)

    def full_name(self, name: str) -> Located | Nowhere:
        """A class by its qualified name, or a nested class."""
        parts = name.split(".")
        for at in range(len(parts) - 1, -1, -1):
            package = ".".join(parts[:at])
            found = self.classes.top(package, parts[at]) if parts[at] else None
            if found is not None:
                return self._inside(found, parts[at + 1 :])
        return UNKNOWN if self.classes.is_package(name.rpartition(".")[0]) else OUTSIDE

    def _inside(self, found: Located, names: Sequence[str]) -> Located | Nowhere:
        """The class by these names, each nested in the one before."""
        for name in names:
            inner = self.inner(found, name)
            if inner is None:
                return UNKNOWN
            found = inner
        return found


def _call(step: str) -> tuple[str, CallArguments]:
    """The name of a called method, and its number of arguments."""
    name, _, given = step.partition("(")
    return name, CallArguments(None, FILE, 0, ("?",) * given.count("_"))


def class_around(facts: FileFacts, owner: int) -> int:
    """The class that a definition is, or is in."""
    while owner != FILE and facts.definitions[owner].sort not in CLASS_SORTS:
        owner = facts.definitions[owner].parent
    return owner
