"""Which interfaces of the project a Go type meets: those that it is said of, and those whose every method it has.

Go asks for no word of it: a type meets an interface by having its methods, with the same parameters and results. All of
it is in the source, so it is compared: by types, not by names. Interfaces with a part that is outside the project are
left to what the source says (`var _ I = (*T)(nil)`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from weft.code.facts import FILE, FileFacts
from weft.code.resolving.go_packages import Found, Package
from weft.code.resolving.go_values import Functions, Nowhere, Typed, Values

# Interfaces of the standard library that others embed. They stay as they are: Go promises it.
_STANDARD: Final = {
    "error": {"Error": ">string"},
    "fmt.Stringer": {"String": ">string"},
    "io.Closer": {"Close": ">error"},
    "io.Reader": {"Read": "[]byte>int,error"},
    "io.ReadCloser": {"Read": "[]byte>int,error", "Close": ">error"},
    "io.Seeker": {"Seek": "int64,int>int64,error"},
    "io.Writer": {"Write": "[]byte>int,error"},
    "io.WriteCloser": {"Write": "[]byte>int,error", "Close": ">error"},
    "io.ReadWriter": {"Read": "[]byte>int,error", "Write": "[]byte>int,error"},
    "io.ReadWriteCloser": {"Read": "[]byte>int,error", "Write": "[]byte>int,error", "Close": ">error"},
    "net/http.ResponseWriter": {
        "Header": ">net/http.Header",
        "Write": "[]byte>int,error",
        "WriteHeader": "int>",
    },
    "net/http.Handler": {"ServeHTTP": "net/http.ResponseWriter,net/http.Request>"},
    "sort.Interface": {"Len": ">int", "Less": "int,int>bool", "Swap": "int,int>"},
}
MAX_METHODS: Final = 200  # of an interface, with those that it embeds
MAX_INTERFACES: Final = 2_000  # that one file's types are compared with


def asserted(own: Package, values: Values) -> Iterator[tuple[str, Found]]:
    """What a package says of its types: the name of a type, and an interface."""
    for facts in own.files:
        for line in facts.extra.get("asserted", "").split("\n"):
            interface, _, chain = line.partition("=")
            value = values.value(facts, FILE, chain, 0) if chain else None
            if not isinstance(value, Typed):
                continue
            of, to = values.named(value), values.named(Typed(facts, interface))
            if not isinstance(of, Nowhere) and not isinstance(to, Nowhere) and of[0] is own:
                yield of[1], to[0].tops[to[1]][0]


class Method(NamedTuple):
    """A method as it is written; its types are looked at only where names fit."""

    package: Package
    key: str
    facts: FileFacts
    returns: str


Wanted = dict[str, Method | str]  # methods of an interface by name; those of the standard library by their shape


class Interfaces:
    """The interfaces in sight of a file: of its own package, and of those of the project that it imports."""

    def __init__(self, facts: FileFacts, own: Package, values: Values) -> None:
        self._values = values
        self._shapes: dict[tuple[str, str], str] = {}
        packages = {id(own): own}
        for each in facts.imports:
            imported = values.package(facts, each.module)
            if imported is not None:
                packages[id(imported)] = imported
        self._known: list[tuple[Found, Wanted]] = []
        for package in packages.values():
            for name, found in package.tops.items():
                if len(self._known) == MAX_INTERFACES or found[0].definition.sort != "interface":
                    continue
                seen = package is own or name[:1].isupper()
                if seen and (methods := self._methods(package, name)):
                    self._known.append((found[0], methods))

    def met_by(self, package: Package, name: str) -> Iterator[Found]:
        """Those that a type meets."""
        first = package.tops[name][0]
        bases = first.definition.bases
        names = set(package.methods.get(name, ()))
        if not names and not bases:
            return
        standard: dict[str, str] = {}
        for base in bases:
            standard |= _STANDARD.get(self._exact(first.facts, base), {})
        typed = Typed(first.facts, name)
        for interface, methods in self._known:
            if not bases and not methods.keys() <= names:
                continue
            if all(self._meets(typed, standard, each, wanted) for each, wanted in methods.items()):
                yield interface

    def _meets(self, typed: Typed, standard: dict[str, str], name: str, wanted: Method | str) -> bool:
        member = self._values.member(typed, name)
        shape = standard.get(name, "")
        if isinstance(member, Functions) and member.returns is None:
            found = member.found[0]
            key = found.definition.key.partition("~")[0]
            package = self._values.packages.of(found.facts)
            shape = self._shape(Method(package, key, found.facts, found.definition.returns))
        if not shape:
            return False
        asked = wanted if isinstance(wanted, str) else self._shape(wanted)
        return shape == asked and "?" not in asked

    def _methods(self, package: Package, name: str) -> Wanted | None:
        """An interface's methods; None if it cannot be told what they are."""
        found: Wanted = {}
        waiting, seen = [(package, name)], {name}
        while waiting and len(found) < MAX_METHODS:
            package, name = waiting.pop()
            first = package.tops[name][0]
            if first.definition.sort != "interface":
                return None
            for method in package.methods.get(name, ()):
                each = package.members[f"{name}::{method}"][0]
                found[method] = Method(package, f"{name}::{method}", each.facts, each.definition.returns)
            for base in first.definition.bases:
                inner = self._values.named(Typed(first.facts, base))
                if isinstance(inner, Nowhere):
                    standard = _STANDARD.get(self._exact(first.facts, base))
                    if standard is None:
                        return None
                    found.update(standard)
                elif inner[1] not in seen:
                    seen.add(inner[1])
                    waiting.append(inner)
        return found

    def _shape(self, method: Method) -> str:
        """What a method takes and returns, so that the same is written in the same way."""
        key = (method.facts.path, method.key)
        if key not in self._shapes:
            lists = (method.package.parameters.get(method.key, ""), method.returns.strip("()"))
            self._shapes[key] = ">".join(
                ",".join(self._exact(method.facts, each) for each in types.split(",")) for types in lists
            )
        return self._shapes[key]

    def _exact(self, facts: FileFacts, written: str) -> str:
        """A type by the folder that it is defined in, not by what the file calls its package."""
        start = len(written) - len(written.lstrip("[]<-()"))
        bare = written[start:]
        named = self._values.named(Typed(facts, bare))
        if not isinstance(named, Nowhere):
            return f"{written[:start]}{named[0].files[0].path.rpartition('/')[0]}:{named[1]}"
        alias, dot, name = bare.partition(".")
        module = self._values.module(facts, alias) if dot else None
        return f"{written[:start]}{module}.{name}" if module else written
