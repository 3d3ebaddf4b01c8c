"""INCP: hide class labels of rows that speak against other values, until one of these is as likely as the true one."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

from incrowd.adversaries.taxonomy import HIDDEN
from incrowd.algorithms.cell_hiding.decp import push_down
from incrowd.algorithms.cell_hiding.opening import (
    COUNTED,
    Opening,
    check_degree,
    closed,
    is_predicted,
    open_case,
    or_delete,
    top,
)
from incrowd.algorithms.cell_hiding.secret import Secret
from incrowd.algorithms.cell_hiding.steps import Chose, Status


@dataclass(frozen=True)
class IncP:
    """Increase the probability of other values; what is then missing is done as DECP does.

    Rows that have nothing in common with the row in question and show one of the next best values lose that value: the
    remaining rows of the value look more like the row in question. At most m - N - 1 - s labels are hidden, for m rows,
    N other rows with the true value and s next best values.

    Parameters
    ----------
    degree
        The next best guess is drawn from so many most likely values, the true one included.
    """

    degree: int = 2
    name = "incp"

    def __post_init__(self) -> None:
        check_degree(self.degree)

    def hide(self, secret: Secret) -> Status:
        """Hide a blanked cell from naive Bayes."""
        opening = open_case(secret, COUNTED, self.degree)
        mark = secret.mark()
        if isinstance(opening, Status):
            return or_delete(secret, opening)
        for value in next_best(opening, secret.actual, self.degree):
            self._pull_up(secret, value)
        if is_predicted(secret, COUNTED):
            push_down(secret, opening.guess)
        return closed(secret, COUNTED, mark)

    def _pull_up(self, secret: Secret, value: int) -> None:
        """Hide labels of strangers until the value scores at least as much as the true one."""
        scores = COUNTED.scores(secret.published, secret.row, secret.attribute)
        lead = scores[secret.actual] / scores[value]
        count = int(secret.published.counts(secret.attribute)[value])
        rows = list(islice(strangers(secret, value), labels_needed(count, len(secret.known), lead)))
        if rows:
            secret.steps.append(Chose(secret.taxonomy.labels[value], (), {}))
            secret.show(rows, secret.attribute, HIDDEN)


def labels_needed(count: int, known: int, lead: Fraction) -> int:
    """How many of a value's rows to hide until a score that leads by this ratio is caught up with.

    With n rows and q known predictors, a hidden label of a stranger raises the score by (n / (n - 1)) ** (q - 1) over
    the true one's. If no number is enough, all of them.

    Examples
    --------
    >>> labels_needed(4, 2, Fraction(2)), labels_needed(4, 1, Fraction(2)), labels_needed(4, 2, Fraction(1))
    (2, 4, 0)
    """
    if lead <= 1 or known < 2:
        return 0 if lead <= 1 else count
    return bisect_left(range(count), True, key=lambda hidden: Fraction(count, count - hidden) ** (known - 1) >= lead)


def next_best(opening: Opening, actual: int, degree: int) -> list[int]:
    """The next best guess and every value above it, without the true one; the most likely first."""
    goal = opening.scores[opening.guess]
    return [value for value in top(opening.scores, degree) if value != actual and opening.scores[value] >= goal]


def strangers(secret: Secret, label: int) -> Iterator[int]:
    """Other rows with a label that show nothing the row in question shows, ascending."""
    published, row = secret.published, secret.row
    shared = [int(published.joint(secret.attribute, name)[label, secret.shown(name)]) for name in secret.known]
    if max(shared, default=0) == int(published.counts(secret.attribute)[label]):
        return
    record = [(published.nodes(name), secret.shown(name)) for name in secret.known]
    for other in published.rows_with((secret.attribute, label)):
        if other != row and not any(int(nodes[other]) == node for nodes, node in record):
            yield other
