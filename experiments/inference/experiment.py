"""Hiding single cells: the thesis' experiments on breast cancer and Car, stronger adversaries, patterns, scale."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from experiments.inference.attackers import against_strong, attack_all
from experiments.inference.loss import losses, together
from experiments.inference.page import (
    Parts,
    enhanced_told,
    exact_goals,
    loss_told,
    orders_told,
    patterns_told,
    scale_told,
    strong_told,
    success_told,
    time_told,
)
from experiments.inference.scale import enlarged, many_cells, one_cell
from experiments.inference.success import try_all
from experiments.inference.tables import Data, tables
from experiments.pages import Section, machine, write_page
from incrowd.comparisons.datasets.catalog import find_dataset, load
from incrowd.tables.reading.draft import draft_schema
from incrowd.tables.reading.encode import encode
from incrowd.tables.reading.source import Origin, Source
from incrowd.vocabulary.encoded_table import EncodedTable

COLUMNS, QUICK_ROWS = 20, 150
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Sizes:
    """How many cells, and of what."""

    cells: int
    realisations: int
    steps: tuple[int, ...]
    together: int
    sets: int
    strong: int
    sample: int
    attacked: int
    samples: int
    many: int
    rows: int


FULL = Sizes(24, 5, (5, 10, 20, 40, 80), 10, 5, 8, 60, 8, 2, 1_000, 1_000_000)
QUICK = Sizes(2, 1, (1, 2), 3, 1, 1, 30, 1, 1, 10, 5_000)
CHOICES = (
    "Cells of attributes with more than two values, drawn at random; degree of suppression 3. What the thesis leaves "
    "open and we chose: scores of breast cancer generalize to 1-2, 3-5, 6-7, 8-10, then 1-5 and 6-10; the linear SVM "
    "(and every other scikit-learn adversary) sees a value as a one in a column of its own, a blank as zeros and a "
    "group spread over its values; logs to base 2; a row is deleted where every other value is impossible."
)
COMMON = (
    "The most common value of a column is hard to hide by changing the row alone: the emptier a row, the more it is "
    "what adversaries guess. In breast cancer it is the score 1 in most columns. The thesis reports 100 % for the "
    "adversary a method is made against and does not say which cells it drew; we split cells after seeing that, so "
    "both are told, all cells and those that hold another value. A coin is flipped where two values are left "
    "(scores 1 and 2 are a group of their own), and if it says no the adversary stays right: such cells do "
    "not count as successes here, as they may there. `generic` and `quiet` work against all three "
    "adversaries; `quiet` never looks at the true value, so it also blanks cells where the adversaries are wrong, "
    "and leaves them the most common value to guess."
)
ATTACKER = (
    "The attacker knows the program and every cell of the source but the one, and re-runs the hider for every value "
    "it may have; all draws are gone through. `generic` and `quiet` work against naive Bayes and ID3 here. The "
    "enhanced methods hide many cells at once and are not attacked."
)


def run_inference(quick: bool, folder: Path | None = None, tell: Tell = print) -> Section:
    """Everything, with the data from a folder, the cache, or the packages that ship them."""
    adult = pl.read_csv(load("adult", folder, tell), null_values="?").drop_nulls()
    known = adult.select(*find_dataset("adult").quasi_identifiers("iac-8"), "class")
    return measure(tables(folder, tell), _encoded(known), quick, tell)


def measure(both: Sequence[Data], people: EncodedTable, quick: bool, tell: Tell = print) -> Section:
    """Everything, in the order of the thesis; then what goes past it."""
    sizes = QUICK if quick else FULL
    both = [data.sample(QUICK_ROWS, 1) for data in both] if quick else both
    parts = [CHOICES, *_thesis(both, sizes, tell), *_strong(both, sizes, tell), *_patterns(both, sizes, tell)]
    return Section("Hiding single cells", [*parts, *_scale(people, sizes, tell)])


def _encoded(frame: pl.DataFrame) -> EncodedTable:
    schema = draft_schema(Source(frame, Origin("polars")), target="class")
    return encode(Source(frame, Origin("polars")), schema, frame.columns)[0]


def _thesis(both: Sequence[Data], sizes: Sizes, tell: Tell) -> Parts:
    """Tables 5.2 and 5.3, figures 5.1 to 5.7."""
    trials = [try_all(data, sizes.cells, sizes.realisations, tell) for data in both]
    lost = {data.name: losses(data, sizes.steps, tell) for data in both}
    enhanced = {data.name: together(data, sizes.together, sizes.sets) for data in both if data.generalizes}
    return [
        *(part for each in trials for part in success_told(each)),
        COMMON,
        *exact_goals(trials),
        *time_told(trials),
        *(part for each in trials for part in loss_told(each, lost[each.data.name])),
        *orders_told(trials, lost),
        *enhanced_told(enhanced, sizes.together),
    ]


def _strong(both: Sequence[Data], sizes: Sizes, tell: Tell) -> Parts:
    return [part for data in both for part in strong_told(data.name, against_strong(data, sizes.strong, tell))]


def _patterns(both: Sequence[Data], sizes: Sizes, tell: Tell) -> Parts:
    parts: Parts = [ATTACKER]
    for data in both:
        attacks = attack_all(data, sizes.sample, sizes.attacked, sizes.samples, tell)
        parts += patterns_told(data.name, f"{sizes.samples} samples of {sizes.sample} rows", attacks)
    return parts


def _scale(people: EncodedTable, sizes: Sizes, tell: Tell) -> Parts:
    many = many_cells(people, sizes.many, tell)
    large = one_cell(enlarged(people, sizes.rows, COLUMNS), tell)
    return scale_told(many, (people.height, len(people.columns)), large, (sizes.rows, COLUMNS))


CAUTION = (
    "Milliseconds depend on the machine and on who else uses it; the ratios within a table were measured in one run. "
    "Goals are printed whether they were met or missed."
)
TOO_SMALL = "This was a quick run on small samples: everything ran, but its figures and goals say nothing."


def write_inference(path: Path, section: Section, quick: bool, parts: str | None = None) -> None:
    """Write the page, and its pictures into the folder ``plots`` beside it."""
    command = f"python -m experiments reproduce inference{' --quick' if quick else ''}"
    command += "" if parts is None else f" --parts {parts}"
    used = "breast-cancer, car, adult" if parts is None else "breast-cancer, car"
    made = f"Written by `{command}`; data sets: {used} (`incrowd datasets`)."
    title = "Experiments on hiding cells" + ("" if parts is None else f": {section.title}")
    write_page(path, title, [made, machine(), TOO_SMALL if quick else CAUTION], [section])
