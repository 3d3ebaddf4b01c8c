"""e-DECP-G: hide the same value of one attribute in many rows at once, by generalizing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from incrowd.adversaries.taxonomy import HIDDEN
from incrowd.algorithms.cell_hiding.decp_g import Climb
from incrowd.algorithms.cell_hiding.e_decp import check_one_value
from incrowd.algorithms.cell_hiding.opening import SHARED, Opening, check_degree, is_ahead, is_predicted, open_case
from incrowd.algorithms.cell_hiding.secret import Secret
from incrowd.algorithms.cell_hiding.steps import Status


@dataclass(frozen=True)
class EDecPG:
    """Decrease the probability of one value for many rows by generalizing cells of other rows.

    A raised cell gives its siblings a larger share, so a row that was hidden can be predicted again; all rows are
    checked after every cell. Cells only ever go up, so it ends.

    Parameters
    ----------
    degree
        The next best guess is drawn from so many most likely values, the true one included.
    """

    degree: int = 2
    name = "e-decp-g"

    def __post_init__(self) -> None:
        check_degree(self.degree)

    def hide_all(self, secrets: Sequence[Secret]) -> list[Status]:
        """Hide blanked cells of one attribute with one true value; how each of them ended."""
        check_one_value(secrets)
        crowd = _Crowd(secrets, self.degree)
        top = secrets[0].taxonomy.depth(secrets[0].actual) if secrets else 0
        for level in range(1, top + 1):
            crowd.raise_classes(level)
            crowd.push_down()
        return [crowd.end(secret) for secret in secrets]


@dataclass
class _Crowd:
    """The rows of one run, by their number: next best guesses, and rows that are out."""

    secrets: Sequence[Secret]
    degree: int
    guesses: dict[int, int] = field(default_factory=dict)
    coin: set[int] = field(default_factory=set)
    pressed: set[int] = field(default_factory=set)

    def raise_classes(self, level: int) -> None:
        """Show the confidential cells of the rows that are predicted (at the first level, of all) one level higher."""
        for secret in self.secrets:
            if secret.row not in self.coin and (level == 1 or is_predicted(secret, SHARED)):
                secret.raise_to(level)
                self.guesses.pop(secret.row, None)

    def live(self) -> list[Secret]:
        """The rows that are not behind their guess; a row that is predicted and has none draws one."""
        return [secret for secret in self.secrets if self._is_live(secret)]

    def _is_live(self, secret: Secret) -> bool:
        if secret.row in self.coin:
            return False
        if secret.row in self.guesses:
            return is_ahead(secret, SHARED, self.guesses[secret.row])
        opening = open_case(secret, SHARED, self.degree)
        if opening is Status.COIN:
            self.coin.add(secret.row)
        if isinstance(opening, Opening):
            self.guesses[secret.row] = opening.guess
            self.pressed.add(secret.row)
        return isinstance(opening, Opening)

    def push_down(self) -> None:
        """Raise supporting cells of other rows, level by level."""
        level = 1
        while live := self.live():
            keys = self._keys(live, level)
            if not keys:
                if level > max((_depth(secret) for secret in live), default=0):
                    return
                level += 1
            for name, low in keys:
                self._raise_cells(name, low, level)
            if keys and not self._keys(self.live(), level):
                level += 1

    def _keys(self, live: list[Secret], level: int) -> list[tuple[str, int]]:
        """Attributes and nodes to raise from, the ones that most live rows share first, then the strongest."""
        counts: dict[tuple[str, int], int] = {}
        for name in live[0].published.others(live[0].attribute) if live else ():
            taxonomy = live[0].published.taxonomy(name)
            for secret in live:
                low = taxonomy.up(secret.shown(name), level - 1)
                if low != HIDDEN:
                    counts[name, low] = counts.get((name, low), 0) + 1
        possible = [key for key in counts if self._climb(*key).possible]
        return sorted(possible, key=lambda key: (-counts[key], self._climb(*key).ratio))

    def _climb(self, name: str, low: int) -> Climb:
        secret = self.secrets[0]
        cells = secret.published.joint(secret.attribute, name)[secret.actual]
        return Climb.of(secret.published.taxonomy(name), cells, low)

    def _raise_cells(self, name: str, low: int, level: int) -> None:
        """Raise cells of one node while a live row comes from it and one that stays is left."""
        first = self.secrets[0]
        taxonomy = first.published.taxonomy(name)
        for row in first.published.rows_with((first.attribute, first.actual), (name, low)):
            climb = self._climb(name, low)
            served = any(taxonomy.up(secret.shown(name), level - 1) == low for secret in self.live())
            if not served or not climb.possible:
                return
            first.show([row], name, climb.high, [climb.ratio])

    def end(self, secret: Secret) -> Status:
        """How a row ended, counted again."""
        if secret.row in self.coin:
            return Status.COIN
        if is_predicted(secret, SHARED):
            secret.delete_row()
            return Status.DELETED
        return Status.HIDDEN if secret.row in self.pressed else Status.NOT_PREDICTED


def _depth(secret: Secret) -> int:
    """The deepest of what the row shows."""
    published = secret.published
    return max((published.taxonomy(name).depth(secret.shown(name)) for name in secret.known), default=0)
