"""All attacks on releases of Adult: five methods, three k, next to a plain Mondrian as it is often written.

Run by ``python -m experiments attacks --page docs/results/attacks_adult.md``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from incrowd.attacks.attack import Finding
from incrowd.attacks.catalog import ATTACKS
from incrowd.attacks.run import attack_scene
from incrowd.attacks.scene import Again, HiddenCells, Promised, Scene
from incrowd.comparisons.datasets.catalog import find_dataset, load
from incrowd.comparisons.protocol import seed_of
from incrowd.comparisons.releasing import without_unused
from incrowd.comparisons.subject import Subject, understand_table
from incrowd.models.kadet import KAdet
from incrowd.tables.hierarchies.read import adult_hierarchies
from incrowd.tables.reading.read import read
from incrowd.vocabulary.encoded_table import EncodedTable
from incrowd.vocabulary.requirement import KAnonymity, Requirement
from incrowd.vocabulary.requirements.words import asked_for
from incrowd.vocabulary.schema import Schema

QUASI_IDENTIFIERS = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country")
SALARY, OCCUPATION = "class", "occupation"
METHODS = ("kactus", "tdr", "iack", "mondrian", "infogain-mondrian")
KS = (5, 10, 50)
BY_COLUMN = (
    "homogeneity",
    "background knowledge",
    "skewness",
    "attribute inference",
    "composition",
    "deFinetti",
)
APART = ("minimality", "tree reconstruction", "suppression pattern", "mean of a group")
STRONGER = {SALARY: "k=10, distinct-l=2, t=0.3", OCCUPATION: "k=10, distinct-l=3 on occupation, t=0.3 on occupation"}
HIDERS = ("generic", "quiet", "nrd")
SAMPLE, SAMPLES, CELLS = 40, 3, 4
Tell = Callable[[str], None]


class Stopwatch:
    """How long something took: seconds, and seconds of CPU, which do not depend on who else uses the machine."""

    def __init__(self) -> None:
        self._begun = time.perf_counter(), time.process_time()

    @property
    def spent(self) -> tuple[float, float]:
        """Wall and CPU since the start."""
        return time.perf_counter() - self._begun[0], time.process_time() - self._begun[1]


@dataclass(frozen=True)
class Row:
    """One attack on one release: which column must not be inferred, or "" where that does not matter."""

    attack: str
    column: str
    method: str
    k: int
    finding: Finding


@dataclass(frozen=True)
class Results:
    """Everything that was found, and how long it took."""

    rows: Sequence[Row]
    people: int
    seconds: float
    cpu: float

    def find(self, attack: str, column: str, method: str, k: int) -> Finding | None:
        """The finding of an attack on a release."""
        wanted = (attack, column, method, k)
        return next((one.finding for one in self.rows if (one.attack, one.column, one.method, one.k) == wanted), None)


def read_wide(data: Path | None = None, rows: int | None = None) -> Subject:
    """Adult without incomplete rows, all 14 attributes quasi-identifiers, without hierarchies."""
    dataset, source = find_dataset("adult"), load("adult", data)
    names = [name for name in read(source).frame.columns if name != SALARY]
    return understand_table(
        source,
        target=SALARY,
        quasi_identifiers=names,
        numeric=dataset.numeric,
        complete=True,
        rows=rows,
        name="adult",
    )


def read_adult(data: Path | None = None, rows: int | None = None) -> Subject:
    """Adult without incomplete rows (45,222), without the sampling weight, with the example hierarchies."""
    dataset = find_dataset("adult")
    return understand_table(
        load("adult", data),
        target=SALARY,
        quasi_identifiers=QUASI_IDENTIFIERS,
        identifiers=["fnlwgt"],
        numeric=dataset.numeric,
        hierarchies={name: tree for name, tree in adult_hierarchies().items() if name in QUASI_IDENTIFIERS},
        complete=True,
        rows=rows,
        name="adult",
    )


def attack_adult(
    subject: Subject,
    methods: Sequence[str] = METHODS,
    ks: Sequence[int] = KS,
    tell: Tell = print,
) -> Results:
    """Release by every method with every k, and attack."""
    begun = Stopwatch()
    rows: list[Row] = []
    for method in methods:
        for k in ks:
            started = Stopwatch()
            rows += _attacked(subject, method, k)
            tell(f"{method}, k = {k}: {started.spent[0]:.0f} s, CPU {started.spent[1]:.0f} s")
        finding = attack_scene(scene_of(subject, method, KAnonymity(ks[0])), ["minimality"])["minimality"]
        rows += [Row("minimality", "", method, k, finding) for k in ks]
    return Results(rows, subject.table.height, *begun.spent)


def scene_of(
    subject: Subject, method: str, requirement: Requirement, parameters: Mapping[str, Any] | None = None
) -> Scene:
    """A release, and all that attackers may look at."""
    seed = seed_of(1, "adult", method, str(requirement))
    again = Again(method, requirement, parameters or {})
    made = again.release(subject.table, subject.frame, subject.schema, seed)
    return Scene(
        subject.table,
        subject.frame,
        subject.schema,
        made.draft.frame,
        (SALARY,),
        Promised.by(requirement, SALARY),
        again,
        seed=seed_of(seed, 2),
    )


def _attacked(subject: Subject, method: str, k: int) -> list[Row]:
    scene = scene_of(subject, method, KAnonymity(k))
    others = [name for name in ATTACKS if name not in (*BY_COLUMN, *APART)]
    reports = [("", attack_scene(scene, others)), (SALARY, attack_scene(scene, BY_COLUMN))]
    reports.append((OCCUPATION, attack_scene(replace(scene, sensitive=(OCCUPATION,)), BY_COLUMN)))
    return [Row(one.attack, column, method, k, one) for column, report in reports for one in report.findings]


def attack_promised(subject: Subject, methods: Sequence[str] = METHODS) -> Results:
    """Releases with l-diversity and t-closeness of the salary, or of the occupation, on top of k = 10."""
    begun = Stopwatch()
    rows = []
    for column, promise in STRONGER.items():
        for method in methods:
            scene = replace(scene_of(subject, method, asked_for(promise, KAnonymity(10))), sensitive=(column,))
            rows += [Row(one.attack, column, method, 10, one) for one in attack_scene(scene, BY_COLUMN).findings]
    return Results(rows, subject.table.height, *begun.spent)


def attack_plain(subject: Subject, ks: Sequence[int] = KS) -> Results:
    """Mondrian's boxes without hierarchies: whether somebody can lie between them."""
    begun = Stopwatch()
    schema = Schema(tuple(replace(column, hierarchy=None) for column in subject.schema.columns))
    rows = []
    for method in ("mondrian", "infogain-mondrian"):
        for k in ks:
            scene = scene_of(replace(subject, schema=schema), method, KAnonymity(k))
            rows += [Row(one.attack, "", method, k, one) for one in attack_scene(scene, ["membership by box"]).findings]
    return Results(rows, subject.table.height, *begun.spent)


