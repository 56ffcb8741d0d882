"""JavaScript and TypeScript: what counts as a definition, how modules are found, and files nobody should write."""

from __future__ import annotations

import json
import time
from pathlib import Path
from textwrap import dedent

import pytest

from weft.code.resolving import Links, Target
from weft.code.symbols import SourceFile, Symbol, read_source
from weft.code.tree import Tree

SHIPS = """
import { Clock } from "./clock";

/** Carries people. */
@sealed
export abstract class Ferry<T> extends Boat<T> implements Vehicle {
  private seats = 12;

  /**
   * Seats left.
   */
  @cached({ for: 3 })
  get free(): number {
    const count = () => 1;
    return this.seats - count();
  }

  abstract sail(to: string): void;

  load(person: string): void;
  load(person: number): void;
  load(person: unknown) {}

  onHorn = async () => {};
}

export interface Dock {
  tie(ferry: Ferry<number>): void;
  tie(ferry: Ferry<string>): void;
  free: () => void;
  name: string;
}

export enum Flag {
  Red,
}

declare function outside(x: number): string;

export const sail = async (ferry: Ferry<never>, to = "north"): Promise<void> => {
  await ferry.sail(to);
};

export const harbour = {
  open() {},
  close: () => {},
} as const;

namespace Signs {
  export function* all() {}
}

export default () => 1;
"""


def definitions(source: SourceFile) -> list[tuple[str, str]]:
    return [(symbol.key, symbol.sort) for symbol in source.symbols]


def one(source: SourceFile, key: str) -> Symbol:
    (found,) = [symbol for symbol in source.symbols if symbol.key == key]
    return found


def project(root: Path, files: dict[str, str]) -> Tree:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(dedent(text), encoding="utf-8")
    return Tree(root)


def calls(links: Links) -> set[Target]:
    return {link.target for link in links.links if link.relation == "CALLS"}


# ---- definitions


def test_what_typescript_defines() -> None:
    assert definitions(read_source(SHIPS, "ships.ts")) == [
        ("Ferry", "abstract"),
        ("Ferry::free", "method"),
        ("Ferry::sail", "method"),
        ("Ferry::load", "method"),
        ("Ferry::onHorn", "method"),
        ("Dock", "interface"),
        ("Dock::tie", "method"),
        ("Dock::free", "method"),
        ("Flag", "enum"),
        ("outside", "function"),
        ("sail", "function"),
        ("harbour::open", "method"),
        ("harbour::close", "method"),
        ("Signs::all", "function"),
        ("default", "function"),
    ]


def test_a_definition_holds_what_belongs_to_it() -> None:
    source = read_source(SHIPS, "ships.ts")
    assert one(source, "Ferry").text.startswith("/** Carries people. */\n@sealed\nexport abstract class Ferry<T>")
    free = one(source, "Ferry::free")
    assert free.docstring == "Seats left."
    assert free.text.startswith("  /**\n   * Seats left.\n   */\n  @cached({ for: 3 })\n  get free(): number {")
    assert "count = () => 1" in free.text, "a function inside it is part of it"
    assert one(source, "sail").signature == 'const sail = async (ferry: Ferry<never>, to = "north"): Promise<void>'
    assert "export const harbour = {" in source.module_text
    shown = {each.key: each for each in source.facts.definitions}
    assert (shown["Ferry"].bases, shown["Ferry"].interfaces) == (("Boat",), ("Vehicle",))
    assert shown["Ferry::free"].returns == "number"


def test_what_commonjs_defines() -> None:
    source = read_source(
        dedent(
            """
            function Ship() {}
            Ship.prototype.sail = function () {};
            Ship.build = () => new Ship();
            exports.open = function () {};
            module.exports.close = async () => {};
            var first = function () {},
                second = function () {};
            module.exports = {
              list() {},
              add: function (a) {},
              other: Ship,
            };
            fetch("x").then(function named() {});
            """
        ),
        "ships.js",
    )
    assert definitions(source) == [
        ("Ship", "function"),
        ("Ship::sail", "method"),
        ("Ship::build", "method"),
        ("open", "function"),
        ("close", "function"),
        ("second", "function"),
        ("list", "method"),
        ("add", "method"),
    ]
    alone = read_source("module.exports = function () {};\n", "a.js")
    assert definitions(alone) == [("exports", "function")]
    assert definitions(read_source("module.exports = class Ship {\n  sail() {}\n};\n", "a.cjs")) == [
        ("Ship", "class"),
        ("Ship::sail", "method"),
    ]


