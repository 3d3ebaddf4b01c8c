"""What a release says of an untouched column of a person, the class say: of people in it, and of people who are not.

The attacker shows a person to a model as the class whose box fits, which is how the model knows people; learning from
classes, it needs no guess at what stands behind a cell. Counts tell more than a box: how likely each class is a
person's own, and so how likely each value is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.errors import CannotRunError
from incrowd.risk.boxes import Released
from incrowd.vocabulary.encoded_table import EncodedTable
from incrowd.vocabulary.released_cell import Ints

Floats = npt.NDArray[np.float64]
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


def advantage_of(members: Guesses, others: Guesses) -> float:
    """(members - control) / (1 - control), of the shares that are guessed right."""
    control = float(others.right.mean())
    return (float(members.right.mean()) - control) / max(1 - control, 1e-9)


@lru_cache(maxsize=4)
def guess_from_release(
    released: Released, members: EncodedTable, others: EncodedTable, column: str, state: int
) -> tuple[Guesses, Guesses]:
    """What the release says of members and of others: by a forest that learned from its classes, or by its counts."""
    if column not in released.values:
        raise CannotRunError(f"The release has no column {column!r}.")
    both = (members, others)
    if released.counted:
        first, second = (_guesses(_by_counts(released, column, people), people[column].codes) for people in both)
        return first, second
    model = _forest(released.boxes.shown[released.classes], released.values[column], state)
    by_class = _chances(model, released.boxes.shown, released.widths[column])
    first, second = (_guesses(by_class[released.nearest(people)], people[column].codes) for people in both)
    return first, second


def _by_counts(released: Released, column: str, people: EncodedTable) -> Floats:
    """The chances of the column's values: those of the classes, by how likely each class is the person's."""
    counts = released.histogram(column)
    shares = counts / counts.sum(axis=1, keepdims=True)
    return np.concatenate([weights @ shares for weights in released.likely(people)])


@lru_cache(maxsize=4)
def guess_from_original(
    names: tuple[str, ...], members: EncodedTable, others: EncodedTable, column: str, state: int
) -> tuple[Guesses, Guesses]:
    """The same from the members as they are: what it would be worth without any protection."""
    model = _forest(_codes(members, names), members[column].codes.astype(np.int64), state)
    width = members[column].width
    first, second = (
        _guesses(_chances(model, _codes(people, names), width), people[column].codes) for people in (members, others)
    )
    return first, second


def _codes(people: EncodedTable, names: tuple[str, ...]) -> Ints:
    return np.stack([people[name].codes.astype(np.int64) for name in names], axis=1)


def _forest(inputs: Ints, values: Ints, state: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    if not inputs.shape[1]:
        raise CannotRunError("There is no quasi-identifier to learn from.")
    return RandomForestClassifier(TREES, random_state=state, n_jobs=1).fit(inputs.astype(np.float32), values)


def _chances(model: Any, inputs: Ints, width: int) -> Floats:
    chances = np.zeros((len(inputs), width))
    chances[:, model.classes_] = model.predict_proba(inputs.astype(np.float32))
    return chances


def _guesses(chances: Floats, truth: npt.NDArray[np.int32]) -> Guesses:
    return Guesses(chances[np.arange(len(truth)), truth], chances.argmax(axis=1) == truth)
