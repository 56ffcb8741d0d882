"""JavaScript and TypeScript: what a file imports and exports, as ES modules and as CommonJS.

What is exported by another name, or is no definition, is a binding of the file: `exports.<name>` (`exports.default`
for the default, `exports.=` for all of `module.exports`). An import of all of `module.exports` has the name `=`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from weft.code.facts import FILE, Binding, Imported
from weft.code.readers import OwnerAt
from weft.code.readers.ecmascript_scopes import UNKNOWN, Scope, chain_of, module_of, string_of
from weft.code.readers.ecmascript_types import text_of

if TYPE_CHECKING:
    from tree_sitter import Node

WHOLE: Final = "="
DEFAULT: Final = "default"


class Modules:
    """Gathers imports and exports, node by node."""

    def __init__(self, owner_at: OwnerAt) -> None:
        self.imports: list[Imported] = []
        self.exports: list[Binding] = []
        self._owner_at = owner_at
        self._taken: set[int] = set()  # calls of `require` that a variable of the file is bound to

    def import_statement(self, node: Node) -> None:
        """`import … from "m"`, `import "m"`, `import x = require("m")`."""
        line = _line(node)
        clause = next((each for each in node.named_children if each.type.startswith("import_")), None)
        module = string_of(node.child_by_field_name("source"))
        if clause is not None and clause.type == "import_require_clause":
            module, required = string_of(clause.child_by_field_name("source")), clause.named_child(0)
            if module and required is not None:
                self.imports.append(Imported(module, WHOLE, text_of(required), line))
            return
        if not module:
            return
        if clause is None:
            self.imports.append(Imported(module, "", "", line))
            return
        for each in clause.named_children:
            if each.type == "identifier":
                self.imports.append(Imported(module, DEFAULT, text_of(each), line))
            elif each.type == "namespace_import" and each.named_child_count:
                self.imports.append(Imported(module, "", text_of(each.named_children[-1]), line))
            elif each.type == "named_imports":
                for name, alias in _specifiers(each, "import_specifier"):
                    self.imports.append(Imported(module, name, alias, line))
                if not each.named_child_count:
                    self.imports.append(Imported(module, "", "", line))

    def import_alias(self, node: Node) -> None:
        """`import Short = Long.Name`."""
        names = node.named_children
        if len(names) == 2:
            chain = "".join(text_of(names[1]).split())
            self.exports.append(Binding(FILE, text_of(names[0]), chain, declared=False, line=_line(node)))

    def export_statement(self, node: Node, scope: Scope) -> None:
        """`export { a as b }`, `export * from "m"`, `export default x`, `export = x`."""
        line, module = _line(node), string_of(node.child_by_field_name("source"))
        clause = next((each for each in node.named_children if each.type == "export_clause"), None)
        if module is not None:
            space = next((each for each in node.named_children if each.type == "namespace_export"), None)
            if clause is not None:
                for name, alias in _specifiers(clause, "export_specifier"):
                    self.imports.append(Imported(module, name, alias, line, exported=True))
            elif space is not None and space.named_child_count:
                alias = text_of(space.named_children[-1])
                self.imports.append(Imported(module, "", alias, line, exported=True))
            else:
                self.imports.append(Imported(module, "*", "", line, exported=True))
            return
        if clause is not None:
            for name, alias in _specifiers(clause, "export_specifier"):
                self._export(alias, name, line)
            return
        kinds = [each.type for each in node.children]
        value, declared = node.child_by_field_name("value"), node.child_by_field_name("declaration")
        if "default" in kinds and value is not None:
            name_of = value.child_by_field_name("name") if value.type in _NAMED else None
            if name_of is not None:
                self._export(DEFAULT, text_of(name_of), line)
            elif value.type not in _NAMED:
                chain = chain_of(value, scope).flat
                if value.type != "object" or chain != UNKNOWN:  # the functions of an object are called after it
                    self._export(DEFAULT, chain, line)
        elif "default" in kinds and declared is not None:
            name_of = declared.child_by_field_name("name")
            if name_of is not None:
                self._export(DEFAULT, text_of(name_of), line)
        elif "=" in kinds and node.named_child_count:
            self._export(WHOLE, chain_of(node.named_children[-1], scope).flat, line)

    def assignment(self, node: Node, scope: Scope) -> None:
        """`module.exports = …`, `exports.name = …`, one after the other in one statement."""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None or left.type != "member_expression":
            return
        target, also = text_of(left), ""
        while right.type == "assignment_expression" and (inner := right.child_by_field_name("right")) is not None:
            other = right.child_by_field_name("left")
            if other is not None and not text_of(other).startswith(("exports", "module.exports")):
                also = chain_of(other, scope).flat
            right = inner
        if target == "module.exports" and also:
            self._export(WHOLE, also, _line(node))
        elif target == "module.exports":
            self._whole(right, scope)
        elif target.startswith(("exports.", "module.exports.")) and right.type not in _NAMED:
            name = target.rpartition("exports.")[2]
            if name.isidentifier():
                chain = chain_of(right, scope).flat
                if chain not in (UNKNOWN, "<undefined>"):
                    self._export(name, chain, _line(node))

    def _whole(self, value: Node, scope: Scope) -> None:
        line = _line(value)
        if value.type in _NAMED:
            name = value.child_by_field_name("name")
            self._export(WHOLE, "exports" if name is None else text_of(name), line)
        elif value.type != "object":
            self._export(WHOLE, chain_of(value, scope).flat, line)
        else:
            for each in value.named_children:
                self._entry(each, scope)

    def _entry(self, entry: Node, scope: Scope) -> None:
        """One entry of the object that is exported."""
        line = _line(entry)
        if entry.type == "shorthand_property_identifier":
            self._export(text_of(entry), chain_of(entry, scope).flat, line)
        elif entry.type == "pair":
            key, value = entry.child_by_field_name("key"), entry.child_by_field_name("value")
            if key is not None and value is not None and value.type not in _FUNCTIONS:
                self._export(string_of(key) or text_of(key), chain_of(value, scope).flat, line)
        elif entry.type == "spread_element" and entry.named_child_count:
            call = entry.named_children[0]
            module = module_of(call) if call.type == "call_expression" else None
            if module is not None:
                self._taken.add(call.start_byte)
                name = module.partition("(")[2][:-1]
                self.imports.append(Imported(name, "*", "", line, exported=True))

    def variable(self, node: Node, scope: Scope) -> None:
        """`const x = require("m")`, `const {x, y: z} = require("m")` at the top of the file."""
        value, pattern = node.child_by_field_name("value"), node.child_by_field_name("name")
        if value is None or pattern is None or scope.kind != "file":
            return
        if pattern.type == "identifier" and _assigns_whole(value):
            self._export(WHOLE, text_of(pattern), _line(node))
        module = module_of(value) if value.type == "call_expression" else None
        if module is None or not module.startswith("require("):
            return
        name, line = module.partition("(")[2][:-1], _line(node)
        if pattern.type == "identifier":
            self.imports.append(Imported(name, WHOLE, text_of(pattern), line))
        elif pattern.type == "object_pattern":
            for each in pattern.named_children:
                self._destructured(name, each, line)
        else:
            return
        self._taken.add(value.start_byte)

    def _destructured(self, module: str, part: Node, line: int) -> None:
        if part.type == "shorthand_property_identifier_pattern":
            self.imports.append(Imported(module, text_of(part), text_of(part), line))
        elif part.type == "pair_pattern":
            key, value = part.child_by_field_name("key"), part.child_by_field_name("value")
            if key is not None and value is not None and value.type == "identifier":
                self.imports.append(Imported(module, text_of(key), text_of(value), line))

    def call(self, node: Node, scope: Scope) -> bool:
        """A call of `import` or `require`; whether it is one."""
        module = module_of(node)
        if module is None:
            return False
        if module.startswith("require(") and scope.find("require") is not None:
            return False
        if node.start_byte not in self._taken:
            name, owner = module.partition("(")[2][:-1], self._owner_at(node.start_byte)
            self.imports.append(Imported(name, "", "", _line(node), owner=owner))
        return True

    def _export(self, name: str, chain: str, line: int) -> None:
        self.exports.append(Binding(FILE, f"exports.{name}", chain, declared=False, line=line))


_FUNCTIONS: Final = frozenset({"arrow_function", "function_expression", "generator_function"})
_NAMED: Final = _FUNCTIONS | {"class"}


def _assigns_whole(value: Node) -> bool:
    """Whether a value is assigned to `module.exports` as well: `const app = exports = module.exports = …`."""
    while value.type in ("assignment_expression", "parenthesized_expression"):
        left = value.child_by_field_name("left")
        if left is not None and left.text == b"module.exports":
            return True
        inner = value.child_by_field_name("right") if left is not None else value.named_child(0)
        if inner is None:
            return False
        value = inner
    return False


def _specifiers(clause: Node, kind: str) -> list[tuple[str, str]]:
    found = []
    for each in clause.named_children:
        name, alias = each.child_by_field_name("name"), each.child_by_field_name("alias")
        if each.type == kind and name is not None:
            written = text_of(name).strip("\"'")
            found.append((written, written if alias is None else text_of(alias).strip("\"'")))
    return found


def _line(node: Node) -> int:
    return node.start_point[0] + 1
