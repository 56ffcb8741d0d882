"""Values of Rust expressions, as far as the source shows them: declared types, constructors, results, fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from weft.code.parse.facts import FILE
from weft.code.resolve.rust.names import Alias, Const, Def, External, Item, PathLookup, Variant
from weft.code.resolve.rust.types import (
    HOLDERS,
    ITERATORS,
    MADE,
    MAPS,
    RULES,
    SAME,
    UNKNOWN,
    WRAPPERS,
    ChainStep,
    WrittenType,
    chain_of,
    closure_rule,
    type_of,
)
from weft.code.resolve.rust.workspace import ModulePlace

MAX_DEPTH: Final = 40
MAX_TYPE_DEPTH: Final = 10
TUPLE, LIST, SUM, FUNCTION = "()", "[]", "+", "fn"


class Type(Struct, frozen=True):
    """A type and its arguments.

    Tuples, lists, trait sums and functions are External under fixed names. A function's first argument is its result.
    """

    head: Item
    given: tuple[Type | None, ...] = ()

    @property
    def outside(self) -> str:
        """The name of an external type; empty for one of the project."""
        return self.head.name if isinstance(self.head, External) else ""


class Context(Struct, frozen=True):
    """The context of a type or a chain: module and definition; the meaning of `Self` and type parameters."""

    at: ModulePlace
    owner: int = FILE
    self_type: Type | None = None
    known: Mapping[str, Type | None] = {}


class FoundMethod(Struct, frozen=True):
    """A method that was found, and the meaning of types inside it."""

    item: Def
    context: Context


class RustValues:
    """Evaluates chains for one file that is being resolved."""

    def __init__(self, names: PathLookup) -> None:
        from weft.code.resolve.rust.methods import Methods

        self.names = names
        self.methods = Methods(self)
        self._held: dict[tuple[str, int, str], Type | None] = {}
        self._contexts: dict[tuple[str, int], Context] = {}

    # Types.

    def context(self, path: str, owner: int) -> Context:
        """The context of a definition of a file, or of the file."""
        known = self._contexts.get((path, owner))
        if known is None:
            known = self._contexts[path, owner] = self._context(path, owner)
        return known

    def _context(self, path: str, owner: int) -> Context:
        file = self.names.file(path)
        if file is None or owner == FILE:
            return Context(ModulePlace(path))
        at = ModulePlace(path, file.module_of(owner))
        plain = Context(at, owner)
        if file.is_class(owner):
            return Context(at, owner, Type(Def(path, owner)))
        written = file.binding(owner, "Self")
        if written is not None:
            return Context(at, owner, self.type(type_of(written.chain), plain))
        parent = file.definition(owner).parent
        return Context(at, owner, Type(Def(path, parent))) if parent != FILE else plain

    def type(self, written: WrittenType, context: Context, depth: int = 0) -> Type | None:
        """A type as it is written, in a context."""
        if depth > MAX_TYPE_DEPTH:
            return None
        kind = written.kind
        if kind in (TUPLE, LIST):
            return Type(External("std", kind), self._types(written.parts, context, depth))
        if kind == SUM:
            parts = [each for each in self._types(written.parts, context, depth) if each is not None]
            inside = [each for each in parts if not each.outside or each.outside in ITERATORS]
            return inside[0] if len(inside) == 1 else Type(External("std", SUM), tuple(inside or parts[:1]))
        if kind == FUNCTION:
            return Type(External("std", FUNCTION), self._types(written.parts, context, depth))
        if kind == "as":
            return self._qualified(written, context, depth)
        return self._named(written, context, depth) if kind == "path" else None

    def _types(self, parts: tuple[WrittenType, ...], context: Context, depth: int) -> tuple[Type | None, ...]:
        return tuple(self.type(each, context, depth + 1) for each in parts)

    def _qualified(self, written: WrittenType, context: Context, depth: int) -> Type | None:
        kind = self.type(written.parts[0], context, depth + 1)
        for name in written.names:
            kind = self.member_type(kind, name, depth) if kind is not None else None
        return kind

    def _named(self, written: WrittenType, context: Context, depth: int) -> Type | None:
        names = written.names
        first = self._self_or_parameter(names[0], context, depth)
        if first is not None:
            for name in names[1:]:
                first = self.member_type(first, name, depth) if first is not None else None
            return first
        if names[0] in context.known:
            return None
        item = self.names.path(context.at, names, "type", context.owner)
        given = written.given[-1]
        if item is None and len(names) > 1:
            above = self.names.path(context.at, names[:-1], "type", context.owner)
            kind = self.from_item(above, (), depth)
            return self.member_type(kind, names[-1], depth) if kind is not None else None
        return self.from_item(item, self._types(given, context, depth), depth)

    def from_item(self, item: Item | None, given: tuple[Type | None, ...], depth: int = 0) -> Type | None:
        """The type of an item, with arguments."""
        if isinstance(item, Alias):
            text = item.text
            known: dict[str, Type | None] = {}
            if text.startswith("<") and not text.startswith("<?"):
                parameters, _, text = text[1:].partition(">")
                padded = (*given, *[None] * 8)
                known = dict(zip(parameters.split(","), padded, strict=False))
            return self.type(type_of(text), Context(item.at, FILE, None, known), depth + 1)
        if isinstance(item, Variant):
            return Type(item.enum, given)
        if isinstance(item, External) and item.name in WRAPPERS and given:
            return given[0] if given[0] is not None else Type(item, given)
        return Type(item, given) if isinstance(item, Def | External) else None

    def _self_or_parameter(self, name: str, context: Context, depth: int) -> Type | None:
        if name == "Self":
            return context.self_type
        if name in context.known:
            return context.known[name]
        file = self.names.file(context.at.path)
        if file is None or context.owner == FILE:
            return None
        for owner in (context.owner, file.definition(context.owner).parent):
            bounds = file.generics.get(owner, {}).get(name) if owner != FILE else None
            if bounds is not None:
                around = Context(context.at, owner, context.self_type, {**context.known, name: None})
                return self.type(type_of(bounds), around, depth + 1) if bounds else Type(External("?", name))
        return None

    def member_type(self, kind: Type, name: str, depth: int = 0) -> Type | None:
        """A type that belongs to a type: `Self::Item`."""
        if depth > MAX_TYPE_DEPTH or not isinstance(kind.head, Def):
            held = kind.outside in ITERATORS and name == "Item" and kind.given
            return kind.given[0] if held else None
        found = self.methods.member_type(kind, name)
        return self.type(type_of(found[0]), found[1], depth + 1) if found is not None else None

    # Values.

    def held(self, chain: str, context: Context, depth: int = 0) -> Type | None:
        """The type of a chain; None if unknown."""
        asked = (context.at.path, context.owner, chain)
        if asked in self._held:
            return self._held[asked]
        if depth > MAX_DEPTH:
            return None
        self._held[asked] = None  # a chain that leads to itself holds nothing known
        root, steps = chain_of(chain)
        made = self._held[asked] = self.after(root, steps, context, depth + 1)
        return made

    def after(self, root: WrittenType, steps: tuple[ChainStep, ...], context: Context, depth: int) -> Type | None:
        """The type after some steps from a root."""
        at, kind = self._begin(root, steps, context, depth)
        while at < len(steps):
            step = steps[at]
            if step.kind == "." and at + 1 < len(steps) and steps[at + 1].kind in ("()", "|"):
                kind = self._method(kind, step, steps[at + 1], context, depth) if kind is not None else None
                at += 2
            elif step.kind == "{}" and step.given:
                at, kind = self._matched(kind, steps, at, context)
            else:
                kind = self._step(kind, step) if kind is not None else None
                at += 1
        return kind

    def _begin(
        self, root: WrittenType, steps: tuple[ChainStep, ...], context: Context, depth: int
    ) -> tuple[int, Type | None]:
        """The type of the root, with the steps that belong to it: a call of a path, a value of a type."""
        names = root.names
        first = steps[0].kind if steps else ""
        if root.kind == "as" and not names:
            return 0, self.type(root.parts[0], context)
        if root.kind not in ("path", "as"):
            return 0, None
        if names == ("self",):
            return 0, context.self_type
        if len(names) == 1:
            if names[0] == '"':
                return 0, Type(External("std", "str"))
            bound = self._bound(names[0], context, depth)
            if bound is not None and names[0] != "Self":
                return 0, bound[0]
            if first == "()":
                bound = self._bound(f"{names[0]}()", context, depth)
                if bound is not None:
                    return 1, bound[0]
        if first in ("()", "|"):
            return 1, self._called(root, steps[0], context, depth)
        if first == "{}":
            return self._fields(root, steps, context)
        item = self.names.path(context.at, names, "value", context.owner) if root.kind == "path" else None
        if isinstance(item, Const):
            return 0, self.type(type_of(item.type), Context(item.at))
        return 0, self.from_item(item, ()) if isinstance(item, Variant | Def) else None

    def _bound(self, name: str, context: Context, depth: int) -> tuple[Type | None] | None:
        """The type of a local, in a tuple; None if there is no such local."""
        file = self.names.file(context.at.path)
        bound = file.binding(context.owner, name) if file is not None else None
        if bound is None:
            return None
        if bound.declared:
            return (self.type(type_of(bound.chain), context),)
        return (self.held(bound.chain, context, depth + 1),)

    def _fields(self, root: WrittenType, steps: tuple[ChainStep, ...], context: Context) -> tuple[int, Type | None]:
        """A value of a type; for a variant, its only field."""
        item = self.names.path(context.at, root.names, "type", context.owner) if root.names != ("Self",) else None
        if item is None and root.names[0] == "Self" and context.self_type is not None:
            head = context.self_type.head
            item = head
            if len(root.names) == 2 and isinstance(head, Def):
                item = self.names.variant(head, root.names[1])
        if isinstance(item, Alias):
            kind = self.from_item(item, ())
            item = kind.head if kind is not None else None
        if isinstance(item, Variant):
            if len(steps) > 1 and steps[1].kind == ".":
                return 2, self.field(Type(item.enum), f"{item.name}.{steps[1].name}")
            return 1, Type(item.enum)
        return 1, self.type(root, context) if not isinstance(item, Def) else Type(item)

    def _matched(
        self, kind: Type | None, steps: tuple[ChainStep, ...], at: int, context: Context
    ) -> tuple[int, Type | None]:
        """A part of a value matched with a type or a variant, or that value itself."""
        at_end, made = self._fields(steps[at].given[0], (steps[at],), context)
        after = steps[at + 1] if at + 1 < len(steps) else None
        if made is None or after is None or after.kind != ".":
            return at + at_end, made
        if kind is not None and kind.head == made.head:
            made = kind
        variant = steps[at].given[0].names[-1] if steps[at].given[0].names else ""
        is_variant = isinstance(made.head, Def) and self.names.variant(made.head, variant) is not None
        return at + 2, self.field(made, f"{variant}.{after.name}" if is_variant else after.name)

    def _called(self, root: WrittenType, call: ChainStep, context: Context, depth: int) -> Type | None:
        """The result of a function, by its path."""
        found = self.methods.by_path(root, context)
        if isinstance(found, FoundMethod):
            if call.kind == "|":
                return self._handed(found, call)
            return self.returned(found)
        if isinstance(found, Variant):
            return Type(found.enum)
        if isinstance(found, Def):
            return Type(found)
        inner = self.held(call.inner, context, depth + 1) if call.inner else None
        rule = MADE.get("::".join(root.names[-2:])) or MADE.get(root.names[-1] if len(root.names) == 1 else "")
        if rule is not None:
            return self.by_rule(rule, None, inner)
        if len(root.names) > 1 and root.names[-1] in ("new", "with_capacity", "default", "from", "from_iter"):
            kind = self.type(WrittenType("path", root.names[:-1], root.given[:-1]), context)
            derived = kind is not None and root.names[-1] in ("default", "from")
            return kind if derived or (kind is not None and kind.outside) else None
        return None

    def returned(self, method: FoundMethod) -> Type | None:
        """The declared result of a function."""
        returns = self.names.definition(method.item).returns
        return self.type(type_of(returns), method.context) if returns else None

    def _handed(self, method: FoundMethod, step: ChainStep) -> Type | None:
        """The argument that a project's function passes to a closure."""
        file = self.names.file(method.item.path)
        bound = file.binding(method.item.place, f"({step.first})") if file is not None else None
        kind = self.type(type_of(bound.chain), method.context) if bound is not None else None
        if kind is None or kind.outside != FUNCTION or len(kind.given) <= step.second + 1:
            return None
        return kind.given[step.second + 1]

    def _method(self, kind: Type | None, step: ChainStep, call: ChainStep, context: Context, depth: int) -> Type | None:
        """The result of a method, or the argument that it passes to a closure."""
        if kind is None:
            return None
        found = self.methods.find(kind, step.name, context)
        if found is not None:
            return self._handed(found, call) if call.kind == "|" else self.returned(found)
        head = self._as_iterator(kind, step.name)
        if call.kind == "|":
            return self.by_rule(closure_rule(head.outside, step.name, call.second), head, None)
        if step.name == "collect" and step.given and step.given[0].kind == "path":
            made = self.type(step.given[0], context)
            if made is not None and made.outside in RULES and made.outside not in HOLDERS | MAPS:
                return Type(made.head, head.given)
            return made
        rule = RULES.get(head.outside, {}).get(step.name)
        if rule is not None:
            inner = self.held(call.inner, context, depth + 1) if call.inner else None
            return self.by_rule(rule, head, inner)
        return kind if step.name in SAME else None

    def _as_iterator(self, kind: Type, method: str) -> Type:
        """The iterator type of a receiver."""
        if kind.outside in ITERATORS:
            return Type(External("std", "Iterator"), kind.given)
        if isinstance(kind.head, Def) and method in RULES["Iterator"]:
            for name in ("next", "into_iter"):
                found = self.methods.find(kind, name, Context(ModulePlace(kind.head.path)))
                given = self.returned(found) if found is not None else None
                if given is not None and given.given:
                    return Type(External("std", "Iterator"), given.given[:1])
                if given is not None and given != kind:
                    return self._as_iterator(given, method) if not isinstance(given.head, Def) else kind
        return kind

    def _step(self, kind: Type, step: ChainStep) -> Type | None:
        if step.kind == "?":
            return kind.given[0] if kind.outside in HOLDERS and kind.given else None
        if step.kind == "!":
            return kind.given[1] if kind.outside == "Result" and len(kind.given) > 1 else None
        if step.kind == "[]":
            place = 1 if kind.outside in MAPS else 0
            return kind.given[place] if kind.outside in RULES and len(kind.given) > place else None
        if step.kind == ".":
            if step.name == "await":
                return kind.given[0] if kind.outside == "Future" and kind.given else kind
            return self.field(kind, step.name)
        if step.kind == "()" and kind.outside == FUNCTION:
            return kind.given[0]
        return None

    def field(self, kind: Type, name: str) -> Type | None:
        """A field's type."""
        if kind.outside == TUPLE:
            return kind.given[int(name)] if name.isdigit() and int(name) < len(kind.given) else None
        if not isinstance(kind.head, Def):
            return None
        file = self.names.file(kind.head.path)
        bound = file.binding(kind.head.place, name) if file is not None else None
        if bound is None:
            target = self.methods.target(kind)
            return self.field(target, name) if target is not None and target != kind else None
        return self.type(type_of(bound.chain), self.methods.inside(kind))

    def by_rule(self, rule: str, kind: Type | None, inner: Type | None) -> Type | None:
        """The type by a rule of the standard library (`weft.code.resolve.rust.types`)."""
        return self._ruled(type_of(rule.replace("(", "<").replace(")", ">")), kind, inner) if rule else None

    def _ruled(self, rule: WrittenType, kind: Type | None, inner: Type | None) -> Type | None:
        name = rule.names[0] if rule.names else ""
        given = kind.given if kind is not None else ()
        if name == "self":
            return kind
        if name == "inner":
            return inner
        if name == "inner0":
            return inner.given[0] if inner is not None and inner.given else inner
        if name == "00":
            held = given[0] if given else None
            return held.given[0] if held is not None and held.given else None
        if name.isdigit():
            return given[int(name)] if int(name) < len(given) else None
        if rule == UNKNOWN or name == "?":
            return None
        made = tuple(self._ruled(each, kind, inner) for each in (rule.given[-1] if rule.given else rule.parts))
        if name in WRAPPERS and made and made[0] is not None:
            return made[0]
        return Type(External("std", name or TUPLE), made)
