"""Persons with several rows in a comparison: nobody is learned from and tested on.

Persons are dealt to the parts of a split as rows are elsewhere, each by its most frequent class, and take all their
rows with them. How sure an accuracy is depends on how many persons were tested, so its error is found by drawing
persons anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from incrowd.comparisons.protocol import FiveByTwo, FixedSplit, KFold, OwnSplits, Protocol, Rows, RowSplit
from incrowd.drawing.wording import counted
from incrowd.errors import ParameterError
from incrowd.recipients.matrix import Codes, Numbers
from incrowd.vocabulary.encoded_table import Codes as Owners

Right = npt.NDArray[np.bool_]
"""Whether each row is right."""
RESAMPLES = 400
"""Draws of persons behind a standard error: enough for two digits of it."""


@dataclass(frozen=True, eq=False)
class RowPersons:
    """Whose row each row is: the name of the column, and numbers of persons, none of which is left out."""

    name: str
    codes: Owners

    @property
    def count(self) -> int:
        """How many persons there are."""
        return int(self.codes.max(initial=-1)) + 1

    def take(self, rows: Rows) -> RowPersons:
        """The same for some of the rows."""
        return RowPersons(self.name, np.unique(self.codes[rows], return_inverse=True)[1].astype(np.int32))

    def majority_classes(self, classes: Codes) -> Codes:
        """The most frequent class of each person; the first of those that are as frequent.

        Examples
        --------
        >>> RowPersons("patient", np.array([0, 1, 0, 0, 1])).majority_classes(np.array([2, 1, 0, 2, 0])).tolist()
        [2, 0]
        """
        counts = np.zeros((self.count, int(classes.max(initial=0)) + 1), np.int64)
        np.add.at(counts, (self.codes, classes), 1)
        return np.asarray(np.argmax(counts, axis=1), np.int64)

    def splits(self, protocol: Protocol, classes: Codes, seed: int) -> list[RowSplit]:
        """The splits of a protocol, whole persons at a time."""
        if isinstance(protocol, OwnSplits):
            return protocol.splits(classes, seed, self.codes.astype(np.int64))
        if isinstance(protocol, FixedSplit) and protocol.train_first is not None:
            raise ParameterError("The first rows may be of persons who have later ones, too. Use folds, or holdout.")
        if self.count < (parts := max(2, protocol.folds)):
            raise ParameterError(f"{counted(self.count, 'person')} cannot be dealt to {parts} parts. Use fewer folds.")
        units = person_protocol(protocol).splits(self.majority_classes(classes), seed)
        return [replace(split, train=self._rows(split.train), test=self._rows(split.test)) for split in units]

    def _rows(self, persons: Rows) -> Rows:
        return np.flatnonzero(np.isin(self.codes, persons))

    def check_apart(self, splits: Iterable[RowSplit], how: str) -> None:
        """Refuse splits that have a person in both parts."""
        both = max(len(np.intersect1d(self.codes[split.train], self.codes[split.test])) for split in splits)
        if both:
            raise ParameterError(
                f"{counted(both, 'person')} of {self.name!r} would be learned from and tested on ({how}). Split by "
                "groups that nobody is in two of, by a moment that is the same in all rows of a person, or leave that "
                "out: persons are kept apart."
            )

    def drawn(self, rows: int, chance: np.random.Generator) -> Rows:
        """The rows of persons drawn at random, as many as have no more than so many rows; of one person at least."""
        order = chance.permutation(self.count)
        together = np.cumsum(np.bincount(self.codes)[order])
        return self._rows(order[: max(1, int(np.searchsorted(together, rows, side="right")))])


def person_protocol(protocol: Protocol) -> Protocol:
    """The protocol as persons are dealt by it: always stratified, for persons are few compared with rows."""
    return replace(protocol, stratified=True) if isinstance(protocol, KFold | FiveByTwo | FixedSplit) else protocol


def person_words(protocol: Protocol) -> str:
    """The same in words: it is persons who are drawn.

    Examples
    --------
    >>> person_words(FixedSplit(0.25))
    'tested on 25 % of the persons, drawn at random, stratified'
    """
    dealt = person_protocol(protocol)
    return dealt.words("persons") if isinstance(dealt, FixedSplit) else str(dealt)


def row_protocol(protocol: Protocol) -> Protocol:
    """The same once, or two halves where there is no such protocol: a split by rows, to see how wrong it is."""
    if isinstance(protocol, KFold | FixedSplit | FiveByTwo):
        return replace(protocol, stratified=True, repetitions=1)
    return FiveByTwo(1, stratified=True)


@dataclass(frozen=True)
class PersonQuality:
    """How good a classifier is where persons have several rows.

    Parameters
    ----------
    person_accuracy
        The mean over persons of the share of their rows that are right: somebody with many rows counts once.
    accuracy_error, person_accuracy_error
        Standard errors of the accuracy over rows, and of the mean over persons, if persons are drawn anew.
    test_persons
        How many persons were tested.
    """

    person_accuracy: float
    accuracy_error: float
    person_accuracy_error: float
    test_persons: int


def person_quality(right: Right, persons: Owners, seed: int = 0) -> PersonQuality:
    """What the tested rows, right or wrong, say of persons.

    Examples
    --------
    >>> right, persons = np.array([True, True, True, False]), np.array([4, 4, 4, 7])
    >>> person_quality(right, persons).person_accuracy
    0.5
    """
    number_of = np.unique(persons, return_inverse=True)[1]
    rows = np.bincount(number_of).astype(np.float64)
    hits = np.bincount(number_of, right).astype(np.float64)
    means = np.array([*_resampled(hits, rows, np.random.Generator(np.random.Philox(seed)))])
    errors = means.std(axis=0, ddof=1)
    return PersonQuality(float(np.mean(hits / rows)), float(errors[0]), float(errors[1]), len(rows))


def _resampled(hits: Numbers, rows: Numbers, chance: np.random.Generator) -> Iterator[tuple[float, float]]:
    """Accuracy over rows and mean over persons, of persons drawn with replacement."""
    shares = hits / rows
    for _ in range(RESAMPLES):
        drawn = chance.integers(0, len(rows), len(rows))
        yield float(hits[drawn].sum() / rows[drawn].sum()), float(shares[drawn].mean())


def pooled_error(errors: Sequence[tuple[int, float]]) -> float:
    """The standard error of a mean over splits, from pairs of a repetition and the error in one of its splits.

    Splits of a repetition test different persons, so their errors add up; repetitions test the same persons again,
    and make nothing surer.
    """
    by_repetition: dict[int, list[float]] = {}
    for repetition, error in errors:
        by_repetition.setdefault(repetition, []).append(error)
    return float(np.sqrt(np.mean([np.sum(np.square(own)) / len(own) ** 2 for own in by_repetition.values()])))
