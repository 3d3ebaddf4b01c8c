"""How sure a share is, if the rows are taken as drawn at random from rows like them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.risk.wording import percent

Shares = npt.NDArray[np.float64]

LEVEL = 0.95
DRAWS = 1000


@dataclass(frozen=True)
class Interval:
    """An estimate and the 95 % interval around it.

    Examples
    --------
    >>> str(Interval(0.5, 0.4, 0.6))
    '50.0 % (40.0 to 60.0)'
    """

    estimate: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{percent(self.estimate)} ({100 * self.low:.1f} to {100 * self.high:.1f})"

    def to_json(self) -> dict[str, float]:
        """The three numbers."""
        return {"estimate": self.estimate, "low": self.low, "high": self.high}


def wilson(share: float, rows: int) -> Interval:
    """A share of rows with Wilson's score interval (Wilson: Probable Inference, JASA 22, 1927).

    Examples
    --------
    >>> print(wilson(1.0, 10))
    100 % (72.2 to 100.0)
    """
    z = NormalDist().inv_cdf((1 + LEVEL) / 2)
    middle = (share + z**2 / (2 * rows)) / (1 + z**2 / rows)
    width = z / (1 + z**2 / rows) * math.sqrt(share * (1 - share) / rows + z**2 / (4 * rows**2))
    return Interval(share, min(share, max(0.0, middle - width)), max(share, min(1.0, middle + width)))


def excess(hits: float, control: float) -> float:
    """What an attack gains over its control, as a share of what could be gained: (hits - control) / (1 - control).

    So Giomi, Boenisch, Wehmeyer, Tasnádi: A Unified Framework for Quantifying Privacy Risk in Synthetic Data, PoPETs
    2023, section 3. Below 0 the control fares better. Nothing can be gained over a control that is always right: 0.

    Examples
    --------
    >>> excess(0.5, 0.0), excess(0.5, 0.5), excess(1.0, 1.0)
    (0.5, 0.0, 0.0)
    """
    return 0.0 if control >= 1 else (hits - control) / (1 - control)


def excess_interval(hits: Shares, control: Shares) -> Interval:
    """The excess over all rows, with the percentile interval of a bootstrap of rows.

    Each row has its success and that of its control, and they are drawn together. Only distinct pairs are kept, so a
    draw is one multinomial. The draws start from a fixed seed: the same table gives the same interval.

    Examples
    --------
    >>> print(excess_interval(np.ones(10), np.zeros(10)))
    100 % (100.0 to 100.0)
    """
    rows = len(hits)
    pairs = (
        pl.DataFrame({"hits": hits, "control": control}).group_by("hits", "control").len("rows").sort("hits", "control")
    )
    shares = pairs["rows"].to_numpy() / rows
    drawn = np.random.default_rng(0).multinomial(rows, shares, size=DRAWS) @ pairs["hits", "control"].to_numpy() / rows
    found = [excess(float(hit), float(base)) for hit, base in drawn]
    low, high = np.quantile(found, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    estimate = excess(float(hits.mean()), float(control.mean()))
    return Interval(estimate, min(estimate, float(low)), max(estimate, float(high)))
