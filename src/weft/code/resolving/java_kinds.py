"""What names can stand for in Java, and what is known of the language itself without any import."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from weft.code.facts import FileFacts
from weft.code.resolving.java_project import Found

PRIMITIVES: Final = frozenset(["boolean", "byte", "char", "double", "float", "int", "long", "short", "void"])
# What every object has, and every enum and record: whoever has no other by that name means this.
_OBJECT_TEXT = """
clone compareTo equals finalize getClass getDeclaringClass hashCode name notify notifyAll ordinal toString valueOf
values wait
"""
OBJECT: Final = frozenset(_OBJECT_TEXT.split())
_STEP: Final = re.compile(r"\.?([^.\[\](){}]+(?:\([_,]*\))?)|(\[\])")


class Typed(NamedTuple):
    """A value of a type, as it is written inside a class of a file; `given` are the arguments of the type."""

    facts: FileFacts
    place: int
    text: str
    given: str = ""

    @property
    def arguments(self) -> list[str]:
        """The arguments of the type, one by one."""
        found, depth = [""], 0
        for each in self.given:
            depth += (each == "<") - (each == ">")
            if each == "," and not depth:
                found.append("")
            else:
                found[-1] += each
        return found


def typed(facts: FileFacts, place: int, text: str) -> Typed:
    """A value of a type that may be written with arguments."""
    bare, _, given = text.partition("<")
    return Typed(facts, place, bare, given[:-1])


class Instance(NamedTuple):
    """A value of a class of the project."""

    found: Found


class ClassItself(NamedTuple):
    """A class, not a value of it."""

    found: Found


class Above(NamedTuple):
    """`super`: what a class inherits."""

    found: Found


class Package(NamedTuple):
    """The beginning of a name in full."""

    name: str


class Nowhere(NamedTuple):
    """Nothing of the project, or nothing that can be told."""

    outside: bool


OUTSIDE: Final = Nowhere(outside=True)
UNKNOWN: Final = Nowhere(outside=False)
Value = Typed | Instance | ClassItself | Above | Package | Nowhere
Methods = list[Found] | Nowhere


@lru_cache(maxsize=4096)
def steps_of(chain: str) -> tuple[str, ...]:
    """The steps of a chain: names, what is called (`name(_)`), `[]`."""
    return tuple(name or end for name, end in _STEP.findall(chain))


_LANG_TEXT = """
AbstractMethodError Appendable ArithmeticException ArrayIndexOutOfBoundsException ArrayStoreException AssertionError
AutoCloseable Boolean Byte CharSequence Character Class ClassCastException ClassLoader ClassNotFoundException
CloneNotSupportedException Cloneable Comparable Deprecated Double Enum Error Exception Float FunctionalInterface
IllegalAccessException IllegalArgumentException IllegalStateException IndexOutOfBoundsException InheritableThreadLocal
InstantiationException Integer InternalError InterruptedException Iterable LinkageError Long Math
NegativeArraySizeException NoClassDefFoundError NoSuchFieldException NoSuchMethodException NullPointerException Number
NumberFormatException Object OutOfMemoryError Override Package Process ProcessBuilder ProcessHandle Readable Record
ReflectiveOperationException Runnable Runtime RuntimeException SafeVarargs SecurityException SecurityManager Short
StackOverflowError StackTraceElement StackWalker StrictMath String StringBuffer StringBuilder
StringIndexOutOfBoundsException SuppressWarnings System Thread ThreadGroup ThreadLocal Throwable
TypeNotPresentException UnsupportedOperationException VirtualMachineError Void
"""
LANG: Final = frozenset(_LANG_TEXT.split())
