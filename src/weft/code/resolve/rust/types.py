"""Rust types and chains parsed from the text of facts, and the result types of the standard library.

A rule gives the result of a method: `self`, `0`, `1` (type arguments of the receiver), `inner` (the result of the
closure or the argument), `inner0` (its first type argument), or `Type(rule, rule)`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from msgspec import Struct

MAX_DEPTH: Final = 24
_NAME_ENDS: Final = frozenset("<>,()+=[]:{}?!|. ")
_TYPE_NAME_ENDS: Final = frozenset("<>,()+=[]: ")


class WrittenType(Struct, frozen=True):
    """A type as written. `kind` is `path`, `()` (a tuple), `[]`, `fn` (its result first), `+`, `as`, or `?`.

    A path has its names, and the arguments of each; `as` has a type and a trait, and the names that follow.
    """

    kind: str
    names: tuple[str, ...] = ()
    given: tuple[tuple[WrittenType, ...], ...] = ()
    parts: tuple[WrittenType, ...] = ()


class ChainStep(Struct, frozen=True):
    """One step of a chain, by its sign.

    `.` is a field or a method, with type arguments; `()` a call, where `inner` is a chain; `{}` a value of a type,
    where `given` is the matched value; `|` the parameter `second` of the closure that is argument `first`.
    """

    kind: str
    name: str = ""
    given: tuple[WrittenType, ...] = ()
    inner: str = ""
    first: int = 0
    second: int = 0


UNKNOWN: Final = WrittenType("?")
UNIT: Final = WrittenType("()")


class _Text:
    """A text and a reading position."""

    def __init__(self, text: str, *, chain: bool) -> None:
        self.text = text
        self.at = 0
        self.chain = chain
        self.ends = _NAME_ENDS if chain else _TYPE_NAME_ENDS

    def ahead(self, what: str) -> bool:
        return self.text.startswith(what, self.at)

    def take(self, what: str) -> bool:
        if self.ahead(what):
            self.at += len(what)
            return True
        return False

    def name(self) -> str:
        start = self.at
        while self.at < len(self.text) and self.text[self.at] not in self.ends:
            self.at += 1
        return self.text[start : self.at]

    def type(self, depth: int) -> WrittenType:
        first = self.single(depth)
        if not self.ahead("+"):
            return first
        parts = [first]
        while self.take("+"):
            parts.append(self.single(depth))
        return WrittenType("+", parts=tuple(parts))

    def single(self, depth: int) -> WrittenType:
        if depth > MAX_DEPTH:
            self.at = len(self.text)
            return UNKNOWN
        if self.take("("):
            return WrittenType("()", parts=self.types(")", depth + 1))
        if self.take("["):
            return WrittenType("[]", parts=self.types("]", depth + 1))
        if self.take("<"):
            kind = self.type(depth + 1)
            trait = self.type(depth + 1) if self.take(" as ") else None
            self.take(">")
            names, given = self.path(depth) if self.take("::") else ((), ())
            return WrittenType("as", names, given, (kind,) if trait is None else (kind, trait))
        names, given = self.path(depth)
        if not any(names):
            self.at += 1  # nothing that could be read: go on behind it
            return UNKNOWN
        if not self.chain and self.take("("):
            taken = self.types(")", depth + 1)
            return WrittenType("fn", names, given, (self.type(depth + 1) if self.take("->") else UNIT, *taken))
        return WrittenType("path", names, given)

    def types(self, end: str, depth: int) -> tuple[WrittenType, ...]:
        """Parses types up to `end`; of `Item=Type` the type."""
        found: list[WrittenType] = []
        outer, self.ends, chain, self.chain = self.ends, _TYPE_NAME_ENDS, self.chain, False
        while self.at < len(self.text) and not self.take(end):
            kind = self.type(depth)
            if self.take("="):
                kind = self.type(depth)
            found.append(kind)
            self.take(",")
        self.ends, self.chain = outer, chain
        return tuple(found)

    def path(self, depth: int) -> tuple[tuple[str, ...], tuple[tuple[WrittenType, ...], ...]]:
        names: list[str] = [""] if self.take("::") else []
        given: list[tuple[WrittenType, ...]] = [()] if names else []
        while True:
            names.append(self.name())
            given.append(self.types(">", depth + 1) if self.take("<") else ())
            if not self.take("::"):
                return tuple(names), tuple(given)


@lru_cache(maxsize=32_768)
def type_of(text: str) -> WrittenType:
    """Parses a type."""
    return _Text(text, chain=False).type(0) if text else UNIT


@lru_cache(maxsize=32_768)
def chain_of(text: str) -> tuple[WrittenType, tuple[ChainStep, ...]]:
    """Parses a chain: its start, and its steps."""
    reading = _Text(text, chain=True)
    root = reading.single(0)
    steps: list[ChainStep] = []
    while reading.at < len(text):
        step = _step(reading)
        if step is None:
            return UNKNOWN, ()
        steps.append(step)
    return root, tuple(steps)


def _step(reading: _Text) -> ChainStep | None:
    if reading.take("."):
        name = reading.name()
        return ChainStep(".", name, reading.types(">", 0) if reading.take("<") else ())
    if reading.take("("):
        return ChainStep("()", inner=_up_to_end(reading))
    if reading.take("{"):
        made = reading.single(0) if not reading.ahead("}") else None
        reading.take("}")
        return ChainStep("{}", given=(made,) if made is not None else ())
    for kind in ("[]", "?", "!"):
        if reading.take(kind):
            return ChainStep(kind)
    if reading.take("|"):
        first, second = reading.name().partition(",")[0], ""
        if reading.take(","):
            second = reading.name()
        if first.isdigit() and second.isdigit():
            return ChainStep("|", first=int(first), second=int(second))
    return None


def _up_to_end(reading: _Text) -> str:
    """The text up to the closing parenthesis."""
    start, open_ = reading.at, 1
    while reading.at < len(reading.text):
        open_ += {"(": 1, ")": -1}.get(reading.text[reading.at], 0)
        reading.at += 1
        if open_ == 0:
            return reading.text[start : reading.at - 1]
    return reading.text[start:]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PRELUDE: Final = _words("""
    Option Some None Result Ok Err Vec String Box ToString ToOwned Clone Copy Send Sync Sized Drop Fn FnMut FnOnce
    AsRef AsMut Into From Default Iterator Extend IntoIterator DoubleEndedIterator ExactSizeIterator Eq PartialEq Ord
    PartialOrd TryFrom TryInto FromIterator Unpin drop bool char str u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize
    f32 f64 Debug Hash Future IntoFuture size_of size_of_val align_of align_of_val""")
MACROS: Final = _words("""
    assert assert_eq assert_ne debug_assert debug_assert_eq debug_assert_ne dbg eprint eprintln format format_args
    matches panic print println thread_local todo unimplemented unreachable vec write writeln""")
# What is looked through: their methods are those of what they hold.
WRAPPERS: Final = _words("""
    Box Rc Arc Ref RefMut MutexGuard RwLockReadGuard RwLockWriteGuard Cow Pin ManuallyDrop Lazy LazyLock LazyCell
    CachePadded AssertUnwindSafe""")
# Methods of traits that are derived, or implemented for everything: on a type of the project they mean nothing in it.
DERIVED: Final = _words("""
    clone clone_from eq ne cmp partial_cmp hash fmt to_string to_owned into try_into from default borrow borrow_mut
    as_ref as_mut type_id lt le gt ge max min clamp source description""")
# What gives back something of the same type, whatever it is called on.
SAME: Final = _words("clone to_owned by_ref borrow as_ref as_mut borrow_mut deref deref_mut await")


def _rules(text: str) -> dict[str, str]:
    rules: dict[str, str] = {}
    for line in text.strip().splitlines():
        names, _, rule = line.partition(" -> ")
        rules.update(dict.fromkeys(names.split(), rule.strip()))
    return rules


_HOLDS: Final = """
as_ref as_mut as_deref as_deref_mut cloned copied or or_else filter take replace clone inspect -> self
map_err inspect_err -> self
unwrap expect unwrap_or unwrap_or_default unwrap_or_else unwrap_unchecked insert get_or_insert_with get_or_insert -> 0
err -> Option(1)
unwrap_err expect_err -> 1
iter iter_mut into_iter -> Iterator(0)
and_then map_or map_or_else -> inner
flatten -> 0
"""
_ITERATOR: Final = """
next last nth max min max_by max_by_key min_by min_by_key find peek peek_mut reduce next_back rfind next_if -> Option(0)
filter rev skip take skip_while take_while step_by chain peekable fuse inspect cycle by_ref cloned copied -> self
into_iter iter map_while_some into_par_iter par_iter -> self
enumerate -> Iterator((usize,0))
zip -> Iterator((0,?))
map -> Iterator(inner)
filter_map flat_map map_while find_map scan -> Iterator(inner0)
flatten -> Iterator(00)
collect -> Vec(0)
partition -> (Vec(0),Vec(0))
"""
_LIST: Final = """
iter iter_mut into_iter drain into_par_iter par_iter -> Iterator(0)
first last get get_mut pop pop_front pop_back front back front_mut back_mut last_mut first_mut peek -> Option(0)
remove swap_remove -> 0
as_slice as_mut_slice to_vec clone split_off as_ref as_mut into_vec into_boxed_slice to_owned -> self
chunks windows split chunks_exact -> Iterator(self)
split_first split_last -> Option((0,self))
split_at split_at_mut -> (self,self)
"""
_MAP: Final = """
get get_mut remove insert -> Option(1)
get_key_value remove_entry first_key_value last_key_value pop_first pop_last -> Option((0,1))
values values_mut into_values -> Iterator(1)
keys into_keys -> Iterator(0)
iter iter_mut into_iter drain range -> Iterator((0,1))
entry -> Entry(0,1)
"""
RULES: Final[dict[str, dict[str, str]]] = {
    "Option": _rules(_HOLDS + "map -> Option(inner)\nok_or ok_or_else -> Result(0)\nzip -> Option((0,?))"),
    "Result": _rules(_HOLDS + "map -> Result(inner,1)\nok -> Option(0)"),
    "Iterator": _rules(_ITERATOR),
    "Entry": _rules("or_insert or_insert_with or_default or_insert_with_key -> 1\nand_modify -> self"),
    "Mutex": _rules("lock try_lock -> Result(MutexGuard(0))\nget_mut into_inner -> Result(0)"),
    "RwLock": _rules("read write try_read try_write -> Result(MutexGuard(0))\nget_mut into_inner -> Result(0)"),
    "RefCell": _rules("borrow borrow_mut -> Ref(0)\nget_mut into_inner replace take -> 0"),
    "Cell": _rules("get take replace into_inner -> 0"),
    "OnceCell": _rules("get get_mut into_inner take -> Option(0)\nget_or_init -> 0"),
    "OnceLock": _rules("get get_mut into_inner take -> Option(0)\nget_or_init -> 0"),
    "LocalKey": _rules("with -> inner"),
    "Future": _rules("await -> 0"),
    **dict.fromkeys(("Vec", "[]", "VecDeque", "SmallVec", "ArrayVec"), _rules(_LIST)),
    **dict.fromkeys(("HashSet", "BTreeSet", "BinaryHeap", "IndexSet"), _rules(_LIST)),
    **dict.fromkeys(("HashMap", "BTreeMap", "IndexMap", "FnvHashMap"), _rules(_MAP)),
}
ITERATORS: Final = _words(
    "Iterator IntoIterator DoubleEndedIterator ExactSizeIterator Peekable Rev Enumerate IntoIter Iter IterMut"
)
MAPS: Final = frozenset({"HashMap", "BTreeMap", "IndexMap", "FnvHashMap"})
HOLDERS: Final = frozenset({"Option", "Result"})
# Closures: what the first parameter is, where it is not what the thing holds first.
_ERROR_GIVEN: Final = frozenset({"map_err", "unwrap_or_else", "or_else", "inspect_err"})
# Functions by their last two names: what they give back.
MADE: Final[dict[str, str]] = {
    "Some": "Option(inner)",
    "Ok": "Result(inner)",
    "Err": "Result(?,inner)",
    "Box::new": "inner",
    "Box::pin": "inner",
    "Pin::new": "inner",
    "Rc::new": "inner",
    "Arc::new": "inner",
    "Rc::clone": "inner",
    "Arc::clone": "inner",
    "Arc::from": "inner",
    "Cow::Borrowed": "inner",
    "Cow::Owned": "inner",
    "RefCell::new": "RefCell(inner)",
    "Cell::new": "Cell(inner)",
    "Mutex::new": "Mutex(inner)",
    "RwLock::new": "RwLock(inner)",
    "mem::take": "inner",
    "mem::replace": "inner",
}


def closure_rule(head: str, method: str, parameter: int) -> str:
    """The rule for a parameter of a closure that is passed to a method; empty if unknown."""
    if method in ("fold", "try_fold", "scan") and head == "Iterator":
        return "0" if parameter == 1 else ""
    if head == "Result" and method in _ERROR_GIVEN:
        return "1" if parameter == 0 else ""
    if head == "Entry":
        return "1" if method == "and_modify" else ""
    if head in MAPS:
        return str(parameter) if method in ("retain", "for_each") else ""
    if head in ("Option", "Result") and method in ("ok_or_else", "unwrap_or_else", "get_or_insert_with"):
        return ""
    two = method.endswith("_by") and "key" not in method
    return "0" if head in RULES and (parameter == 0 or two or method == "reduce") else ""
