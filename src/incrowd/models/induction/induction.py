"""What an induction has to keep, and what it gives back.

The population of every span keeps its size, and how well its classes are mixed. The model is published; spans and the
trace of the growth stay in the house.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.errors import ParameterError, SchemaError
from incrowd.models.published_tree import PublishedTree
from incrowd.vocabulary.requirement import Columnwise, KAnonymity, Part, Together
from incrowd.vocabulary.requirements.closeness import ConfidenceCap
from incrowd.vocabulary.requirements.columns import Flags, Histograms, RequirementSubject
from incrowd.vocabulary.requirements.diversity import EntropyDiversity
from incrowd.vocabulary.requirements.words import parse_requirements

PERSONS = "persons"
"""What k of a model counts, if not rows."""


@dataclass(frozen=True)
class SpanRequirement:
    """k-anonymity of spans, alone or together with requirements on the class."""

    k: int  # rows of a span, or persons
    l: float | None = None  # noqa: E741
    max_confidence: float | None = None
    further: tuple[Columnwise, ...] = ()  # other requirements on the class
    persons: bool = False  # whether persons are counted, who may have several rows

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", KAnonymity(self.k).k)
        _ = self.on_class  # each checks its own parameter
        for name in ("l", "max_confidence"):
            value = getattr(self, name)
            object.__setattr__(self, name, None if value is None else float(value))

    @property
    def on_class(self) -> tuple[Columnwise, ...]:
        """The requirements on the class."""
        short: list[Columnwise] = []
        if self.l is not None:
            short.append(EntropyDiversity(self.l))
        if self.max_confidence is not None:
            short.append(ConfidenceCap(self.max_confidence))
        return (*short, *self.further)

    def holds_each(self, histograms: Histograms, subject: RequirementSubject) -> Flags:
        """Whether populations with these class counts may be spans of a table; an empty one may."""
        sizes = histograms.sum(axis=1)
        allowed = np.asarray((sizes >= self.k) | (sizes == 0))
        for part in self.on_class:
            left = np.flatnonzero(allowed)
            allowed[left] = part.holds_each(histograms[left], subject)
        return allowed

    def holds(self, histogram: npt.ArrayLike, whole: npt.ArrayLike | None = None) -> bool:
        """Whether a population with these class counts may be a span; ``whole`` are the counts of all rows."""
        counts = np.asarray(histogram, np.int64)
        subject = RequirementSubject("", counts if whole is None else np.asarray(whole, np.int64))
        return bool(counts.any()) and bool(self.holds_each(counts[None, :], subject)[0])

    def to_json(self) -> dict[str, Any]:
        """The requirement as plain data."""
        data: dict[str, Any] = {"is": "k-anonymity of spans", "k": self.k, "l": self.l}
        data["max_confidence"] = self.max_confidence
        if self.persons:
            data["of"] = PERSONS
        return {**data, "further": [part.to_json() for part in self.further]} if self.further else data

    def __str__(self) -> str:
        clauses = [
            f"every span has {'rows of ' * self.persons}at least {self.k} {'persons' if self.persons else 'rows'}"
        ]
        if self.l is not None:
            clauses.append(f"its classes an entropy of at least log2 {self.l:g}")
        if self.max_confidence is not None:
            clauses.append(f"none of its classes a share above {self.max_confidence:g}")
        return ", ".join([*clauses, *map(str, self.further)])


def required_of_spans(required: str | Part | Together | Iterable[str | Part | Together]) -> tuple[Columnwise, ...]:
    """The requirements on the class that a model can keep, from their text form or objects."""
    on_class: list[Columnwise] = []
    for one in [required] if isinstance(required, str) or not isinstance(required, Iterable) else required:
        parts = parse_requirements(one) if isinstance(one, str) else one.parts if isinstance(one, Together) else (one,)
        for part in parts:
            if not isinstance(part, Columnwise):
                raise ParameterError(
                    "A model shows no rows: beside k it can keep requirements on its class. Give k by itself, and "
                    "leave out k-map, delta-presence and sets of columns."
                )
            on_class.append(part)
    return tuple(on_class)


def about_class(parts: Iterable[Columnwise], target: str) -> None:
    """Raise if a requirement is about another column than the class: a model tells nothing of it."""
    for part in parts:
        if part.on not in (None, target):
            raise SchemaError(
                f"A requirement is about {part.on!r}, but a model shows nothing of a column that it does not predict. "
                f"Require something of its class {target!r}, or leave it out."
            )


@dataclass(frozen=True, eq=False)
class Span:
    """People who look alike to the model: their rows, and the leaves they may be in."""

    rows: npt.NDArray[np.int64]
    leaves: frozenset[int]


@dataclass(frozen=True)
class Event:
    """What became of a candidate that was taken from the queue.

    ``node`` is its number in the order of growing, and ``path`` the tests that lead there. ``level`` counts the steps
    up the hierarchy. ``outcome`` is ``"split"``, ``"breach"``, or ``"requeue"``: the best threshold that is still
    allowed is another one than before.
    """

    node: int
    path: str
    attribute: str
    level: int
    outcome: str
    score: float


@dataclass(frozen=True, eq=False)
class Induction:
    """The outcome of an induction.

    Only ``model`` is made to be published; spans and trace tell about single rows. If no tree is possible, ``model`` is
    ``None`` and ``reason`` says why.
    """

    model: PublishedTree | None
    reason: str
    spans: tuple[Span, ...]
    trace: tuple[Event, ...]