def test_what_is_assigned_to_several_at_once_has_its_own_name() -> None:
    text = """
        exports = module.exports = internals.Ship = class {
          sail() {}
        };
        const app = exports = module.exports = function () {};
        module.exports = exports = class {};
        """
    source = read_source(dedent(text), "ships.js")
    assert definitions(source) == [
        ("internals::Ship", "class"),
        ("internals::Ship::sail", "method"),
        ("app", "function"),
    ]


def test_types_in_comments_count_in_plain_javascript(tmp_path: Path) -> None:
    tree = project(
        tmp_path,
        {
            "ship.js": """
                class Ship {
                  sail() {}
                }

                /** @returns {Promise<Ship>} */
                const find = async () => null;

                module.exports = { Ship, find };
                """,
            "app.js": """
                const { Ship, find } = require("./ship");

                class Harbour {
                  constructor() {
                    /** @type {Map<string, Ship>} */
                    this.held = new Map();
                  }

                  /**
                   * @param {Ship[]} ships - all of them
                   * @param {?Ship} [other=null]
                   * @param {{ nonsense
                   */
                  async start(ships, other = null) {
                    for (const ship of ships) ship.sail();
                  }

                  stop() {
                    this.held.get("x").sail();
                  }
                }

                /** @param {Ship} ship */
                exports.one = (ship) => ship.sail();

                exports.two = async () => (await find()).sail();
                """,
        },
    )
    sail = Target("ship.js", "Ship::sail")
    callers = {link.key for link in tree.links("app.js").links if link.target == sail}
    assert callers == {"Harbour::start", "Harbour::stop", "one", "two"}


def test_tests_go_by_their_titles_and_suites() -> None:
    source = read_source(
        dedent(
            """
            describe("Ferry", () => {
              beforeEach(() => setUp());
              describe.skip("at sea", function () {
                it("floats", () => {});
                it.each([1, 2])("carries %d", async (n) => {});
              });
              test.only('isn\\'t lost', () => {});
              it(`sinks`, function () {});
              it(title, () => {});
            });
            """
        ),
        "ferry.test.ts",
    )
    assert [(symbol.key, symbol.kind) for symbol in source.symbols] == [
        ("Ferry::at sea::floats", "Test"),
        ("Ferry::at sea::carries %d", "Test"),
        ("Ferry::'isn\\'t lost'", "Test"),
        ("Ferry::sinks", "Test"),
    ]
    assert one(source, "Ferry::at sea::floats").signature == 'it("floats")'
    assert "it(title" in source.module_text


@pytest.mark.parametrize("path", ["a.tsx", "a.jsx", "a.js", "b.mjs"])
def test_elements_use_components(path: str) -> None:
    source = read_source("const view = () => <ui.Box><Card/><div/><></></ui.Box>;\n", path)
    assert {each.chain for each in source.facts.references} == {"ui.Box", "Card"}
    assert source.broken == ()


def test_what_others_see_of_a_file_changes_with_what_it_shows_alone() -> None:
    def digest(text: str) -> str:
        return read_source(text, "a.ts").facts.interface()

    plain = digest("export function make() {\n  return new Store();\n}\n")
    assert digest("export function make() {\n  log();\n  const x = 1;\n  return new Store();\n}\n") == plain
    assert digest("export function make() {\n  return new Other();\n}\n") != plain
    assert digest("function make() {\n  return new Store();\n}\nexport { make as build };\n") != plain


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


# ---- files that nobody should write


def packed(functions: int) -> str:
    return "!function(e,t){" + "".join(
        f"function a{n}(e){{return b{n}.c(e,function(t){{return t.d{n}(new E{n}(e))}})}}var x{n}=a{n}({n});"
        for n in range(functions)
    )


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
