"""Members on the line of their class are members as any other, in every language with braces."""

from __future__ import annotations

from pathlib import Path

import pytest

from weft.code.parse.symbols import read_source
from weft.code.resolve.tree import Tree

ONE_LINE = {
    "a.ts": "class Boat { sail() {} stop() { this.sail(); } }\nclass Ferry extends Boat { sail() { super.sail(); } }\n",
    "a.js": "class Boat { sail() {} stop() { this.sail(); } }\nclass Ferry extends Boat { sail() { super.sail(); } }\n",
    "a.java": "class Boat { void sail() {} void stop() { sail(); } }\n"
    "class Ferry extends Boat { void sail() { super.sail(); } }\n",
    "a.rs": "struct Boat; impl Boat { fn sail(&self) {} fn stop(&self) { self.sail(); } }\n"
    "struct Ferry; impl Ferry { fn sail(&self) { Boat.sail(); } }\n",
}


@pytest.mark.parametrize("path", ONE_LINE)
def test_members_on_the_line_of_their_class_are_members(tmp_path: Path, path: str) -> None:
    (tmp_path / path).write_text(ONE_LINE[path], encoding="utf-8")
    links = Tree(tmp_path).links(path).links
    assert {(each.key, each.target.key) for each in links if each.relation == "CALLS" and "::" in each.target.key} == {
        ("Boat::stop", "Boat::sail"),
        ("Ferry::sail", "Boat::sail"),
    }


def test_an_interface_of_one_line_has_methods_in_go() -> None:
    source = read_source("package a\ntype Clock interface { Now() int; Set(to int) }\n", "a.go")
    assert [each.key for each in source.symbols] == ["Clock", "Clock::Now", "Clock::Set"]


def test_the_line_stays_with_the_class_and_each_member_has_its_words() -> None:
    source = read_source("interface Store { get(): Row; put(row: Row): void }\nlet x = 1;\n", "a.ts")
    assert [(each.key, each.text, each.line, each.end_line) for each in source.symbols] == [
        ("Store", "interface Store { get(): Row; put(row: Row): void }", 1, 1),
        ("Store::get", "get(): Row", 1, 1),
        ("Store::put", "put(row: Row): void", 1, 1),
    ]
    assert source.module_text == "let x = 1;"


def test_a_member_that_begins_on_its_classs_line_does_not_take_it_away() -> None:
    source = read_source("class A { one() {\n  return 1;\n}\n  two() {}\n}\n", "a.ts")
    texts = {each.key: each.text for each in source.symbols}
    assert texts == {
        "A": "class A { one() {\n  return 1;\n}\n}",
        "A::one": "one() {\n  return 1;\n}",
        "A::two": "  two() {}",
    }
