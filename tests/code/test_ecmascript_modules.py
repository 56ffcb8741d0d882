"""Modules of JavaScript and TypeScript: imports and exports are resolved; hostile files take seconds."""

from __future__ import annotations

import json
import time
from pathlib import Path
from textwrap import dedent

import pytest

from tests.code.ecmascript import project
from weft.code.parse.symbols import read_source
from weft.code.resolve import FileLinks, Target


def calls(links: FileLinks) -> set[Target]:
    return {link.target for link in links.links if link.relation == "CALLS"}


# ---- modules


def test_where_modules_are_looked_for(tmp_path: Path) -> None:
    tree = project(
        tmp_path,
        {
            "package.json": '{"workspaces": {"packages": ["libs/**", "!libs/old"]}}',
            "libs/a/package.json": """
                {"name": "@x/a", "exports": {".": {"import": "./build/main.js"}, "./p/*": "./src/p/*.ts"}}
                """,
            "libs/a/tsconfig.json": '{"compilerOptions": {"outDir": "build", "rootDir": "source"}}',
            "libs/a/source/main.ts": "export const a = () => 1;",
            "libs/a/src/p/q.ts": "export const q = () => 1;",
            "libs/old/package.json": '{"name": "old"}',
            "libs/old/index.js": "",
            "app/tsconfig.json": '{"files": [], "references": [{"path": "./tsconfig.app.json"}]}',
            "app/tsconfig.app.json": '{"compilerOptions": {"paths": {"~/*": ["./src/*"], "~/deep/*": ["./src/d/*"]}}}',
            "app/src/d/e.tsx": "export const E = () => 1;",
            "app/src/plain.js": "",
            "app/src/only.d.ts": "export declare function only(): void;",
            "app/src/main.ts": """
                import { a } from "@x/a";
                import { q } from "@x/a/p/q";
                import { E } from "~/deep/e";
                import "~/plain";
                import "old";
                import "./only";
                import "./d/e.jsx";
                import "node:fs/promises";
                import path from "path";
                import type { X } from "@types/some/part";
                import data from "./data.json";
                import "../../../beyond";
                """,
        },
    )
    found = {
        link.target.external or link.target.path for link in tree.links("app/src/main.ts").links if not link.target.key
    }
    assert found == {
        "libs/a/source/main.ts",
        "libs/a/src/p/q.ts",
        "app/src/d/e.tsx",
        "app/src/plain.js",
        "app/src/only.d.ts",
        "old",
        "node:fs/promises",
        "node:path",
        "@types/some",
    }


def test_settings_that_are_wrong_are_passed_over(tmp_path: Path) -> None:
    tree = project(
        tmp_path,
        {
            "tsconfig.json": """
                {"extends": ["./tsconfig.json", "./gone", 3], "compilerOptions": {"paths": [], "baseUrl": 1}}
                """,
            "package.json": '{"name": ["x"], "workspaces": 3, "exports": {"./a": [null, {"import": []}]}, ',
            "jsconfig.json": "[" * 100_000,
            "pnpm-workspace.yaml": "packages: [\n- [\n- '../..'\n",
            "a.ts": 'import { b } from "./b";\nimport "x";\nb();\n',
            "b.ts": "export function b() {}\n",
        },
    )
    assert calls(tree.links("a.ts")) == {Target("b.ts", "b")}


def test_what_leads_in_circles_ends(tmp_path: Path) -> None:
    tree = project(
        tmp_path,
        {
            "a.ts": """
                export * from "./b";
                export { x as y, y as x } from "./b";
                export default self;
                import self from "./a";
                """,
            "b.ts": """
                export * from "./a";
                import { x, A } from "./a";
                export class B extends A { me(): B { return this.other.me(); } other = new B().other; }
                export class A extends B {}
                type T = U; type U = T;
                export let p = q, q = p;
                export function loop(t: T) {
                  x(); t.run(); p.go(); new A().nowhere(); new A().me().me();
                  return loop(t).on();
                }
                """,
        },
    )
    links = tree.links("b.ts")
    assert Target("b.ts", "loop") in calls(links)
    unresolved = {chain for chain, _ in links.unresolved}
    assert {"x", "t.run", "p.go", "new A().nowhere"} <= unresolved
    assert tree.links("a.ts").links


