"""JavaScript and TypeScript: what a written type means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from weft.code.facts import FILE
from weft.code.resolving.ecmascript_globals import GLOBALS, TYPES
from weft.code.resolving.ecmascript_library import kind_of
from weft.code.resolving.ecmascript_names import split
from weft.code.resolving.ecmascript_value import OUTSIDE, Space, Value

if TYPE_CHECKING:
    from weft.code.resolving.ecmascript_meaning import Meaning

MAX_PARAMETERS: Final = 8  # of a class's type that are followed


class Types:
    """What types mean, as one file sees them."""

    def __init__(self, meaning: Meaning) -> None:
        self._meaning = meaning

    def type(self, path: str, owner: int, written: str, this: Value | None = None) -> Value | None:
        """What a value of a written type is; `this` is the instance whose class's parameters it may name."""
        return self._meaning.once(("type", path, owner, written, this), lambda: self._type(path, owner, written, this))

    def _type(self, path: str, owner: int, written: str, this: Value | None) -> Value | None:
        options = split(written, "|")
        if len(options) > 1:
            known = [value for each in options if (value := self.type(path, owner, each, this)) is not None]
            return Value("union").having(*known) if known else None
        if written.startswith("(") and "=>" in written:
            return Value("function", path, owner, written).having(this)
        if written.startswith("{"):
            return Value("shape", path, owner, written).having(this)
        if written.startswith("["):
            return Value("tuple").having(*(self.type(path, owner, each, this) for each in split(written[1:-1], ",")))
        if written.startswith("typeof "):
            return self._meaning.chain(path, owner, written[7:])
        if written == "this":
            return self._meaning.this(path, owner, "this", this)
        name, _, inside = written.partition("<")
        return self._named(path, owner, name, split(inside[:-1], ",") if inside else (), this)

    def _named(self, path: str, owner: int, name: str, parts: tuple[str, ...], this: Value | None) -> Value | None:
        if name == "?":
            return None
        parameter = self._parameter(path, owner, name, this)
        if parameter is not None:
            return parameter[0]
        args = tuple(self.type(path, owner, each, this) for each in parts)
        found = self.definition(path, owner, name)
        if found is None:
            built_in = kind_of(name)
            if built_in is not None:
                return Value(built_in).having(*args)
            return OUTSIDE if name in TYPES or name.partition(".")[0] in GLOBALS else None
        return self.alias(found) if found.kind == "named" else self.instance(found, args)

    def _parameter(self, path: str, owner: int, name: str, this: Value | None) -> tuple[Value | None] | None:
        """What a parameter of a class's type is here; None if the name is no such parameter."""
        names = self._meaning.names(path)
        around = names.of_class(owner) if names is not None else FILE
        if names is None or around == FILE:
            return None
        for at in range(MAX_PARAMETERS):
            bound = names.bindings.get((around, f"<{at}>{name}"))
            if bound is None:
                continue
            mine = this is not None and this.kind == "of" and (this.path, this.place) == (path, around)
            if this is not None and mine and at < len(this.args) and this.args[at] is not None:
                return (this.args[at],)
            return (self.type(path, FILE, bound.chain) if bound.chain != name else None,)
        return None

    def alias(self, found: Value) -> Value | None:
        """What a type is that goes by another name (`type Name = …`)."""
        names = self._meaning.names(found.path)
        bound = names.bindings.get((FILE, f"type {found.name}")) if names is not None else None
        if bound is None:
            return None
        if bound.chain == "?":
            return Value("alias", found.path, FILE, found.name)
        return self.type(found.path, FILE, bound.chain)

    def own(self, path: str, name: str) -> Value | None:
        """The definition of a type at the top of a file, or what goes by its name."""
        names = self._meaning.names(path)
        if names is None:
            return None
        place = names.type_place(name)
        if place is not None:
            return Value("def", path, place)
        return Value("named", path, FILE, name) if (FILE, f"type {name}") in names.bindings else None

    def definition(self, path: str, owner: int, name: str) -> Value | None:
        """What a type's name, with dots, stands for: a definition, or a type by another name."""
        first, *rest = name.split(".")
        names = self._meaning.names(path)
        if names is None:
            return None
        place = names.nearest(owner, first)
        found = Value("def", path, place) if place is not None else self.own(path, first)
        if found is None and first in names.imports:
            found = self._meaning.imported(path, names.imports[first], "type")
        if found is None and ((FILE, first) in names.bindings or (rest and names.is_space(first))):
            found = self._meaning.name(path, FILE, first)
        for each in rest:
            if found is not None and found.kind == "module":
                found = self._meaning.exported(found.path, each, "type")
            else:
                found = self._meaning.members.member(found, each) if found is not None else None
        return found

    def named(self, path: str, owner: int, written: str, space: Space) -> Value | None:
        """The definition that a class's head names: as a value, or else as a type; the other way round for types."""
        found = self.definition(path, owner, written) if space == "type" else None
        found = found or self._meaning.chain(path, owner, written) or self.definition(path, owner, written)
        if found is None and (written in GLOBALS or written in TYPES):
            return OUTSIDE
        if found is not None and found.kind == "named":
            found = self.alias(found)
        return Value("def", found.path, found.place) if found is not None and found.kind == "of" else found

    def instance(self, value: Value | None, args: tuple[Value | None, ...] = ()) -> Value | None:
        """What constructing a value gives, and what a value of a type by that name is."""
        if value is None:
            return None
        if value.kind == "def":
            return Value("of", value.path, value.place).having(*args)
        if value.kind == "module":
            whole = self._meaning.exported(value.path, "=")
            return self.instance(whole, args) if whole is not None and whole.kind == "def" else None
        if value.kind == "of":
            names = self._meaning.names(value.path)
            bound = names.bindings.get((value.place, "new()")) if names is not None else None
            return self._meaning.bound(value.path, value.place, bound, value) if bound is not None else None
        return value if value.kind == "outside" else None
