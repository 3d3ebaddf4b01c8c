"""Numbers in sentences, and what was not measured: never a number, never "low risk"."""

from __future__ import annotations

from dataclasses import dataclass


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    Examples
    --------
    >>> counted(1, "row"), counted(2500, "row")
    ('1 row', '2,500 rows')
    """
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def percent(share: float) -> str:
    """A share in per cent; only nothing is 0 % and only all is 100 %.

    Examples
    --------
    >>> percent(0.5), percent(0.0001), percent(0.9999), percent(1.0), percent(-0.021)
    ('50.0 %', '<0.1 %', '>99.9 %', '100 %', '-2.1 %')
    """
    if share in (0, 1):
        return "100 %" if share else "0 %"
    if 0 < share < 0.0005 or share >= 0.9995:
        return "<0.1 %" if share < 0.5 else ">99.9 %"
    return f"{share * 100:.1f} %"


def visible(words: str) -> str:
    r"""One line of visible text: no control characters, no change of writing direction.

    Examples
    --------
    >>> visible("zip\x1b[31m")
    'zip\ufffd[31m'
    """
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in words)


# What was not measured, and why: never a number, never "low risk".
@dataclass(frozen=True)
class NotMeasured:
    """A measure that could not be taken.

    Examples
    --------
    >>> print(NotMeasured("the size of the population is not known"))
    not estimated: the size of the population is not known
    """

    reason: str

    def __str__(self) -> str:
        return f"not estimated: {self.reason}"

    def to_json(self) -> dict[str, str]:
        """As data."""
        return {"not_estimated": self.reason}
