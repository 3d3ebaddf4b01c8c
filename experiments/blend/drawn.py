"""What drawn counts cost and what they stop, on Adult: ``python -m experiments.blend.drawn FOLDER``.

The protocol: 6,000 rows of the training file and 10,000 of the test file, drawn with the seeds 1
and 2; all 14 attributes are quasi-identifiers; Blend and InfoGain groups as counts; k = 10 and 100; the same groups
with exact and with drawn counts; logistic regression, a tree (20 rows in a leaf) and boosting by the recipient's
classifier with its five deals. Differencing: 2,000 rows of the training file, k = 10, fifteen times with another row
removed, under one key. In each attribute the attacker takes the value whose total fell most, of numbers
the place between the cuts that both releases have; a record is read off if all attributes
that are shown are right.
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import incrowd
from incrowd.recipients import open_release
from incrowd.vocabulary.counts_text import read_counts

ROWS, TEST_ROWS, SEEDS, SIZES = 6_000, 10_000, (1, 2), (10, 100)
TABLE, TRIALS = 2_000, 15
METHODS = ("blend", "infogain-mondrian")
LEARNERS: dict[str, Callable[[], Any]] = {
    "logistic": lambda: LogisticRegression(max_iter=2000),
    "tree": lambda: DecisionTreeClassifier(min_samples_leaf=20, random_state=0),
    "boosting": lambda: HistGradientBoostingClassifier(random_state=0),
}


def released(table: pl.DataFrame, method: str, k: int, redraw: int) -> incrowd.Release:
    """A release under a key that is the same in all trials."""
    names = [name for name in table.columns if name != "class"]
    return incrowd.release(
        table,
        quasi_identifiers=names,
        target="class",
        class_sensitive=False,
        k=k,
        method=method,
        form="counts",
        redraw=redraw,
        run=incrowd.Run(seed=7),
    )


def totals(release: pl.DataFrame, name: str, cuts: Sequence[float] | None) -> Counter[object]:
    """How many rows have each value, by the counts of all groups; numbers between these cuts."""
    total: Counter[object] = Counter()
    for text, rows in release[name].value_counts().iter_rows():
        members = read_counts(text) or ()
        for value, count in members:
            total[_place(value, cuts)] += count * rows // sum(n for _, n in members)
    return total


def _place(value: str | None, cuts: Sequence[float] | None) -> object:
    """A value, or where a bin lies between cuts."""
    if cuts is None or value is None:
        return value
    high = value.strip("([])").split(", ")[1]
    return bisect_left(cuts, float(high))


def accuracy(folder: Path) -> None:
    """Accuracy of each learner, exact and drawn."""
    for seed in SEEDS:
        chance = np.random.default_rng(seed)
        train, test = (
            pl.read_csv(folder / f"adult_{part}.csv", infer_schema_length=None, null_values="?")
            for part in ("train", "test")
        )
        train, test = train[chance.permutation(train.height)[:ROWS]], test[chance.permutation(test.height)[:TEST_ROWS]]
        for method in METHODS:
            for k in SIZES:
                for redraw in (0, 2):
                    made = released(train, method, k, redraw)
                    opened = open_release(made.table, certificate=made.certificate)
                    for name, learner in LEARNERS.items():
                        classifier = opened.classifier(learner())
                        guess = classifier.fit().predict(test.drop("class"))
                        share = float(np.mean(np.asarray(guess) == test["class"].to_numpy()))
                        print(
                            f"accuracy {method} k={k} redraw={redraw} seed={seed} {name} {100 * share:.2f}", flush=True
                        )


def differencing(folder: Path) -> None:
    """How many records are read off when one row is removed, and how many of their attributes are right."""
    chance = np.random.default_rng(SEEDS[0])
    table = pl.read_csv(folder / "adult_train.csv", infer_schema_length=None, null_values="?")
    table = table[chance.permutation(table.height)[:TABLE]]
    gone = chance.permutation(TABLE)[:TRIALS].tolist()
    for method in METHODS:
        for redraw in (0, 2):
            whole = released(table, method, 10, redraw)
            names = [name for name in whole.table.columns if name != "class" and (whole.table[name] != "*").any()]
            off, right, common = 0, 0, 0
            for row in gone:
                after = released(table[[i for i in range(TABLE) if i != row]], method, 10, redraw)
                hits = 0
                for name in names:
                    both = None
                    if name in (cuts := whole.certificate["public_cuts"]):
                        both = sorted({*cuts[name]} & {*after.certificate["public_cuts"].get(name, ())})
                    own = table[name][row]
                    value = own if both is None or own is None else bisect_left(both, own)
                    before = totals(whole.table, name, both)
                    often, fell = before.most_common(1)[0][0], Counter(before)
                    fell.subtract(totals(after.table, name, both))
                    hits += fell.most_common(1)[0][0] == value
                    common += often == value
                right += hits
                off += hits == len(names)
            shares = [100 * many / (TRIALS * len(names)) for many in (right, common)]
            print(f"differencing {method} redraw={redraw}: {off} of {TRIALS} records, {shares[0]:.0f} % of attributes, "
                  f"{shares[1]:.0f} % by the most frequent value, {len(names)} attributes", flush=True)  # fmt: skip


if __name__ == "__main__":
    accuracy(Path(sys.argv[1]))
    differencing(Path(sys.argv[1]))
