"""Editing JSON as text: what is not touched stays byte for byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.core.errors import Invalid
from weft.surfaces.install.edits import add, put, take, take_item
from weft.surfaces.install.parts import BEGIN, END, put_block, take_block
from weft.text.jsonc import parse, value_of

WITH_COMMENTS = """\
// for everybody
{
    // servers
    "servers": {
        "other": { "command": "npx" }, /* keep */ // and this
    }, // trailing comma
    "inputs": []
}
"""


def read(text: str) -> Any:
    return value_of(parse(text))


def test_a_member_goes_in_beside_comments_and_comes_out_again() -> None:
    put_in = put(WITH_COMMENTS, ("servers", "weft"), {"command": "weft", "args": ["mcp"]})
    assert put_in == WITH_COMMENTS.replace(
        "/* keep */ // and this\n",
        """/* keep */ // and this
        "weft": {
            "command": "weft",
            "args": [
                "mcp"
            ]
        },
""",
    )
    assert take(put_in, ("servers", "weft")) == WITH_COMMENTS


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{}", '{\n  "a": {\n    "b": 1\n  }\n}'),
        ('{"x":1}', '{"x":1, "a": {"b": 1}}'),
        ('{ "x": 1 }', '{ "x": 1, "a": {"b": 1} }'),
        ('{\r\n\t"x": 1\r\n}\r\n', '{\r\n\t"x": 1,\r\n\t"a": {\r\n\t\t"b": 1\r\n\t}\r\n}\r\n'),
        ('{\n "x": 1 // one\n}', '{\n "x": 1, // one\n "a": {\n  "b": 1\n }\n}'),
        ("", '{\n  "a": {\n    "b": 1\n  }\n}\n'),
        ("// mine", '// mine\n{\n  "a": {\n    "b": 1\n  }\n}\n'),
        ('{"a": {"b": 1}}', '{"a": {"b": 1}}'),
        ('{"a": {"b": 2}, "a": {"b": 3}}', '{"a": {"b": 2}, "a": {"b": 1}}'),
        ('{\n  "a": {}\n}', '{\n  "a": {\n    "b": 1\n  }\n}'),
        ('{"\\u0061": {"b": 0}}', '{"\\u0061": {"b": 1}}'),
        ("{ /* none yet */ }", '{ /* none yet */\n  "a": {\n    "b": 1\n  }\n}'),
    ],
)
def test_putting_in(before: str, after: str) -> None:
    assert put(before, ("a", "b"), 1) == after
    assert put(after, ("a", "b"), 1) == after


def test_items_are_added_and_taken_out() -> None:
    text = '{\n  "list": [\n    1, // one\n    2\n  ]\n}\n'
    more = add(text, ("list",), {"x": 3})
    assert read(more) == {"list": [1, 2, {"x": 3}]}
    assert "// one" in more
    assert take_item(more, ("list",), 2) == text
    assert read(take_item(take_item(more, ("list",), 1), ("list",), 0)) == {"list": [{"x": 3}]}


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ('{\n  "a": 1\n  "b": 2\n}', 3, 3),
        ('{\n  "a": \n}', 3, 1),
        ('{\n  "a": "x\n}', 2, 8),
        ('{"a": 1} {', 1, 10),
        ("{\n/* never ends", 2, 1),
        ("{a: 1}", 1, 2),
        ('{"a": tru}', 1, 7),
        ("[1,,2]", 1, 4),
        ('{"a" 1}', 1, 6),
        ("{", 1, 2),
        ('{"a": "\\x"}', 1, 7),
        ("[" * 300, 1, 202),
    ],
)
def test_damage_is_named_with_its_place(text: str, line: int, column: int) -> None:
    with pytest.raises(Invalid, match=rf"line {line}, column {column}: "):
        parse(text)


def test_what_is_no_object_is_not_made_one() -> None:
    with pytest.raises(Invalid, match="servers is not an object"):
        put('{"servers": []}', ("servers", "weft"), 1)


@pytest.mark.parametrize("text", ['{"a": 1 // one\r}', '{"a": {"b": 1} // one\r}'])
def test_what_would_land_in_a_comment_is_refused(text: str) -> None:
    with pytest.raises(Invalid, match="cannot be changed safely"):
        put(text, ("weft",), 1)


@pytest.mark.parametrize("number", ["9" * 5_000, "-" + "9" * 5_000, "1e99999", "0." + "3" * 5_000])
def test_a_number_stays_as_it_is_written(number: str) -> None:
    text = f'{{"a": [{number}]}}'
    assert take(put(text, ("b",), 1), ("b",)) == text


def test_digits_of_other_scripts_are_no_number() -> None:
    with pytest.raises(Invalid, match="line 1, column 8"):
        parse('{"a": 1\u0663}')


# ---- generated texts

KEYS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=6).filter(
    lambda key: key != "weft"
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
GAPS = st.sampled_from(["", " ", "\n", "\n  ", "\t", " // note\n", "/* , } */", "\r\n    "])


@st.composite
def written(draw: st.DrawFn, value: Any) -> str:
    """A value in some spelling: with spaces, comments and trailing commas anywhere."""
    gap = lambda: draw(GAPS)  # noqa: E731
    if isinstance(value, dict):
        members = [
            f"{gap()}{json.dumps(key)}{gap()}:{gap()}{draw(written(each))}{gap()}" for key, each in value.items()
        ]
    elif isinstance(value, list):
        members = [f"{gap()}{draw(written(each))}{gap()}" for each in value]
    else:
        return json.dumps(value, ensure_ascii=draw(st.booleans()))
    comma = "," if members and draw(st.booleans()) else ""
    begin, end = "{}" if isinstance(value, dict) else "[]"
    return f"{begin}{','.join(members)}{comma}{gap()}{end}"


@st.composite
def texts(draw: st.DrawFn) -> tuple[Any, str]:
    others = draw(st.dictionaries(KEYS, VALUES, min_size=1, max_size=3))
    value = draw(st.dictionaries(KEYS, VALUES, max_size=3)) | {"servers": others}
    return value, draw(GAPS) + draw(written(value)) + draw(GAPS)


@given(texts())
def test_any_spelling_is_read(made: tuple[Any, str]) -> None:
    value, text = made
    assert read(text) == value


@given(texts(), VALUES)
def test_any_text_is_the_same_after_in_and_out(made: tuple[Any, str], entry: Any) -> None:
    value, text = made
    put_in = put(text, ("servers", "weft"), entry)
    assert read(put_in) == value | {"servers": value["servers"] | {"weft": entry}}
    assert take(put_in, ("servers", "weft")) == text


@given(texts(), VALUES)
def test_an_item_in_and_out_of_any_text(made: tuple[Any, str], item: Any) -> None:
    value, text = made
    for key, held in value["servers"].items():
        if isinstance(held, list) and held:
            more = add(text, ("servers", key), item)
            assert read(more)["servers"][key] == [*held, item]
            assert take_item(more, ("servers", key), len(held)) == text


# ---- the block

LINES = st.lists(st.sampled_from(["", "# Rules", "- be kind", "<!-- note -->"]), max_size=4)


@given(LINES, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_a_block_in_and_out_of_any_text(lines: list[str], newline: str, ended: bool) -> None:
    text = newline.join(lines) + (newline if ended and lines else "")
    put_in = put_block(text, "one\ntwo")
    assert put_in.count(BEGIN) == 1
    assert put_block(put_in, "one\ntwo") == put_in
    assert take_block(put_in) == text
    assert take_block(put_block(put_in, "other words")) == text


@pytest.mark.parametrize("text", [f"{BEGIN}\n", f"{END}\n", f"{END}\n{BEGIN}\n", f"{BEGIN}{END}{BEGIN}{END}"])
def test_marks_that_do_not_fit_are_refused(text: str) -> None:
    with pytest.raises(Invalid, match="weft:"):
        put_block(text, "words")
