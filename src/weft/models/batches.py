"""Cuts a sequence of texts into consecutive batches of bounded size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def batches(texts: Sequence[str], *, max_texts: int, max_characters: int) -> Iterator[Sequence[str]]:
    """Slices of `texts`, in order, none empty; a text over `max_characters` has a batch to itself."""
    start, characters = 0, 0
    for number, text in enumerate(texts):
        full = number - start == max_texts or characters + len(text) > max_characters
        if full and number > start:
            yield texts[start:number]
            start, characters = number, 0
        characters += len(text)
    if start < len(texts):
        yield texts[start:]
