"""Rust, beyond the project: which symbols a file holds, and what broken and hostile input does to it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

import weft
from weft.code.index.index import index_workspace
from weft.code.index.links import LINK_RELATIONS
from weft.code.parse.symbols import SourceFile, Symbol, read_source
from weft.code.resolve import Link
from weft.code.resolve.tree import Tree
from weft.core.types import NOW

FILE = """\
//! A file.

use std::fmt;

/// A point.
///
/// With two sides.
#[derive(Clone)]
pub struct Point<T> {
    x: T, // across
}

impl<T: Copy> Point<T> {
    /// Makes one.
    #[inline]
    #[must_use = "a point \\
        is no use unseen"]
    pub const fn new(x: T) -> Self
    where
        T: Default,
    {
        fn inner() {}
        Point { x }
    }
}

impl fmt::Display for Point<u8> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

impl fmt::Debug for Point<u8> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

impl Shape for (u8, u8) {
    fn area(&self) -> u32 { 0 }
}

pub trait Shape: Send {
    fn area(&self) -> u32;
    fn twice(&self) -> u32 { self.area() * 2 }
}

union Bits { whole: u32 }

macro_rules! point {
    ($x:expr) => { Point::new($x) };
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Given;

    impl Given {
        fn made() -> Self { Given }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn holds() {}

    fn not_a_test() {}
}
"""


def symbols(text: str) -> dict[str, Symbol]:
    return {each.key: each for each in read_source(text, "src/lib.rs").symbols}


def test_what_a_file_defines() -> None:
    found = symbols(FILE)
    assert {key: (each.kind, each.sort) for key, each in found.items()} == {
        "Point": ("Class", "struct"),
        "Point::new": ("Function", "method"),
        "Point::fmt": ("Function", "method"),
        "Point::fmt~2": ("Function", "method"),  # each trait may have one of that name
        "(u8, u8)::area": ("Function", "method"),
        "Shape": ("Class", "trait"),
        "Shape::area": ("Function", "method"),
        "Shape::twice": ("Function", "method"),
        "Bits": ("Class", "struct"),
        "point": ("Function", "function"),
        "tests::Given": ("Class", "struct"),
        "tests::Given::made": ("Function", "method"),
        "tests::holds": ("Test", "function"),
        "tests::not_a_test": ("Function", "function"),
    }
    parents = [each.parent for each in found.values()]
    places = {key: place for place, key in enumerate(found)}
    assert parents[places["Point::fmt~2"]] == places["Point"]
    assert parents[places["tests::Given::made"]] == places["tests::Given"]
    assert parents[places["point"]] is None


def test_heads_docs_and_what_belongs_to_a_definition() -> None:
    found = symbols(FILE)
    point, new = found["Point"], found["Point::new"]
    assert (point.signature, point.docstring) == ("pub struct Point<T>", "A point.\n\nWith two sides.")
    assert (point.line, point.end_line) == (5, 11)
    assert new.signature == "pub const fn new(x: T) -> Self where T: Default,"
    assert new.docstring == "Makes one."
    assert new.text.lstrip().startswith("/// Makes one.")
    assert "fn inner() {}" in new.text
    assert found["Shape::area"].signature == "fn area(&self) -> u32"
    assert found["point"].signature == "macro_rules! point"
    source = read_source(FILE, "src/lib.rs")
    assert source.module_text.startswith("//! A file.")
    assert "impl<T: Copy> Point<T> {" in source.module_text
    assert "/// Makes one." not in source.module_text
    assert every_line_once(source, FILE)


def every_line_once(source: SourceFile, text: str) -> bool:
    """Whether every line that is not blank belongs to one symbol or to the file."""
    lines = [line for line in text.split("\n") if line.strip()]
    held = [line for each in (source.module_text, *(one.text for one in source.symbols)) for line in each.split("\n")]
    return sorted(lines) == sorted(line for line in held if line.strip())


def workspace(root: Path, files: dict[str, str]) -> Tree:
    for path, text in files.items():
        workspace_file(root, path, text)
    return Tree(root)


def workspace_file(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


def calls(tree: Tree, path: str) -> set[tuple[str, str]]:
    links: tuple[Link, ...] = tree.links(path).links
    return {(link.key, f"{link.target.path}::{link.target.key}") for link in links if link.relation == "CALLS"}


def test_nothing_is_matched_by_its_bare_name(tmp_path: Path) -> None:
    tree = workspace(
        tmp_path,
        {
            "Cargo.toml": '[package]\nname = "a"\n[dependencies]\nb = "1"\n',
            "src/lib.rs": "mod x;\nfn go(b: b::Store) {\n    b.open();\n    open();\n    b::open();\n"
            "    x::Store::open();\n}\n",
            "src/x.rs": "pub struct Store;\nimpl Store {\n    pub fn open() {}\n}\npub fn open() {}\n",
            "b/src/lib.rs": "pub struct Store;\nimpl Store {\n    pub fn open(&self) {}\n}\n",
        },
    )
    links = tree.links("src/lib.rs")
    assert calls(tree, "src/lib.rs") == {("go", "src/x.rs::Store::open")}
    assert links.unresolved == (("open", 4),)
    assert links.outside == 2


def test_macros_are_read_as_expressions_where_they_hold_some(tmp_path: Path) -> None:
    text = """\
struct Row;
impl Row {
    fn cells(&self) -> Vec<u8> { vec![self.one(); 3] }
    fn one(&self) -> u8 { 1 }
    fn none(&self) -> Option<u8> { None }
}
thread_local! {
    static ROW: Vec<u8> = made();
}
fn made() -> Vec<u8> { vec![] }
fn told(row: &Row) {
    assert!(matches!(row.none(), Some(_) | None), "{:?}", row.cells());
    quote! { row.one() };
    html! { <a href="{}"> @ unbalanced #( </a> };
}
"""
    tree = workspace(tmp_path, {"Cargo.toml": '[package]\nname = "a"\n', "src/lib.rs": text})
    assert calls(tree, "src/lib.rs") == {
        ("Row::cells", "src/lib.rs::Row::one"),
        ("", "src/lib.rs::made"),
        ("told", "src/lib.rs::Row::none"),
        ("told", "src/lib.rs::Row::cells"),
    }


CIRCLES = {
    "src/lib.rs": "pub mod a;\npub mod b;\npub use a::*;\n"
    "fn go() {\n    thing();\n    Deep::new().next().next().name();\n}\n",
    "src/a.rs": "pub use crate::b::*;\npub use crate::a::*;\ntype Deep = Other;\ntype Other = Deep;\n",
    "src/b.rs": "pub use crate::a::*;\nuse self::thing as thing;\npub trait A: B {}\npub trait B: A {}\n"
    "pub struct S<T>(T);\nimpl<T> std::ops::Deref for S<T> {\n    type Target = S<S<T>>;\n}\n"
    "fn go<T: A>(a: T, s: S<u8>) {\n    a.missing();\n    s.missing();\n"
    "    let x = y;\n    let y = x;\n    y.z();\n}\n",
}


def test_circles_end(tmp_path: Path) -> None:
    tree = workspace(tmp_path, {"Cargo.toml": '[package]\nname = "a"\n', **CIRCLES})
    assert calls(tree, "src/lib.rs") == set()
    assert calls(tree, "src/b.rs") == set()
    assert ("a.missing", 10) in tree.links("src/b.rs").unresolved
    assert [link.target.key for link in tree.links("src/b.rs").links if link.relation == "EXTENDS"] == ["B", "A"]


@pytest.mark.parametrize(
    "manifest",
    ["", "not toml [", "[package]\nname = 3\n[lib]\npath = []\n[dependencies]\nb = 4\n[[bin]]\n", "[package]\n" * 2],
)
def test_a_manifest_that_says_nothing_does_no_harm(tmp_path: Path, manifest: str) -> None:
    files = {"Cargo.toml": manifest, "src/lib.rs": "mod x;\nfn go() {\n    x::y();\n}\n", "src/x.rs": "pub fn y() {}\n"}
    assert calls(workspace(tmp_path, files), "src/lib.rs") == {("go", "src/x.rs::y")}


@pytest.mark.parametrize(
    "text",
    [
        "fn f() { " + "a.b()." * 20_000 + "c() }",
        "fn f() { " + "g(" * 20_000 + ")" * 20_000 + " }",
        "fn f() {\n" + "    let x = x.next();\n" * 10_000 + "}",
        "fn f() { m!(" + "m!(" * 5_000 + ")" * 5_000 + ") }",
        "use " + "a::{" * 5_000 + "b" + "}" * 5_000 + ";",
        "type T = " + "Vec<" * 10_000 + "u8" + ">" * 10_000 + ";",
        "fn f(" + "(" * 10_000 + ")" * 10_000 + ": u8) {}",
        "mod a {\n" * 3_000 + "fn f() {}\n" + "}\n" * 3_000,
        "impl A for B {\n" * 5_000,
        "#[a]\n" * 50_000 + "fn f() {}",
        "/// doc\n" * 50_000 + "fn f() {}",
        "m! {\n" + "fn f() {}\n" * 20_000 + "}",
        "match x {\n" + "    A(y) if y.z() => y.w(),\n" * 8_000 + "}",
        "fn f() { x" + ".map(|a| a.b())" * 8_000 + " }",
        "\ufefffn f() {\r\n\tg()\r\n}\r\n" + "é" * 100_000,
        "fn r#type() { r#type() } struct Ω; impl Ω { fn ß() {} }",
        'fn f() { "' + "x" * 200_000,
        "/* " * 50_000,
    ],
    ids=range(18),
)
def test_a_hostile_file_takes_seconds_at_most(tmp_path: Path, text: str) -> None:
    begun = time.process_time()
    tree = workspace(tmp_path, {"Cargo.toml": '[package]\nname = "a"\n', "src/lib.rs": text})
    tree.links("src/lib.rs")
    assert tree.paths == ("src/lib.rs",)
    assert time.process_time() - begun < 6


CORE = '[package]\nname = "core-parts"\n'
APP = '[package]\nname = "app"\n[dependencies]\ncore-parts = { path = "../core" }\n'
CRANE = "pub struct Crane;\n"
LIFTS = "pub mod winch;\npub use winch::lift;\npub fn start() { lift(); }\n"
MAIN = "use core_parts::{lift, Crane};\nmod cli;\nfn main() { lift(); cli::run(Crane); }\n"
CLI = "use core_parts::Crane;\nuse crate::helper;\npub fn run(crane: Crane) { crane.turn(); crane.rest(); helper(); }\n"
# A workspace as it grows and is changed: what is written (None: deleted), and a relation that is there only now.
STEPS: list[tuple[dict[str, str | None], tuple[str, str, str] | None]] = [
    ({"core/Cargo.toml": CORE, "core/src/lib.rs": "pub mod winch;\n", "core/src/winch.rs": "pub mod grip;\n"}, None),
    ({"app/Cargo.toml": APP, "app/src/main.rs": MAIN, "app/src/cli.rs": CLI}, None),
    ({"core/src/winch/grip.rs": "pub fn hold() {}\n"}, ("core/src/winch.rs", "IMPORTS", "core/src/winch/grip.rs")),
    (
        {"core/src/lib.rs": LIFTS, "core/src/winch.rs": "pub mod grip;\npub fn lift() {}\n"},
        ("app/src/main.rs::main", "CALLS", "core/src/winch.rs::lift"),
    ),
    (
        {"core/src/motor.rs": "use crate::start;\npub fn up() { start(); }\n", "core/src/wheel.rs": "// nothing yet\n"},
        None,
    ),
    (
        {"core/src/lib.rs": LIFTS + "pub mod motor;\npub mod wheel;\n"},
        ("core/src/motor.rs::up", "CALLS", "core/src/lib.rs::start"),
    ),
    (
        {"core/src/lib.rs": LIFTS + "pub mod motor;\npub mod wheel;\n" + CRANE},
        ("app/src/cli.rs", "DEPENDS_ON", "core/src/lib.rs::Crane"),
    ),
    (
        {"core/src/wheel.rs": "use crate::Crane;\nimpl Crane {\n    pub fn turn(&self) {}\n}\n"},
        ("app/src/cli.rs::run", "CALLS", "core/src/wheel.rs::Crane::turn"),
    ),
    (
        {"core/src/winch/grip.rs": "impl crate::Crane {\n    pub fn rest(&self) {}\n}\n"},
        ("app/src/cli.rs::run", "CALLS", "core/src/winch/grip.rs::Crane::rest"),
    ),
    ({"app/src/main.rs": MAIN + "pub fn helper() {}\n"}, ("app/src/cli.rs::run", "CALLS", "app/src/main.rs::helper")),
    (
        {"app/src/lib.rs": "pub mod cli;\npub fn helper() {}\n"},
        ("app/src/cli.rs::run", "CALLS", "app/src/lib.rs::helper"),
    ),
    ({"app/src/lib.rs": "pub fn helper() {}\n"}, ("app/src/cli.rs::run", "CALLS", "app/src/main.rs::helper")),
    ({"core/Cargo.toml": CORE + '[lib]\npath = "src/whole.rs"\n'}, None),
    (
        {"core/src/whole.rs": '#[path = "wheel.rs"]\npub mod round;\n' + CRANE},
        ("core/src/whole.rs", "IMPORTS", "core/src/wheel.rs"),
    ),
    ({"core/Cargo.toml": "not toml ["}, ("core/src/lib.rs", "IMPORTS", "core/src/motor.rs")),
    ({"core/Cargo.toml": CORE}, ("core/src/motor.rs::up", "CALLS", "core/src/lib.rs::start")),
    (
        {"core/src/winch.rs": None, "core/src/winch/mod.rs": "pub mod grip;\npub fn lift() {}\n"},
        ("app/src/main.rs::main", "CALLS", "core/src/winch/mod.rs::lift"),
    ),
    ({"core/src/winch.rs": "pub fn lift() {}\n"}, ("app/src/main.rs::main", "CALLS", "core/src/winch.rs::lift")),
    ({"app/Cargo.toml": '[package]\nname = "app"\n'}, ("app/src/cli.rs::run", "CALLS", "app/src/main.rs::helper")),
    ({"app/Cargo.toml": None, "core/Cargo.toml": None}, ("core/src/motor.rs::up", "CALLS", "core/src/lib.rs::start")),
]


def relations(memory: weft.Memory) -> set[tuple[str, str, str]]:
    ctx = memory.ctx
    edges = ctx.store.relations(ctx.viewer, NOW, LINK_RELATIONS, limit=10_000)
    return {(edge.src.removeprefix("ship/"), edge.rel, edge.dst.removeprefix("ship/")) for edge in edges}


def test_a_workspace_that_is_changed_step_by_step_shows_what_a_fresh_store_does(tmp_path: Path) -> None:
    root = tmp_path / "ship"
    environment = {"HOME": str(tmp_path), "WEFT_EMBEDDER": "none", "WEFT_AUDIT": "off"}
    root.mkdir()
    with weft.open("memory://", directory=root, environment=environment) as memory:
        for number, (files, shown) in enumerate(STEPS):
            for path, text in files.items():
                if text is None:
                    (root / path).unlink()
                else:
                    workspace_file(root, path, text)
            index_workspace(memory.ctx, paths=sorted(files))
            with weft.open("memory://", directory=root, environment=environment) as fresh:
                index_workspace(fresh.ctx)
                assert relations(memory) == relations(fresh), number
            assert shown is None or shown in relations(memory), number
