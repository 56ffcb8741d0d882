"""Reads Python: definitions, imports, calls and bindings.

The result of a function without a declared return type is bound as `name()` of its class or file, a type shown by
`isinstance` as `name?`, a function inside a function as `lambda`.
"""

from __future__ import annotations

import inspect
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from weft.code.parse.facts import FILE, Binding, Imported, Reference, Sort
from weft.code.parse.parse import ParsedSource
from weft.code.parse.readers import Described, Match, OwnerAt, Rest
from weft.code.parse.readers.python.bindings import (
    bound_by_match,
    heads_of,
    imported,
    imported_from,
    is_decorated,
    listed,
    narrowed,
    parameter,
    shown,
    yielded,
)
from weft.code.parse.readers.python.chains import (
    LITERALS,
    LOCAL_FUNCTION,
    Value,
    annotation_of,
    bound_by_loop,
    chain_of,
    chains_of,
    unpacked,
    values_of,
)
from weft.code.parse.readers.syntax import UNKNOWN, one_line, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_WORD: Final = re.compile(r"\w+")
# A declared type by another name: `Rows = list[Row]`, `Text = Title | Body`.
_ALIAS: Final = re.compile(
    r"(?:\w+\.)?(?:Union|Optional|Callable|Annotated|Type|type|List|list|Dict|dict|Tuple|tuple|Set|set|Sequence|Mapping"
    r"|Iterable|Iterator|Generator|Literal|Awaitable|Coroutine)\[|[\w.\[\]]+\s*\|[\w.\[\]|\s\"',]+$"
)
_RECEIVERS: Final = frozenset({"self", "cls"})
_OF_CLASS: Final = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})  # without saying so
# What decorators tell of a definition, by their names; kept in `extra` as places.
_FLAGS: Final = {
    "property": "properties",
    "cached_property": "properties",
    "functools.cached_property": "properties",
    "abc.abstractproperty": "properties",
    "overload": "overloads",
    "typing.overload": "overloads",
    "t.overload": "overloads",
}

Bound = tuple[int, int, str, str, bool]  # byte, owner, name, chain, declared


