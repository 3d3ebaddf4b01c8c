"""A model that learns from a release, and what it says of people who are in it and of people who are not.

Both attacks that train a model share it. The attacker shows a person to the model as the class whose box fits, which
is how the model knows people; learning from classes, it needs no guess at what stands behind a cell. Counts tell more
than a box: how likely each class is a person's own, and so how likely each value is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.attacks.attack import CannotRunError
from incrowd.attacks.boxes import Released
from incrowd.attacks.measuring import Floats
from incrowd.attacks.scene import SceneSplit
from incrowd.compare.protocol import seed_of
from incrowd.vocabulary.encoded_table import EncodedTable
from incrowd.vocabulary.released_cell import Ints

TREES = 30


@dataclass(frozen=True, eq=False)
class Guesses:
    """For each person the chance the model gives the true value, and whether it is its first guess."""

    chances: Floats
    right: npt.NDArray[np.bool_]

    @property
    def count(self) -> tuple[int, int]:
        """People guessed right, and all."""
        return int(self.right.sum()), len(self.right)


@lru_cache(maxsize=4)
def guess_from_release(split: SceneSplit, column: str, seed: int) -> tuple[Guesses, Guesses]:
    """What the release says of members and of others: by a forest that learned from its classes, or by its counts."""
    released = split.released
    if column not in released.values:
        raise CannotRunError(f"The release has no column {column!r}.")
    if released.counted:
        members, others = (
            _guesses(_by_counts(released, column, people), people[column].codes)
            for people in (split.members, split.others)
        )
        return members, others
    model = _forest(released.boxes.shown[released.classes], released.values[column], seed)
    by_class = _chances(model, released.boxes.shown, released.widths[column])
    both = ((people, released.nearest(people)) for people in (split.members, split.others))
    members, others = (_guesses(by_class[classes], people[column].codes) for people, classes in both)
    return members, others


def _by_counts(released: Released, column: str, people: EncodedTable) -> Floats:
    """The chances of the column's values: those of the classes, by how likely each class is the person's."""
    counts = released.histogram(column)
    shares = counts / counts.sum(axis=1, keepdims=True)
    return np.concatenate([weights @ shares for weights in released.likely(people)])


@lru_cache(maxsize=4)
def guess_from_original(split: SceneSplit, column: str, seed: int) -> tuple[Guesses, Guesses]:
    """The same from the members as they are: what it would be worth without any protection."""
    names = split.released.boxes.names
    model = _forest(_codes(split.members, names), split.members[column].codes.astype(np.int64), seed)
    width = split.members[column].width
    members, others = (
        _guesses(_chances(model, _codes(people, names), width), people[column].codes)
        for people in (split.members, split.others)
    )
    return members, others


def _codes(people: EncodedTable, names: tuple[str, ...]) -> Ints:
    return np.stack([people[name].codes.astype(np.int64) for name in names], axis=1)


def _forest(inputs: Ints, values: Ints, seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    if not inputs.shape[1]:
        raise CannotRunError("There is no quasi-identifier to learn from.")
    state = seed_of(seed, "forest") % 2**31
    return RandomForestClassifier(TREES, random_state=state, n_jobs=1).fit(inputs.astype(np.float32), values)


def _chances(model: Any, inputs: Ints, width: int) -> Floats:
    chances = np.zeros((len(inputs), width))
    chances[:, model.classes_] = model.predict_proba(inputs.astype(np.float32))
    return chances


def _guesses(chances: Floats, truth: npt.NDArray[np.int32]) -> Guesses:
    return Guesses(chances[np.arange(len(truth)), truth], chances.argmax(axis=1) == truth)
