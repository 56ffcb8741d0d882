"""What a Java expression holds, as far as the source shows it: types of variables, fields and results, inheritance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from weft.code.facts import CLASS_SORTS, FILE, Binding, FileFacts
from weft.code.resolving.java_kinds import (
    LANG,
    OBJECT,
    OUTSIDE,
    PRIMITIVES,
    UNKNOWN,
    Above,
    ClassItself,
    Instance,
    Methods,
    Nowhere,
    Package,
    Typed,
    Value,
    steps_of,
    typed,
)
from weft.code.resolving.java_overloads import Candidate, Given, best, takes
from weft.code.resolving.java_project import Classes, Found
from weft.code.resolving.java_standard import passed, returned

MAX_FOLLOWED: Final = 40  # steps from one name to another before it is given up
MAX_SUPERTYPES: Final = 200


class Values:
    """Follows names through the files of a project, on behalf of one of them."""

    def __init__(self, classes: Classes) -> None:
        self.classes = classes
        self._depth = 0
        self._types: dict[tuple[str, int, str], Found | Nowhere] = {}
        self._above: dict[tuple[str, int], tuple[list[Found], bool]] = {}

    def value(self, facts: FileFacts, owner: int, chain: str, line: int) -> Value:
        """What an expression holds that stands on a line of a file."""
        if self._depth > MAX_FOLLOWED:
            return UNKNOWN
        self._depth += 1
        try:
            made, brace, rest = chain.partition("{}")
            if brace:
                found: Value = Typed(facts, class_around(facts, owner), made)
                steps = steps_of(rest)
            else:
                steps = steps_of(chain)
                found, steps = self._root(facts, owner, steps[0] if steps else "?", line, chain), steps[1:]
            for step in steps:
                found = self._stepped(found, step, facts, owner)
            return found
        finally:
            self._depth -= 1

    def local(self, facts: FileFacts, owner: int, name: str, line: int, chain: str) -> Binding | None:
        """What binds a name in a method as of a line."""
        if owner == FILE or facts.definitions[owner].sort in CLASS_SORTS:
            return None
        bound = self.classes.members(facts).bound.get((owner, name), ())
        before = [each for each in bound if each.line <= line]
        if before and before[-1].line == line and before[-1].chain.startswith(f"{chain}("):
            before.pop()
        return before[-1] if before and before[-1].chain else None

    def _root(self, facts: FileFacts, owner: int, name: str, line: int, chain: str) -> Value:
        place = class_around(facts, owner)
        if name == "?":
            return UNKNOWN
        if name in ("this", "super"):
            if place == FILE:
                return UNKNOWN
            return Instance(Found(facts, place)) if name == "this" else Above(Found(facts, place))
        if name.endswith(")"):
            called, given = _call(facts, owner, name)
            methods = self.unqualified(facts, owner, called, given)
            own = self._component(Found(facts, place), called) if methods == UNKNOWN and place != FILE else None
            return own or self.result(methods)
        if name.endswith("$"):
            return Typed(facts, place, name[:-1])
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
            field = self.field(Found(facts, around), name)
            if field is not None:
                if field != OUTSIDE:
                    return field
                outside = True
            around = facts.definitions[around].parent
        named = self.type(facts, place, name)
        if isinstance(named, Found):
            return ClassItself(named)
        for each in facts.imports:
            if each.alias == "static" and each.name in (name, "*"):
                holder = self.full_name(each.module)
                field = self.field(holder, name) if isinstance(holder, Found) else None
                if field is not None and field != OUTSIDE:
                    return field
                outside = outside or (holder == OUTSIDE and each.name == name)
        if named == OUTSIDE or outside:
            return OUTSIDE
        return Package(name)

    def _stepped(self, found: Value, step: str, facts: FileFacts, owner: int) -> Value:
        if isinstance(found, Nowhere):
            return found
        if step == "[]":
            if isinstance(found, Typed):
                return found._replace(text=found.text[2:]) if found.text.startswith("[]") else self._element(found)
            return UNKNOWN
        if isinstance(found, Package):
            return self._in_package(found, step)
        if step.endswith(")"):
            return self._returned(found, *_call(facts, owner, step))
        if step.endswith("->"):
            return passed(found, step[:-2]) if self.class_of(found) == OUTSIDE else UNKNOWN
        if isinstance(found, ClassItself):
            if step in ("this", "super"):
                return Instance(found.found)
            if step == "class":
                return OUTSIDE
            inner = self.inner(found.found, step)
            if inner is not None:
                return ClassItself(inner)
        if step == "length" and isinstance(found, Typed) and found.text.startswith("[]"):
            return found._replace(text="int")
        of = self.class_of(found)
        if isinstance(of, Nowhere):
            return of
        return self.field(of, step) or UNKNOWN

    def _returned(self, on: Value, name: str, given: Given) -> Value:
        methods = self.method(on, name, given)
        of = self.class_of(on) if methods == UNKNOWN and not given.chains else UNKNOWN
        own = self._component(of, name) if isinstance(of, Found) else None
        result = own or self.result(methods)
        return returned(on, name) if result == OUTSIDE else result

    def _component(self, of: Found, name: str) -> Value | None:
        """What `row.name()` gives where no such method is written: a record has one for each of its parts."""
        found = self.field(of, name)
        return None if found == OUTSIDE else found

    def _element(self, found: Typed) -> Value:
        of = self.class_of(found)
        return passed(found, "forEach") if of == OUTSIDE else UNKNOWN

    def _in_package(self, found: Package, step: str) -> Value:
        name = f"{found.name}.{step}"
        if step.endswith(")"):
            return UNKNOWN
        top = self.classes.top(found.name, step)
        if top is not None:
            return ClassItself(top)
        if self.classes.is_package(name):
            return Package(name)
        if self.classes.is_package(found.name):
            return UNKNOWN
        return OUTSIDE if step[:1].isupper() else Package(name)

    def class_of(self, value: Value) -> Found | Nowhere:
        """The class of the project that a value is of."""
        if isinstance(value, Typed):
            return self.type(value.facts, value.place, value.text)
        if isinstance(value, (Instance, ClassItself, Above)):
            return value.found
        return value if isinstance(value, Nowhere) else UNKNOWN

    def result(self, methods: Methods) -> Value:
        """What a call of a method gives."""
        if isinstance(methods, Nowhere):
            return methods
        first = methods[0]
        if first.definition.sort in CLASS_SORTS:
            return Instance(first)
        returns = first.definition.returns
        return typed(first.facts, class_around(first.facts, first.place), returns) if returns else UNKNOWN

    def field(self, of: Found, name: str) -> Value | None:
        """A field of a class, its own or inherited; OUTSIDE if it may come from outside, None if there is none."""
        outside = False
        for each, beyond in self.supertypes(of):
            bound = self.classes.members(each.facts).bound.get((each.place, name))
            if bound:
                if bound[0].declared:
                    return typed(each.facts, each.place, bound[0].chain)
                return self.value(each.facts, each.place, bound[0].chain, bound[0].line)
            outside = outside or beyond
        return OUTSIDE if outside else None

    def inner(self, of: Found, name: str) -> Found | None:
        """A class inside a class, its own or inherited."""
        for each, _ in self.supertypes(of):
            place = self.classes.members(each.facts).classes.get((each.place, name))
            if place is not None:
                return Found(each.facts, place)
        return None

    def method(self, on: Value, name: str, given: Given | None) -> Methods:
        """The method that is called on a value: of several by that name, the one that takes what it is given."""
        if isinstance(on, Typed) and on.text.startswith("[]"):
            return OUTSIDE
        of = self.class_of(on)
        if isinstance(of, Nowhere):
            return of
        found, outside = self._named(of, name, given, own=not isinstance(on, Above))
        if found is not None:
            return [found]
        return OUTSIDE if outside or name in OBJECT else UNKNOWN

    def _named(self, of: Found, name: str, given: Given | None, *, own: bool = True) -> tuple[Found | None, bool]:
        """A method by its name; and whether it may be one from outside."""
        outside = False
        candidates: list[Candidate] = []
        for each, beyond in self.supertypes(of):
            outside = outside or beyond
            if not own and each == of:
                continue
            members = self.classes.members(each.facts)
            for place in members.methods.get((each.place, name), ()):
                taken = members.taken.get(place, ())
                if all(other.taken != taken for other in candidates):  # else it is overridden
                    candidates.append(Candidate(Found(each.facts, place), taken))
        if not candidates:
            return None, outside
        if given is None or (len(candidates) == 1 and not outside):
            return candidates[0].found, outside
        fitting = [each for each in candidates if takes(each.taken, len(given.chains))]
        if not fitting:
            return (None, True) if outside else (candidates[0].found, False)
        return (fitting[0] if len(fitting) == 1 else best(fitting, given, self)).found, outside

    def unqualified(self, facts: FileFacts, owner: int, name: str, given: Given | None) -> Methods:
        """The method that a bare name means: of this class, of those around it, or imported."""
        around = class_around(facts, owner)
        outside = False
        while around != FILE:
            found, beyond = self._named(Found(facts, around), name, given)
            if found is not None:
                return [found]
            outside = outside or beyond
            around = facts.definitions[around].parent
        for each in facts.imports:
            if each.alias != "static" or each.name not in (name, "*"):
                continue
            holder = self.full_name(each.module)
            if isinstance(holder, Found):
                found, beyond = self._named(holder, name, given)
                if found is not None:
                    return [found]
                outside = outside or beyond
            else:
                outside = outside or (holder == OUTSIDE)
        return OUTSIDE if outside or name in OBJECT else UNKNOWN

    def supertypes(self, of: Found) -> Iterator[tuple[Found, bool]]:
        """A class and all that it inherits from, the nearest first; with each, whether it inherits from outside too."""
        seen = {(of.facts.path, of.place)}
        level = [of]
        while level and len(seen) < MAX_SUPERTYPES:
            below: list[Found] = []
            for each in level:
                above, outside = self._supertypes_of(each)
                yield each, outside
                for one in above:
                    if (one.facts.path, one.place) not in seen:
                        seen.add((one.facts.path, one.place))
                        below.append(one)
            level = below

    def _supertypes_of(self, of: Found) -> tuple[list[Found], bool]:
        key = (of.facts.path, of.place)
        known = self._above.get(key)
        if known is None:
            self._above[key] = ([], False)  # in a cycle there is nothing above
            definition = of.definition
            # What a class extends is named outside of it: its own inner classes are not in sight.
            named = [
                self.type(of.facts, definition.parent, each) for each in (*definition.bases, *definition.interfaces)
            ]
            above = [each for each in named if isinstance(each, Found)]
            known = self._above[key] = (above, len(above) < len(named))
        return known

    def type(self, facts: FileFacts, place: int, text: str) -> Found | Nowhere:
        """The class that a type names inside a class of a file."""
        key = (facts.path, place, text)
        found = self._types.get(key)
        if found is None:
            self._types[key] = UNKNOWN
            found = self._types[key] = self._find_type(facts, place, text)
        return found

    def _find_type(self, facts: FileFacts, place: int, text: str) -> Found | Nowhere:
        if text in PRIMITIVES or text.startswith("["):
            return OUTSIDE
        first, *rest = text.split(".")
        if first in ("?", "", "var"):
            return UNKNOWN
        found = self._simple_type(facts, place, first)
        if isinstance(found, Found):
            for name in rest:
                inner = self.inner(found, name)
                if inner is None:
                    return UNKNOWN
                found = inner
            return found
        return self.full_name(text) if rest and first[:1].islower() else found

    def _simple_type(self, facts: FileFacts, place: int, name: str) -> Found | Nowhere:
        outside = False
        around = place
        while around != FILE:
            own = Found(facts, around)
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
                if isinstance(found, Found):
                    return found
        # java.lang needs no import; and a class may be inherited from outside, or come with all of a package.
        return OUTSIDE if name in LANG or outside or self._wild_outside(facts) else UNKNOWN

    def _wild_outside(self, facts: FileFacts) -> bool:
        return any(each.name == "*" and not self.classes.is_package(each.module) for each in facts.imports)

    def full_name(self, name: str) -> Found | Nowhere:
        """A class by its name with its package, or that of a class inside another."""
        parts = name.split(".")
        for at in range(len(parts) - 1, -1, -1):
            package = ".".join(parts[:at])
            found = self.classes.top(package, parts[at]) if parts[at] else None
            if found is not None:
                for inner_name in parts[at + 1 :]:
                    inner = self.inner(found, inner_name)
                    if inner is None:
                        return UNKNOWN
                    found = inner
                return found
        return UNKNOWN if self.classes.is_package(name.rpartition(".")[0]) else OUTSIDE


def _call(facts: FileFacts, owner: int, step: str) -> tuple[str, Given]:
    """The name of what is called, and how much it is given."""
    name, _, given = step.partition("(")
    return name, Given(facts, owner, 0, ("?",) * given.count("_"))


def class_around(facts: FileFacts, owner: int) -> int:
    """The class that a definition is, or stands in."""
    while owner != FILE and facts.definitions[owner].sort not in CLASS_SORTS:
        owner = facts.definitions[owner].parent
    return owner
