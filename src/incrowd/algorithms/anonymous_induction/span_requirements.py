"""What the population of every span must keep: its size, and how well its classes are mixed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.errors import ParameterError
from incrowd.measures.entropy import entropy
from incrowd.vocabulary.requirement import KAnonymity

Histogram = npt.NDArray[np.int64]

SLACK = 1e-9


@dataclass(frozen=True)
class EntropyDiversity:
    """The entropy of the classes is at least ``log2 l`` (Machanavajjhala et al. 2006, definition 4.1).

    Examples
    --------
    >>> EntropyDiversity(2).holds(np.array([3, 3])), EntropyDiversity(2).holds(np.array([3, 2]))
    (True, False)
    """

    l: float  # noqa: E741

    def __post_init__(self) -> None:
        if not _is_number(self.l) or not 1 <= self.l < float("inf"):
            raise ParameterError("l must be a number of at least 1. Give for instance l=1.5.")

    @classmethod
    def capping(cls, confidence: float) -> EntropyDiversity:
        """The l that keeps an attacker's confidence in one of two classes at most at this share.

        ``l = 2^H(c) = c^-c (1-c)^-(1-c)`` (Friedman, Schuster, Wolff, section 4.2). With more than two classes entropy
        caps nothing: use :class:`ConfidenceCap`.

        Examples
        --------
        >>> round(EntropyDiversity.capping(0.85).l, 3)
        1.526
        """
        ConfidenceCap(confidence)
        return cls(float(2 ** entropy([confidence, 1 - confidence])))

    @property
    def bits(self) -> float:
        """The entropy that is needed."""
        return float(np.log2(self.l))

    def holds(self, histogram: Histogram) -> bool:
        """Whether a population with these class counts is diverse enough."""
        return entropy(histogram) >= self.bits - SLACK


@dataclass(frozen=True)
class ConfidenceCap:
    """No class has a larger share: whoever knows the span guesses the class with at most this confidence.

    With two classes this is entropy l-diversity with the l of :meth:`EntropyDiversity.capping`.

    Examples
    --------
    >>> ConfidenceCap(0.85).holds(np.array([17, 3])), ConfidenceCap(0.85).holds(np.array([18, 3]))
    (True, False)
    """

    share: float

    def __post_init__(self) -> None:
        if not _is_number(self.share) or not 0 < self.share <= 1:
            raise ParameterError("max_confidence must be above 0 and at most 1. Give for instance 0.85.")

    def holds(self, histogram: Histogram) -> bool:
        """Whether the most frequent class is not too frequent."""
        return float(histogram.max(initial=0)) <= self.share * float(histogram.sum()) + SLACK


@dataclass(frozen=True)
class SpanRequirement:
    """k-anonymity of spans, alone or together with entropy l-diversity and a cap on the confidence.

    Examples
    --------
    >>> asked = SpanRequirement(4, max_confidence=0.75)
    >>> asked.holds(np.array([3, 1])), asked.holds(np.array([4, 1])), asked.holds(np.array([2, 1]))
    (True, False, False)
    >>> str(asked)
    'every span has at least 4 rows, none of its classes a share above 0.75'
    """

    k: int
    l: float | None = None  # noqa: E741
    max_confidence: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", KAnonymity(self.k).k)
        _ = self.parts  # each checks its own parameter

    @property
    def parts(self) -> tuple[KAnonymity | EntropyDiversity | ConfidenceCap, ...]:
        """The single requirements."""
        more: list[EntropyDiversity | ConfidenceCap] = []
        if self.l is not None:
            more.append(EntropyDiversity(self.l))
        if self.max_confidence is not None:
            more.append(ConfidenceCap(self.max_confidence))
        return (KAnonymity(self.k), *more)

    @property
    def bits(self) -> float:
        """The entropy that is needed; 0 if none is."""
        return 0.0 if self.l is None else EntropyDiversity(self.l).bits

    @property
    def share(self) -> float:
        """The largest share of a class; 1 if all are allowed."""
        return 1.0 if self.max_confidence is None else self.max_confidence

    def holds(self, histogram: Histogram) -> bool:
        """Whether a population with these class counts may be a span."""
        return all(part.holds(histogram) for part in self.parts)

    def to_json(self) -> dict[str, Any]:
        """The requirement as plain data."""
        return {"is": "k-anonymity of spans", "k": self.k, "l": self.l, "max_confidence": self.max_confidence}

    def __str__(self) -> str:
        said = [f"every span has at least {self.k} rows"]
        if self.l is not None:
            said.append(f"its classes an entropy of at least log2 {self.l:g}")
        if self.max_confidence is not None:
            said.append(f"none of its classes a share above {self.max_confidence:g}")
        return ", ".join(said)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)
