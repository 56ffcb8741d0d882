"""JavaScript and TypeScript: what an expression means, followed from file to file."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Final

from weft.code.facts import FILE, Binding, Imported
from weft.code.resolving import Project
from weft.code.resolving.ecmascript_globals import GLOBALS
from weft.code.resolving.ecmascript_members import Members
from weft.code.resolving.ecmascript_modules import Module, module_of
from weft.code.resolving.ecmascript_names import Names, names_of, parts_of
from weft.code.resolving.ecmascript_types import Types
from weft.code.resolving.ecmascript_value import OUTSIDE, Space, Value

MAX_DEPTH: Final = 50  # steps from one meaning to the next
MAX_STEPS: Final = 50_000  # of one file


class Meaning:
    """Works out meanings as one file sees them. Everything is remembered while that file is resolved."""

    def __init__(self, project: Project) -> None:
        self.types = Types(self)
        self.members = Members(self)
        self._project = project
        self._depth = 0
        self._steps = 0
        self._known: dict[Hashable, Value | None] = {}
        self._modules: dict[tuple[str, str], Module] = {}

    def names(self, path: str) -> Names | None:
        """The facts of a file by name."""
        return names_of(self._project, path)

    def module(self, path: str, name: str) -> Module:
        """What a module is that a file imports by that name."""
        key = (path, name)
        if key not in self._modules:
            self._modules[key] = module_of(self._project, path, name)
        return self._modules[key]

    def once(self, key: Hashable, work: Callable[[], Value | None]) -> Value | None:
        """Works something out, unless it is known. What leads back to itself, or on and on, is not known."""
        if key in self._known:
            return self._known[key]
        self._steps += 1
        if self._depth > MAX_DEPTH or self._steps > MAX_STEPS:
            return None
        self._known[key] = None
        self._depth += 1
        value = self._known[key] = work()
        self._depth -= 1
        return value

    # Expressions.

    def chain(self, path: str, owner: int, chain: str, this: Value | None = None) -> Value | None:
        """What a chain means inside a definition of a file; `this` is what it is called on, if that is known."""
        return self.once(("chain", path, owner, chain, this), lambda: self._chain(path, owner, chain, this))

    def _chain(self, path: str, owner: int, chain: str, this: Value | None) -> Value | None:
        head, steps = parts_of(chain.removeprefix("module.") if chain.startswith("module.exports") else chain)
        value = self._head(path, owner, head, this)
        for step in steps:
            if value is None:
                break
            value = self.members.step(value, step)
        return value

    def _head(self, path: str, owner: int, head: str, this: Value | None) -> Value | None:
        if head.startswith("?"):
            return None
        if head.startswith("<"):
            return self.types.type(path, owner, head[1:-1], this)
        if head.startswith("new "):
            return self.types.instance(self.chain(path, owner, head[4:-2], this))
        if head.startswith("require("):
            return self.imported(path, Imported(head[8:-1], "=", "", 0))
        if head.startswith("import("):
            return Value("promise").having(self.imported(path, Imported(head[7:-1], "", "", 0)))
        if head in ("this", "super"):
            return self.this(path, owner, head, this)
        return self.name(path, owner, head, this)

    def name(self, path: str, owner: int, name: str, this: Value | None = None) -> Value | None:
        """What a name means as a value."""
        names = self.names(path)
        if names is None:
            return None
        bound = names.bindings.get((owner, name)) if owner != FILE else None
        if bound is not None:
            return self.bound(path, owner, bound, this)
        place = names.nearest(owner, name)
        if place is not None:
            return Value("def", path, place)
        if name in names.imports:
            return self.imported(path, names.imports[name])
        place = names.value_place(name, "method")
        if place is not None:
            return Value("def", path, place)
        bound = names.bindings.get((FILE, name))
        if (name in names.objects or (bound is not None and name in names.spaces)) and (
            bound is None or not bound.declared
        ):
            return Value("object", path, FILE, name)
        if bound is not None:
            return self.bound(path, FILE, bound, None)
        if names.is_space(name):
            return Value("space", path, FILE, name)
        if name == "exports":
            return Value("module", path)
        return OUTSIDE if name in GLOBALS else None

    def bound(self, path: str, owner: int, bound: Binding, this: Value | None) -> Value | None:
        """What a binding says that a name holds."""
        if bound.declared:
            return self.types.type(path, owner, bound.chain, this)
        return self.chain(path, owner, bound.chain, this)

    def this(self, path: str, owner: int, head: str, this: Value | None) -> Value | None:
        """What `this` or `super` is inside a definition."""
        names = self.names(path)
        if names is None or owner == FILE:
            return None
        around = names.of_class(owner)
        if head == "super":
            bases = names.definitions[around].bases if around != FILE else ()
            return self.chain(path, FILE, bases[0]) if bases else None
        if this is not None:
            return this
        if around != FILE:
            return Value("of", path, around)
        prefix = names.definitions[owner].key.rpartition("::")[0]
        if not prefix:  # one of the object that is `module.exports`; or a function that may be a constructor
            is_exported = names.definitions[owner].sort == "method"
            return Value("module", path) if is_exported else Value("of", path, owner)
        held = names.value_place(prefix)
        return Value("object", path, FILE, prefix) if held is None else Value("of", path, held)

    # Imports and exports.

    def imported(self, path: str, imported: Imported, space: Space = "value") -> Value | None:
        """What a file gets by an import."""
        module = self.module(path, imported.module)
        if module.external:
            return OUTSIDE
        if not module.path:
            return None
        if imported.name in ("", "*"):
            return Value("module", module.path)
        return self.exported(module.path, imported.name, space)

    def exported(self, path: str, name: str, space: Space = "value") -> Value | None:
        """What a file exports by a name; `=` for all of `module.exports`. One name may be a value and a type."""
        return self.once(("export", path, name, space), lambda: self._exported(path, name, space))

    def _exported(self, path: str, name: str, space: Space) -> Value | None:
        names = self.names(path)
        if names is None:
            return None
        bound = names.bindings.get((FILE, f"exports.{name}"))
        if bound is not None:
            found = self.types.definition(path, FILE, bound.chain) if space == "type" else None
            return found or self.chain(path, FILE, bound.chain) or self.types.definition(path, FILE, bound.chain)
        if name in names.passed:
            return self.imported(path, names.passed[name], space)
        if name in ("=", "default"):
            return self._whole(path, names, name)
        own_type = self.types.own(path, name)
        if space == "type" and own_type is not None:
            return own_type
        place = names.value_place(name)
        if place is not None:
            return Value("def", path, place)
        if name in names.objects or (FILE, name) in names.bindings or names.is_space(name):
            return self.name(path, FILE, name)
        return own_type if own_type is not None else self._passed_on(path, names, name, space)

    def _passed_on(self, path: str, names: Names, name: str, space: Space) -> Value | None:
        """What comes by `export * from`, or is a member of `module.exports`."""
        for star in names.stars:
            found = self.imported(path, Imported(star.module, name, "", 0), space)
            if found is not None and found.kind != "outside":
                return found
        whole = names.bindings.get((FILE, "exports.="))
        held = self.chain(path, FILE, whole.chain) if whole is not None else None
        return self.members.member(held, name) if held is not None else None

    def _whole(self, path: str, names: Names, name: str) -> Value | None:
        """The default export; or all that `module.exports` is, if it is not a table of names."""
        place = names.value_place("default") if name == "default" else None
        if place is not None:
            return Value("def", path, place)
        if name == "default" and "default" in names.objects:
            return Value("object", path, FILE, "default")
        if name == "default" and (FILE, "exports.=") in names.bindings:
            return self.exported(path, "=")
        # An ES module may import the whole of a CommonJS module as its default.
        return Value("module", path) if name == "=" or names.facts.language == "javascript" else None