class PythonReading:
    """Reads one file."""

    def __init__(self, raw: bytes, owner_at: OwnerAt) -> None:
        self._raw = raw
        self._owner_at = owner_at
        self._imports: list[tuple[int, list[Imported]]] = []
        self._uses: dict[tuple[int, str], int] = {}  # owner and chain: the byte where it comes first
        self._bound: list[Bound] = []
        self._fields: list[tuple[int, int, str, list[Value]]] = []  # byte, method, name, values
        self._returns: list[tuple[int, int, list[Value]]] = []  # byte, function, values
        # those that are kept, by their places: the byte of the name, the place of the class around, the name
        self._functions: dict[int, tuple[int, int, str]] = {}
        self._untyped: set[int] = set()  # those without a declared type
        self._yields: dict[int, list[Value]] = {}
        self._inner: dict[int, list[tuple[int, int]]] = {}  # the bytes of the functions inside one of them
        self._own_receivers: dict[int, list[tuple[int, int, str]]] = {}  # of those, which have a `self` of their own
        self._static: set[int] = set()  # methods without a receiver, and those of the class
        self._of_class: set[int] = set()
        self._extra: dict[str, list[str]] = {}
        self._globals: set[tuple[int, str]] = set()
        # what may matter: by name, the byte, the function, the value, and the loop's variable if it is one
        self._locals: dict[str, list[tuple[int, int, Node, Node | None]]] = {}

    def read(self, matches: Sequence[Match]) -> Rest:
        """Everything, in source order."""
        defined, callees, held, others = [], [], [], []
        for match in matches:
            if "callee" in match:
                callees.append(match["callee"][0])
            elif "held" in match:
                held.append(match)
            elif "defined" in match:
                defined.append(match)
            else:
                others.append(match)
        defined.sort(key=lambda match: match["defined"][0].start_byte)
        self._take_definitions(defined)
        self._take_uses(callees)
        self._take_held(held)
        for match in others:
            self._take(match)
        heads = self._bind_locals()
        for match in defined:
            if "parameters" in match:
                self._take_parameters(match["parameters"][0], heads)
        return self._rest(heads)

    def _rest(self, heads: set[str]) -> Rest:
        line_ends = list(accumulate([len(line) + 1 for line in self._raw.split(b"\n")]))
        if self._globals:
            self._bound = [
                (byte, FILE if (owner, name) in self._globals else owner, name, chain, declared)
                for byte, owner, name, chain, declared in self._bound
            ]
        bound = [each for each in self._bound if each[1] not in self._functions or each[2].rstrip("?()") in heads]
        bound += self._shown()
        return Rest(
            imports=tuple([each for _, found in sorted(self._imports, key=itemgetter(0)) for each in found]),
            references=tuple(
                [
                    Reference(owner, "call", chain, bisect_right(line_ends, byte) + 1)
                    for byte, owner, chain in sorted([(byte, *key) for key, byte in self._uses.items()])
                ]
            ),
            bindings=tuple(
                [
                    Binding(owner, name, chain, declared, bisect_right(line_ends, byte) + 1)
                    for byte, owner, name, chain, declared in sorted(bound)
                ]
            ),
            extra={name: " ".join(found) for name, found in self._extra.items()},
        )

    def _bind_locals(self) -> set[str]:
        """Binds the locals that chains begin with, and those that they depend on; returns all such names."""
        chains = {chain for _, chain in self._uses}
        chains.update([chain for _, _, _, chain, _ in self._bound])
        chains.update([chain for _, _, _, values in self._fields for chain, _ in values])
        chains.update([chain for _, _, values in self._returns for chain, _ in values])
        chains.update([chain for values in self._yields.values() for chain, _ in values])
        heads = {head for chain in chains for head in heads_of(chain)}
        names = list(heads)
        while names:
            name = names.pop()
            for byte, owner, value, looped in self._locals.pop(name, ()):
                values = [(each, False) for _, each in bound_by_loop(looped, value)] if looped else values_of(value)
                for chain, declared in values:
                    self._bound.append((byte, owner, name, chain, declared))
                    names += [head for head in heads_of(chain) if head not in heads]
                    heads.update(heads_of(chain))
        return heads

    def _shown(self) -> Iterator[Bound]:
        """Bindings of classes and files that are made inside functions."""
        local: dict[tuple[int, str], list[Value]] = {}
        for _, owner, name, chain, declared in self._bound:
            if owner in self._functions:
                local.setdefault((owner, name), []).append((chain, declared))
        for byte, method, name, values in self._fields:
            owner = self._functions[method][1]
            if owner != FILE:
                for chain, declared in shown(local, method, values):
                    yield byte, owner, name, chain, declared
        for byte, function, values in self._returns:
            if function in self._yields:
                continue  # a generator
            _, owner, name = self._functions[function]
            for chain, declared in shown(local, function, values):
                yield byte, owner, f"{name}()", chain, declared
        for function, values in self._yields.items():
            byte, owner, name = self._functions[function]
            for chain, declared in shown(local, function, list(dict.fromkeys(values))):
                yield byte, owner, f"{name}()", chain, declared

    def _take_definitions(self, defined: list[Match]) -> None:
        """Separates stored functions from nested ones: the first definition of a place counts."""
        seen = {FILE}
        classes = [(FILE, len(self._raw) + 1)]  # those around, each with its end
        for match in defined:
            name, around = match["defined"][0], match["around"][0]
            byte = name.start_byte
            owner = self._owner_at(byte)
            while classes[-1][1] <= byte:
                classes.pop()
            if owner not in seen:
                seen.add(owner)
                if "parameters" not in match:
                    classes.append((owner, around.end_byte))
                    continue
                self._functions[owner] = (byte, classes[-1][0], text_of(name))
                if "declared" not in match:
                    self._untyped.add(owner)
            elif owner in self._functions:
                text = text_of(name)
                self._bound.append((byte, owner, text, LOCAL_FUNCTION, False))
                if "parameters" in match:
                    span = (around.start_byte, around.end_byte)
                    self._inner.setdefault(owner, []).append(span)
                    first = text_of(match["parameters"][0]).strip("( \n").partition(",")[0].rstrip(") \n")
                    if first in _RECEIVERS:
                        self._own_receivers.setdefault(owner, []).append((*span, first))
                if "declared" in match:
                    declared = annotation_of(match["declared"][0])
                    self._bound.append((byte, owner, f"{text}()", declared, True))

    def _take_parameters(self, parameters: Node, heads: set[str]) -> None:
        owner = self._owner_at(parameters.start_byte)
        words = set(_WORD.findall(text_of(parameters)))
        if (words if owner in self._static else words - {"self"}).isdisjoint(heads):
            return
        for place, each in enumerate([each for each in parameters.named_children if each.type != "comment"]):
            for name, chain, declared in parameter(each):
                is_first = chain == UNKNOWN and not place
                held = self._receiver(parameters, owner, name) if is_first else chain
                if held and name in heads:
                    self._bound.append((each.start_byte, owner, name, held, declared))

    def _receiver(self, parameters: Node, owner: int, name: str) -> str:
        """The value of a method's first parameter, whatever its name; empty if it is named self or cls."""
        start, around, own = self._functions.get(owner, (0, FILE, ""))
        is_own = parameters.start_byte == start + len(own.encode())
        if name in _RECEIVERS and not is_own:
            return ""
        if around == FILE or not is_own or owner in self._static:
            return UNKNOWN
        if name == "cls":  # of a method without any decorator it is what the class made: one of a metaclass
            return "" if own in _OF_CLASS or is_decorated(parameters) else "self"
        return "" if name == "self" else "cls" if owner in self._of_class else "self"

    def _take_uses(self, callees: list[Node]) -> None:
        uses, owner_at = self._uses, self._owner_at
        chains: dict[bytes, list[str]] = {}  # by text: what is called once is called again
        for node in callees:
            byte = node.start_byte
            text = node.text or b""
            found = chains.get(text)
            if found is None:  # literals are certainly nothing of the project's; `?` is no name at all
                found = [chain for chain in chains_of(node) if chain != UNKNOWN and not chain.startswith(LITERALS)]
                chains[text] = found
            for chain in found:
                owner = owner_at(byte)
                if owner in self._own_receivers and self._is_other(byte, owner, chain.partition(".")[0]):
                    chain = UNKNOWN + chain[chain.find(".") :]  # noqa: PLW2901
                key = (owner, chain)
                if uses.setdefault(key, byte) > byte:
                    uses[key] = byte
                if chain == "isinstance" and owner in self._functions:
                    self._bound += [(byte, owner, *each) for each in narrowed(node.next_sibling)]

    def _take(self, match: Match) -> None:
        node = next(iter(match.values()))[0]
        byte = node.start_byte
        owner = self._owner_at(byte)
        if "assignment" in match:
            self._assign(node, byte, owner)
        elif "returned" in match:
            if owner in self._untyped and not self._is_inside(byte, owner):
                self._returns.append((byte, owner, values_of(node)))
        elif "iterated" in match:
            target, iterated = match["target"][0], match["iterated"][0]
            if owner in self._functions and target.type == "identifier":
                self._locals.setdefault(text_of(target), []).append((byte, owner, iterated, target))
            else:
                for name, chain in bound_by_loop(target, iterated):
                    self._bound.append((byte, owner, name, chain, False))
        elif "entered" in match:
            self._enter(match["entered"][0], match["target"][0], byte, owner)
        elif "caught" in match:
            caught = match["caught"][0]
            for each in caught.named_children if caught.type == "tuple" else [caught]:
                self._bound.append((byte, owner, text_of(match["target"][0]), annotation_of(each), True))
        elif "value" in match:
            for chain, declared in values_of(match["value"][0]):
                self._bound.append((byte, owner, text_of(match["target"][0]), chain, declared))
        elif "alias" in match:
            alias = annotation_of(match["alias"][0])
            self._bound.append((byte, owner, text_of(match["target"][0]), alias, True))
        elif "import" in match:
            self._imports.append((byte, imported(node, owner)))
        elif "import_from" in match:
            self._imports.append((byte, imported_from(node, owner)))
        elif "decorator" in match:
            self._decorate(node, byte, owner)
        elif "yield" in match:
            if owner in self._untyped and not self._is_inside(byte, owner):
                self._yields.setdefault(owner, []).append((yielded(node), False))
        elif "matched" in match:
            self._bound += [(byte, owner, *each) for each in bound_by_match(node)]
        elif "hiding" in match:
            for each in node.named_children:
                self._bound += [(byte, owner, name, UNKNOWN, False) for name, _, _ in parameter(each)]
        elif "global" in match:
            self._globals.update((owner, text_of(each)) for each in node.named_children)
        elif "extended" in match and owner == FILE and text_of(node) == "__all__":
            self._export(match["extension"][0])

    def _is_inside(self, byte: int, owner: int) -> bool:
        """Whether a byte is in a function nested inside its owner."""
        return any(start <= byte < end for start, end in self._inner.get(owner, ()))

    def _is_other(self, byte: int, owner: int, name: str) -> bool:
        """Whether `self` or `super()` belongs to a nested function."""
        inner = self._own_receivers.get(owner, ())
        return any(start <= byte < end and name in (receiver, "super()") for start, end, receiver in inner)

    def _take_held(self, held: list[Match]) -> None:
        """`name = value`, the most frequent statement; in functions, kept until it is known which are needed."""
        functions, waiting, owner_at = self._functions, self._locals, self._owner_at
        for match in held:
            left, right = match["held"][0], match["value"][0]
            byte = left.start_byte
            owner = owner_at(byte)
            name = text_of(left)
            if owner in functions:
                waiting.setdefault(name, []).append((byte, owner, right, None))
                continue
            alias = _ALIAS.match(text_of(right)) if right.type in ("subscript", "binary_operator") else None
            values = [(annotation_of(right), True)] if alias else values_of(right)
            self._bound += [(byte, owner, name, chain, told) for chain, told in values]
            if owner == FILE and name == "__all__":
                self._export(right)

    def _assign(self, node: Node, byte: int, owner: int) -> None:
        """`name: declared`, `self.name = value`, `a, b = value`."""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        declared = node.child_by_field_name("type")
        if left is None:
            return
        if left.type == "identifier":
            if declared is not None:
                name = text_of(left)
                self._bound.append((byte, owner, name, annotation_of(declared), True))
            if right is not None and owner == FILE and text_of(left) == "__all__":
                self._export(right)
        elif left.type == "attribute":
            self._assign_field(left, right, declared, byte, owner)
        elif right is not None:
            self._assign_parts(left, right, byte, owner)

    def _assign_field(self, left: Node, right: Node | None, declared: Node | None, byte: int, owner: int) -> None:
        """`self.name = value`, `self.name: declared`."""
        receiver, _, name = text_of(left).partition(".")
        if receiver not in _RECEIVERS or not name.isidentifier() or self._is_other(byte, owner, receiver):
            return
        if owner in self._functions:
            if declared is not None:
                self._fields.append((byte, owner, name, [(annotation_of(declared), True)]))
            elif right is not None:
                self._fields.append((byte, owner, name, values_of(right)))

    def _assign_parts(self, left: Node, right: Node, byte: int, owner: int) -> None:
        """`a, b = c, d` part by part; `a, b = pair()` as the parts of one value."""
        targets, sources = left.named_children, right.named_children
        if right.type in ("expression_list", "tuple") and len(targets) == len(sources):
            for target, source in zip(targets, sources, strict=True):
                if target.type == "identifier":
                    name = text_of(target)
                    self._bound += [(byte, owner, name, chain, told) for chain, told in values_of(source)]
                elif target.type == "attribute":
                    self._assign_field(target, source, None, byte, owner)
            return
        for name, chain in unpacked(left, chain_of(right)):
            self._bound.append((byte, owner, name, chain, False))

    def _enter(self, value: Node, target: Node, byte: int, owner: int) -> None:
        """`with value as target`."""
        chain = chain_of(value)
        entered = UNKNOWN if chain == UNKNOWN else f"{chain}.__enter__()"
        for name, part in unpacked(target, entered):
            self._bound.append((byte, owner, name, part, False))

    def _decorate(self, node: Node, byte: int, owner: int) -> None:
        chain = chain_of(node)
        if not chain.endswith((".setter", ".getter", ".deleter")):
            self._uses.setdefault((owner, chain), byte)
        flag = _FLAGS.get(chain)
        function = self._functions.get(owner)
        if function is None or byte > function[0]:
            return
        if flag is not None:
            self._extra.setdefault(flag, []).append(str(owner))
        elif chain == "staticmethod":
            self._static.add(owner)
        elif chain == "classmethod":
            self._of_class.add(owner)

    def _export(self, value: Node) -> None:
        self._extra.setdefault("all", []).extend(listed(value))


