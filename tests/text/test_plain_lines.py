"""Markdown and reStructuredText as plain text: no markup, and code as it is written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.text.markup.plain_lines import plain_lines

FLASK = """\
.. _views:

Using views
===========

.. currentmodule:: flask

Read :attr:`~flask.Request.args`, decorate with :meth:`Flask.route` or call ``app.run()``;
see the `docs <https://flask.example>`_ for *more* of **this**.

.. admonition:: Changed defaults

   Use ``TEMPLATES_AUTO_RELOAD``.

.. note::
   Works with :class:`Blueprint` too.

   .. code-block:: python
      :linenos:

      @app.route("/`x`")
      def hello(*args, **kw):
          return "``x``"

.. versionadded:: 0.9
   The *max* parameter.

Start it::

    $ flask --app hello run
    * Running on http://127.0.0.1:5000/

-   **One** item::

        app = Flask(__name__)  # `code`

-   Another with :func:`url_for`

:param name: the *name* of the view

.. autoclass:: flask.Flask
   :members:

====== =======
Name   Value
====== =======
``a``  1
====== =======
"""
PLAIN_FLASK = """\
Using views

Read args, decorate with Flask.route or call app.run();
see the docs for more of this.

Changed defaults
Use TEMPLATES_AUTO_RELOAD.

Note:
Works with Blueprint too.

```python
@app.route("/`x`")
def hello(*args, **kw):
    return "``x``"
```

Added in version 0.9
The max parameter.

Start it:

```
$ flask --app hello run
* Running on http://127.0.0.1:5000/
```

-   One item:

    ```
    app = Flask(__name__)  # `code`
    ```
-   Another with url_for

param name: the name of the view

flask.Flask

Name: a | Value: 1"""
MARKDOWN = """\
# Views of `x`

See [the docs](https://flask.example) and **bold** *text*, `code *x*`.

```python
def f(*args):
    return "**x**"
```

1. First
   ```
   nested *code*
   ```
2. Second **item**

> quoted [link](a)

| Name | Value |
|------|-------|
| `x`  | 1     |

[ref]: http://x.example
"""
PLAIN_MARKDOWN = """\
Views of x

See the docs and bold text, code *x*.

```python
def f(*args):
    return "**x**"
```

1. First
   ```
   nested *code*
   ```
2. Second item

quoted link

Name: x | Value: 1"""


def test_documentation_in_restructuredtext_loses_its_markup() -> None:
    assert "\n".join(plain_lines(FLASK, "rst")) == PLAIN_FLASK


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (".. note:: The *lid* is heavy.\n", ["Note: The lid is heavy."]),
        (".. deprecated:: 2.0\n", ["Deprecated since version 2.0"]),
        (".. rubric:: Footnotes\n", ["Footnotes"]),
        (".. index:: kiln\n", []),
        (".. |cone| replace:: Orton cone\n", []),
        (
            ".. list-table:: Cones\n   :header-rows: 1\n\n   * - Cone\n     - Temp\n"
            "   * - 06\n     - 999\n       degrees\n   * -\n     - none\n",
            ["Cones", "Cone: 06 | Temp: 999 degrees;", "Temp: none"],
        ),
        (".. list-table::\n\n   no list\n", ["no list"]),
    ],
)
def test_directives_show_their_words(written: str, shown: list[str]) -> None:
    assert plain_lines(written, "rst") == shown


def test_markdown_loses_its_markup() -> None:
    assert "\n".join(plain_lines(MARKDOWN, "markdown")) == PLAIN_MARKDOWN


@pytest.mark.parametrize("form", ["text", "pdf"])
def test_text_without_markup_stays_as_it_is(form: str) -> None:
    text = "A *star* and `tick`\n\n    indented\n"
    assert plain_lines(text, form) == ["A *star* and `tick`", "", "    indented"]  # type: ignore[arg-type]


PIECES = st.sampled_from(
    [
        "a",
        "word",
        "`",
        "``",
        "*",
        "**",
        ":",
        "::",
        "\n",
        "\n\n",
        "   ",
        ".. note::",
        "- ",
        "1. ",
        "|",
        "# ",
        ">",
        "```",
        "===",
    ]
)


@given(st.lists(PIECES, max_size=60).map("".join), st.sampled_from(["rst", "markdown"]))
def test_any_text_gives_lines(text: str, form: str) -> None:
    assert all("\n" not in line for line in plain_lines(text, form))  # type: ignore[arg-type]


@pytest.mark.parametrize("form", ["rst", "markdown"])
def test_deep_nesting_is_bounded(form: str) -> None:
    text = "\n".join(f"{'  ' * depth}- item {depth}\n" for depth in range(200))
    assert len(plain_lines(text, form)) >= 200  # type: ignore[arg-type]


ROWS = ["Port: 80 | Service: web (a|b);", "Port: 90 | Service: metrics"]


@pytest.mark.parametrize(
    ("written", "form", "shown"),
    [
        ("| Port | Service |\n|---|:---:|\n| 80 | web (a\\|b) |\n| 90 | metrics |\n", "markdown", ROWS),
        ("Port | Service\n---|---\n80 | web (a\\|b)\n90 | metrics\n", "html", ROWS),
        ("| Port | Service |\n|---|---|\n", "markdown", ["Port | Service"]),
        (
            "+------+---------+\n| Port | Service |\n+======+=========+\n| 80   | web     |\n|      | server  |\n"
            "+------+---------+\n| 90   | metrics |\n+------+---------+\n",
            "rst",
            ["Port: 80 | Service: web server;", "Port: 90 | Service: metrics"],
        ),
        (
            "====  =======\nPort  Service\n====  =======\n80    web\n      server\n90    metrics\n====  =======\n",
            "rst",
            ["Port: 80 | Service: web server;", "Port: 90 | Service: metrics"],
        ),
        ("====  =======\n80    web\n90    metrics\n====  =======\n", "rst", ["80 | web;", "90 | metrics"]),
    ],
)
def test_a_row_of_a_table_names_its_columns(written: str, form: str, shown: list[str]) -> None:
    assert plain_lines(written, form) == shown


def test_front_matter_is_shown_without_its_fences() -> None:
    assert plain_lines('---\nowner: "Mira"\nteam: ops\n---\n', "markdown") == ['owner: "Mira" · team: ops']
