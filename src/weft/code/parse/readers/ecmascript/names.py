"""Fills the scopes of a JavaScript or TypeScript file with names and their values.

First all names are placed in their scopes, then values are computed in source order: a name may be used before it is
bound, but its value may not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from weft.code.parse.facts import FILE, Binding
from weft.code.parse.readers import OwnerAt
from weft.code.parse.readers.ecmascript.scopes import (
    FUNCTIONS,
    NOTHING,
    Chain,
    LexicalScope,
    Pending,
    ValueSource,
    Variable,
    chain_of,
    told_apart,
)
from weft.code.parse.readers.ecmascript.types import NOTHING_STATED, Stated, doc_of, stated_in, type_of
from weft.code.parse.readers.syntax import UNKNOWN, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_PATTERN_DEPTH: Final = 8
MAX_ASKED: Final = 8  # names in one condition
_IDENTIFIERS: Final = frozenset({"identifier", "shorthand_property_identifier_pattern"})


class PatternName(NamedTuple):
    """A name in a destructuring pattern: the steps to it (`.a[0]`), its default, and whether it is a rest element."""

    name: Node
    path: str
    default: Node | None = None
    gathers: bool = False


def names_in(pattern: Node, path: str = "", default: Node | None = None, depth: int = 0) -> Iterator[PatternName]:
    """The names of a pattern, in order; very deep ones are cut off."""
    kind = pattern.type
    if kind in _IDENTIFIERS:
        yield PatternName(pattern, path, default)
    elif depth > MAX_PATTERN_DEPTH:
        return
    elif kind in ("assignment_pattern", "object_assignment_pattern"):
        left, right = pattern.child_by_field_name("left"), pattern.child_by_field_name("right")
        if left is not None:
            own = f"{path}.{text_of(left)}" if left.type == "shorthand_property_identifier_pattern" else path
            yield from names_in(left, own, right, depth + 1)
    elif kind == "object_pattern":
        for each in pattern.named_children:
            yield from _part(each, path, depth)
    elif kind == "array_pattern":
        at = 0
        for each in pattern.children:  # places may be left empty
            at += each.type == ","
            if each.is_named:
                yield from names_in(each, f"{path}[{at}]", None, depth + 1)
    elif kind == "rest_pattern" and pattern.named_child_count:
        for bound in names_in(pattern.named_children[0], path, None, depth + 1):
            yield bound._replace(gathers=True)


def _part(part: Node, path: str, depth: int) -> Iterator[PatternName]:
    """The names of one part of `{a, b: c, d = 1, ...rest}`."""
    if part.type == "shorthand_property_identifier_pattern":
        yield PatternName(part, f"{path}.{text_of(part)}")
    elif part.type == "pair_pattern":
        key, inner = part.child_by_field_name("key"), part.child_by_field_name("value")
        if key is not None and inner is not None:
            yield from names_in(inner, f"{path}.{text_of(key)}", None, depth + 1)
    elif part.type in ("object_assignment_pattern", "rest_pattern"):
        yield from names_in(part, path, None, depth + 1)


def is_this(parameter: Node) -> bool:
    """Whether a parameter only declares the type of `this`."""
    pattern = parameter.child_by_field_name("pattern")
    return pattern is not None and pattern.type == "this"


def name_of(parameter: Node) -> str:
    """The name of a simple parameter, with or without a default."""
    left = parameter.child_by_field_name("left") if parameter.type == "assignment_pattern" else parameter
    return "" if left is None else text_of(left)


def passed_functions(call: Node) -> Iterator[tuple[Node, Node, int]]:
    """The function literals among the arguments of a call, the callee, and their positions."""
    arguments = call.child_by_field_name("arguments")
    called = call.child_by_field_name("function") or call.child_by_field_name("constructor")
    if arguments is None or called is None or arguments.type != "arguments":
        return
    for at, each in enumerate(child for child in arguments.named_children if child.type != "comment"):
        for option in each.named_children if each.type == "ternary_expression" else [each]:
            if option.type in ("arrow_function", "function_expression"):
                yield option, called, at


def asked_types(block: Node) -> list[tuple[Node, str]]:
    """Names that the condition of a block tests with `instanceof`, each with the class."""
    around = block.parent
    condition = (
        around.child_by_field_name("condition") if around is not None and around.type == "if_statement" else None
    )
    if around is None or condition is None or around.child_by_field_name("consequence") != block:
        return []
    found: list[tuple[Node, str]] = []
    waiting = [condition]
    while waiting and len(found) < MAX_ASKED:
        each = waiting.pop()
        left, right = each.child_by_field_name("left"), each.child_by_field_name("right")
        operator = each.child_by_field_name("operator")
        if each.type == "parenthesized_expression":
            waiting += each.named_children
        elif left is not None and right is not None and operator is not None:
            if operator.type == "&&":
                waiting += [left, right]
            elif operator.type == "instanceof" and left.type == "identifier" and _is_dotted(right):
                found.append((left, text_of(right)))
    return found


def _is_dotted(node: Node) -> bool:
    return text_of(node).replace(".", "").isidentifier()


_WORD: Final = re.compile(r"[\w$]+")
_BLOCKS: Final = frozenset({"catch_clause", "for_in_statement", "for_statement", "statement_block", "switch_body"})
_CLASSES: Final = frozenset({"abstract_class_declaration", "class_declaration", "interface_declaration"})
_VALUES: Final = frozenset({"function_expression", "arrow_function", "class", "generator_function"})
_FIELD_MARKS: Final = frozenset({"accessibility_modifier", "override_modifier", "readonly"})
_VAR_SCOPES: Final = frozenset({"file", "function", "arrow"})
_NAME_SCOPES: Final = frozenset({"file", "function", "arrow", "block"})


class FileScopes:
    """The scopes of a file, the scope of each node, and the resulting bindings."""

    def __init__(self, root: Node, nodes: Sequence[Node], owner_at: OwnerAt, raw: bytes) -> None:
        """`raw` is the text if its comments may declare types (JSDoc), else empty."""
        self.file = LexicalScope("file", root, None, FILE)
        self.file.start, self.file.own = 0, False
        self.scopes: list[LexicalScope] = []  # of each node, in their order
        self.bindings: list[Binding] = []
        self._owner_at, self._raw = owner_at, raw
        self._pending: list[Pending | tuple[Node, LexicalScope]] = []
        self._contexts: dict[int, tuple[Node, str]] = {}
        self._counts: dict[tuple[int, str], int] = {}
        self._locals: list[Variable] = []
        self._returned: set[int] = set()
        self._overloads: dict[tuple[int, str], str] = {}  # by where their scope begins, and their name
        self._property_end = 0
        self._imported: set[str] = set()  # words of import statements: names of the file, and some more
        current = self.file
        for node in nodes:
            while current.parent is not None and current.end <= node.start_byte:
                current = current.parent
            self.scopes.append(current)
            current = self._place(node, node.type, current)
        told_apart(self._locals, {*self.file.names, *self._imported})
        for each in self._pending:
            if isinstance(each, Pending):
                self._tell(each)
            else:
                self._assigned(*each)

    def _place(self, node: Node, kind: str, scope: LexicalScope) -> LexicalScope:
        """Places the names that a node binds; returns the scope that begins with it, or the present one."""
        if kind in FUNCTIONS:
            return self._function(node, kind, scope)
        if kind in _BLOCKS:
            return self._block(node, kind, scope)
        if kind == "class_body":
            inner = LexicalScope("class", node, scope, self._owner_at(node.start_byte))
            inner.own = scope.own if scope.kind == "type" else inner.own
            return inner
        if kind in _CLASSES:
            return self._class(node, kind, scope)
        if kind == "type_alias_declaration":
            return self._alias(node, scope)
        if kind == "variable_declarator":
            self._variable(node, scope)
        elif kind in ("call_expression", "new_expression"):
            for function, called, at in passed_functions(node):
                self._contexts[function.start_byte] = (called, f"@{at}")
        elif kind in ("assignment_expression", "return_statement"):
            self._pending.append((node, scope))
        elif kind in ("public_field_definition", "field_definition"):
            self._field(node, scope)
        elif kind == "property_signature":
            self._property(node, scope)
        elif kind == "import_statement":
            self._imported.update(_WORD.findall(text_of(node)))
        elif kind in ("function_signature", "method_signature"):
            self._overload(node, scope)
        elif kind in ("call_signature", "construct_signature") and scope.kind == "type" and scope.own:
            declared = node.child_by_field_name("return_type") or node.child_by_field_name("type")
            name = "()" if kind == "call_signature" else "new()"
            if declared is not None and node.start_byte >= self._property_end:
                self._declare(scope.owner, name, type_of(declared, scope.generic), node)
        return scope

    def _function(self, node: Node, kind: str, scope: LexicalScope) -> LexicalScope:
        owner = self._owner_at(node.end_byte - 1)
        inner = LexicalScope("arrow" if kind == "arrow_function" else "function", node, scope, owner)
        self._generics(node, inner)
        name = node.child_by_field_name("name")
        if name is not None and kind in ("function_declaration", "generator_function_declaration"):
            self._defined(name, scope.around(_NAME_SCOPES))
        elif name is not None and kind in ("function_expression", "generator_function"):
            self._defined(name, inner)
        parameters = node.child_by_field_name("parameters")
        if parameters is not None:
            taken = [each for each in parameters.named_children if each.type != "comment"]
        else:
            single = node.child_by_field_name("parameter")
            taken = [] if single is None else [single]
        context = self._contexts.pop(node.start_byte, None)
        given = [each for each in taken if not is_this(each)]
        for each in taken[: len(taken) - len(given)]:
            self._parameter(each, 0, inner, None)
        stated = self._stated(node).parameters if inner.own and given else {}
        for at, each in enumerate(given):
            if stated and each.type in ("identifier", "assignment_pattern") and (written := stated.get(name_of(each))):
                self._pattern(each, inner, ValueSource(stated=written))
            else:
                self._parameter(each, at, inner, context)
        self._returns(node, kind, inner, scope)
        return inner

    def _overload(self, node: Node, scope: LexicalScope) -> None:
        """Records the result type of the first overload; the implementation may omit it."""
        name, declared = node.child_by_field_name("name"), node.child_by_field_name("return_type")
        if name is not None and declared is not None and scope.kind in ("class", "file"):
            inner = LexicalScope("function", node, scope, scope.owner)
            self._generics(node, inner)
            self._overloads.setdefault((scope.start, text_of(name)), type_of(declared, inner.generic))

    def _parameter(self, node: Node, at: int, scope: LexicalScope, context: tuple[Node, str] | None) -> None:
        pattern = node.child_by_field_name("pattern")
        annotation = node.child_by_field_name("type") if pattern is not None else None
        if pattern is not None and pattern.type == "this":
            scope.stated = type_of(annotation, scope.generic) or UNKNOWN
            return
        value = node.child_by_field_name("value") if pattern is not None else None
        passed = None if context is None else (context[0], f"{context[1]}@{at}")
        self._pattern(pattern or node, scope, ValueSource(annotation, value, passed))
        if annotation is None or not scope.own or pattern is None:
            return
        declared = type_of(annotation, scope.generic)
        if "=>" in declared or declared[:1].isupper():
            self._declare(FILE, f"{scope.owner}@{at}", declared, node)
        is_field = any(each.type in _FIELD_MARKS for each in node.children)
        if is_field and pattern.type == "identifier" and scope.parent is not None and scope.parent.own:
            self._declare(scope.parent.owner, text_of(pattern), declared, node)

    def _returns(self, node: Node, kind: str, scope: LexicalScope, outer: LexicalScope) -> None:
        """A getter is a field of its class; an arrow that is one expression returns it."""
        body = node.child_by_field_name("body")
        own = node.child_by_field_name("name")
        overloaded = self._overloads.get((outer.start, text_of(own))) if own is not None else None
        if overloaded and scope.own:
            self._returned.add(scope.owner)
            self._declare(FILE, f"{scope.owner}()", overloaded, node)
        is_getter = kind == "method_definition" and any(each.type == "get" for each in node.children)
        if is_getter and own is not None and outer.kind == "class" and outer.own:
            declared = node.child_by_field_name("return_type")
            if declared is not None:
                self._declare(outer.owner, f"get {text_of(own)}", type_of(declared, scope.generic), node)
            else:
                self._hold(outer.owner, f"get {text_of(own)}", f"this.{text_of(own)}()", node)
        elif kind == "arrow_function" and scope.own and body is not None and body.type != "statement_block":
            self._pending.append((body, scope))

    def _block(self, node: Node, kind: str, scope: LexicalScope) -> LexicalScope:
        inner = LexicalScope("block", node, scope, scope.owner)
        inner.own = False
        if kind == "for_in_statement":
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            operator = node.child_by_field_name("operator")
            path = "[]" if operator is None or operator.type == "of" else ".keys()"
            if left is not None and node.child_by_field_name("kind") is not None:
                self._pattern(left, inner, ValueSource(None, right), path)
        elif kind == "catch_clause":
            parameter = node.child_by_field_name("parameter")
            if parameter is not None:
                self._pattern(parameter, inner, ValueSource())
        elif kind == "statement_block":
            for name, asked in asked_types(node):
                self._local(text_of(name), name, inner).hold(NOTHING, asked)
        return inner

    def _class(self, node: Node, kind: str, scope: LexicalScope) -> LexicalScope:
        name = node.child_by_field_name("name")
        if name is not None and kind != "interface_declaration":
            self._defined(name, scope.around(_NAME_SCOPES))
        inner = LexicalScope("type", node, scope, self._owner_at(node.end_byte - 1))
        self._generics(node, inner)
        heritage = next((each for each in node.named_children if each.type == "class_heritage"), None)
        extended = heritage.named_child(0) if heritage is not None and heritage.named_child_count else None
        arguments = extended.child_by_field_name("type_arguments") if extended is not None else None
        if arguments is not None and inner.own:
            types = [type_of(each, inner.generic) for each in arguments.named_children if each.type != "comment"]
            self._declare(inner.owner, "extends", ",".join(types), node)
        return inner

    def _alias(self, node: Node, scope: LexicalScope) -> LexicalScope:
        """Records `type Name = …` at the top level; for an object type, its properties."""
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        inner = LexicalScope("type", node, scope, scope.owner)
        inner.own = False
        self._generics(node, inner)
        if name is not None and value is not None and scope.owner == FILE:
            if value.type == "object_type":  # one by one: there may be many
                for each in value.named_children:
                    own, annotation = each.child_by_field_name("name"), each.child_by_field_name("type")
                    if each.type == "property_signature" and own is not None and annotation is not None:
                        chain = type_of(annotation, inner.generic)
                        self._declare(FILE, f"type {text_of(name)}.{text_of(own)}", chain, each)
            chain = type_of(value, inner.generic) if value.type != "object_type" else UNKNOWN
            self._declare(FILE, f"type {text_of(name)}", chain, node)
        return inner

    def _generics(self, node: Node, scope: LexicalScope) -> None:
        parameters = node.child_by_field_name("type_parameters")
        if parameters is None:
            return
        for at, each in enumerate(child for child in parameters.named_children if child.type == "type_parameter"):
            name, limit = each.child_by_field_name("name"), each.child_by_field_name("constraint")
            if name is None:
                continue
            extended = limit.named_child(0) if limit is not None and limit.named_child_count else None
            scope.generics[text_of(name)] = extended
            if scope.kind == "type" and scope.own:
                chain = type_of(extended, scope.generic) if extended is not None else UNKNOWN
                self._declare(scope.owner, f"<{at}>{text_of(name)}", chain, each)

    def _variable(self, node: Node, scope: LexicalScope) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None:
            return
        if value is not None and value.type in _VALUES and name.type == "identifier":
            self._defined(name, scope.around(_NAME_SCOPES))
            return
        parent = node.parent
        hoisted = parent is not None and parent.type == "variable_declaration"
        target = scope.around(_VAR_SCOPES if hoisted else _NAME_SCOPES)
        stated = self._stated(node).type if name.type == "identifier" else ""
        self._pattern(name, target, ValueSource(node.child_by_field_name("type"), value, None, stated))

    def _field(self, node: Node, scope: LexicalScope) -> None:
        name = node.child_by_field_name("name") or node.child_by_field_name("property")
        if name is None or scope.kind != "class" or not scope.own:
            return
        annotation, value = node.child_by_field_name("type"), node.child_by_field_name("value")
        stated = self._stated(node).type
        if annotation is not None or stated:
            self._declare(scope.owner, text_of(name), stated or type_of(annotation, scope.generic), node)
        elif value is not None and value.type not in _VALUES:
            self._pending.append((node, scope))

    def _property(self, node: Node, scope: LexicalScope) -> None:
        """A property of an interface; not one of a nested type."""
        name, annotation = node.child_by_field_name("name"), node.child_by_field_name("type")
        inside, self._property_end = node.start_byte < self._property_end, max(self._property_end, node.end_byte)
        if inside or scope.kind != "type" or not scope.own or name is None or annotation is None:
            return
        self._declare(scope.owner, text_of(name), type_of(annotation, scope.generic), node)

    def _defined(self, name: Node, scope: LexicalScope) -> None:
        """A function or class: a definition of the file, or a local one, which is no symbol."""
        local = self._local(text_of(name), name, scope)
        local.defined = self._owner_at(name.start_byte) != scope.owner or scope.kind == "file"
        local.inner = not local.defined

    def _local(self, name: str, node: Node, scope: LexicalScope) -> Variable:
        local = Variable(name, node.start_point[0] + 1, scope.owner, top=scope is self.file)
        local.within = not scope.own
        if not local.top:
            count = self._counts.get((scope.owner, name), 1 if scope.owner == FILE else 0) + 1
            self._counts[scope.owner, name] = count
            local.alias = name if count == 1 else f"{name}~{count}"
            self._locals.append(local)
        scope.names.setdefault(name, local)
        return local

    def _pattern(self, pattern: Node, scope: LexicalScope, source: ValueSource, path: str = "") -> None:
        """Places every name of a pattern; values are set later."""
        for bound in names_in(pattern, path):
            own = source
            if bound.gathers:
                # What is gathered at the end of a function's parameters is declared as a list; elsewhere nothing is.
                own = ValueSource(source.type if bound.path == "" else None)
            local = self._local(text_of(bound.name), bound.name, scope)
            if bound.default is not None and own == ValueSource():
                self._pending.append(Pending(local, scope, "", ValueSource(None, bound.default)))
            else:
                self._pending.append(Pending(local, scope, bound.path, own))

    def _tell(self, pending: Pending) -> None:
        local, scope, path, source = pending
        declared = source.stated or type_of(source.type, scope.generic)
        if declared in ("any", "unknown", "object"):
            declared = ""
        if declared and not path:
            local.hold(NOTHING, declared)
        elif declared:
            local.hold(Chain(f"<{declared}>" if declared != UNKNOWN else UNKNOWN, path))
        elif source.value is not None:
            value = chain_of(source.value, scope)
            local.hold(Chain(value.head, value.rest + path, value.local))
        elif source.context is not None:
            called = chain_of(source.context[0], scope)
            local.hold(Chain(called.head, called.rest + source.context[1] + path, called.local))
        if local.top:
            self._bind_local(local)

    def _assigned(self, node: Node, scope: LexicalScope) -> None:
        """An assignment, a field's value or a return value; set after all earlier names."""
        kind = node.type
        if kind == "assignment_expression":
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            if left is not None and right is not None:
                self._put(left, right, scope)
        elif kind in ("public_field_definition", "field_definition"):
            name = node.child_by_field_name("name") or node.child_by_field_name("property")
            value = node.child_by_field_name("value")
            if name is not None and value is not None:
                self._hold(scope.owner, text_of(name), chain_of(value, scope).flat, node)
        else:
            value = node.named_child(0) if kind == "return_statement" and node.named_child_count else node
            function = scope.function()
            if value is None or function is None or (kind == "return_statement" and value is node):
                return
            chain = chain_of(value, scope).flat
            if not chain.startswith(UNKNOWN) and function.owner not in self._returned:
                self._returned.add(function.owner)  # the first that tells something counts
                self._hold(FILE, f"{function.owner}()", chain, node)

    def _put(self, left: Node, right: Node, scope: LexicalScope) -> None:
        if left.type == "identifier":
            local = scope.find(text_of(left))
            if local is not None and not local.known and not local.declared and not local.defined:
                value = chain_of(right, scope)
                local.hold(value)
                if local.top and not value.flat.startswith(UNKNOWN):
                    self._bind_local(local)
        elif left.type == "member_expression":
            target, name = left.child_by_field_name("object"), left.child_by_field_name("property")
            this = scope.this() if target is not None and target.type == "this" else None
            if this is None or name is None:
                return
            owner = this.owner
            if this.kind == "function" and this.parent is not None and this.parent.kind == "class":
                owner = this.parent.owner
            chain, stated = chain_of(right, scope).flat, self._stated(left).type
            if stated:
                self._declare(owner, text_of(name), stated, left)
            elif not chain.startswith(UNKNOWN):
                self._hold(owner, text_of(name), chain, left)

    def _stated(self, node: Node) -> Stated:
        """The types that the comment above a node declares, in plain JavaScript."""
        return stated_in(doc_of(self._raw, node)) if self._raw else NOTHING_STATED

    def _declare(self, owner: int, name: str, written: str, node: Node) -> None:
        self.bindings.append(Binding(owner, name, written, declared=True, line=node.start_point[0] + 1))

    def _hold(self, owner: int, name: str, chain: str, node: Node) -> None:
        self.bindings.append(Binding(owner, name, chain, declared=False, line=node.start_point[0] + 1))

    def _bind_local(self, local: Variable) -> None:
        chain = local.declared or local.chain.flat
        self.bindings.append(Binding(local.owner, local.name, chain, bool(local.declared), local.line))

    def use(self, chain: Chain) -> None:
        """Marks the variables that a chain passes through, so that their values are recorded."""
        local = chain.local
        while local is not None and not local.used:
            local.used = True
            local = local.chain.local

    def all_bindings(self) -> tuple[Binding, ...]:
        """The bindings of classes, of the file, and of used variables, in line order."""
        for local in self._locals:
            if local.used and local.known and not local.defined:
                chain = local.declared or local.chain.written
                self.bindings.append(Binding(local.owner, local.alias, chain, bool(local.declared), local.line))
        return tuple(sorted(self.bindings, key=lambda each: each.line))
