"""Hiders against naive Bayes that change other rows: DECP and INCP, and e-DECP for many rows with one value."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from operator import attrgetter

from incrowd.errors import ParameterError
from incrowd.hiding.bayes_hiders import (
    COUNTED,
    SHARED,
    BayesHider,
    GroupHider,
    Opening,
    SecretGroup,
    duel,
    figures,
    is_ahead,
    is_predicted,
    levels,
    top,
)
from incrowd.hiding.secret import Chose, Figure, Secret, Status, level_by_level
from incrowd.hiding.taxonomy import HIDDEN


@dataclass(frozen=True)
class DecP(BayesHider):
    """Decrease the probability of the true value: DECP, DECP-G.

    Other rows with the true value lose cells in which they agree with the row in question, the rarest agreement first;
    one row that agrees stays for each attribute. The row itself keeps all of its other cells. At most (n - 1)(N - 1)
    cells change, for n attributes and N other rows with the true value.
    """

    kind = "decp"

    def press(self, secret: Secret, opening: Opening) -> None:
        """Withhold supporting cells until the true value scores no more than the guess, or one each is left."""
        score, goal = duel(secret, self.bayes, opening.guess)
        level, highest = 1, levels(secret.published, secret.known) if self.generalize else 1
        while score > goal and level <= highest:
            climbs = self._climbs(secret, level)
            possible = {name: climb for name, climb in climbs.items() if climb.most > 0}
            if not possible:
                level += 1
                continue
            chosen = min(possible, key=lambda name: possible[name].factor())
            climb = possible[chosen]
            noted = _by_level(possible) if self.generalize else figures(climbs, counts=attrgetter("here"))
            secret.steps.append(Chose(chosen, tuple(possible), noted, level if self.generalize else 0))
            count = climb.needed(score, goal)
            rows = secret.published.rows_with((secret.attribute, secret.actual), (chosen, climb.low))
            secret.show(list(islice(rows, count)), chosen, climb.high, climb.factors(count))
            score *= climb.factor(count)

    def _climbs(self, secret: Secret, level: int) -> dict[str, Climb]:
        """The climbs at a level above what the row shows, for each attribute that has one."""
        known, taxonomy = secret.known, secret.published.taxonomy
        return {
            name: Climb.of(secret, name, taxonomy(name).up(node, level - 1), generalize=self.generalize)
            for name, node in known.items()
            if level <= taxonomy(name).depth(node)
        }


@dataclass(frozen=True)
class Climb:
    """Showing cells of one attribute one level higher, or blank, among rows with the true value.

    ``here`` cells show the lower node, ``kept`` show it or lie below it, and ``within`` lie below the upper one; None
    for an adversary who does not share hidden cells out.
    """

    low: int
    high: int
    here: int
    kept: int
    within: int | None = None

    @classmethod
    def of(cls, secret: Secret, name: str, low: int, *, generalize: bool) -> Climb:
        """Count the cells of a climb from a node to its parent, or to nothing."""
        cells = secret.published.joint(secret.attribute, name)[secret.actual]
        here = int(cells[low])
        if not generalize:
            return cls(low, HIDDEN, here, here)
        taxonomy = secret.published.taxonomy(name)
        high = taxonomy.parents[low]
        kept, within = cells[low : taxonomy.ends[low]].sum(), cells[high + 1 : taxonomy.ends[high]].sum()
        return cls(low, high, here, int(kept), int(within))

    @property
    def most(self) -> int:
        """How many cells may be raised: one that speaks for the true value stays."""
        return min(self.here, self.kept - 1)

    def factor(self, raised: int = 1) -> Fraction:
        """On the score of the true value, when so many cells are raised; at most 1."""
        if raised >= self.kept:
            return Fraction(0)
        factor = Fraction(self.kept - raised, self.kept)
        return factor if self.within is None else factor * Fraction(self.within, self.within - raised)

    def factors(self, raised: int) -> list[Fraction]:
        """The same, cell by cell."""
        return [self.factor(done + 1) / self.factor(done) for done in range(raised)]

    def needed(self, score: Fraction, goal: Fraction) -> int:
        """How many cells to raise until the score is at most the goal; as many as may be if it stays above."""
        return bisect_left(range(self.most), True, key=lambda raised: score * self.factor(raised) <= goal)


def _by_level(climbs: dict[str, Climb]) -> dict[str, dict[str, Figure]]:
    """The counts and ratios of climbs, by their names in the thesis."""
    here, within = attrgetter("here"), attrgetter("within")
    return figures(climbs, F1=here, F2=within, F3=lambda climb: climb.kept - climb.here, ratios=Climb.factor)


@dataclass(frozen=True)
class IncP(BayesHider):
    """Increase the probability of other values: INCP, INCP-G.

    Rows that have nothing in common with the row in question and show one of the next best values lose that value: the
    remaining rows of the value look more like the row in question. At most m - N - 1 - s labels are hidden, for m rows,
    N other rows with the true value and s next best values. What is then missing is done as DECP does; in the
    generalizing form from the table as it was, where no level of the class works.
    """

    kind = "incp"

    def hide(self, secret: Secret) -> Status:
        """Hide a blanked cell from naive Bayes; if that is impossible, delete the row."""
        if not self.generalize:
            return super().hide(secret)
        ended = level_by_level(secret, self.attempt)
        return ended if ended.success else DecP(self.degree, generalize=True).hide(secret)

    def press(self, secret: Secret, opening: Opening) -> None:
        """Withhold labels until one of the next best values scores as much as the true one."""
        values, goal = top(opening.scores, self.degree), opening.scores[opening.guess]
        values = [value for value in values if value != secret.actual and opening.scores[value] >= goal]
        for level in range(1, secret.taxonomy.depth(secret.actual) + 1) if self.generalize else (0,):
            for value in values:
                if self.generalize:
                    self._raise_labels(secret, value, level)
                else:
                    self._blank_labels(secret, value)
            if not is_predicted(secret, self.bayes):
                return
        if not self.generalize:
            DecP(self.degree).press(secret, opening)

    def _blank_labels(self, secret: Secret, value: int) -> None:
        """Blank labels of strangers until the value scores at least as much as the true one."""
        score, goal = duel(secret, COUNTED, value)
        count = int(secret.published.counts(secret.attribute)[value])
        rows = list(islice(strangers(secret, value), labels_needed(count, len(secret.known), score / goal)))
        if rows:
            secret.steps.append(Chose(secret.taxonomy.labels[value], (), {}))
            secret.show(rows, secret.attribute, HIDDEN)

    def _raise_labels(self, secret: Secret, value: int, level: int) -> None:
        """Raise labels of strangers by one level until the value scores at least as much as the true one."""
        taxonomy, before = secret.taxonomy, secret.published.mark()
        low, high = taxonomy.up(value, level - 1), taxonomy.up(value, level)
        if low == HIDDEN or taxonomy.below(secret.actual, low):
            return
        for row in strangers(secret, low):
            if not is_ahead(secret, SHARED, value):
                return
            if secret.published.mark() == before:
                secret.steps.append(Chose(taxonomy.labels[value], (), {}, level))
            secret.show([row], secret.attribute, high)


def labels_needed(count: int, known: int, lead: Fraction) -> int:
    """How many of a value's rows to hide until a score that leads by this ratio is caught up with.

    With n rows and q known predictors, a hidden label of a stranger raises the score by (n / (n - 1)) ** (q - 1) over
    the true one's. If no number is enough, all of them.
    """
    if lead <= 1 or known < 2:
        return 0 if lead <= 1 else count
    return bisect_left(range(count), True, key=lambda hidden: Fraction(count, count - hidden) ** (known - 1) >= lead)


def strangers(secret: Secret, label: int) -> Iterator[int]:
    """Other rows with a label that show nothing the row in question shows, ascending."""
    published, known = secret.published, secret.known
    shared = [int(published.joint(secret.attribute, name)[label, node]) for name, node in known.items()]
    if max(shared, default=0) == int(published.counts(secret.attribute)[label]):
        return
    record = [(published.nodes(name), node) for name, node in known.items()]
    for other in published.rows_with((secret.attribute, label)):
        if other != secret.row and not any(int(nodes[other]) == node for nodes, node in record):
            yield other


@dataclass(frozen=True)
class JointDecP(GroupHider):
    """Decrease the probability of one value for many rows: e-DECP, e-DECP-G.

    A cell that is withheld serves all rows that show the same. Where cells are blanked, a row once hidden stays hidden.
    A raised cell gives its siblings a larger share, so a row that was hidden can be predicted again; all rows are then
    checked after every cell. Cells only ever go up, so it ends.
    """

    kind = "e-decp"

    def hide_all(self, secrets: Sequence[Secret]) -> list[Status]:
        """Hide blanked cells of one attribute with one true value; how each of them ended."""
        if len({(secret.attribute, secret.actual) for secret in secrets}) > 1:
            raise ParameterError("e-DECP hides one value of one attribute at a time. Group the cells by value.")
        group = SecretGroup(secrets, self)
        for level in self.class_levels(secrets):
            if level:
                group.raise_to(level, secrets if level == 1 else group.exposed())
            self._push_down(group)
        return [self._end(group, secret) for secret in secrets]

    def _push_down(self, group: SecretGroup) -> None:
        """Withhold supporting cells of other rows, level by level."""
        level = 1
        while live := group.live():
            possible = [impact for impact in self.impacts(live, level) if impact.climb.most > 0]
            for impact in possible:
                self._withhold(group, impact, level)
            if not possible:
                if level > (max(levels(one.published, one.known) for one in live) if self.generalize else 0):
                    return
                level += 1

    def impacts(self, live: Sequence[Secret], level: int = 1) -> list[Impact]:
        """What rows show, or show so many levels up: first what most live rows share, then what counts most."""
        first = live[0]
        counts: Counter[tuple[str, int]] = Counter()
        for name in first.published.others(first.attribute):
            nodes = [first.published.taxonomy(name).up(secret.shown(name), level - 1) for secret in live]
            counts.update((name, node) for node in (nodes if self.generalize else sorted(nodes)) if node != HIDDEN)
        impacts = [
            Impact(name, Climb.of(first, name, node, generalize=self.generalize), shared)
            for (name, node), shared in counts.items()
        ]
        return sorted(impacts, key=lambda impact: (-impact.primary, impact.climb.factor()))

    def _withhold(self, group: SecretGroup, impact: Impact, level: int) -> None:
        """Withhold cells of one node while a live row comes from it and one that stays is left."""
        first, name, low = group.secrets[0], impact.attribute, impact.climb.low
        taxonomy = first.published.taxonomy(name)
        rows = first.published.rows_with((first.attribute, first.actual), (name, low))

        def comes_from_it(secret: Secret) -> bool:
            return taxonomy.up(secret.shown(name), level - 1) == low

        while (climb := Climb.of(first, name, low, generalize=self.generalize)).most > 0:
            # a raised cell may expose any row again, a blanked one none
            live = group.live() if self.generalize else group.live(filter(comes_from_it, group.secrets))
            served = list(filter(comes_from_it, live))
            if not served:
                return
            needed = (climb.needed(*duel(one, self.bayes, group.guesses[one])) for one in served)
            count = 1 if self.generalize else max(needed)
            served[0].show(list(islice(rows, count)), name, climb.high, climb.factors(count))
            if not self.generalize:  # as many as all of them need are gone
                return

    def _end(self, group: SecretGroup, secret: Secret) -> Status:
        """How a row ended, counted again."""
        if secret in group.coin or not is_predicted(secret, self.bayes):
            return group.end(secret)
        secret.delete_row()
        return Status.DELETED


@dataclass(frozen=True)
class Impact:
    """What rows show of an attribute: the climb from it, and how many live rows show it."""

    attribute: str
    climb: Climb
    primary: int
