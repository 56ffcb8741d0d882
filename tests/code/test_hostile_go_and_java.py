"""Go and Java that does not compile, goes round in circles or lies about where it is: what can be told is told."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from weft.code.parse.symbols import read_source
from weft.code.resolve.tree import Tree


def tree_of(root: Path, **files: str) -> Tree:
    """A tree of files; in their names, `__` is a slash and `_dot_` a dot."""
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Tree(root)


def calls(tree: Tree, path: str) -> set[tuple[str, str]]:
    return {(e.key, f"{e.target.path}::{e.target.key}") for e in tree.links(path).links if e.relation == "CALLS"}


def relations(tree: Tree, path: str, relation: str) -> set[tuple[str, str]]:
    return {(e.key, e.target.key) for e in tree.links(path).links if e.relation == relation}


def test_go_with_a_syntax_error_keeps_what_parses(tmp_path: Path) -> None:
    text = "package p\n\nfunc whole() { part() }\n\nfunc broken( {\n\tif x := ; {\n}\n\nfunc part() {}\n"
    tree = tree_of(tmp_path, go_dot_mod="module m\n", a_dot_go=text)
    assert ("whole", "a.go::part") in calls(tree, "a.go")
    assert read_source(text, "a.go").broken


def test_java_with_a_syntax_error_keeps_what_parses(tmp_path: Path) -> None:
    text = "class A {\n    void whole() { part(); }\n\n    void broken( { if (; }\n\n    void part() {}\n}\n"
    tree = tree_of(tmp_path, A_dot_java=text)
    assert ("A::whole", "A.java::A::part") in calls(tree, "A.java")
    assert read_source(text, "A.java").broken


@pytest.mark.parametrize("text", ["", "\n", "package p", "// nothing\n", "\ufeffpackage p\n", "package p\nfunc", "}{"])
def test_files_with_next_to_nothing_in_them(tmp_path: Path, text: str) -> None:
    tree = tree_of(tmp_path, a_dot_go=text, A_dot_java=text, b_dot_go="package p\nfunc f() { g() }\nfunc g() {}\n")
    for path in tree.paths:
        tree.links(path)
    assert calls(tree, "b.go") == {("f", "b.go::g")}


def test_go_types_that_embed_and_rename_each_other_in_circles(tmp_path: Path) -> None:
    text = """package p

type A struct{ B }
type B struct{ A }
type C = D
type D = C
type E E
type I interface{ J }
type J interface{ I }

var x = y
var y = x

func f(a A, c C, e E, i I) {
	a.lost()
	c.lost()
	e.lost()
	i.lost()
	x.lost()
	for _, v := range e {
		v.lost()
	}
	z := z.lost()
}
"""
    tree = tree_of(tmp_path, a_dot_go=text)
    links = tree.links("a.go")
    assert not calls(tree, "a.go")
    assert {chain for chain, _ in links.unresolved} >= {"a.lost", "c.lost", "e.lost", "x.lost"}


def test_java_classes_that_extend_each_other_in_circles(tmp_path: Path) -> None:
    text = """class A extends B {
    A self = self;
    var held = held.lost();

    void f() {
        lost();
        self.f();
        new C.D.C().lost();
    }
}

