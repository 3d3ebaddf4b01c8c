"""e-DECP: hide the same value of one attribute in many rows at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

from incrowd.adversaries.taxonomy import HIDDEN
from incrowd.algorithms.cell_hiding.decp import hides_needed
from incrowd.algorithms.cell_hiding.opening import COUNTED, Opening, check_degree, is_predicted, open_case
from incrowd.algorithms.cell_hiding.secret import Secret
from incrowd.algorithms.cell_hiding.steps import Status
from incrowd.errors import ParameterError


@dataclass
class Live:
    """A row that is not hidden yet: its scores of the true value and of the next best guess."""

    secret: Secret
    score: Fraction
    goal: Fraction


@dataclass(frozen=True)
class Impact:
    """A value of an attribute: how many live rows show it, and how many rows with the true value do."""

    attribute: str
    node: int
    primary: int
    secondary: int


@dataclass(frozen=True)
class EDecP:
    """Decrease the probability of one value for many rows; a hidden cell serves all rows that show the same.

    Scores of the value only fall and those of the others do not move, so a row once hidden stays hidden.

    Parameters
    ----------
    degree
        The next best guess is drawn from so many most likely values, the true one included.
    """

    degree: int = 2
    name = "e-decp"

    def __post_init__(self) -> None:
        check_degree(self.degree)

    def hide_all(self, secrets: Sequence[Secret]) -> list[Status]:
        """Hide blanked cells of one attribute with one true value; how each of them ended."""
        check_one_value(secrets)
        openings = [open_case(secret, COUNTED, self.degree) for secret in secrets]
        live = [
            Live(secret, opening.scores[secret.actual], opening.scores[opening.guess])
            for secret, opening in zip(secrets, openings, strict=True)
            if isinstance(opening, Opening)
        ]
        for impact in impacts(live):
            live = _hide_value(live, impact)
        return [_ended(secret, opening) for secret, opening in zip(secrets, openings, strict=True)]


def check_one_value(secrets: Sequence[Secret]) -> None:
    """All cells must be of one attribute and one true value."""
    if len({(secret.attribute, secret.actual) for secret in secrets}) > 1:
        raise ParameterError("e-DECP hides one value of one attribute at a time. Group the cells by value.")


def impacts(live: Sequence[Live]) -> list[Impact]:
    """Values by the number of live rows that show them, then the rarest among rows with the true value."""
    counts: dict[tuple[str, int], int] = {}
    for name in live[0].secret.published.others(live[0].secret.attribute) if live else ():
        for node in sorted(item.secret.shown(name) for item in live):
            if node != HIDDEN:
                counts[name, node] = counts.get((name, node), 0) + 1
    found = []
    for (name, node), primary in counts.items():
        secret = live[0].secret
        secondary = int(secret.published.joint(secret.attribute, name)[secret.actual, node])
        found.append(Impact(name, node, primary, secondary))
    return sorted(found, key=lambda impact: (-impact.primary, impact.secondary))


def _hide_value(live: list[Live], impact: Impact) -> list[Live]:
    """Hide instances of a value while a live row shows it and one is left; the rows that are still live."""
    showing = [item for item in live if item.secret.shown(impact.attribute) == impact.node]
    if not showing or impact.secondary < 2:
        return live
    secret, count = showing[0].secret, impact.secondary
    fewer = max(hides_needed(count, item.score, item.goal) for item in showing)
    pair = ((secret.attribute, secret.actual), (impact.attribute, impact.node))
    rows = list(islice(secret.published.rows_with(*pair), fewer))
    secret.show(rows, impact.attribute, HIDDEN, [Fraction(left - 1, left) for left in range(count, count - fewer, -1)])
    for item in showing:
        item.score *= Fraction(count - fewer, count)
    return [item for item in live if item.score > item.goal]


def _ended(secret: Secret, opening: Opening | Status) -> Status:
    """How a row ended, counted again."""
    if opening is Status.COIN:
        return Status.COIN
    if is_predicted(secret, COUNTED):
        secret.delete_row()
        return Status.DELETED
    return Status.HIDDEN if isinstance(opening, Opening) else Status.NOT_PREDICTED
