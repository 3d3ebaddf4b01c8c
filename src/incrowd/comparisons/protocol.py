"""How rows are parted into those to learn from and those to test on.

The splits depend on the seed, the classes and a column to split by only, so that all methods are compared on the same
rows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.drawing.wording import counted
from incrowd.errors import ParameterError
from incrowd.recipients.matrix import Codes
from incrowd.trees.c45 import at_least


def seed_of(*parts: str | int) -> int:
    """A seed below 2**63 for the named draw."""
    digest = hashlib.sha256(json.dumps(parts).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


Rows = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class RowSplit:
    """Rows to learn from and rows to test on, both ascending; every row is in at most one of them."""

    repetition: int
    fold: int
    train: Rows
    test: Rows


@dataclass(frozen=True, eq=False)
class SplitBy:
    """A column by which rows are split: groups that are never in both parts, or moments, of which the past is learned.

    ``codes`` are numbers of groups, or of moments, ascending; no number is left out.
    """

    name: str
    codes: Codes
    in_time: bool = False

    def take(self, rows: Rows) -> SplitBy:
        """The same for some of the rows."""
        return SplitBy(self.name, np.unique(self.codes[rows], return_inverse=True)[1], self.in_time)

    def __str__(self) -> str:
        return f"in the order of {self.name}" if self.in_time else f"rows of the same {self.name} stay in one part"


@dataclass(frozen=True)
class KFold:
    """The rows in equal folds; each fold is the test of a split, the others are what is learned from."""

    folds: int = 10  # how many
    stratified: bool = True  # whether every class is spread evenly over the folds
    repetitions: int = 1  # how often the rows are dealt anew

    def __post_init__(self) -> None:
        at_least("folds", self.folds, 2)
        at_least("repetitions", self.repetitions, 1)

    def splits(self, classes: Codes, seed: int, groups: Codes | None = None) -> list[RowSplit]:
        """All splits, repetition by repetition; rows of a group stay together."""
        units, noun = (len(classes), "row") if groups is None else (int(groups.max()) + 1, "group")
        if units < self.folds:
            raise ParameterError(f"{counted(units, noun)} cannot be dealt to {self.folds} folds. Use fewer folds.")
        return [
            split for repetition in range(self.repetitions) for split in self._dealt(classes, seed, repetition, groups)
        ]

    def _dealt(self, classes: Codes, seed: int, repetition: int, groups: Codes | None) -> Iterator[RowSplit]:
        if groups is None:
            order = _shuffled(classes, self.stratified, seed, repetition)
            fold_of = np.empty(len(order), np.intp)
            fold_of[order] = np.arange(len(order)) % self.folds
        else:
            kinds = classes if self.stratified else np.zeros_like(classes)
            fold_of = _dealt_groups(groups, kinds, self.folds, _generator(seed, repetition))[groups]
        for fold in range(self.folds):
            yield RowSplit(repetition, fold, np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold))

    def __str__(self) -> str:
        how = "stratified" if self.stratified else "not stratified"
        times = f"{counted(self.repetitions, 'repetition')} of " if self.repetitions > 1 else ""
        return f"{times}{self.folds}-fold cross-validation, {how}"


@dataclass(frozen=True)
class FiveByTwo:
    """Repeated halves: learn from one half, test on the other, swap; five times unless said otherwise.

    Alpaydin (1999) tests with five. kACTUS' authors evidently did not stratify, hence the default.
    """

    repetitions: int = 5
    stratified: bool = False

    def __post_init__(self) -> None:
        at_least("repetitions", self.repetitions, 1)

    @property
    def folds(self) -> int:
        """Two."""
        return 2

    def splits(self, classes: Codes, seed: int, groups: Codes | None = None) -> list[RowSplit]:
        """All splits: two for each repetition; rows of a group stay together."""
        return KFold(2, self.stratified, self.repetitions).splits(classes, seed, groups)

    def __str__(self) -> str:
        how = "stratified" if self.stratified else "not stratified"
        return f"{counted(self.repetitions, 'repetition')} of 2-fold cross-validation, {how}"


@dataclass(frozen=True)
class FixedSplit:
    """One split: a random share of the rows is the test, or the first rows are what is learned from."""

    test_share: float = 1 / 3  # the share of the rows to test on, drawn at random
    train_first: int | None = None  # learn from the first rows, so many; no test_share then
    stratified: bool = False  # whether the test has the same share of every class, as far as whole rows allow
    repetitions: int = 1  # how often the test is drawn anew

    def __post_init__(self) -> None:
        at_least("repetitions", self.repetitions, 1)
        if not 0 < self.test_share < 1:
            raise ParameterError("test_share must be between 0 and 1.")
        if self.train_first is not None:
            at_least("train_first", self.train_first, 1)
            if self.repetitions > 1:
                raise ParameterError("The first rows are always the same: with train_first there is one repetition.")

    @property
    def folds(self) -> int:
        """One."""
        return 1

    def splits(self, classes: Codes, seed: int, groups: Codes | None = None) -> list[RowSplit]:
        """One split for each repetition; rows of a group stay together, and then nothing is stratified."""
        if groups is None:
            return [self._split(classes, seed, repetition) for repetition in range(self.repetitions)]
        if self.train_first is not None or groups.max() < 1:
            raise ParameterError("Whole groups cannot be split so. Use folds, and a column of at least two groups.")
        return [self._split_groups(groups, seed, repetition) for repetition in range(self.repetitions)]

    def _split_groups(self, groups: Codes, seed: int, repetition: int) -> RowSplit:
        """Groups are drawn for the test until it has its share of the rows; one group at least is learned from."""
        sizes = np.bincount(groups)
        order = _generator(seed, repetition).permutation(len(sizes))[:-1]
        before = np.cumsum(sizes[order]) - sizes[order]
        is_test = np.isin(groups, order[before < max(1, self.test_share * len(groups))])
        return RowSplit(repetition, 0, np.flatnonzero(~is_test), np.flatnonzero(is_test))

    def _split(self, classes: Codes, seed: int, repetition: int) -> RowSplit:
        rows = len(classes)
        if rows < 2 or (self.train_first or 0) >= rows:
            raise ParameterError(f"{counted(rows, 'row')} leave none to test on. Learn from fewer.")
        is_test = np.arange(rows) >= (self.train_first or 0)
        if self.train_first is None:
            count = min(rows - 1, max(1, round(rows * self.test_share)))
            order = _shuffled(classes, self.stratified, seed, repetition)
            is_test[:] = False
            is_test[order[np.arange(count) * rows // count]] = True  # evenly spread
        return RowSplit(repetition, 0, np.flatnonzero(~is_test), np.flatnonzero(is_test))

    def __str__(self) -> str:
        return self.words("rows")

    def words(self, units: str) -> str:
        """The protocol in words, by what is drawn."""
        if self.train_first is not None:
            return f"learned from the first {counted(self.train_first, 'row')}, tested on the others"
        times = f", {self.repetitions} times" if self.repetitions > 1 else ""
        how = ", stratified" if self.stratified else ""
        return f"tested on {100 * self.test_share:.0f} % of the {units}, drawn at random{how}{times}"


@dataclass(frozen=True)
class PastFuture:
    """Learn from the past, test on what followed, and go on: the test of a split is learned from in the next.

    The moments are parted into sections of about as many rows each, one more than there are splits. Rows of one moment
    are never parted, so there are fewer splits where few moments have most of the rows.
    """

    folds: int = 5  # how many, at most

    def __post_init__(self) -> None:
        at_least("folds", self.folds, 1)

    @property
    def repetitions(self) -> int:
        """One: time does not come again."""
        return 1

    def splits(self, classes: Codes, seed: int, groups: Codes | None = None) -> list[RowSplit]:  # noqa: ARG002
        """The splits in the order of time; the groups are the moments."""
        if groups is None:
            raise ParameterError("Past and future need a column of moments. Name one as time.")
        rows = np.cumsum(np.bincount(groups))
        shares = np.arange(1, self.folds + 1) / (self.folds + 1)
        pasts = sorted({*np.searchsorted(rows, shares * rows[-1]).tolist()} - {len(rows) - 1})
        if not pasts:
            raise ParameterError("Most rows are of the last moment, so there is no past to learn from.")
        return [
            RowSplit(0, fold, np.flatnonzero(groups <= past), np.flatnonzero((groups > past) & (groups <= until)))
            for fold, (past, until) in enumerate(pairwise([*pasts, len(rows) - 1]))
        ]

    def __str__(self) -> str:
        return f"learned from the past, tested on what followed, up to {counted(self.folds, 'time')}"


@dataclass(frozen=True)
class OwnSplits:
    """The splits of a splitter of scikit-learn, or of any object with its ``split(X, y, groups)``."""

    splitter: Any

    @property
    def repetitions(self) -> int:
        """One: what the splitter repeats are splits of its own."""
        return 1

    def splits(self, classes: Codes, seed: int, groups: Codes | None = None) -> list[RowSplit]:  # noqa: ARG002
        """The splits; a repetition begins where rows are tested once more."""
        rows = len(classes)
        try:
            pairs = [(np.unique(a), np.unique(b)) for a, b in self.splitter.split(np.zeros((rows, 1)), classes, groups)]
        except (ValueError, TypeError) as refused:  # it has seen numbers of classes and groups, and no cell
            raise ParameterError(f"{self} cannot split these rows: {refused}") from None
        splits: list[RowSplit] = []
        repetition, tested = 0, np.zeros(rows, bool)
        for fold, (train, test) in enumerate(pairs):
            self._check(train, test, rows)
            if tested[test].any():
                repetition, tested = repetition + 1, np.zeros(rows, bool)
            tested[test] = True
            splits.append(RowSplit(repetition, fold, train.astype(np.intp), test.astype(np.intp)))
        if not splits:
            raise ParameterError(f"{self} gives no split.")
        return splits

    def _check(self, train: Rows, test: Rows, rows: int) -> None:
        if not (len(train) and len(test)) or np.intersect1d(train, test).size:
            raise ParameterError(f"{self} gives a split with an empty part, or with a row in both parts.")
        if max(train[-1], test[-1]) >= rows or min(train[0], test[0]) < 0:
            raise ParameterError(f"{self} names rows that are not compared. There are {counted(rows, 'row')}.")

    def __str__(self) -> str:
        return " ".join(repr(self.splitter).split())


Protocol = KFold | FiveByTwo | FixedSplit | PastFuture | OwnSplits
"""A way to part rows."""


def find_protocol(protocol: Any) -> Protocol:
    """A protocol, the short text of one, or a splitter of scikit-learn.

    Examples
    --------
    >>> print(find_protocol("10-fold"))
    10-fold cross-validation, stratified
    """
    if isinstance(protocol, Protocol):
        return protocol
    if isinstance(protocol, str):
        return parse_protocol(protocol)
    if callable(getattr(protocol, "split", None)) and not isinstance(protocol, type):
        return OwnSplits(protocol)
    raise ParameterError(
        f"{type(protocol).__name__!r} is no protocol. Give a text such as '10-fold', one of "
        "incrowd.comparisons.protocol, or a splitter of scikit-learn."
    )


def protocol_by(protocol: Protocol | None, by: SplitBy | None) -> Protocol | None:
    """The protocol that goes with the column to split by, if there is one; folds in time are steps into the future."""
    if by is None or not by.in_time:
        if isinstance(protocol, PastFuture):
            raise ParameterError("Past and future need a column of moments. Name one as time.")
        return protocol
    if isinstance(protocol, KFold) and protocol.repetitions == 1:
        return PastFuture(protocol.folds)
    if protocol is None or isinstance(protocol, PastFuture | OwnSplits):
        return protocol or PastFuture()
    raise ParameterError("Rows in time are not drawn at random. Leave the protocol out, or write 3-fold for 3 steps.")


def parse_protocol(text: str, repetitions: int | None = None) -> Protocol:
    """The protocol of a short text: ``5x2``, ``10-fold``, ``holdout``, ``first 30162``.

    ``5x2`` and ``first …`` do not stratify. ``repetitions`` replaces what the text says.
    """
    words = text.lower().replace("-", " ").split()
    match words:
        case [first] if first == "holdout":
            return FixedSplit(repetitions=repetitions or 1)
        case ["first", rows] if rows.isdigit():
            return FixedSplit(train_first=int(rows))
        case [folds, "fold"] if folds.isdigit():
            return KFold(int(folds), repetitions=repetitions or 1)
        case [times] if times.endswith("x2") and times[:-2].isdigit():
            return FiveByTwo(repetitions or int(times[:-2]))
    raise ParameterError("A protocol is one of: 5x2 (or 1x2, 2x2, …), 10-fold, holdout, first N.")


def _generator(seed: int, repetition: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(seed_of(seed, "split", repetition)))


def _dealt_groups(groups: Codes, kinds: Codes, folds: int, generator: np.random.Generator) -> Rows:
    """The fold of each group: the large ones first, each to where there is least of its rows and of their kinds."""
    counts = np.zeros((int(groups.max()) + 1, int(kinds.max()) + 2))
    np.add.at(counts, (groups, kinds), 1)
    counts[:, -1] = counts.sum(axis=1)  # an empty fold is better than any other, so none stays empty
    weights = counts / np.maximum(1, counts.sum(axis=0))
    order = generator.permutation(len(counts))
    fold_of, filled = np.empty(len(counts), np.intp), np.zeros((folds, counts.shape[1]))
    for group in order[np.argsort(-counts[order, -1], kind="stable")]:
        fold_of[group] = np.argmin(filled @ weights[group])
        filled[fold_of[group]] += counts[group]
    return fold_of


def _shuffled(classes: Codes, stratified: bool, seed: int, repetition: int) -> Rows:
    """The rows in random order; stratified: class by class."""
    order = _generator(seed, repetition).permutation(len(classes))
    return order[np.argsort(classes[order], kind="stable")] if stratified else order
