"""Python that is broken, circular, endless or sly: resolving ends, stays quick, and says nothing that is not so."""

from __future__ import annotations

import time
from pathlib import Path
from textwrap import dedent

import pytest

from weft.code.parse.parse import MAX_SOURCE_BYTES
from weft.code.resolve import FileLinks
from weft.code.resolve.tree import Tree


def project(root: Path, files: dict[str, str]) -> Tree:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(dedent(text), encoding="utf-8")
    return Tree(root)


def calls(links: FileLinks) -> set[tuple[str, str]]:
    return {(link.key, f"{link.target.path}::{link.target.key}") for link in links.links if link.relation == "CALLS"}


ROWS = """
from __future__ import annotations
import contextlib, copy, typing as t
from typing import TypeVar, Union, cast

class Row:
    def run(self): return self
    def __call__(self): ...
    def __enter__(self): return self
    @classmethod
    def make(klass): return klass()
    concat = staticmethod(len)

class Table:
    rows: list[Row]
    by_name: dict[str, Row] = {}
    kinds = {"row": Row}
    def __init__(self, row: Row | None = None, *more: Row, kind: type[Row] = Row):
        self.row = row or Row()
        self.kind = kind
        self.more = more
    def __iter__(self) -> t.Iterator[Row]: ...
    def __getitem__(self, at): return self.rows[at]
    @property
    def first(self): return self.rows[0]
    @t.overload
    def get(self, at: int) -> Row: ...
    @t.overload
    def get(self, at: str) -> int: ...
    def get(self, at): return Row()
    @contextlib.contextmanager
    def held(self) -> t.Iterator[Row]: yield Row()

T = TypeVar("T", bound="Row")
Either = Union[int, "Row"]
def pair(): return 1, Row()
def each():
    for row in Table(): yield row
"""


@pytest.mark.parametrize(
    "body",
    [
        "def go(t: Table): t.row.run()",
        "def go(t: 'Table'): t.first.run()",
        "def go(t: Table): t.get(1).run()",
        "def go(t: Table): t.kind().run()",
        "def go(t: Table): t.kinds['row']().run()",
        "def go(t: Table): t.rows[1:][0].run()",
        "def go(t: Table): t.rows.pop().run()",
        "def go(t: Table): t[0].run()",
        "def go(t: Table):\n for r in t: r.run()",
        "def go(t: Table):\n for r in reversed(t.rows): r.run()",
        "def go(t: Table):\n for at, (n, r) in enumerate(t.by_name.items()): r.run()",
        "def go(t: Table):\n for r in t.by_name.values(): r.run()",
        "def go(t: Table):\n for a, r in zip([1], t.more): r.run()",
        "def go(t: Table):\n with t.held() as r: r.run()",
        "def go():\n with Row() as r: r.run()",
        "def go():\n for r in each(): r.run()",
        "def go():\n n, r = pair()\n r.run()",
        "def go():\n r = cast('Row', 1)\n r.run()",
        "def go():\n r = copy.copy(Row())\n r.run()",
        "def go():\n r = next(each())\n r.run()",
        "def go():\n if (r := Row()): r.run()",
        "def go():\n rows = [Row() for _ in 'ab']\n rows[0].run()",
        "def go():\n run = Row().run\n run()",
        "def go():\n for f in (Row().run, len): f()",
        "def go(r):\n if isinstance(r, Row): r.run()",
        "def go(r: Either): r.run()",
        "def go(r: T): r.run()",
        "def go(*rows: Row):\n for r in rows: r.run()",
        "def go(make: t.Callable[[int], Row]): make(1).run()",
        "async def go(r: t.Awaitable[Row]): (await r).run()",
        "def go(): Row.make().run()",
        "def go(r: Row): type(r)().run()",
        "def go(r: Row):\n def inner(x: Row): x.run()\n inner(r)",
        "def go(r=Row()): r.run()",
        "def go(r: int, s: Row | int = 1):\n q = s\n q.run().run().run()",
        "def go(r: object):\n if isinstance(r, Row): r.run()",
        "def go(t: Table):\n if isinstance(t, Row): t.run()",
        "def go(r):\n if isinstance(r, Row): r.run()\n r = r.field[0]",
        "def go(r):\n match r:\n  case Row(): r.run()",
        "def go(x):\n match x:\n  case [1, Row() as r]: r.run()",
        "def go(r: Row | None): (r or Row()).run()",
        "def go(t: Table): (t.row if t else Row()).run()",
        "def go(make=None):\n r = (make or Row)()\n r.run()",
        "def go():\n todo = set([Row()])\n todo.pop().run()",
    ],
)
def test_what_the_source_shows_is_followed(tmp_path: Path, body: str) -> None:
    tree = project(tmp_path, {"rows.py": ROWS + body + "\n"})
    assert ("go", "rows.py::Row::run") in calls(tree.links("rows.py"))


