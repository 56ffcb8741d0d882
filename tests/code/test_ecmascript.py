"""JavaScript and TypeScript: what counts as a definition, how modules are found, and files nobody should write."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from tests.code.ecmascript import project
from weft.code.parse.symbols import SourceFile, Symbol, read_source
from weft.code.resolve import Target

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
