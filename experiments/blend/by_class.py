"""What counts by class give, and what they tell: ``python -m experiments.blend.by_class FOLDER [TABLE ...]``.

The protocol, fixed before the first figure was seen. Tables of several classes of the data folder: vehicle, glass, car,
nursery and waveform (of the last two 1,500 rows, drawn with seed 1), `vowel` if a file of that name lies there, and one
of two classes, pima. All attributes are quasi-identifiers. Two folds, stratified, each once for learning; Blend, k = 10
and 30, seed 1; learners by the recipient's classifier with its five deals: boosting, logistic regression, a tree (5
rows in a leaf) and the five nearest rows. `raw` are the same learners on the rows themselves: words as indicators,
numbers as they are, for logistic regression and nearest rows scaled.

Two ways to find rows enough for a block of one class were compared by this protocol: `groups`, what a group has
too little of is pooled whatever its class; and `classes`, it is joined with the most alike of its class in other
groups. The one with the higher mean over all tables, learners and k is what the program does. (A third, groups that
follow each other, was given up after one fold of one table: Blend numbers its groups by chance.) Boosting has 50
rounds, and the large tables 1,500 rows and not 3,000, after it was seen how long the first fold took.
(`despite_unchanged`: the class of nursery gives back one of its attributes.)

The price: the attacker knows all values of a person, and guesses the class by Bayes' rule over the groups, values taken
as independent within a group: how often it is right for members (the rows that were released) and for strangers (the
other fold).
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import incrowd
from incrowd.recipients import open_release
from incrowd.vocabulary.counts_text import read_counts

TABLES = {
    "vehicle": "vehicle",
    "glass": "glass",
    "car": "car_evaluation",
    "nursery": "nursery",
    "waveform": "waveform",
    "vowel": "vowel",
    "pima": "pima_diabetes",
}
SIZES, MOST = (10, 30), 1_500
LEARNERS: dict[str, Callable[[], Any]] = {
    "boosting": lambda: HistGradientBoostingClassifier(max_iter=50, random_state=0),
    "logistic": lambda: LogisticRegression(max_iter=2000),
    "tree": lambda: DecisionTreeClassifier(min_samples_leaf=5, random_state=0),
    "knn": lambda: KNeighborsClassifier(5),
}
FORMS: dict[str, dict[str, Any]] = {"counts": {}, "by class": {"counts_by_class": True}}


def read(folder: Path, name: str) -> pl.DataFrame:
    """A table of the protocol, its class as text."""
    table = pl.read_csv(folder / f"{TABLES[name]}.csv", infer_schema_length=None, null_values=["?", ""])
    if name in ("nursery", "waveform"):
        table = table[np.random.default_rng(1).permutation(table.height)[:MOST]]
    return table.with_columns((pl.lit("class ") + pl.col("class").cast(pl.String)).alias("class"))


def raw_pipeline(learner: Any) -> Any:
    """The learner on rows as they are."""
    scaled = isinstance(learner, LogisticRegression | KNeighborsClassifier)
    return make_pipeline(StandardScaler(), learner) if scaled else learner


def indicators(*tables: pl.DataFrame) -> list[np.ndarray[Any, Any]]:
    """Rows as numbers: words as indicators."""
    words = [name for name, kind in tables[0].schema.items() if kind == pl.String]
    both = pl.concat(tables).to_dummies(words) if words else pl.concat(tables)
    ends = np.cumsum([table.height for table in tables])
    return np.split(both.fill_null(-1).to_numpy().astype(np.float64), ends[:-1])


def guessed(made: incrowd.Release, people: pl.DataFrame) -> np.ndarray[Any, Any]:
    """The likeliest class of each person, by Bayes' rule over the groups of the release."""
    names = [name for name in people.columns if name != "class"]
    looks, looked = made.table.select(names).unique(maintain_order=True), made.table
    chances = np.zeros((people.height, looks.height))
    for name in names:
        cuts = made.certificate["public_cuts"].get(name)
        own = people[name].to_list() if cuts is None else np.searchsorted(cuts, people[name].to_numpy()).tolist()
        columns = []
        for text in looks[name]:
            members = read_counts(text)
            total = sum(rows for _, rows in members or ()) or 1
            places: dict[Any, float] = {}
            for member, rows in members or ():
                place = member if cuts is None else bisect_left(cuts, _high(member))
                places[place] = places.get(place, 0.0) + rows / total
            columns.append([places.get(str(one) if cuts is None else one, 0.0) if members else 1.0 for one in own])
        chances += np.log(np.array(columns).T + 1e-3)
    classes = sorted(looked["class"].unique())
    of = looks.with_row_index("look").join(looked, names, nulls_equal=True)
    share = of.group_by("look").agg(*((pl.col("class") == c).sum().alias(c) for c in classes)).sort("look")
    weights = np.exp(chances - chances.max(axis=1, keepdims=True)) @ share.select(classes).to_numpy()
    return np.asarray(np.array(classes)[weights.argmax(axis=1)])


def _high(member: str | None) -> float:
    return float("nan") if member is None else float(member.strip("([])").split(", ")[1])


def trials(folder: Path, name: str) -> None:
    """Accuracy of every learner, and the price."""
    table = read(folder, name)
    folds = StratifiedKFold(2, shuffle=True, random_state=1)
    for fold, (learn, test) in enumerate(folds.split(np.zeros(table.height), table["class"].to_numpy())):
        train, new = table[learn], table[test]
        truth = new["class"].to_numpy()
        inputs = indicators(train.drop("class"), new.drop("class"))
        for called, learner in LEARNERS.items():
            model = raw_pipeline(learner()).fit(inputs[0], train["class"].to_numpy())
            report(name, 0, "raw", fold, called, model.predict(inputs[1]) == truth)
        for k in SIZES:
            for form, settings in FORMS.items():
                made = incrowd.release(
                    train,
                    quasi_identifiers=[one for one in table.columns if one != "class"],
                    target="class",
                    class_sensitive=False,
                    despite_unchanged=True,
                    k=k,
                    method="blend",
                    run=incrowd.Run(seed=1),
                    **settings,
                )
                opened = open_release(made.table, certificate=made.certificate)
                for called, learner in LEARNERS.items():
                    guess = opened.classifier(learner()).fit().predict(new.drop("class"))
                    report(name, k, form, fold, called, np.asarray(guess) == truth)
                report(name, k, form, fold, "members", guessed(made, train) == train["class"].to_numpy())
                report(name, k, form, fold, "strangers", guessed(made, new) == truth)


def report(name: str, k: int, form: str, fold: int, what: str, right: Any) -> None:
    """One line of figures."""
    print(f"{name},{k},{form},{fold},{what},{100 * float(np.mean(right)):.2f}", flush=True)


if __name__ == "__main__":
    for each in sys.argv[2:] or TABLES:
        if (Path(sys.argv[1]) / f"{TABLES[each]}.csv").exists():
            trials(Path(sys.argv[1]), each)
