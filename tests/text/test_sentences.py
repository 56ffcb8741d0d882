"""Sentences: where they begin and end, for any text, in time that grows with its length."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from weft.text.sentences import MAX_SENTENCES, sentence_spans

PIECES = st.sampled_from(
    (".", "!", "?", "。", " ", "  ", "\n", "\n\n", "\t", '"', ")", "(", "Dr", "e.g", "A", "word", "Word", "é", "7")
)
TEXTS = st.one_of(st.lists(PIECES, max_size=60).map("".join), st.text(max_size=200))


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The ferry sails. It is late.", ["The ferry sails.", "It is late."]),
        ("Is it late? Yes! 7 boats came.", ["Is it late?", "Yes!", "7 boats came."]),
        ('He said "go." Then he left.', ['He said "go."', "Then he left."]),
        ("It costs 3.50 crowns at dr. okonro's.", ["It costs 3.50 crowns at dr. okonro's."]),
        ("Dr. Okonro met J. R. Dravik. They sailed.", ["Dr. Okonro met J. R. Dravik.", "They sailed."]),
        ("first line\nsecond line\n\n third", ["first line", "second line", "third"]),
        ("Signed, Dr.\nNext line", ["Signed, Dr.", "Next line"]),
        ("船が出る。遅い！", ["船が出る。", "遅い！"]),
        (" \n\t ", []),
        ("", []),
    ],
)
def test_where_sentences_are(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@settings(max_examples=200)
@given(TEXTS)
@example('He said "go." Then he left.')
@example("\x85 . A")
@example("a \x1c\n b")
def test_spans_are_in_order_apart_and_leave_out_only_blanks(text: str) -> None:
    reached = 0
    for start, end in sentence_spans(text):
        assert reached <= start < end
        assert not text[reached:start].strip(), "what lies between is blank or a closing mark"
        assert text[start:end] == text[start:end].strip()
        reached = end
    assert not text[reached:].strip()


@pytest.mark.parametrize("count", [MAX_SENTENCES, MAX_SENTENCES + 1, 10 * MAX_SENTENCES + 3])
def test_a_long_text_is_cut_into_so_many_pieces(count: int) -> None:
    text = "\n".join(f"Sentence number {number}." for number in range(count))
    spans = sentence_spans(text)
    assert len(spans) <= MAX_SENTENCES
    assert spans[0][0] == 0
    assert spans[-1][1] == len(text)


@pytest.mark.parametrize(
    "piece", [" ", "\n", ". ", ".) ", '."', "A. ", "? ", " \n", "\t", ".)", "e.g.", "。", ". a", ".\n", "x"]
)
def test_time_grows_with_the_length(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    for tried in (text, f"End.{text}", f"{text}x", f"End.{text}x"):
        began = time.process_time()
        sentence_spans(tried)
        assert time.process_time() - began < 2.0
