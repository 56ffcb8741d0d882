"""JavaScript and TypeScript: blocks that hide names, conditions that tell types, sources beside what is compiled."""

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


def test_a_name_that_a_block_hides_is_itself_again_behind_it(tmp_path: Path) -> None:
    files = {
        "a.ts": "export function sail() {}\nexport class Boat { sail() {} }\n",
        "b.ts": """
            import { sail, Boat } from "./a";
            function inner() { { const sail = new Boat(); sail.sail(); } sail(); }
            function passed(all: Boat[]) { all.map((sail) => sail.sail()); sail(); }
            function hidden() { const sail = () => 1; sail(); }
            """,
    }
    assert calls(tmp_path, files, "b.ts") == {
        ("inner", "a.ts::Boat"),
        ("inner", "a.ts::Boat::sail"),
        ("inner", "a.ts::sail"),
        ("passed", "a.ts::Boat::sail"),
        ("passed", "a.ts::sail"),
    }


def test_a_getter_gives_what_it_returns(tmp_path: Path) -> None:
    files = {
        "a.js": """
            class Bell { ring() {} }
            class Boat {
              get bell() { return new Bell(); }
              set bell(other) {}
              horn() { this.bell.ring(); }
            }
            class Ferry extends Boat { both() { this.bell.ring(); } }
            """,
    }
    assert calls(tmp_path, files, "a.js") == {
        ("Boat::bell", "a.js::Bell"),
        ("Boat::horn", "a.js::Bell::ring"),
        ("Ferry::both", "a.js::Bell::ring"),
    }


def test_instanceof_tells_a_type_inside_its_block_alone(tmp_path: Path) -> None:
    files = {
        "a.ts": """
            class Wreck extends Error { tell() {} }
            class Boat { tell() {} sail() {} }
            function caught(e: unknown) { if (e && e instanceof Wreck) { e.tell(); } }
            function other(e: Boat) { if (e instanceof Wreck) { } else { e.tell(); } e.sail(); }
            function neither(e: any) { if (e instanceof Wreck) { } e.tell(); }
            """,
    }
    assert calls(tmp_path, files, "a.ts") == {
        ("caught", "a.ts::Wreck::tell"),
        ("other", "a.ts::Boat::tell"),
        ("other", "a.ts::Boat::sail"),
    }


def test_a_source_that_a_package_names_comes_before_what_is_compiled(tmp_path: Path) -> None:
    files = {
        "package.json": '{"workspaces": ["packages/*"]}',
        "packages/boats/package.json": '{"name": "boats", "main": "dist/index.js", "types": "src/index.ts"}',
        "packages/boats/dist/index.js": "exports.sail = function () {};\n",
        "packages/boats/src/index.ts": "export function sail() {}\n",
        "packages/plain/package.json": '{"name": "plain", "main": "lib/index.js", "types": "index.d.ts"}',
        "packages/plain/lib/index.js": "exports.moor = function () {};\n",
        "packages/plain/index.d.ts": "export function moor(): void;\n",
        "packages/app/package.json": '{"name": "app"}',
        "packages/app/a.ts": 'import { sail } from "boats";\nimport { moor } from "plain";\nsail();\nmoor();\n',
    }
    assert calls(tmp_path, files, "packages/app/a.ts") == {
        ("", "packages/boats/src/index.ts::sail"),
        ("", "packages/plain/lib/index.js::moor"),
    }


def test_paths_begin_where_an_extended_configuration_says(tmp_path: Path) -> None:
    files = {
        "tsconfig.base.json": '{"compilerOptions": {"baseUrl": "./code"}}',
        "app/tsconfig.json": '{"extends": "../tsconfig.base.json", "compilerOptions": {"paths": {"@/*": ["ships/*"]}}}',
        "code/ships/ferry.ts": "export function sail() {}\n",
        "app/ships/ferry.ts": "export function sail() {}\n",
        "app/a.ts": 'import { sail } from "@/ferry";\nsail();\n',
    }
    assert calls(tmp_path, files, "app/a.ts") == {("", "code/ships/ferry.ts::sail")}
