"""How rows are parted into those to learn from and those to test on.

The splits depend on the seed and the classes only, so that all methods are compared on the same rows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass

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


@dataclass(frozen=True)
class KFold:
    """The rows in equal folds; each fold is the test of a split, the others are what is learned from."""

    folds: int = 10  # how many
    stratified: bool = True  # whether every class is spread evenly over the folds
    repetitions: int = 1  # how often the rows are dealt anew

    def __post_init__(self) -> None:
        at_least("folds", self.folds, 2)
        at_least("repetitions", self.repetitions, 1)

    def splits(self, classes: Codes, seed: int) -> list[RowSplit]:
        """All splits, repetition by repetition."""
        if len(classes) < self.folds:
            raise ParameterError(
                f"{counted(len(classes), 'row')} cannot be dealt to {self.folds} folds. Use fewer folds."
            )
        return [split for repetition in range(self.repetitions) for split in self._dealt(classes, seed, repetition)]

    def _dealt(self, classes: Codes, seed: int, repetition: int) -> Iterator[RowSplit]:
        order = _shuffled(classes, self.stratified, seed, repetition)
        fold_of = np.empty(len(order), np.intp)
        fold_of[order] = np.arange(len(order)) % self.folds
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

    def splits(self, classes: Codes, seed: int) -> list[RowSplit]:
        """All splits: two for each repetition."""
        return KFold(2, self.stratified, self.repetitions).splits(classes, seed)

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

    def splits(self, classes: Codes, seed: int) -> list[RowSplit]:
        """One split for each repetition."""
        return [self._split(classes, seed, repetition) for repetition in range(self.repetitions)]

    def _split(self, classes: Codes, seed: int, repetition: int) -> RowSplit:
        rows = len(classes)
        if rows < 2 or (self.train_first or 0) >= rows:
            raise ParameterError(f"{counted(rows, 'row')} leave none to test on. Learn from fewer.")
        is_test = np.arange(rows) >= (self.train_first or 0)
        if self.train_first is None:
            count = min(rows - 1, max(1, round(rows * self.test_share)))
            order = _shuffled(classes, self.stratified, seed, repetition)
            is_test[:] = False
            is_test[order[_evenly(rows, count)]] = True
        return RowSplit(repetition, 0, np.flatnonzero(~is_test), np.flatnonzero(is_test))

    def __str__(self) -> str:
        if self.train_first is not None:
            return f"learned from the first {counted(self.train_first, 'row')}, tested on the others"
        times = f", {self.repetitions} times" if self.repetitions > 1 else ""
        how = ", stratified" if self.stratified else ""
        return f"tested on {self.test_share:.0%} of the rows, drawn at random{how}{times}"


Protocol = KFold | FiveByTwo | FixedSplit
"""A way to part rows."""


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


def _shuffled(classes: Codes, stratified: bool, seed: int, repetition: int) -> Rows:
    """The rows in random order; stratified: class by class."""
    generator = np.random.Generator(np.random.Philox(seed_of(seed, "split", repetition)))
    order = generator.permutation(len(classes))
    return order[np.argsort(classes[order], kind="stable")] if stratified else order


def _evenly(rows: int, count: int) -> Rows:
    """``count`` places out of ``rows``, evenly spread."""
    return np.asarray(np.arange(count) * rows // count, np.intp)
