"""INCP-G: as INCP, with class labels of other rows generalized instead of blanked."""

from __future__ import annotations

from dataclasses import dataclass

from incrowd.adversaries.taxonomy import HIDDEN
from incrowd.algorithms.cell_hiding.decp_g import DecPG
from incrowd.algorithms.cell_hiding.generalizing import level_by_level
from incrowd.algorithms.cell_hiding.incp import next_best, strangers
from incrowd.algorithms.cell_hiding.opening import SHARED, check_degree, is_ahead, is_predicted, open_case
from incrowd.algorithms.cell_hiding.secret import Secret
from incrowd.algorithms.cell_hiding.steps import Chose, Status


@dataclass(frozen=True)
class IncPG:
    """Increase the probability of other values by generalizing labels of rows that have nothing in common.

    If no level of the class works, DECP-G starts from the table as it was.

    Parameters
    ----------
    degree
        The next best guess is drawn from so many most likely values, the true one included.
    """

    degree: int = 2
    name = "incp-g"

    def __post_init__(self) -> None:
        check_degree(self.degree)

    def hide(self, secret: Secret) -> Status:
        """Hide a blanked cell from naive Bayes that shares hidden cells out."""
        ended = level_by_level(secret, self.attempt)
        return ended if ended.success else DecPG(self.degree).hide(secret)

    def attempt(self, secret: Secret) -> Status:
        """One round at the class level that is shown."""
        opening = open_case(secret, SHARED, self.degree)
        if isinstance(opening, Status):
            return opening
        values = next_best(opening, secret.actual, self.degree)
        for level in range(1, secret.taxonomy.depth(secret.actual) + 1):
            for value in values:
                _pull_up(secret, value, level)
            if not is_predicted(secret, SHARED):
                return Status.HIDDEN
        return Status.DELETED


def _pull_up(secret: Secret, value: int, level: int) -> None:
    """Raise labels of strangers by one level until the value scores at least as much as the true one."""
    taxonomy = secret.taxonomy
    low, high = taxonomy.up(value, level - 1), taxonomy.up(value, level)
    if low == HIDDEN or taxonomy.below(secret.actual, low):
        return
    noted = False
    for row in strangers(secret, low):
        if not is_ahead(secret, SHARED, value):
            return
        if not noted:
            secret.steps.append(Chose(taxonomy.labels[value], (), {}, level))
            noted = True
        secret.show([row], secret.attribute, high)
