"""Words and numbers as every page, drawing and terminal shows them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from typing import TypeVar

T = TypeVar("T")
_SPACES = re.compile("[\t\n\v\f\r\x85\u2028\u2029]+")
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
_NEAR = 1e-9  # a sum of shares misses 0 and 1 by rounding errors


class Tone(StrEnum):
    """How good the news is."""

    GOOD = "good"
    POOR = "poor"
    BAD = "bad"


def plain(words: str) -> str:
    r"""One line of visible text: no control characters, no change of writing direction, no half characters."""
    return _UNPRINTABLE.sub("\ufffd", _SPACES.sub(" ", words))


def clipped(words: str, longest: int) -> str:
    """Plain words, cut to a number of letters."""
    words = plain(words)
    return words if len(words) <= longest else words[: longest - 1] + "…"


def counted(number: int, noun: str) -> str:
    """A number with its noun."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def percent(share: float) -> str:
    """A share in per cent; only nothing is 0 % and only all is 100 %."""
    if abs(share) <= _NEAR or abs(share - 1) <= _NEAR:
        return "0 %" if share < 0.5 else "100 %"
    if 0 < share < 0.0005 or share >= 0.9995:
        return "<0.1 %" if share < 0.5 else ">99.9 %"
    return f"{share * 100:.1f} %"


def unbroken(words: str) -> str:
    """The same, numbers and their per cent signs on one line."""
    return words.replace(" %", "\u00a0%")


def sentence(words: str) -> str:
    """The words with a capital and a full stop."""
    return f"{words[:1].upper()}{words[1:]}."


def listed(names: Sequence[str]) -> str:
    """Names in a sentence."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else list(names))


def short_number(number: float | None) -> str:
    """A measured number with three digits; a dash where there is none."""
    if number is None:
        return "–"
    if 0 < abs(number) < 0.0005:
        return "<0.001" if number > 0 else ">-0.001"
    return f"{number:.3g}"


def outline(root: T, below: Callable[[T], Sequence[T]]) -> Iterator[tuple[str, T]]:
    """The nodes of a tree, each after its parent, with the lines that lead to it. Nothing recurses."""
    waiting = [(root, "", "")]
    while waiting:
        node, before, corner = waiting.pop()
        yield before + corner, node
        inner = before + {"": "", "├─ ": "│  ", "└─ ": "   "}[corner]
        children = below(node)
        corners = ["├─ "] * (len(children) - 1) + ["└─ "]
        waiting += reversed([(child, inner, mark) for child, mark in zip(children, corners, strict=False)])
