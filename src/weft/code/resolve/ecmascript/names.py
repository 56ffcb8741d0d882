"""The facts of one JavaScript or TypeScript file by name, chains in steps, values, and built-in names and types."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, Literal, NamedTuple

from weft.code.parse.facts import CLASS_SORTS, FILE, Binding, Definition, FileFacts, Imported
from weft.code.resolve import Project
from weft.code.resolve.tables import FileTable, Tables
from weft.code.resolve.texts import closing

MAX_NESTED: Final = 5  # types inside types that are kept apart

Space = Literal["value", "type"]  # one name may be both


class Value(NamedTuple):
    """The known value of an expression.

    `kind`: `def` (a definition itself; its receiver, if known, in `args`), `of` (an instance of one), `object` (an
    object with functions, by its key), `space` (a namespace), `alias` and `shape` (an object's type, by name and as
    written), `named` (a type by another name), `module` (a file's exports), `function` (of a written type), `method`
    (of a built-in type), one of the built-in types (list, map, promise, record, tuple), `union`, `outside`.
    """

    kind: str
    path: str = ""
    place: int = FILE
    name: str = ""
    args: tuple[Value | None, ...] = ()
    nested: int = 0

    def having(self, *args: Value | None) -> Value:
        """The same with arguments; too deeply nested ones are dropped."""
        kept = tuple(each if each is not None and each.nested < MAX_NESTED else None for each in args)
        return self._replace(args=kept, nested=1 + max((each.nested for each in kept if each is not None), default=0))

    @property
    def first(self) -> Value | None:
        return self.args[0] if self.args else None


OUTSIDE: Final = Value("outside")


_NODE_MODULES: Final = """
    assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain
    events fs http http2 https inspector module net os path perf_hooks process punycode querystring readline repl sea
    sqlite stream string_decoder sys test timers tls trace_events tty url util v8 vm wasi worker_threads zlib
"""
NODE_MODULES: Final = frozenset(_NODE_MODULES.split())

# Of the language, of browsers and servers, and of what runs tests.
_GLOBALS: Final = """
    __dirname __filename AbortController AbortSignal addEventListener after afterAll afterEach AggregateError alert
    arguments Array ArrayBuffer assert atob Atomics before beforeAll beforeEach BigInt BigInt64Array BigUint64Array
    Blob Boolean btoa Buffer Bun cancelAnimationFrame clearImmediate clearInterval clearTimeout console context CSS
    CustomEvent DataView Date decodeURI decodeURIComponent Deno describe dispatchEvent Document document DOMException
    DOMParser Element encodeURI encodeURIComponent Error escape eval EvalError Event EventSource EventTarget expect
    exports fdescribe fetch File FileReader FinalizationRegistry fit Float32Array Float64Array FormData Function
    getComputedStyle global globalThis Headers history HTMLElement Image import Infinity Int16Array Int32Array
    Int8Array IntersectionObserver Intl isFinite isNaN it Iterator jest jQuery JSON localStorage location Map
    matchMedia Math MessageChannel module MutationObserver NaN navigator Node Number Object parseFloat parseInt
    performance postMessage process Promise Proxy queueMicrotask RangeError ReadableStream ReferenceError Reflect
    RegExp removeEventListener reportError Request requestAnimationFrame requestIdleCallback require ResizeObserver
    Response self sessionStorage Set setImmediate setInterval setTimeout setup SharedArrayBuffer specify String
    structuredClone suite Symbol SyntaxError teardown test TextDecoder TextEncoder TransformStream TypeError
    Uint16Array Uint32Array Uint8Array Uint8ClampedArray undefined unescape URIError URL URLSearchParams vi WeakMap
    WeakRef WeakSet WebAssembly WebSocket window Worker WritableStream xdescribe xit XMLHttpRequest
"""
GLOBALS: Final = frozenset(_GLOBALS.split())

# Types of the language itself, and of its libraries, whose members are all outside.
_TYPES: Final = """
    any AsyncGenerator AsyncIterator Awaited BigInt bigint Boolean boolean CallableFunction Capitalize
    ConstructorParameters Date Error Exclude Extract Function Generator InstanceType Iterator Lowercase never null
    Number number Object object Omit Parameters Pick PropertyKey RegExp RegExpExecArray RegExpMatchArray ReturnType
    String string Symbol symbol TemplateStringsArray Uncapitalize undefined unknown Uppercase void
"""
TYPES: Final = frozenset(_TYPES.split())


class EcmascriptTable(FileTable):
    """The definitions, bindings, imports and re-exports of a file, by name."""

    def __init__(self, facts: FileFacts) -> None:
        super().__init__(facts)
        self.definitions: tuple[Definition, ...] = facts.definitions
        self.top: dict[str, list[int]] = {}  # definitions outside of classes, by name
        self.objects: dict[str, dict[str, int]] = {}  # functions on an object or a function, by its key
        self.spaces: dict[str, dict[str, int]] = {}  # definitions in a namespace or a suite, by its key
        for place, each in enumerate(facts.definitions):
            prefix, _, last = each.key.rpartition("::")
            if each.parent != FILE or each.test:
                continue  # the title of a test is no name
            name = last.partition("~")[0]
            if prefix:
                held = self.objects if each.sort == "method" else self.spaces
                held.setdefault(prefix, {}).setdefault(name, place)
            else:
                self.top.setdefault(name, []).append(place)
        self.bindings: dict[tuple[int, str], Binding] = {}
        for bound in facts.bindings:
            known = self.bindings.get((bound.owner, bound.name))
            if known is None or (bound.declared and not known.declared) or known.chain.startswith("?"):
                self.bindings[bound.owner, bound.name] = bound
        self.imports: dict[str, Imported] = {}
        self.passed: dict[str, Imported] = {}
        self.stars: list[Imported] = []
        for imported in facts.imports:
            if imported.exported and imported.name == "*":
                self.stars.append(imported)
            elif imported.exported:
                self.passed.setdefault(imported.alias, imported)
            elif imported.alias:
                self.imports.setdefault(imported.alias, imported)

    def member(self, place: int, name: str) -> int | None:
        """The first member of a class by that name."""
        return next(iter(self.members.get((place, name), ())), None) if place != FILE else None

    def value_place(self, name: str, *left_out: str) -> int | None:
        """The top-level definition that a name means as a value, except those of some sorts."""
        found = self.top.get(name, ())
        return next((place for place in found if self.definitions[place].sort not in ("interface", *left_out)), None)

    def is_space(self, key: str) -> bool:
        """Whether a namespace of that key has members."""
        return any(each == key or each.startswith((f"{key}::", f"{key}.")) for each in self.spaces)

    def type_place(self, name: str) -> int | None:
        """The top-level definition that a name means as a type."""
        found = self.top.get(name, ())
        return next(
            (place for place in found if self.definitions[place].sort in CLASS_SORTS), found[0] if found else None
        )

    def nearest(self, owner: int, name: str) -> int | None:
        """The definition of that name in the scope of an owner, or in a namespace around it."""
        if owner == FILE:
            return None
        steps = self.definitions[owner].key.split("::")
        for count in range(len(steps) - 1, 0, -1):
            place = self.spaces.get("::".join(steps[:count]), {}).get(name)
            if place is not None:
                return place
        return None

    def of_class(self, place: int) -> int:
        """The class of a member, the class itself, or FILE without one."""
        if place == FILE or self.definitions[place].sort in CLASS_SORTS:
            return place
        return self.definitions[place].parent


_TABLES: Final = Tables(EcmascriptTable)


def names_of(project: Project, path: str) -> EcmascriptTable | None:
    """The facts of a file by name; always queried from the project."""
    facts = project.facts(path)
    return None if facts is None else _TABLES.of(project, facts)


@lru_cache(maxsize=20_000)
def parts_of(chain: str) -> tuple[str, tuple[str, ...]]:
    """The first name of a chain, and its steps: `.name`, `()`, `[n]`, `@n@k`. A construction is one with its `()`."""
    at = 4 if chain.startswith("new ") else 0
    at = _head_end(chain, at)
    if chain.startswith("new "):
        called = chain.find("()", at)
        if called < 0:
            return "?", ()
        at = called + 2
    parts, begin = [], at
    for place in range(at, len(chain)):
        each = chain[place]
        if each in ".[" or (each == "(" and chain[place - 1] != "(") or (each == "@" and "@" not in chain[begin:place]):
            if place > begin:
                parts.append(chain[begin:place])
            begin = place
    if begin < len(chain):
        parts.append(chain[begin:])
    return chain[:at], tuple(parts)


def _head_end(chain: str, at: int) -> int:
    if chain.startswith("<", at):
        return closing(chain, at) + 1
    if chain.startswith(("import(", "require("), at):
        return chain.find(")", at) + 1 or len(chain)
    while at < len(chain) and chain[at] not in ".([@":
        at += 1
    return at


_KINDS: Final = {
    "Array": "list",
    "Map": "map",
    "Promise": "promise",
    "PromiseLike": "promise",
    "ReadonlyMap": "map",
    "ReadonlySet": "list",
    "Record": "record",
    "Set": "list",
    "WeakMap": "map",
    "WeakSet": "list",
}
_ELEMENT: Final = frozenset({"at", "find", "findLast", "pop", "shift"})
_SAME: Final = frozenset({"concat", "filter", "reverse", "slice", "sort", "splice", "toReversed", "toSorted", "values"})
# Methods that pass elements to a function, and as which of its arguments.
_PASSED: Final = {
    "every": (0,),
    "filter": (0,),
    "find": (0,),
    "findIndex": (0,),
    "findLast": (0,),
    "flatMap": (0,),
    "forEach": (0,),
    "map": (0,),
    "reduce": (1,),
    "reduceRight": (1,),
    "some": (0,),
    "sort": (0, 1),
    "toSorted": (0, 1),
}


def kind_of(name: str) -> str | None:
    """The kind of value of a built-in container type, or None."""
    return _KINDS.get(name)


def called_method(method: Value) -> Value | None:
    """The result of a method of a list, map or promise; every other one is outside."""
    held, name = method.first, method.name
    if held is None:
        return OUTSIDE
    if held.kind == "list":
        if name in _ELEMENT:
            return held.first
        return held if name in _SAME else Value("list") if name == "map" else OUTSIDE
    if held.kind == "map":
        value = held.args[1] if len(held.args) > 1 else None
        if name == "get":
            return value
        if name in ("keys", "values"):
            return Value("list").having(held.first if name == "keys" else value)
        return Value("list").having(Value("tuple").having(*held.args)) if name == "entries" else OUTSIDE
    if held.kind == "promise":
        return held if name in ("catch", "finally") else None
    return OUTSIDE


def given(method: Value, function: int, argument: int) -> Value | None:
    """The argument that such a method passes to its callback."""
    held = method.first
    if held is None or function != 0:
        return None
    if held.kind == "list" and argument in _PASSED.get(method.name, ()):
        return held.args[0] if held.args else None
    if held.kind == "map" and method.name == "forEach" and argument < 2 and len(held.args) > 1:
        return held.args[1 - argument]
    if held.kind == "promise" and method.name == "then" and argument == 0 and held.args:
        return held.args[0]
    return None
