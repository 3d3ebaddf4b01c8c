"""Hidden from stronger learners: what forests and boosting guess, and what the generic hider does about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import mean

from experiments.inference.success import HYBRID, OURS, SINGLE, WORKED_AGAINST
from experiments.inference.tables import Data
from incrowd.hiding.adversaries import Adversary, School, SklearnAdversary, adversary_named
from incrowd.hiding.bayes_hiders import GroupHider
from incrowd.hiding.evaluation import PatternAttack, pattern_attack
from incrowd.hiding.methods import METHODS, Options, method_named
from incrowd.hiding.planner import Cell, CellChange, plan_hiding, replay
from incrowd.vocabulary.randomness import SeededRandomness

ATTRIBUTES = {"breast cancer": ("clump-thickness", "bland-chromatin"), "Car": ("safety", "class")}
TREES, ROUNDS, LEAVES = 50, 10, 8
WAYS: Sequence[tuple[str, Sequence[str]]] = (
    ("decp", ()),
    ("dropp", ()),
    ("hid3+dropp", ()),
    ("quiet", ()),
    ("generic", WORKED_AGAINST),
    ("generic", ()),
)


@dataclass(frozen=True)
class Strong:
    """One way of hiding some cells at once: rows kept, other cells changed, and cells each adversary does not guess.

    Shares are per cent of all cells, rows kept among them.
    """

    way: str
    kept: float
    changed: int
    success: dict[str, float]


def judges() -> dict[str, Adversary]:
    """Five adversaries; the two that learn long are kept short."""
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

    short = HistGradientBoostingClassifier(max_iter=ROUNDS, max_leaf_nodes=LEAVES, random_state=0)
    small = RandomForestClassifier(TREES, random_state=0)
    named: dict[str, Adversary] = {name: adversary_named(name) for name in WORKED_AGAINST}
    return {**named, "forest": SklearnAdversary("forest", small), "boosting": SklearnAdversary("boosting", short)}


def against_strong(data: Data, count: int, tell: Callable[[str], None] = print) -> list[Strong]:
    """Hide the same cells in several ways and let all five adversaries guess them."""
    return _in_all_ways(data, _cells(data, count), judges(), tell)


def _cells(data: Data, count: int) -> list[Cell]:
    """So many cells of each column, no two of a row."""
    drawn = [data.cells(count, 300 + place, (name,)) for place, name in enumerate(ATTRIBUTES[data.name])]
    return list({cell.row: cell for cells in drawn for cell in cells}.values())


def _in_all_ways(
    data: Data, cells: list[Cell], everyone: dict[str, Adversary], tell: Callable[[str], None]
) -> list[Strong]:
    blank = [CellChange(cell.row, cell.attribute) for cell in cells]
    results = [_judged(data, "blank only", cells, blank, [True] * len(cells), everyone)]
    for method, against in WAYS:
        targets = [everyone[name] for name in against or everyone] if method in OURS else None
        hiding = plan_hiding(data.table, data.schema, cells, method, targets, SeededRandomness(1))
        kept = [outcome.status.success for outcome in hiding.outcomes]
        way = f"{method}, against {len(targets)}" if targets else method
        results.append(_judged(data, way, cells, hiding.changes, kept, everyone))
        tell(f"{data.name}, {len(cells)} cells by {way}, judged by forest and boosting")
    return results


def _judged(
    data: Data,
    way: str,
    cells: Sequence[Cell],
    changes: Sequence[CellChange],
    kept: Sequence[bool],
    everyone: dict[str, Adversary],
) -> Strong:
    published = replay(data.table, data.schema, changes)
    school = School(tuple(everyone.values()), published)
    fooled = dict.fromkeys(everyone, 0)
    for cell, stays in zip(cells, kept, strict=True):
        actual = published.original(cell.row, cell.attribute)
        for name, guess in zip(everyone, school.guesses(cell.row, cell.attribute), strict=True):
            fooled[name] += stays and guess != actual
    success = {name: 100 * count / len(cells) for name, count in fooled.items()}
    return Strong(way, 100 * sum(kept) / len(cells), len(changes) - len(cells), success)


MOST = 1.2


@dataclass(frozen=True)
class Told:
    """What the patterns of one method told about some cells."""

    method: str
    attacks: list[PatternAttack]

    @property
    def prior(self) -> float:
        """The probability of the true value beforehand, on average."""
        return mean(float(attack.prior) for attack in self.attacks)

    @property
    def posterior(self) -> float:
        """And once the pattern was seen."""
        return mean(float(attack.expected) for attack in self.attacks)

    @property
    def lift(self) -> float:
        """Posterior over prior of a cell, on average."""
        return mean(float(attack.lift) for attack in self.attacks)

    @property
    def worst(self) -> float:
        """Posterior over prior of the cell and the pattern that tell most."""
        return max(float(attack.worst_lift) for attack in self.attacks)

    @property
    def certain(self) -> float:
        """Per cent of cells of which some pattern leaves no doubt."""
        return 100 * mean(attack.worst == 1 for attack in self.attacks)

    @property
    def within(self) -> float:
        """Per cent of cells whose posterior is at most 1.2 times the prior."""
        return 100 * mean(attack.lift <= MOST for attack in self.attacks)


def attack_all(data: Data, rows: int, cells: int, samples: int, tell: Callable[[str], None] = print) -> list[Told]:
    """Attack cells of small samples of a table, whatever method hid them."""
    names = [name for name in (*SINGLE, *HYBRID, *OURS, "nrd") if data.generalizes or "-g" not in name]
    attacked: dict[str, list[PatternAttack]] = {name: [] for name in names}
    for seed in range(samples):
        sample = data.sample(rows, seed)
        for name in names:
            attacked[name] += _attacks(sample, name, cells, seed)
        tell(f"{data.name}, sample {seed + 1} of {samples}: patterns of {cells} cells by {len(names)} methods")
    return [Told(name, attacks) for name, attacks in attacked.items()]


def _attacks(sample: Data, name: str, cells: int, seed: int) -> list[PatternAttack]:
    hider = method_named(name, METHODS["hid3+dropp"].targets).make(Options())
    assert not isinstance(hider, GroupHider)
    published = sample.published()
    return [pattern_attack(published, cell.row, cell.attribute, hider) for cell in sample.cells(cells, seed)]
