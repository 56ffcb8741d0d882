"""Text that is no code, in files that are called so: for every language, in bounded time, and no line is lost."""

from __future__ import annotations

import time

import pytest

from weft.code.parse import parse as parsing
from weft.code.parse.symbols import read_source
from weft.core.errors import Invalid
from weft.files.languages import LANGUAGES

SUFFIXES = [each.suffixes[0] for each in LANGUAGES]
DEEP = {
    "calls in calls": "f(" * 20_000 + ")" * 20_000,
    "one long chain": "a.b()." * 20_000 + "c()",
    "braces": "{" * 100_000 + "}" * 100_000,
    "open brackets": "[" * 200_000,
    "one long line": "function f(){return 1};" * 5_000,
    "line ends of all sorts": "\ufeffa\r\n\tb\rc\n" * 5_000,
    "zeros": "\0" * 100_000,
}


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_deep_and_long_text_is_read_in_seconds(suffix: str, text: str) -> None:
    begun = time.process_time()
    source = read_source(text, f"a{suffix}")
    assert time.process_time() - begun < 10
    held = source.module_text + "".join(each.text for each in source.symbols)
    told = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    assert len(held.split()) == len(told.split())


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    "text", ['"' * 60_001, "a: b " * 20_000, '"a" ' * 30_000 + "("], ids=["quotes", "labels", "strings"]
)
def test_what_a_grammar_takes_too_long_over_is_told(monkeypatch: pytest.MonkeyPatch, suffix: str, text: str) -> None:
    monkeypatch.setattr(parsing, "MAX_PARSE_MS", 200)
    begun = time.process_time()
    problem = ""
    try:
        source = read_source(text, f"a{suffix}")
    except Invalid as raised:
        problem = raised.message
    else:
        assert source.module_text.split() == text.split()
    assert problem in ("", "takes too long to parse")
    assert time.process_time() - begun < 5
