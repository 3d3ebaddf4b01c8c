"""Does Blend serve rare classes better if its scores count every class alike, or if it hides nothing?

Protocol, written before any result was seen. Tables of KEEL with a rare class: abalone9-18, flare-F, page-blocks0,
ecoli3, yeast4 and vehicle0, of each at most 1,500 rows; all attributes are quasi-identifiers, k = 10; two halves, one
repetition; naive Bayes and logistic regression; AUC and balanced accuracy. Four arms: Blend as it is; ``hide=False``;
scores divided by the shares of the classes and normed again (*balanced*); both. An arm becomes a parameter if its AUC
is higher than that of Blend as it is by a point on average, and in two thirds of the twelve cells. Nothing is tuned.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from experiments.many_tables import tables
from experiments.pages import Section, Table, machine, write_page
from incrowd.comparisons.choices import Choice
from incrowd.comparisons.protocol import FiveByTwo
from incrowd.comparisons.subject import understand_table
from incrowd.comparisons.trial import Laboratory, Setup, Trial
from incrowd.methods.blending import blend
from incrowd.methods.blending.guide import Guided

TABLES = ("abalone9-18", "flare-F", "page-blocks0", "ecoli3", "yeast4", "vehicle0")
LEARNERS, ROWS, K = ("nb", "logistic"), 1500, 10
FIGURES = ("auc", "balanced_accuracy", "purity")
ARMS = {"as it is": "blend", "hide nothing": "blend(hide=False)", "balanced": "blend", "both": "blend(hide=False)"}


@contextmanager
def balanced(wanted: bool) -> Iterator[None]:
    """Blend with scores that count every class alike."""
    guided = blend.guided  # type: ignore[attr-defined]

    def guided_alike(table: Any, names: Any, target: str, *others: Any, **more: Any) -> Guided:
        guidance = guided(table, names, target, *others, **more)
        shares = np.maximum(np.bincount(table[target].codes, minlength=table[target].width), 1) / table.height
        scores = guidance.scores / shares
        return replace(guidance, scores=scores / scores.sum(axis=1, keepdims=True))

    if wanted:
        blend.guided = guided_alike  # type: ignore[attr-defined]
    try:
        yield
    finally:
        blend.guided = guided  # type: ignore[attr-defined]


def measured(name: str) -> Iterator[dict[str, Any]]:
    """The cells of a table."""
    tables.KEEL.setdefault(name, "imbalanced")
    frame = tables.read_keel(name)
    known = [column for column in frame.columns if column != tables.CLASS]
    how: dict[str, Any] = {"complete": True, "rows": ROWS, "seed": tables.SEED}
    subject = understand_table(frame, target=tables.CLASS, quasi_identifiers=known, name=name, **how)
    laboratory = Laboratory(subject, Setup(FiveByTwo(1, stratified=True)))
    for arm, method in ARMS.items():
        with balanced(arm in ("balanced", "both")):
            trials = [Trial(Choice.of(method), K, 0, fold, LEARNERS) for fold in (0, 1)]
            results = [one for trial in trials for one in laboratory.run(trial)]
        for learner in LEARNERS:
            own = [one for one in results if one.learner == learner]
            figures = {
                what: fmean(getattr(one, what) for one in own) for what in ("auc", "balanced_accuracy", "purity")
            }
            yield {"table": name, "arm": arm, "learner": learner, **figures}


def write_rare_classes(page: Path, out: Path, tell: Callable[[str], None]) -> None:
    """Measure what is not measured yet, and write the page."""
    done = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    for name in TABLES:
        if name not in {one["table"] for one in done}:
            tell(name)
            cells = list(measured(name))
            with out.open("a") as file:
                file.writelines(json.dumps(one) + "\n" for one in cells)
            done += cells
    about = [
        "Written by `python -m experiments rare-classes`: six tables of KEEL with a rare class, at most 1,500 rows of "
        "each, k = 10, two halves, naive Bayes and logistic regression. *Balanced*: the guide's probabilities divided "
        "by the shares of the classes. Fixed before: an arm becomes a parameter if its AUC is a point higher on "
        "average, and higher in eight of the twelve cells.",
        machine(),
    ]
    rows = [_row(arm, done) for arm in ARMS]
    header = ("arm", "AUC", "gain", "cells higher", "balanced accuracy", "gain", "cells higher", "purity")
    each = [(one["table"], one["learner"], one["arm"], *(_points(one[what]) for what in FIGURES)) for one in done]
    cells_header = ("table", "learner", "arm", "AUC", "balanced accuracy", "purity")
    sections = [Section("In short", [Table(header, rows)]), Section("Cells", [Table(cells_header, each, 3)])]
    write_page(page, "Rare classes", about, sections)


def _row(arm: str, done: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    plain = {(one["table"], one["learner"]): one for one in done if one["arm"] == "as it is"}
    own, figures = [one for one in done if one["arm"] == arm], [arm]
    for what in FIGURES[:2]:
        gains = [one[what] - plain[one["table"], one["learner"]][what] for one in own]
        figures += [_points(fmean(one[what] for one in own)), f"{100 * fmean(gains):+.1f}"]
        figures.append(f"{sum(gain > 0 for gain in gains)} of {len(gains)}")
    return (*figures, _points(fmean(one["purity"] for one in own)))


def _points(share: float) -> str:
    return f"{100 * share:.1f}"
