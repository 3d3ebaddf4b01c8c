"""What a certificate states, each with what became of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class StatementStanding(StrEnum):
    """Whether a statement of a certificate is true of the release."""

    HOLDS = "holds"
    FAILS = "does not hold"
    OPEN = "not recounted"


@dataclass(frozen=True)
class Statement:
    """One statement of a certificate.

    ``words`` say what was counted; where it fails, what the certificate says and what was counted; or why it was not
    recounted. Where a promise, part of the requirement, was not recounted, nothing can be said about the release.
    """

    name: str
    standing: StatementStanding
    words: str
    promised: bool = False

    def __str__(self) -> str:
        return f"{self.standing:<13}  {self.name}: {self.words}"


def compared(name: str, stated: Any, counted: Any, *, promised: bool = False) -> Statement:
    """A statement next to what was counted.

    Examples
    --------
    >>> print(compared("rows released", 1200, 1199))
    does not hold  rows released: the certificate says 1,200, the release has 1,199
    """
    if stated == counted:
        return Statement(name, StatementStanding.HOLDS, _text(counted), promised)
    words = f"the certificate says {_text(stated)}, the release has {_text(counted)}"
    return Statement(name, StatementStanding.FAILS, words, promised)


def consistent(name: str, true: bool, words: str, otherwise: str) -> Statement:
    """A statement that follows from others of the certificate, or contradicts them."""
    return (
        Statement(name, StatementStanding.HOLDS, words) if true else Statement(name, StatementStanding.FAILS, otherwise)
    )


def left_open(name: str, why: str, *, promised: bool = False) -> Statement:
    """A statement that cannot be recounted from the release."""
    return Statement(name, StatementStanding.OPEN, why, promised)


def _text(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, dict):
        return ", ".join(f"{_text(count)} {what}" for what, count in value.items()) or "nothing"
    return str(value)


@dataclass(frozen=True)
class CertificateVerdict:
    """What became of every statement of a certificate.

    Examples
    --------
    >>> print(CertificateVerdict("release.csv", (compared("rows released", 20, 20),)))
    holds          rows released: 20
    release.csv is what its certificate says: every statement that can be recounted from it holds.
    """

    release: str
    statements: tuple[Statement, ...]

    @property
    def failed(self) -> tuple[Statement, ...]:
        """The statements that are not true."""
        return tuple(one for one in self.statements if one.standing is StatementStanding.FAILS)

    @property
    def undecided(self) -> tuple[Statement, ...]:
        """Promises that could not be recounted."""
        return tuple(one for one in self.statements if one.promised and one.standing is StatementStanding.OPEN)

    @property
    def passed(self) -> bool:
        """Whether no statement fails and every promise was recounted."""
        return not self.failed and not self.undecided

    @property
    def exit_status(self) -> int:
        """0: it holds, 1: a statement does not hold, 2: it could not be determined."""
        return 1 if self.failed else 2 if self.undecided else 0

    def to_json(self) -> dict[str, Any]:
        """The verdict as plain data."""
        return {
            "release": self.release,
            "outcome": ("holds", "does not hold", "could not be determined")[self.exit_status],
            "statements": [
                {"statement": one.name, "standing": str(one.standing), "words": one.words} for one in self.statements
            ],
        }

    def __str__(self) -> str:
        return "\n".join([*map(str, self.statements), self.summary])

    @property
    def summary(self) -> str:
        """The verdict in a sentence."""
        if self.failed:
            return f"{self.release} is not what its certificate says: {_listed(self.failed)}."
        if self.undecided:
            return (
                f"{self.release}: could not be determined, for a promise was not recounted: {_listed(self.undecided)}."
            )
        return f"{self.release} is what its certificate says: every statement that can be recounted from it holds."


def _listed(statements: Iterable[Statement]) -> str:
    names: Iterator[str] = (one.name for one in statements)
    return "; ".join(names)
