"""Which estimator to believe: the decision rule of Dankar et al., and all estimates side by side."""

from __future__ import annotations

from dataclasses import dataclass

from incrowd.risk.uniques.ewens import ewens
from incrowd.risk.uniques.pitman import pitman
from incrowd.risk.uniques.sample import Answer, Estimate, Sample
from incrowd.risk.uniques.slide import slide_negative_binomial
from incrowd.risk.uniques.zayatz import zayatz

SMALL = 0.1
"""Up to this sampling fraction the rule believes Pitman."""

CONDITIONS = {
    "Zayatz": "large sampling fractions; far too many for small ones",
    "Ewens": "uniques that hardly grow with the population; mostly too few",
    "Pitman": "sampling fractions up to 0.1",
    "SNB": "sampling fractions above 0.1, where its equations have a solution",
    "decision rule": "Pitman up to 0.1, above it the smaller of Zayatz and SNB",
}


@dataclass(frozen=True)
class Estimates:
    """All estimates of the population's uniques, by name, and the one the rule chooses."""

    by_name: dict[str, Answer]
    chosen: Estimate

    def to_json(self) -> dict[str, object]:
        """The estimates, each with its condition."""
        told = {name: {**found.to_json(), "condition": CONDITIONS[name]} for name, found in self.by_name.items()}
        return {**told, "decision rule": {**self.chosen.to_json(), "condition": CONDITIONS["decision rule"]}}


def estimates_of(sample: Sample) -> Estimates:
    """Every estimate, and the rule's choice.

    The rule of Dankar et al. 2012: up to a sampling fraction of 0.1 Pitman, or Zayatz where Pitman cannot be fitted;
    above it the smaller of Zayatz and SNB, or Zayatz where SNB has no solution. Ewens is shown beside them and never
    chosen.

    Examples
    --------
    >>> found = estimates_of(Sample(((1, 40), (2, 30)), 200))
    >>> found.chosen.how, round(found.chosen.uniques, 1)
    ('Zayatz', 45.6)
    """
    by_zayatz = zayatz(sample)
    by_name: dict[str, Answer] = {
        "Zayatz": by_zayatz,
        "Ewens": ewens(sample),
        "Pitman": pitman(sample),
        "SNB": slide_negative_binomial(sample),
    }
    return Estimates(by_name, _chosen(sample, by_zayatz, by_name))


def _chosen(sample: Sample, by_zayatz: Estimate, by_name: dict[str, Answer]) -> Estimate:
    other = by_name["Pitman" if sample.fraction <= SMALL else "SNB"]
    if not isinstance(other, Estimate):
        return by_zayatz
    if sample.fraction <= SMALL:
        return other
    return min(other, by_zayatz, key=lambda found: found.uniques)