# The last part of a head, of those that are there.
_HEAD_FIELDS: Final = ("return_type", "parameters", "superclasses", "type_parameters", "name")
_TEXT_QUOTES: Final = frozenset(b"rRuU\"'")  # what a docstring's opening is made of: not bytes, not an f-string
# What the bases of a class make of it, by the last part of their names.
_SORTS: Final[dict[str, Sort]] = {
    "Protocol": "interface",
    "ABC": "abstract",
    "Enum": "enum",
    "Flag": "enum",
    "IntEnum": "enum",
    "IntFlag": "enum",
    "StrEnum": "enum",
}
_TEST_FILE: Final = re.compile(r"(?:.*/)?(?:test_[^/]*|[^/]*_tests?|tests?)\.pyi?", re.IGNORECASE)


class PythonReader:
    """Reads Python. Return types are kept as written, with type arguments: `list[Row]` determines the elements."""

    def describe(self, parsed: ParsedSource, path: str, definition: Node, sort: Sort, qualifier: str) -> Described:
        signature, doc = _signature(parsed.raw, definition), _docstring(parsed.raw, definition)
        if sort == "class":
            bases, made = _bases(definition)
            return Described(signature=signature, doc=doc, sort=made, bases=bases)
        returned = definition.child_by_field_name("return_type")
        return Described(
            signature=signature,
            doc=doc,
            sort="method" if qualifier else None,
            returns=annotation_of(returned) if returned is not None else "",
            test=_is_test(definition, path, qualifier),
        )

    def read(self, parsed: ParsedSource, path: str, matches: Sequence[Match], owner_at: OwnerAt) -> Rest:
        return PythonReading(parsed.raw, owner_at).read(matches)


