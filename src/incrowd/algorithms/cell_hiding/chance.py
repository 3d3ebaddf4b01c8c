"""The only two draws of cell hiding: which value shall overtake the true one, and the coin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from incrowd.vocabulary.randomness import Randomness


class Chance(Protocol):
    """Where draws come from."""

    def one_of(self, values: Sequence[int]) -> int:
        """One of the values, each equally likely."""
        ...

    def coin(self) -> bool:
        """True as often as False."""
        ...


class FairChance:
    """Draws from a source of randomness.

    Examples
    --------
    >>> from incrowd.vocabulary.randomness import SystemRandomness
    >>> FairChance(SystemRandomness()).one_of([7])
    7
    """

    def __init__(self, randomness: Randomness) -> None:
        self._randomness = randomness

    def one_of(self, values: Sequence[int]) -> int:
        """One of the values, each equally likely; words in the uneven tail are drawn again."""
        limit = np.uint64(2**64 // len(values) * len(values) - 1)
        while True:
            word = self._randomness.words(1)[0]
            if word <= limit:
                return values[int(word) % len(values)]

    def coin(self) -> bool:
        """True as often as False."""
        return self.one_of((0, 1)) == 1
