"""What the pattern of hidden cells gives away, on small samples: posterior over prior of the true value, by method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import mean

from incrowd.hiding.evaluation import PatternAttack, pattern_attack
from incrowd.hiding.methods import METHODS, GroupHider, Options, method_named
from incrowd.lab.inference.success import HYBRID, OURS, SINGLE
from incrowd.lab.inference.tables import Data

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
    found: dict[str, list[PatternAttack]] = {name: [] for name in names}
    for seed in range(samples):
        sample = data.sample(rows, seed)
        for name in names:
            found[name] += _attacks(sample, name, cells, seed)
        tell(f"{data.name}, sample {seed + 1} of {samples}: patterns of {cells} cells by {len(names)} methods")
    return [Told(name, attacks) for name, attacks in found.items()]


def _attacks(sample: Data, name: str, cells: int, seed: int) -> list[PatternAttack]:
    hider = method_named(name, METHODS["hid3+dropp"].targets).make(Options())
    assert not isinstance(hider, GroupHider)
    published = sample.published()
    return [pattern_attack(published, cell.row, cell.attribute, hider) for cell in sample.cells(cells, seed)]