@pytest.mark.parametrize(
    "body",
    [
        "def go(x):\n match x:\n  case run: run()",
        "def go(x):\n match x:\n  case [run, *_]: run()",
        "def go(x):\n match x:\n  case {'a': run}: run()",
        "def go(x):\n match x:\n  case Row(field=run): run()",
        "def go():\n for run in (): run()",
        "def go(x):\n [run, y] = x\n run()",
        "class A:\n def run(self): ...\n def go(self):\n  class B:\n   def go(self): self.run()",
        "class A:\n def run(self): ...\n def go(self):\n  def inner(self): self.run()\n  inner(1)",
        "class B(Row):\n def go(self):\n  class C(dict):\n   def run(self): super().run()",
        "class A:\n @staticmethod\n def go(self): self.run()\n def run(self): ...",
        "class A:\n def run(self): ...\nclass B(A):\n def run(self): ...\n def go(self): super(A, self).run()",
        "def go(x):\n if isinstance(x, Row): return\n x.run()",
    ],
)
def test_what_hides_a_name_is_not_taken_for_it(tmp_path: Path, body: str) -> None:
    tree = project(tmp_path, {"rows.py": f"class Row:\n def run(self): ...\ndef run(): ...\n{body}\n"})
    assert not {target for _, target in calls(tree.links("rows.py")) if target.endswith("run")}


def test_what_a_method_of_a_metaclass_gets_is_a_class_not_the_metaclass(tmp_path: Path) -> None:
    tree = project(
        tmp_path, {"a.py": "class Meta(type):\n def make(cls): return cls()\n @classmethod\n def own(cls): cls()\n"}
    )
    assert calls(tree.links("a.py")) == {("Meta::own", "a.py::Meta")}


def test_of_several_projects_in_one_the_nearest_is_meant(tmp_path: Path) -> None:
    files = {}
    for name in ("one", "two"):
        files |= {
            f"{name}/pyproject.toml": "",
            f"{name}/src/shared/__init__.py": "",
            f"{name}/src/shared/rows.py": "def row(): ...\n",
            f"{name}/tests/test_rows.py": "from shared.rows import row\ndef test_row(): row()\n",
        }
    tree = project(tmp_path, files)
    for name in ("one", "two"):
        assert calls(tree.links(f"{name}/tests/test_rows.py")) == {("test_row", f"{name}/src/shared/rows.py::row")}


def test_a_file_with_errors_gives_what_can_be_made_out(tmp_path: Path) -> None:
    tree = project(
        tmp_path,
        {
            "a.py": """
                from b import helper
                def good():
                    helper()
                def bad(:
                    helper(
                class Late:
                    def method(self):
                        self.method()
                """,
            "b.py": "def helper(): ...\n",
        },
    )
    assert ("good", "b.py::helper") in calls(tree.links("a.py"))


def test_circular_imports_and_names_passed_round_in_circles_end(tmp_path: Path) -> None:
    tree = project(
        tmp_path,
        {
            "a.py": "from b import thing, other\nfrom c import *\nthing()\nother()\nlost()\n",
            "b.py": "from c import thing\nfrom c import *\nfrom a import other\n",
            "c.py": "from a import thing\nfrom b import *\nfrom a import *\nfrom d import other\n",
            "d.py": "def other(): ...\n",
        },
    )
    links = tree.links("a.py")
    assert calls(links) == {("", "d.py::other")}
    assert {chain for chain, _ in links.unresolved} >= {"thing", "lost"}


@pytest.mark.parametrize(
    "text",
    [
        "class A(B): ...\nclass B(A):\n    def run(self): self.walk()\n",
        "class A(A):\n    def run(self): super().run(); self.walk()\n",
        "x = y\ny = x\ndef f():\n    a = b\n    b = a\n    a.run(); x.run()\n",
        "def f():\n    return g()\ndef g():\n    return f()\nf().run()\n",
        "def f():\n    rows = [rows]\n    rows = rows[0]\n    rows.run()\n",
        "def f(a: 'a', b: \"'b'\"):\n    a.run(); b.run()\n",
        "X = list['X']\ndef f(x: X):\n    for y in x:\n        y.run()\n",
        "class A:\n  a = a\n  def run(self):\n    self.a = self.a.b\n    self.b = self.b.a\n    self.a.run()",
    ],
)
def test_what_is_defined_by_itself_leads_nowhere(tmp_path: Path, text: str) -> None:
    links = project(tmp_path, {"a.py": text}).links("a.py")
    assert not [target for _, target in calls(links) if target.endswith(("run", "walk"))]


