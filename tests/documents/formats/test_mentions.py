"""Names that passages write as code."""

from __future__ import annotations

import pytest

from tests.documents.formats.outlines import passages


def named(text: str, form: str = "markdown") -> tuple[str, ...]:
    return tuple(name for passage in passages(text, form) for name in passage.mentions)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("`weft.open()`", "weft.open"),
        ("`weft.open(path, mode='r')`", "weft.open"),
        ("`src/weft/open.py`", "src/weft/open.py"),
        ("`./open.py`", "open.py"),
        ("`Store.read`", "Store.read"),
        ("`std::vec::Vec`", "std::vec::Vec"),
        ("`.write()`", "write"),
        ("``two`` ", "two"),
        ("`weft.toml`", "weft.toml"),
        ("`WEFT_HOME`", "WEFT_HOME"),
        ("`delete()`", "delete"),
        ("`self.run`", "self.run"),
    ],
)
def test_markdown_code(written: str, name: str) -> None:
    assert named(f"See {written} for it.\n") == (name,)


@pytest.mark.parametrize(
    "written",
    ["`weft recall x`", "`--json`", "`-v`", "`x`", "`a + b`", "`{}`", "`1.2.3`", "\\`no\\`", "`unclosed", "``",
     "`None`", "`True`", "`self`", "`null`", "`import`", "`function`"],
)  # fmt: skip
def test_what_is_no_name(written: str) -> None:
    assert named(f"See {written} for it.\n") == ()


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("``os.fork()``", "os.fork"),
        (":func:`os.fork`", "os.fork"),
        (":class:`~collections.deque`", "collections.deque"),
        (":py:meth:`the call <list.append>`", "list.append"),
        (":mod:`!json`", "json"),
        (":file:`etc/weft.toml`", "etc/weft.toml"),
    ],
)
def test_rst_roles(written: str, name: str) -> None:
    assert named(f"See {written} for it.\n", "rst") == (name,)


def test_what_a_directive_describes_is_named() -> None:
    assert named(".. function:: dump(obj, fp)\n\n   Writes.\n", "rst") == ("dump",)


def test_rst_words_are_not_code() -> None:
    assert named("See :ref:`part` and `a title`_ and *words*.\n", "rst") == ()


def test_plain_text_names_only_files() -> None:
    assert named("Look at src/weft/open.py, not at and/or, `x.y` or https://a.org/b.html here.\n", "text") == (
        "src/weft/open.py",
    )


def test_each_once_in_order_and_bounded() -> None:
    assert named("`bb` `aa` `bb`\n") == ("bb", "aa")
    assert len(named(" ".join(f"`name_{n}`" for n in range(100)))) == 40