def attack_means(subject: Subject, ks: Sequence[int] = KS) -> Results:
    """Releases that show group means, which is what the kACTUS paper does with numbers."""
    begun = Stopwatch()
    rows = []
    for method in ("kactus", "mondrian"):
        for k in ks:
            scene = scene_of(subject, method, KAnonymity(k), {"numeric": "mean"})
            report = attack_scene(scene, ["mean of a group"])
            rows += [Row(one.attack, "", method, k, one) for one in report.findings]
    return Results(rows, subject.table.height, *begun.spent)


def attack_trees(subject: Subject, ks: Sequence[int] = KS) -> Results:
    """Trees of kADET, all quasi-identifiers public, the class private."""
    begun = Stopwatch()
    names = [*QUASI_IDENTIFIERS, SALARY]
    table = EncodedTable.of(subject.table[name] for name in names)
    schema = Schema(tuple(subject.schema[name] for name in names))
    rows = []
    for k in ks:
        model = KAdet(k=k, fill="mode").induce(table, schema).model
        written = None if model is None else model.to_json()
        scene = Scene(
            subject.table, subject.frame, subject.schema, subject.frame, (SALARY,), Promised(k), model=written
        )
        rows += [Row(one.attack, "", "kadet", k, one) for one in attack_scene(scene, ["tree reconstruction"]).findings]
    return Results(rows, subject.table.height, *begun.spent)


def attack_patterns(subject: Subject) -> Results:
    """Cells of small samples, withheld by several hiders; k has nothing to do with it."""
    begun = Stopwatch()
    names = ("workclass", "education", "marital-status", "occupation", "sex", SALARY)
    rows = []
    for hider in HIDERS:
        for sample in range(SAMPLES):
            generator = np.random.default_rng(sample)
            chosen = np.sort(generator.permutation(subject.table.height)[:SAMPLE]).astype(np.intp)
            table = _compact(EncodedTable.of(subject.table[name].take(chosen) for name in names))
            schema = Schema(tuple(replace(subject.schema[name], hierarchy=None) for name in names))
            cells = tuple((int(row), "marital-status") for row in generator.permutation(SAMPLE)[:CELLS])
            frame = subject.frame[chosen].select(names)
            scene = Scene(table, frame, schema, frame, (SALARY,), hidden=HiddenCells(cells, hider), seed=sample)
            findings = attack_scene(scene, ["suppression pattern"]).findings
            rows += [Row(one.attack, "", hider, sample, one) for one in findings]
    return Results(rows, SAMPLE, *begun.spent)


def _compact(table: EncodedTable) -> EncodedTable:
    return without_unused(table)