def test_inheritance_in_a_diamond_is_looked_up_as_python_does(tmp_path: Path) -> None:
    tree = project(
        tmp_path,
        {
            "a.py": """
                class Root:
                    def run(self): ...
                class Left(Root): ...
                class Right(Root):
                    def run(self):
                        super().run()
                class Leaf(Left, Right):
                    def go(self):
                        self.run()
                """
        },
    )
    assert calls(tree.links("a.py")) == {("Leaf::go", "a.py::Right::run"), ("Right::run", "a.py::Root::run")}


def test_no_method_is_found_by_its_bare_name(tmp_path: Path) -> None:
    tree = project(
        tmp_path,
        {
            "a.py": "class Only:\n    def very_special(self): ...\n",
            "b.py": "import a\ndef f(x, y=None):\n  x.very_special()\n  y.very_special()\n  open('x').very_special()\n",
        },
    )
    links = tree.links("b.py")
    assert not calls(links)
    assert [chain for chain, _ in links.unresolved] == ["x.very_special", "y.very_special"]
    assert links.outside == 2


def test_a_deep_expression_and_a_deep_nest_are_read(tmp_path: Path) -> None:
    tree = project(
        tmp_path,
        {
            "deep.py": "def f(): ...\nf" + "()" * 4_000 + "\nf(" + "(" * 2_000 + ")" * 2_000 + ")\nf()\n",
            "nest.py": "\n".join("    " * at + f"def f{at}(a{at}=f{at}):" for at in range(90))
            + "\n"
            + "    " * 90
            + "f0()\n",
            "unpack.py": "(" * 500
            + "a"
            + ",)" * 500
            + " = b\na()\nfor "
            + "(" * 300
            + "x"
            + ",)" * 300
            + " in y: x()\n",
            "bases.py": "\n".join(f"class C{at + 1}(C{at}): ..." for at in range(400))
            + "\nclass C0:\n    def m(self): ...\nC400().m()\n",
            "names.py": "\n".join(f"n{at + 1} = n{at}" for at in range(400)) + "\nn400()\n",
        },
    )
    links = {path: tree.links(path) for path in tree.paths}
    assert {path: calls(each) for path, each in links.items()} == {
        "deep.py": {("", "deep.py::f")},
        "nest.py": {("f0", "nest.py::f0")},
        "unpack.py": set(),
        "bases.py": {("", "bases.py::C400")},
        "names.py": set(),
    }
    assert [chain for chain, _ in links["unpack.py"].unresolved] == ["a", "x"]
    assert [chain for chain, _ in links["bases.py"].unresolved] == ["C400().m"]
    assert [chain for chain, _ in links["names.py"].unresolved] == ["n400"]


def test_a_large_file_takes_seconds(tmp_path: Path) -> None:
    one = "def f{0}(a, b=None):\n    c = f{1}(a)\n    d = c.e\n    for g in d:\n        g.h(f{1}(b))\n    return c\n\n"
    text = ""
    for at in range(100_000):
        more = one.format(at, at // 2)
        if len(text) + len(more) > MAX_SOURCE_BYTES // 4:
            break
        text += more
    began = time.process_time()
    tree = project(tmp_path, {"large.py": text})
    found = calls(tree.links("large.py"))
    assert time.process_time() - began < 15
    assert ("f100", "large.py::f50") in found


def test_modules_are_found_from_every_root(tmp_path: Path) -> None:
    tree = project(
        tmp_path,
        {
            "one/pyproject.toml": "[project]\nname = 'one'\n",
            "one/src/first/__init__.py": "def start(): ...\n",
            "two/setup.py": "",
            "two/second/deep/part.py": "def go(): ...\n",
            "two/second/__init__.py": "",
            "two/tests/test_all.py": """
                import json, first, second.deep.part
                from second.deep import part as p
                def test_it():
                    first.start(); second.deep.part.go(); p.go(); json.loads('1')
                """,
            "two/json.py": "def loads(text): ...\n",
        },
    )
    links = tree.links("two/tests/test_all.py")
    assert calls(links) == {
        ("test_it", "one/src/first/__init__.py::start"),
        ("test_it", "two/second/deep/part.py::go"),
    }
    assert {link.target.external for link in links.links} - {""} == {"json"}
    assert links.outside == 1


def test_settings_that_are_no_settings_are_passed_over(tmp_path: Path) -> None:
    tree = project(tmp_path, {"pyproject.toml": "[[[", "a.py": "import b.c\nb.c.d()\n", "b/c.py": "def d(): ...\n"})
    assert calls(tree.links("a.py")) == {("", "b/c.py::d")}


def test_a_relative_import_that_leaves_the_workspace_is_unresolved(tmp_path: Path) -> None:
    links = project(tmp_path, {"p/a.py": "from .....far import away\naway()\n"}).links("p/a.py")
    assert not links.links
    assert {chain for chain, _ in links.unresolved} == {".....far.away", "away"}
