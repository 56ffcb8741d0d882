"""Values of Java expressions; text methods and collections of the standard library."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from weft.code.parse.facts import FileFacts
from weft.code.resolve.declared import OUTSIDE, Located, Nowhere
from weft.code.resolve.texts import split

PRIMITIVES: Final = frozenset(["boolean", "byte", "char", "double", "float", "int", "long", "short", "void"])
# What every object has, and every enum and record: whoever has no other by that name means this.
_OBJECT_TEXT = """
clone compareTo equals finalize getClass getDeclaringClass hashCode name notify notifyAll ordinal toString valueOf
values wait
"""
OBJECT: Final = frozenset(_OBJECT_TEXT.split())
_STEP: Final = re.compile(r"\.?([^.\[\](){}]+(?:\([_,]*\))?)|(\[\])")


class JavaTyped(NamedTuple):
    """A value of a type, as written inside a class of a file; `given` are the type's arguments."""

    facts: FileFacts
    place: int
    text: str
    given: str = ""

    @property
    def arguments(self) -> tuple[str, ...]:
        return split(self.given)


def typed(facts: FileFacts, place: int, text: str) -> JavaTyped:
    """A value of a type that may be written with arguments."""
    bare, _, given = text.partition("<")
    return JavaTyped(facts, place, bare, given[:-1])


class ClassValue(NamedTuple):
    """A value of a class of the project."""

    found: Located


class ClassItself(NamedTuple):
    """A class, not a value of it."""

    found: Located


class Above(NamedTuple):
    """`super`: what a class inherits."""

    found: Located


class PackageName(NamedTuple):
    """The beginning of a fully qualified name."""

    name: str


Value = JavaTyped | ClassValue | ClassItself | Above | PackageName | Nowhere
Methods = list[Located] | Nowhere


@lru_cache(maxsize=4096)
def steps_of(chain: str) -> tuple[str, ...]:
    """The steps of a chain: names, calls (`name(_)`), `[]`."""
    return tuple(name or end for name, end in _STEP.findall(chain))


_LANG_TEXT = """
AbstractMethodError Appendable ArithmeticException ArrayIndexOutOfBoundsException ArrayStoreException AssertionError
AutoCloseable Boolean Byte CharSequence Character Class ClassCastException ClassLoader ClassNotLocatedException
CloneNotSupportedException Cloneable Comparable Deprecated Double Enum Error Exception Float FunctionalInterface
IllegalAccessException IllegalArgumentException IllegalStateException IndexOutOfBoundsException InheritableThreadLocal
InstantiationException Integer InternalError InterruptedException Iterable LinkageError Long Math
NegativeArraySizeException NoClassDefLocatedError NoSuchFieldException NoSuchMethodException NullPointerException Number
NumberFormatException Object OutOfMemoryError Override Package Process ProcessBuilder ProcessHandle Readable Record
ReflectiveOperationException Runnable Runtime RuntimeException SafeVarargs SecurityException SecurityManager Short
StackOverflowError StackTraceElement StackWalker StrictMath String StringBuffer StringBuilder
StringIndexOutOfBoundsException SuppressWarnings System Thread ThreadGroup ThreadLocal Throwable
TypeNotPresentException UnsupportedOperationException VirtualMachineError Void
"""
LANG: Final = frozenset(_LANG_TEXT.split())


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TEXTS: Final = frozenset({"CharSequence", "String", "StringBuffer", "StringBuilder"})
_OF_OBJECTS: Final = {
    "equals": "boolean",
    "getClass": "java.lang.Class",
    "hashCode": "int",
    "toString": "java.lang.String",
}
_OF_TEXTS: Final = {
    "charAt": "char",
    "indexOf": "int",
    "isEmpty": "boolean",
    "length": "int",
    "substring": "java.lang.String",
}
_OF_STRINGS: Final = {"split": "[]java.lang.String", "toCharArray": "[]char", "toLowerCase": "java.lang.String"}

