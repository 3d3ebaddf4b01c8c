"""Clean the distinct texts of a column: what looks the same must be the same value."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from incrowd.errors import Notice
from incrowd.reading.dictionary import Tally
from incrowd.reading.wording import counted

# Zero-width space, word joiner, byte order mark, soft hyphen and the marks and embeddings of direction.
_INVISIBLE = "[\u200b\u2060\ufeff\u00ad\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
_WORDS = (("yes", "no"), ("y", "n"), ("true", "false"), ("t", "f"), ("1", "0"), ("on", "off"))
TRUTH = {word: place == 0 for pair in _WORDS for place, word in enumerate(pair)}
"""What words for yes and no mean, in lower case."""


def clean(found: Tally, missing: tuple[str, ...], where: str) -> tuple[pl.Series, tuple[Notice, ...]]:
    """Strip edge spaces and invisible characters, compose accents; empty text and markers become null.

    Examples
    --------
    >>> import numpy as np
    >>> found = Tally(pl.Series(["nurse", " nurse", " "]), np.array([2, 1, 1, 0]))
    >>> texts, notices = clean(found, (), "job")
    >>> texts.to_list(), [notice.code for notice in notices]
    (['nurse', 'nurse', None], ['edge-spaces'])
    """
    texts = found.values
    steps = [("edge-spaces", "with spaces at an edge; read without them", pl.all().str.strip_chars())]
    if (texts.str.len_bytes() != texts.str.len_chars()).any():
        steps = [
            (
                "invisible-characters",
                "with invisible characters; read without them",
                pl.all().str.replace_all(_INVISIBLE, ""),
            ),
            (
                "composed",
                "with accents apart from their letters; read as one character (NFC)",
                pl.all().str.normalize("NFC"),
            ),
            *steps,
        ]
    notices = []
    for code, message, step in steps:
        cleaned = texts.to_frame("").select(step).to_series()
        changed = (cleaned != texts) & (cleaned != "")
        if changed.any():
            notices.append(Notice(code, where, f"{found.described(changed)} {message}."))
        texts = cleaned
    gone = texts.is_in(["", *missing])
    return pl.select(pl.when(~gone).then(texts)).to_series(), tuple(notices)


def variants(texts: pl.Series, where: str) -> Iterator[Notice]:
    """Notices about values that are kept apart although they may mean the same.

    Examples
    --------
    >>> [notice.code for notice in variants(pl.Series(["Nurse", "nurse"]), "job")]
    ['case-variants']
    """
    known = texts.drop_nulls().unique()
    folded = known.str.to_lowercase().unique()
    if len(folded) < len(known):
        more = counted(len(known) - len(folded), "more value")
        yield Notice("case-variants", where, f"{more} than if case did not count; they are kept apart.")
    numbers = known.cast(pl.Float64, strict=False).drop_nulls()
    if numbers.n_unique() < len(numbers):
        more = counted(len(numbers) - numbers.n_unique(), "more value")
        yield Notice("number-spellings", where, f"{more} than numbers they write; they are kept apart.")
    if is_truth_mixture(folded):
        yield Notice("truth-spellings", where, "yes and no are written in several ways; they are kept apart.")


def is_truth_mixture(folded: pl.Series) -> bool:
    """Whether lower-case values are words for yes and no of more than one kind.

    Examples
    --------
    >>> is_truth_mixture(pl.Series(["yes", "true"])), is_truth_mixture(pl.Series(["yes", "no"]))
    (True, False)
    """
    if not 1 < len(folded) <= len(TRUTH):
        return False
    words = set(folded.to_list())
    return words <= set(TRUTH) and not any(words <= set(pair) for pair in _WORDS)
