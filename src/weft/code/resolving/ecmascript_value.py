"""JavaScript and TypeScript: what an expression may turn out to be."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from weft.code.facts import FILE

MAX_NESTED: Final = 5  # types inside types that are kept apart

Space = Literal["value", "type"]  # one name may be both


class Value(NamedTuple):
    """What an expression is, as far as it is known.

    `kind`: `def` (a definition itself; what it is called on, if that is known, in `args`), `of` (an instance of one),
    `object` (an object with functions, by its key), `space` (a namespace), `alias` and `shape` (an object's type, by
    name and as written), `named` (a type by another name), `module` (a file's exports), `function` (of a written
    type), `method` (of a built-in type), one of the built-in types (list, map, promise, record, tuple), `union`,
    `outside`.
    """

    kind: str
    path: str = ""
    place: int = FILE
    name: str = ""
    args: tuple[Value | None, ...] = ()
    nested: int = 0

    def having(self, *args: Value | None) -> Value:
        """The same with arguments; those that are nested too deep are not told."""
        kept = tuple(each if each is not None and each.nested < MAX_NESTED else None for each in args)
        return self._replace(args=kept, nested=1 + max((each.nested for each in kept if each is not None), default=0))

    @property
    def first(self) -> Value | None:
        """Its first argument."""
        return self.args[0] if self.args else None


OUTSIDE: Final = Value("outside")
