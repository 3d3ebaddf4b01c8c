"""e-DROPP: hide several attributes of one row at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from incrowd.adversaries.taxonomy import HIDDEN
from incrowd.algorithms.cell_hiding.dropp import agreeing, ratio, speaks
from incrowd.algorithms.cell_hiding.opening import COUNTED, Opening, check_degree, is_ahead, is_predicted, open_case
from incrowd.algorithms.cell_hiding.secret import Secret
from incrowd.algorithms.cell_hiding.steps import Chose, Status
from incrowd.errors import ParameterError


@dataclass(frozen=True)
class EDropP:
    """Drop the cells of a row that speak most for the true values of several hidden ones, on average.

    Hiding a cell for one attribute can expose another one again, so all are checked until none is predicted.

    Parameters
    ----------
    degree
        The next best guess is drawn from so many most likely values, the true one included.
    """

    degree: int = 2
    name = "e-dropp"

    def __post_init__(self) -> None:
        check_degree(self.degree)

    def hide_all(self, secrets: Sequence[Secret]) -> list[Status]:
        """Hide blanked cells of one row; if one of them stays predicted, the row is deleted."""
        check_one_row(secrets)
        ends = [Status.NOT_PREDICTED] * len(secrets)
        guesses: dict[str, int] = {}
        mark = secrets[0].mark() if secrets else (0, 0)
        while live := self._live(secrets, ends, guesses):
            if not _drop_one(live, guesses):
                break
        if any(is_predicted(secret, COUNTED) for secret in live):
            secrets[0].back(mark)
            secrets[0].delete_row()
            return [Status.DELETED] * len(secrets)
        return ends

    def _live(self, secrets: Sequence[Secret], ends: list[Status], guesses: dict[str, int]) -> list[Secret]:
        """The cells that are not behind their guess; whoever is predicted for the first time draws a guess."""
        live = []
        for place, secret in enumerate(secrets):
            if ends[place] is Status.COIN:
                continue
            if secret.attribute in guesses:
                if is_ahead(secret, COUNTED, guesses[secret.attribute]):
                    live.append(secret)
                continue
            opening = open_case(secret, COUNTED, self.degree)
            if opening is Status.COIN:
                ends[place] = Status.COIN
            elif opening is not Status.NOT_PREDICTED:
                ends[place] = Status.HIDDEN
                live.append(secret)
                if isinstance(opening, Opening):
                    guesses[secret.attribute] = opening.guess
        return live


def check_one_row(secrets: Sequence[Secret]) -> None:
    """All cells must be of one row."""
    if len({secret.row for secret in secrets}) > 1:
        raise ParameterError("e-DROPP hides cells of one row at a time. Group the cells by row.")


def _drop_one(live: Sequence[Secret], guesses: dict[str, int]) -> bool:
    """Hide the cell with the largest mean ratio over the live attributes; False if no cell speaks for any of them."""
    guessing = [secret for secret in live if secret.attribute in guesses]
    found: dict[str, Fraction | float] = {}
    for name in live[0].known if guessing else ():
        counts = [agreeing(secret, guesses[secret.attribute], name) for secret in guessing]
        pairs = zip(guessing, counts, strict=True)
        if any(speaks(secret, guesses[secret.attribute], pair) for secret, pair in pairs):
            found[name] = sum(map(ratio, counts)) / len(counts)
    if not found:
        return False
    chosen = max(found, key=lambda name: found[name])
    live[0].steps.append(Chose(chosen, tuple(found), {"impact": found}))
    live[0].show([live[0].row], chosen, HIDDEN)
    return True
