"""Information gain and gain ratio from their definitions, split by split; all answers are in bits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from incrowd.measures.information import entropy

Histogram = npt.ArrayLike


def branch_entropy(branches: Sequence[Histogram]) -> float:
    """Entropy that is left after a split, each branch weighted by its size (Quinlan 1986, ``E(A)``)."""
    sizes = [float(np.sum(branch)) for branch in branches]
    total = sum(sizes)
    if total == 0:
        return 0.0
    return sum(size / total * entropy(branch) for size, branch in zip(sizes, branches, strict=True))


def information_gain(branches: Sequence[Histogram], missing: float = 0.0) -> float:
    """Entropy a split removes (Quinlan 1986, ``gain(A)``), times the known fraction (Quinlan 1993, 3.2).

    Parameters
    ----------
    branches
        One class histogram per branch, of the rows whose tested value is known.
    missing
        Number of rows whose tested value is missing.
    """
    known = float(sum(np.sum(branch) for branch in branches))
    if known == 0:
        return 0.0
    before = entropy(np.sum([np.asarray(branch, dtype=np.float64) for branch in branches], axis=0))
    return known / (known + missing) * (before - branch_entropy(branches))


def split_information(sizes: Histogram, missing: float = 0.0) -> float:
    """Entropy of the branch sizes; the missing are one more outcome (Quinlan 1993, 2.2 and 3.2)."""
    return entropy([*np.asarray(sizes, dtype=np.float64).tolist(), missing])


def gain_ratio(branches: Sequence[Histogram], missing: float = 0.0) -> float:
    """Information gain per bit of split information (Quinlan 1993, 2.2); 0 for a split of one branch."""
    information = split_information([float(np.sum(branch)) for branch in branches], missing)
    return information_gain(branches, missing) / information if information > 0 else 0.0