READER: Final = PythonReader()


def _signature(raw: bytes, definition: Node) -> str:
    """`def name(parameters) -> type`, `class Name(parents)`, on one line."""
    last = next((found for field in _HEAD_FIELDS if (found := definition.child_by_field_name(field))), definition)
    return one_line(raw[definition.start_byte : last.end_byte])


def _docstring(raw: bytes, definition: Node) -> str:
    """The string that its body begins with, as written, without indentation."""
    body = definition.child_by_field_name("body")
    first = _first(body)
    if body is not None and first is not None and first.type == "comment":
        first = next((each for each in body.named_children if each.type != "comment"), None)
    string = _first(first) if first is not None and first.type == "expression_statement" else None
    if string is None or string.type != "string":
        return ""
    opening, closing = (string.child(0), string.child(string.child_count - 1)) if string.child_count else (None, None)
    if opening is None or closing is None or not _TEXT_QUOTES.issuperset(opening.text or b""):
        return ""
    return inspect.cleandoc(raw[opening.end_byte : closing.start_byte].decode(errors="replace"))


def _first(node: Node | None) -> Node | None:
    return node.named_child(0) if node is not None and node.named_child_count else None


def _bases(definition: Node) -> tuple[tuple[str, ...], Sort | None]:
    """The bases of a class, without type arguments, and its sort."""
    parents = definition.child_by_field_name("superclasses")
    bases: list[str] = []
    made: Sort | None = None
    for each in parents.named_children if parents is not None else ():
        text = text_of(each)
        if each.type == "keyword_argument":
            made = "abstract" if text.rpartition("=")[2].strip().endswith("ABCMeta") else made
        elif each.type in ("identifier", "attribute", "subscript"):
            bases.append("".join(text.partition("[")[0].split()))
            made = made or _SORTS.get(bases[-1].rpartition(".")[2])
    return tuple(bases), made


def _is_test(definition: Node, path: str, qualifier: str) -> bool:
    """Whether pytest or unittest would run it: by its name, in a test file or in a TestCase."""
    name = definition.child_by_field_name("name")
    if name is None or not (name.text or b"").startswith(b"test"):
        return False
    if _TEST_FILE.fullmatch(path):
        return True
    around = definition.parent
    while around is not None and around.type in ("block", "decorated_definition"):
        around = around.parent
    parents = around.child_by_field_name("superclasses") if qualifier and around is not None else None
    return parents is not None and b"TestCase" in (parents.text or b"")
