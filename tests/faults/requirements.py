"""Faults of judging: a method takes groups for good that do not keep what is required beside k."""

from __future__ import annotations

import numpy as np

from faults.planting import MEMORY, plant

ROOM = "incrowd.vocabulary.requirements"
HERE = (MEMORY,)


def always(original, self, histograms, *_):
    return np.ones(len(histograms), np.bool_)


def _planted(name: str, module: str, kind: str, require: str, **asked) -> None:
    def faulty(*arguments):
        return always(*arguments)

    faulty.__name__, faulty.__doc__ = f"{name} is not looked at", f"Every group is taken to keep {require}."
    faulty.__module__ = __name__
    by_share = kind in ("ConfidenceCap", "BetaLikeness", "DeltaDisclosure")
    plant(f"{ROOM}.{module}:{kind}.{'holds_shares' if by_share else 'holds_each'}", HERE, require=require, **asked)(
        faulty
    )


BESIDE = {"method": ("mondrian", "kactus-plus")}
_planted("distinct diversity", "diversity", "DistinctDiversity", "distinct-l=3 on diagnosis", **BESIDE)
_planted("entropy diversity", "diversity", "EntropyDiversity", "entropy-l=2 on diagnosis", **BESIDE)
_planted("recursive diversity", "diversity", "RecursiveDiversity", "recursive-l=2 c=2 on diagnosis")
_planted("closeness", "closeness", "TCloseness", "t=0.3 on diagnosis", **BESIDE)
_planted("closeness of the class", "closeness", "TCloseness", "t=0.2 on ill")
_planted("the cap of confidence", "closeness", "ConfidenceCap", "alpha=0.7 on diagnosis")
_planted("likeness", "closeness", "BetaLikeness", "beta=1.5 on diagnosis")
_planted("disclosure", "closeness", "DeltaDisclosure", "delta-disclosure=1 on diagnosis")
_planted("the map of the population", "population", "KMap", "k-map=60", method="mondrian")


@plant("incrowd.methods.judging:Judge.holds", HERE, require="t=0.3 on diagnosis")
def only_the_size_of_groups_is_judged(original, self, evidence):
    """A group is taken for good if it has k rows."""
    return (evidence[:, 0] >= self.k) | (evidence[:, 0] == 0)
