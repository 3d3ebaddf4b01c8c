"""e-DROPP-G: hide several attributes of one row at once, by generalizing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from incrowd.algorithms.cell_hiding.dropp_g import lift
from incrowd.algorithms.cell_hiding.e_dropp import check_one_row
from incrowd.algorithms.cell_hiding.opening import SHARED, Opening, check_degree, is_ahead, is_predicted, open_case
from incrowd.algorithms.cell_hiding.secret import Secret
from incrowd.algorithms.cell_hiding.steps import Chose, Status


@dataclass(frozen=True)
class EDropPG:
    """Raise the cells of a row that speak most for the true values of several confidential ones, on average.

    Parameters
    ----------
    degree
        The next best guess is drawn from so many most likely values, the true one included.
    """

    degree: int = 2
    name = "e-dropp-g"

    def __post_init__(self) -> None:
        check_degree(self.degree)

    def hide_all(self, secrets: Sequence[Secret]) -> list[Status]:
        """Hide blanked cells of one row; if one of them stays predicted, the row is deleted."""
        check_one_row(secrets)
        if not secrets:
            return []
        mark, row = secrets[0].mark(), _Row(secrets, self.degree)
        for level in range(1, max(secret.taxonomy.depth(secret.actual) for secret in secrets) + 1):
            row.raise_secrets(level)
            row.drop()
            if not row.exposed():
                return [row.end(secret) for secret in secrets]
        secrets[0].back(mark)
        secrets[0].delete_row()
        return [Status.DELETED] * len(secrets)


@dataclass
class _Row:
    """The confidential cells of one row, by attribute: next best guesses, and cells that are out."""

    secrets: Sequence[Secret]
    degree: int
    guesses: dict[str, int] = field(default_factory=dict)
    coin: set[str] = field(default_factory=set)
    pressed: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        hidden = {secret.attribute for secret in self.secrets}
        first = self.secrets[0]
        self.start = {name: first.shown(name) for name in first.published.predictors if name not in hidden}

    def exposed(self) -> list[Secret]:
        """The cells that are predicted; one with a single candidate always is."""
        return [secret for secret in self.secrets if secret.attribute not in self.coin and is_predicted(secret, SHARED)]

    def raise_secrets(self, level: int) -> None:
        """Show the exposed cells (at the first level, all) so many levels above their true values."""
        for secret in self.secrets if level == 1 else self.exposed():
            secret.raise_to(level)
            self.guesses.pop(secret.attribute, None)

    def live(self) -> list[Secret]:
        """The cells that are not behind their guess; one that is predicted and has none draws one."""
        return [secret for secret in self.secrets if self._is_live(secret)]

    def _is_live(self, secret: Secret) -> bool:
        if secret.attribute in self.coin:
            return False
        if secret.attribute in self.guesses:
            return is_ahead(secret, SHARED, self.guesses[secret.attribute])
        opening = open_case(secret, SHARED, self.degree)
        if opening is Status.COIN:
            self.coin.add(secret.attribute)
        if isinstance(opening, Opening):
            self.guesses[secret.attribute] = opening.guess
            self.pressed.add(secret.attribute)
        return isinstance(opening, Opening)

    def drop(self) -> None:
        """Raise cells of the row, level by level, each at most once at each level."""
        published = self.secrets[0].published
        depths = {name: published.taxonomy(name).depth(node) for name, node in self.start.items()}
        for level in range(1, max(depths.values(), default=0) + 1):
            highs = {
                name: published.taxonomy(name).up(node, level)
                for name, node in self.start.items()
                if level <= depths[name]
            }
            while self._raise_one(highs, level):
                pass

    def _raise_one(self, highs: dict[str, int], level: int) -> bool:
        """Raise the cell with the largest mean ratio over the live attributes; False if none helps."""
        live, first = self.live(), self.secrets[0]
        found: dict[str, Fraction | float] = {}
        for name, high in highs.items() if live else ():
            if first.published.taxonomy(name).below(first.shown(name), high):
                ratios = [lift(secret, self.guesses[secret.attribute], name, high).ratio for secret in live]
                if max(ratios) > 1:
                    found[name] = sum(ratios) / len(ratios)
        if not found:
            return False
        chosen = max(found, key=lambda name: found[name])
        first.steps.append(Chose(chosen, tuple(found), {"impact": found}, level))
        first.show([first.row], chosen, highs.pop(chosen))
        return True

    def end(self, secret: Secret) -> Status:
        """How a cell ended."""
        if secret.attribute in self.coin:
            return Status.COIN
        return Status.HIDDEN if secret.attribute in self.pressed else Status.NOT_PREDICTED