class B extends A {
    class C extends C {}
}
"""
    tree = tree_of(tmp_path, A_dot_java=text)
    assert relations(tree, "A.java", "EXTENDS") >= {("A", "B"), ("B", "A")}
    assert calls(tree, "A.java") == {("A::f", "A.java::A::f")}


def test_go_modules_and_packages_that_import_each_other(tmp_path: Path) -> None:
    tree = tree_of(
        tmp_path,
        go_dot_mod="module m\n",
        a__a_dot_go='package a\n\nimport "m/b"\n\nfunc F() { b.G() }\n',
        b__b_dot_go='package b\n\nimport "m/a"\n\nfunc G() { a.F() }\n',
    )
    assert calls(tree, "a/a.go") == {("F", "b/b.go::G")}
    assert calls(tree, "b/b.go") == {("G", "a/a.go::F")}


def test_a_go_folder_with_two_packages_and_another_name_than_its_own(tmp_path: Path) -> None:
    tree = tree_of(
        tmp_path,
        go_dot_mod="module m\n",
        lib__one_dot_go="package other\n\nfunc F() {}\n",
        lib__tool_dot_go="//go:build ignore\n\npackage main\n\nfunc F() {}\n\nfunc main() { F() }\n",
        main_dot_go='package main\n\nimport "m/lib"\n\nfunc main() { other.F() }\n',
    )
    assert calls(tree, "main.go") == {("main", "lib/one.go::F")}
    assert calls(tree, "lib/tool.go") == {("main", "lib/tool.go::F")}


def test_go_without_a_module_file_links_inside_its_folders(tmp_path: Path) -> None:
    tree = tree_of(
        tmp_path,
        a__x_dot_go='package a\n\nimport "example.com/b"\n\nfunc F() {\n\th()\n\tb.G()\n}\n',
        a__y_dot_go="package a\n\nfunc h() {}\n",
        b__b_dot_go="package b\n\nfunc G() {}\n",
    )
    assert calls(tree, "a/x.go") == {("F", "a/y.go::h")}
    assert [e.target.external for e in tree.links("a/x.go").links if e.relation == "IMPORTS"] == ["example.com/b"]


def test_vendored_go_is_outside(tmp_path: Path) -> None:
    tree = tree_of(
        tmp_path,
        go_dot_mod="module m\n",
        vendor__x__go_dot_mod="module x\n",
        vendor__x__x_dot_go="package x\n\nfunc F() {}\n",
        main_dot_go='package main\n\nimport "x"\n\nfunc main() { x.F() }\n',
    )
    links = tree.links("main.go")
    assert not calls(tree, "main.go")
    assert links.outside == 1


def test_a_java_package_that_is_not_named_as_its_folder(tmp_path: Path) -> None:
    tree = tree_of(
        tmp_path,
        odd__A_dot_java="package x.y;\n\nclass A {\n    void f() {\n        new B().g();\n    }\n}\n",
        odd__B_dot_java="package x.y;\n\nclass B {\n    void g() {}\n}\n",
        odd__C_dot_java="package z;\n\nclass C {\n    void f() {\n        new B();\n    }\n}\n",
    )
    assert calls(tree, "odd/A.java") == {("A::f", "odd/B.java::B"), ("A::f", "odd/B.java::B::g")}
    assert not calls(tree, "odd/C.java")


def test_a_java_file_without_a_package_hides_no_source_root(tmp_path: Path) -> None:
    tree = tree_of(
        tmp_path,
        Build_dot_java="class Build {}\n",
        a__src__main__java__x__A_dot_java="package x;\n\nimport y.B;\n\nclass A {\n    B made = new B();\n}\n",
        b__src__main__java__y__B_dot_java="package y;\n\npublic class B {}\n",
    )
    assert calls(tree, "a/src/main/java/x/A.java") == {("A", "b/src/main/java/y/B.java::B")}


def test_nothing_is_matched_by_its_bare_name(tmp_path: Path) -> None:
    go = "package p\n\nfunc Close() {}\n\ntype T struct{}\n\nfunc (T) Close() {}\n\nfunc f(x any) { x.Close() }\n"
    java = "class T {\n    void close() {}\n\n    void f(Object x, java.io.Reader y) { x.close(); y.close(); }\n}\n"
    tree = tree_of(tmp_path, a_dot_go=go, T_dot_java=java)
    assert not calls(tree, "a.go")
    assert not calls(tree, "T.java")


def test_long_chains_and_deep_nests_take_no_longer_than_they_should(tmp_path: Path) -> None:
    calls_in_a_row = "x" + ".next()" * 5_000
    deep = "(" * 2_000 + "x" + ")" * 2_000
    closures = "func() {" * 300 + "}" * 300
    blocks = "".join(f"\tif v := f(v); v != nil {{\n\t\tv.g{n}()\n\t}}\n" for n in range(2_000))
    go = f"package p\n\nfunc f() {{\n\t{calls_in_a_row}\n\t_ = {deep}\n\t_ = {closures}\n{blocks}}}\n"
    java = f"class A {{ void f() {{ {calls_in_a_row}; g({deep}); }} }}\n"
    began = time.process_time()
    tree = tree_of(tmp_path, a_dot_go=go, A_dot_java=java)
    for path in tree.paths:
        tree.links(path)
    assert time.process_time() - began < 10
    assert set(tree.paths) == {"A.java", "a.go"}


def test_a_go_type_without_a_name_does_not_stop_the_file(tmp_path: Path) -> None:
    """`type _ T` is legal: it is declared for the compiler's checks alone."""
    types = "type _ struct{ a int }\n\ntype Shape interface{ Area() int }\n"
    text = f"package p\n\n{types}\nfunc f() int {{ return g() }}\n\nfunc g() int {{ return 1 }}\n"
    tree = tree_of(tmp_path, go_dot_mod="module m\n", a_dot_go=text)
    assert calls(tree, "a.go") == {("f", "a.go::g")}
