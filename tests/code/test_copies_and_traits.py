"""Go modules that are there twice, Rust traits with the same method, dependencies by another name."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from weft.code.resolve.tree import Tree


def calls(root: Path, files: dict[str, str], path: str) -> set[tuple[str, str]]:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(dedent(text), encoding="utf-8")
    links = Tree(root).links(path).links
    return {(each.key, f"{each.target.path}::{each.target.key}") for each in links if each.relation == "CALLS"}


def test_of_two_copies_of_a_go_module_each_means_itself(tmp_path: Path) -> None:
    files = {}
    for copy in ("a", "b/example"):
        files |= {
            f"{copy}/go.mod": "module example.com/ferry\n",
            f"{copy}/deck/deck.go": "package deck\nfunc Clean() {}\n",
            f"{copy}/main.go": 'package main\nimport "example.com/ferry/deck"\nfunc main() { deck.Clean() }\n',
        }
    for copy in ("a", "b/example"):
        assert calls(tmp_path, files, f"{copy}/main.go") == {("main", f"{copy}/deck/deck.go::Clean")}


BOATS = """
    pub struct Boat;
    pub trait Sail { fn go(&self); }
    pub trait Steam { fn go(&self); fn stop(&self); }
    impl Sail for Boat {
        fn go(&self) {}
    }
    impl Steam for Boat {
        fn go(&self) { Boat::stop(self); }
        fn stop(&self) {}
    }
    pub fn told(boat: &Boat) { <Boat as Steam>::go(boat); }
    pub fn either(boat: &Boat) { boat.go(); }
    """


def test_of_two_traits_with_one_method_the_one_that_is_known_is_meant(tmp_path: Path) -> None:
    files = {
        "Cargo.toml": '[package]\nname = "boats"\nversion = "1.0.0"\n',
        "src/lib.rs": "mod boats;\nmod under_steam;\n",
        "src/boats.rs": BOATS,
        "src/under_steam.rs": "use crate::boats::{Boat, Steam};\npub fn known(boat: &Boat) { boat.go(); }\n",
    }
    assert calls(tmp_path, files, "src/boats.rs") == {
        ("Boat::go~2", "src/boats.rs::Boat::stop"),
        ("told", "src/boats.rs::Boat::go~2"),
    }
    assert calls(tmp_path, files, "src/under_steam.rs") == {("known", "src/boats.rs::Boat::go~2")}


def test_in_an_implementation_of_a_trait_that_one_is_known(tmp_path: Path) -> None:
    files = {
        "Cargo.toml": '[package]\nname = "boats"\nversion = "1.0.0"\n',
        "src/lib.rs": """
            mod sail { pub trait Going { fn stop(); fn go(); } }
            mod steam { pub trait Going { fn stop(); fn go(); } }
            struct Raft;
            impl sail::Going for Raft {
                fn stop() {}
                fn go() { Raft::stop(); }
            }
            impl steam::Going for Raft {
                fn stop() {}
                fn go() { Raft::stop(); }
            }
            """,
    }
    assert calls(tmp_path, files, "src/lib.rs") == {
        ("Raft::go", "src/lib.rs::Raft::stop"),
        ("Raft::go~2", "src/lib.rs::Raft::stop~2"),
    }


def test_a_dependency_that_the_workspace_gives_another_name(tmp_path: Path) -> None:
    files = {
        "Cargo.toml": """
            [workspace]
            members = ["boats", "app"]
            [workspace.dependencies]
            fleet = { path = "boats", package = "our-boats" }
            """,
        "boats/Cargo.toml": '[package]\nname = "our-boats"\nversion = "1.0.0"\n',
        "boats/src/lib.rs": "pub struct Boat;\nimpl Boat { pub fn go(&self) {} }\npub fn sail() {}\n",
        "app/Cargo.toml": '[package]\nname = "app"\nversion = "1.0.0"\n[dependencies]\nfleet = { workspace = true }\n',
        "app/src/main.rs": """
            fn main() {
                fleet::sail();
                let (count, boat) = (1, fleet::Boat);
                boat.go();
            }
            """,
    }
    assert calls(tmp_path, files, "app/src/main.rs") >= {
        ("main", "boats/src/lib.rs::sail"),
        ("main", "boats/src/lib.rs::Boat::go"),
    }
