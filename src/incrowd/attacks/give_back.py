"""Give-back: columns that are released unchanged restore what the release hides.

What: the attacker knows how columns depend on each other (a codebook, a similar table, rows that show the value) and
fills in hidden cells from unchanged columns. Paper: Bohannon, Fan, Geerts, Jia, Kementsietsidis: Conditional functional
dependencies for data cleaning, ICDE 2007; H. Wang, R. Liu: Privacy-preserving publishing microdata with full functional
dependencies, Data & Knowledge Engineering, 2011. Measured: the share of hidden cells that an unchanged column, or two
columns, give back (:mod:`incrowd.verification.give_back`). Control: the unchanged columns dealt anew among the rows.
Leak: fewer than the promised k look alike once they are given back; where no k was promised, more is given back than
with the columns dealt anew.
"""

from __future__ import annotations

from collections.abc import Sequence

from incrowd.attacks.attack import LEAK, NO_LEAK, CannotRunError, Finding
from incrowd.attacks.measuring import share_interval
from incrowd.attacks.scene import Scene
from incrowd.attacks.unchanged import hidden_columns, unchanged_columns
from incrowd.verification.open_cells import QuasiIdentifier
from incrowd.verification.unchanged import UnchangedColumn, count_unchanged
from incrowd.verification.unchanged_counts import UnchangedCounts
from incrowd.vocabulary.requirement import KnownSet


class GiveBackAttack:
    """Fills in hidden cells from unchanged columns."""

    name = "give-back"
    asks = "Fills in hidden cells from columns that are released unchanged."
    needs = "hidden cells, columns that are released unchanged, and the original row of each released row"

    def run(self, scene: Scene) -> Finding:
        """Count what is given back, and what would be by columns dealt anew."""
        traced = scene.traced
        hidden, k = hidden_columns(traced, scene), scene.promised.k or 1
        dealt = scene.generator("dealt anew").permutation(len(traced.released.classes))
        counts = _counts(hidden, unchanged_columns(traced.released, scene), k)
        control = _counts(hidden, unchanged_columns(traced.released, scene, dealt), k)
        cells = counts.hidden_cells
        if not cells:
            raise CannotRunError("No released cell hides anything.")
        leak = not counts.sound if scene.promised.k else counts.given_back > control.given_back
        return Finding(
            self.name,
            LEAK if leak else NO_LEAK,
            f"{counts.given_back:,} of {cells:,} hidden cells are given back; the smallest group that is left has "
            f"{counts.effective_k:,} people.",
            counts.given_back / cells,
            control.given_back / cells,
            share_interval(counts.given_back, cells),
            unit="share of hidden cells",
            details={"effective k": float(counts.effective_k), "people below k": float(counts.people_below_k)},
        )


def _counts(hidden: Sequence[QuasiIdentifier], unchanged: Sequence[UnchangedColumn], k: int) -> UnchangedCounts:
    return count_unchanged(hidden, unchanged, [KnownSet(tuple(one.name for one in hidden), k)])