# Classes with one argument that they hold, and those that hold their second by their first.
_HOLDERS: Final = _words("""
    ArrayDeque ArrayList AtomicReference BlockingDeque BlockingQueue Callable Collection CompletableFuture
    ConcurrentLinkedDeque ConcurrentLinkedQueue CopyOnWriteArrayList Deque Enumeration Future HashSet Iterable
    Iterator LinkedBlockingDeque LinkedBlockingQueue LinkedHashSet LinkedList List ListIterator NavigableSet
    Optional PriorityBlockingQueue PriorityQueue Queue Reference Set SoftReference SortedSet Stack Stream
    Supplier ThreadLocal TreeSet Vector WeakReference
""")
_MAPPINGS: Final = _words("""
    ConcurrentHashMap ConcurrentMap ConcurrentNavigableMap ConcurrentSkipListMap EnumMap HashMap Hashtable
    IdentityHashMap LinkedHashMap Map NavigableMap SortedMap TreeMap WeakHashMap
""")
_TAKING_OUT: Final = _words("""
    element elementAt first firstElement get getAndSet getFirst getLast getNow join last lastElement next
    nextElement orElse orElseGet orElseThrow peek peekFirst peekLast poll pollFirst pollLast pop previous
    removeFirst removeLast set take takeFirst takeLast
""")
_TAKING_BY_KEY: Final = frozenset({"get", "getOrDefault", "computeIfAbsent", "put", "putIfAbsent", "remove", "replace"})
# What is made of the same things: the class; empty for the same.
_MADE: Final = {
    **dict.fromkeys(("distinct", "limit", "parallel", "sequential", "skip", "sorted"), "Stream"),
    **dict.fromkeys(("dropWhile", "parallelStream", "stream", "takeWhile"), "Stream"),
    **dict.fromkeys(("findAny", "findFirst", "max", "min"), "Optional"),
    **dict.fromkeys(("descendingIterator", "iterator"), "Iterator"),
    **dict.fromkeys(("subList", "toList"), "List"),
    "filter": "",
    "listIterator": "ListIterator",
}
# What a function gets that is passed to them: one of what is held.
_PASSING_ON: Final = _words("""
    allMatch anyMatch dropWhile filter flatMap forEach forEachOrdered forEachRemaining ifPresent ifPresentOrElse
    map mapToDouble mapToInt mapToLong noneMatch peek removeIf takeWhile thenAccept thenApply thenCompose
""")


def returned(on: Value, name: str) -> Value:
    """The result of an external method that is known: of Object, String and collections."""
    facts, place = (on.facts, on.place) if isinstance(on, JavaTyped) else (None, -1)
    own = on.text.rpartition(".")[2] if isinstance(on, JavaTyped) else ""
    text = _OF_OBJECTS.get(name, "")
    if own in _TEXTS:
        text = text or _OF_TEXTS.get(name, "")
    if own == "String":
        text = text or _OF_STRINGS.get(name, "")
    if isinstance(on, JavaTyped) and on.given:
        text = text or _taken_out(on, own, name)
    if isinstance(on, ClassValue):
        facts, place = on.found.facts, on.found.place
    return typed(facts, place, text) if text and facts is not None else OUTSIDE


def passed(on: Value, name: str) -> Value:
    """The parameter of a function that is passed to an external method, or a loop variable."""
    if isinstance(on, JavaTyped) and on.given and name in _PASSING_ON and on.text.rpartition(".")[2] in _HOLDERS:
        return typed(on.facts, on.place, on.arguments[0])
    return OUTSIDE


def _taken_out(on: JavaTyped, own: str, name: str) -> str:
    """The element type that a collection's method returns; empty if unknown."""
    first, last = on.arguments[0], on.arguments[-1]
    if own == "Entry":
        return {"getKey": first, "getValue": last, "setValue": last}.get(name, "")
    if own in _MAPPINGS:
        entry = f"Map.Entry<{on.given}>"
        views = {"entrySet": f"Set<{entry}>", "keySet": f"Set<{first}>", "values": f"Collection<{last}>"}
        ends = dict.fromkeys(("firstEntry", "floorEntry", "ceilingEntry", "lastEntry"), entry)
        return last if name in _TAKING_BY_KEY else {**views, **ends}.get(name, "")
    if own not in _HOLDERS:
        return ""
    if own == "Stream" and name == "peek":
        return f"Stream<{on.given}>"
    if name in _TAKING_OUT:
        return first
    made = _MADE.get(name)
    return f"{made or own}<{on.given}>" if made is not None else ""