def test_types_that_grow_with_every_step_are_cut(tmp_path: Path) -> None:
    lines = "".join(f"const s{n + 1} = s{n}.pair();\n" for n in range(3_000))
    text = (
        "export class Box<T> {\n  pair(): Box<[this, Box<this>]> {\n    return null!;\n  }\n}\nconst s0 = new Box();\n"
    )
    tree = project(tmp_path, {"a.ts": text + lines})
    began = time.process_time()
    assert Target("a.ts", "Box::pair") in calls(tree.links("a.ts"))
    assert time.process_time() - began < 10


def test_a_name_is_never_matched_without_a_way_to_it(tmp_path: Path) -> None:
    tree = project(
        tmp_path,
        {
            "a.ts": "export function open() {}\nexport class Door { close() {} }\n",
            "b.ts": """
                import { Door } from "./a";
                export function run(door, open: () => void) {
                  open();
                  door.close();
                  const Door = door;
                  new Door().close();
                }
                export const table = { open() { open(); } };
                """,
        },
    )
    assert calls(tree.links("b.ts")) == set()


def packed(functions: int) -> str:
    return "!function(e,t){" + "".join(
        f"function a{n}(e){{return b{n}.c(e,function(t){{return t.d{n}(new E{n}(e))}})}}var x{n}=a{n}({n});"
        for n in range(functions)
    )


# ---- files that nobody should write


@pytest.mark.parametrize("line", [0, 60_000])
def test_a_packed_bundle_is_cheap_and_makes_no_symbols(line: int) -> None:
    text = packed(5_200)
    if line:
        text = "\n".join(text[at : at + line] for at in range(0, len(text), line))
    text = 'import{z as a}from"./z.js";\n' + text
    assert 400_000 < len(text) < 524_288
    began = time.process_time()
    source = read_source(text, "bundle.min.js")
    assert time.process_time() - began < 10
    assert len(source.symbols) <= 10
    assert (source.facts.references, source.facts.bindings) == ((), ())
    assert [each.module for each in source.facts.imports] == ["./z.js"]
    assert len(source.module_text) + sum(len(each.text) for each in source.symbols) >= len(text) - 20


def test_generated_code_on_lines_of_its_own_is_read() -> None:
    text = "".join(f"export const f{n} = (x) => g{n}(x.y, {n});\n" for n in range(5_000))
    source = read_source(text, "a.js")
    assert (len(source.symbols), len(source.facts.references)) == (5_000, 5_000)


def test_a_file_with_errors_gives_what_can_be_made_out() -> None:
    text = dedent(
        """
        export function good() { return helper(); }

        export function broken( { {

        class Also {
          fine() { return this.fine(); }
          x = = 3;
        }
        """
    )
    for path in ("a.js", "a.ts", "a.tsx"):
        source = read_source(text, path)
        assert "good" in {symbol.key for symbol in source.symbols}
        assert source.broken
        assert "helper" in {each.chain for each in source.facts.references}


@pytest.mark.parametrize(
    "text",
    [
        "(" * 200_000,
        "{\n" * 100_000,
        "()=>\n" * 60_000,
        "a" + "\n.b()" * 60_000,
        "f(\n" * 60_000 + ")" * 60_000,
        "a?b:\n" * 60_000 + "c",
        "<a>\n" * 60_000,
        "`${\n" * 60_000,
        "const " + "{a:\n" * 30_000 + "b" + "}" * 30_000 + "=x",
        "function f(){\n" * 15_000,
        "class A{x(){\n" * 9_000,
        "describe('x',()=>{\n" * 9_000,
        "let a: " + "A<\n" * 40_000 + "B" + ">" * 40_000,
        "type A = " + "|\n".join(f"B{n}" for n in range(30_000)),
        "function f() {\n" + "{let x = x.y();x.z()}\n" * 10_000 + "}",
        "x = a" + "||\nb" * 60_000,
        "/** a */\n" * 40_000,
        "interface A {\n" + " m(): void;\n" * 20_000 + "}",
    ],
    ids=lambda text: repr(text[:14]),
)
def test_a_hostile_file_takes_seconds_at_most(text: str) -> None:
    began = time.process_time()
    source = read_source(text, "a.tsx")
    assert time.process_time() - began < 20, "it is quadratic: minutes on a quick machine"
    kept = source.module_text + "".join(symbol.text for symbol in source.symbols)
    assert len("".join(kept.split())) >= len("".join(text.split())) * 0.99


def test_expected_links_are_json() -> None:
    for language in ("typescript", "javascript"):
        lines = (Path(__file__).parent / language / "expected.jsonl").read_text(encoding="utf-8").splitlines()
        assert all(set(json.loads(line)) == {"src", "rel", "dst"} for line in lines if not line.startswith("//"))
