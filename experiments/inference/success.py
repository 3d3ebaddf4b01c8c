"""Each cell hidden by itself, by every method: who is fooled, how many cells change, how long it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean
from time import process_time

from experiments.inference.tables import Data
from incrowd.hiding.adversaries import Student, adversary_named
from incrowd.hiding.bayes_hiders import GroupHider
from incrowd.hiding.methods import Generic, Options, Quiet, method_named
from incrowd.hiding.planner import Cell
from incrowd.hiding.secret import FairChance, Secret, Status, secret_at
from incrowd.hiding.taxonomy import HIDDEN
from incrowd.vocabulary.randomness import SeededRandomness

BLANK = "blank only"
SINGLE = ("decp", "incp", "dropp", "hid3", "decp-g", "incp-g", "dropp-g", "hid3-g")
HYBRID = ("hid3+dropp", "hid3+incp", "hid3+decp", "hid3-g+dropp-g", "hid3-g+incp-g", "hid3-g+decp-g")
JUDGES = ("nb", "nb-ignored", "nb-shared", "id3", "svm")
WORKED_AGAINST = ("nb", "id3", "svm")
OURS = (Generic.name, Quiet.name)


@dataclass(frozen=True)
class Trial:
    """What became of one cell by one method: cells changed, CPU seconds, and which adversaries are right."""

    method: str
    status: Status
    changed: int
    seconds: float
    right: frozenset[str]
    common: bool


@dataclass
class Trials:
    """All trials on one table."""

    data: Data
    cells: int
    all: list[Trial] = field(default_factory=list)

    def of(self, method: str, rare: bool = False) -> list[Trial]:
        """Those of a method; of cells that do not hold the most common value of their column, if asked for."""
        return [trial for trial in self.all if trial.method == method and not (rare and trial.common)]

    def methods(self, names: Sequence[str]) -> list[str]:
        """Those of the methods that were tried."""
        tried = {trial.method for trial in self.all}
        return [method for method in names if method in tried]

    def success(self, method: str, judge: str, rare: bool = False) -> float:
        """Per cent of cells whose row was kept and whose value the adversary does not guess."""
        trials = self.of(method, rare)
        return 100 * mean(trial.status.success and judge not in trial.right for trial in trials) if trials else 0.0

    def share(self, method: str, status: Status) -> float:
        """Per cent of cells that ended so."""
        return 100 * mean(trial.status is status for trial in self.of(method))

    def changed(self, method: str) -> float:
        """Direct distance for one cell, on average; the cell itself counts."""
        return mean(trial.changed for trial in self.of(method))

    def milliseconds(self, method: str) -> float:
        """CPU time for one cell, on average."""
        return 1000 * mean(trial.seconds for trial in self.of(method))


def try_all(data: Data, count: int, realisations: int, tell: Callable[[str], None] = print) -> Trials:
    """Hide so many cells in each realisation, each on the table as it was."""
    trials = Trials(data, count * realisations)
    methods = [name for name in (*SINGLE, *HYBRID, *OURS, "nrd") if data.generalizes or "-g" not in name]
    for seed in range(realisations):
        trial = _Table(data, methods, seed)
        for cell in data.cells(count, seed):
            trials.all += trial.cell(cell)
        tell(f"{data.name}, realisation {seed + 1} of {realisations}: {count} cells by {len(methods)} methods")
    return trials


class _Table:
    """One table that is hidden in and restored again and again."""

    def __init__(self, data: Data, methods: Sequence[str], seed: int) -> None:
        self._published = data.published()
        for one in self._published.attributes:
            for other in self._published.others(one):
                self._published.joint(one, other)
        targets = [adversary_named(name) for name in WORKED_AGAINST]
        self._hiders = {name: method_named(name, targets).make(Options()) for name in methods}
        self._chance = FairChance(SeededRandomness(seed))
        self._judges = {name: adversary_named(name) for name in JUDGES}

    def cell(self, cell: Cell) -> list[Trial]:
        """Every method on one cell."""
        mark = self._published.mark()
        secret = secret_at(self._published, cell.row, cell.attribute, self._chance)
        counts = self._published.counts(cell.attribute)
        common = bool(counts[secret.actual] >= counts[1:].max())
        students = self._study(secret)
        trials = [Trial(BLANK, Status.NOT_PREDICTED, 1, 0.0, _right(secret, students), common)]
        trials += [self._trial(secret, name, students, common) for name in self._hiders]
        self._published.back(mark)
        return trials

    def _trial(self, blank: Secret, name: str, students: dict[str, Student], common: bool) -> Trial:
        """One method on a cell that is blank; the table is left so."""
        secret = Secret(self._published, blank.row, blank.attribute, blank.actual, self._chance)
        mark, begun = self._published.mark(), process_time()
        hider = self._hiders[name]
        if isinstance(hider, Generic | Quiet):
            status = hider.hide_from(secret, [students[each] for each in WORKED_AGAINST])
        else:
            assert not isinstance(hider, GroupHider)
            status = hider.hide(secret)
        seconds = process_time() - begun
        touched = set(self._published.touched(mark)) | {(secret.row, secret.attribute)}
        alone = {row for row, _ in touched} == {secret.row} and secret.shown(secret.attribute) == HIDDEN
        right = _right(secret, students if alone else self._study(secret))
        self._published.back(mark)
        return Trial(name, status, len(touched), seconds, right, common)

    def _study(self, secret: Secret) -> dict[str, Student]:
        shown = secret.shown(secret.attribute)
        return {name: judge.study(self._published, secret.attribute, shown) for name, judge in self._judges.items()}


def _right(secret: Secret, students: dict[str, Student]) -> frozenset[str]:
    return frozenset(name for name, student in students.items() if student.guess(secret.row) == secret.actual)


Chain = Sequence[Sequence[str]]

MILLISECONDS: Mapping[str, Mapping[str, float]] = {
    "breast cancer": dict(zip(SINGLE, (0.129, 0.127, 0.131, 0.129, 0.159, 0.160, 0.169, 0.159), strict=True)),
    "Car": dict(zip(SINGLE[:4], (0.036, 0.036, 0.037, 0.036), strict=True)),
}
SUCCESS: Mapping[str, Mapping[str, Mapping[str, int]]] = {
    "breast cancer": {
        "nb": dict(zip(SINGLE, (100, 100, 100, 84, 100, 100, 100, 81), strict=True)),
        "id3": dict(zip(SINGLE, (77, 75, 90, 100, 74, 73, 85, 100), strict=True)),
        "svm": dict(zip(SINGLE, (41, 41, 89, 86, 40, 39, 87, 84), strict=True)),
    },
    "Car": {
        "nb": dict(zip(SINGLE[:4], (100, 100, 100, 65), strict=True)),
        "id3": dict(zip(SINGLE[:4], (86, 84, 85, 100), strict=True)),
        "svm": dict(zip(SINGLE[:4], (65, 56, 88, 80), strict=True)),
    },
}

_BLANKING: Chain = [["hid3"], ["dropp"], ["incp"], ["decp"]]
_RAISING: Chain = [["hid3-g"], ["dropp-g"], ["incp-g"], ["decp-g"]]
_ABOVE: Sequence[Chain] = [[[name], [f"{name}-g"]] for name in ("hid3", "dropp", "incp", "decp")]
_BELOW: Sequence[Chain] = [[[f"{name}-g"], [name]] for name in ("hid3", "dropp", "incp", "decp")]
_ALL: Chain = [["hid3-g"], ["hid3"], ["dropp-g"], ["dropp"], ["incp-g"], ["incp"], ["decp-g"], ["decp"]]


@dataclass(frozen=True)
class Claim:
    """Chains of methods, least first, that a figure is said to show for a quantity."""

    figure: str
    quantity: str
    chains: Sequence[Chain]

    def pairs(self, known: Mapping[str, float]) -> Iterator[tuple[str, str]]:
        """All pairs of known methods of which the first is claimed to be less."""
        for chain in self.chains:
            for place, lower in enumerate(chain):
                for higher in chain[place + 1 :]:
                    yield from ((low, high) for low in lower for high in higher if low in known and high in known)


CLAIMS = (
    Claim(
        "5.1",
        "average direct distance",
        [[["hid3", "hid3-g"], ["dropp", "dropp-g"], ["nrd"], ["incp", "decp", "incp-g", "decp-g"]], *_ABOVE],
    ),
    Claim("5.2", "direct distance", [_BLANKING, _RAISING, *_ABOVE]),
    Claim("5.3", "SKLD", [_BLANKING, _RAISING, *_BELOW]),
    Claim("5.4", "ACMI", [_ALL]),
    Claim("5.5", "SCE", [_ALL]),
    Claim(
        "5.6",
        "hybrids, average direct distance",
        [
            [
                ["hid3+dropp", "hid3-g+dropp-g"],
                ["hid3+incp"],
                ["hid3-g+incp-g"],
                ["hid3+decp"],
                ["hid3-g+decp-g"],
            ]
        ],
    ),
)


def against(claim: Claim, values: Mapping[str, float]) -> tuple[int, list[str]]:
    """How many pairs were compared, and those that came out the other way; equal values agree.

    Examples
    --------
    >>> against(Claim("1", "cost", [[["a"], ["b", "c"]]]), {"a": 2.0, "b": 3.0, "c": 1.0})
    (2, ['a > c'])
    """
    pairs = list(claim.pairs(values))
    return len(pairs), [f"{low} > {high}" for low, high in pairs if values[low] > values[high]]
