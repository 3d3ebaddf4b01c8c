"""The guide: for every row the class probabilities by a model that has not seen the row. They are never released.

Quasi-identifiers that tell nothing more are hidden: it costs no accuracy, helps naive Bayes, and protects best. One
after the other, the attribute is given up without which cross-validated naive Bayes is right most often, as long as
that gains something. Naive Bayes does not see what attributes tell only together, so the guide has the last word: they
are hidden only if it, out of fold, loses next to nothing without them.

Where a person may have several rows, the model has seen none of them: persons are dealt to folds, not rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.errors import ParameterError
from incrowd.trees.compiled import THREADS, one_thread
from incrowd.vocabulary.encoded_table import Codes, EncodedColumn, EncodedTable
from incrowd.vocabulary.randomness import Randomness, permutation

Numbers = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]
FOLDS = 3  # a row is told by a model of the two thirds it is not in
TINY, SMALL = 100, 3000  # rows below which naive Bayes, then a forest, is the guide that is chosen
LARGEST = 60_000  # rows that a guide learns from at most, to bound its time
TREES = 300  # of a forest: a row is out of bag in a third of them
WIDEST = 250  # values of a category that boosting takes as categories
AUTO, BAYES = "auto", "bayes"
MOST_LOST = 0.0025  # the share of rows that the guide may tell wrong for want of the hidden attributes
LOOKED_AT = 30_000  # rows by which attributes are given up, to bound its time
LEAST_GAIN, NOISE = 0.001, 0.1  # what giving one up must gain, as a share of rows; more where rows are few


def prior(labels: Codes, classes: int) -> Numbers:
    """Log shares of the classes, one row for all."""
    counts = np.bincount(labels, minlength=classes) + 1.0
    return np.asarray(np.log(counts / counts.sum()))[None, :]


def in_folds(height: int, owners: Codes | None, randomness: Randomness) -> tuple[Rows, Rows | None]:
    """All rows in random order, those of a person together, and the fold of each row; None: its position modulo three.

    How persons are numbered does not matter: chance is dealt to them in the order in which they come.
    """
    if owners is None or height == 0 or int(np.bincount(owners).max()) == 1:
        return permutation(height, randomness), None
    _, first, number = np.unique(owners, return_index=True, return_inverse=True)
    by_chance = np.empty(len(first), np.intp)
    by_chance[np.argsort(first)[permutation(len(first), randomness)]] = np.arange(len(first))
    place = by_chance[number]
    return np.argsort(place, kind="stable"), place % FOLDS


def _folds_of(rows: Rows, folds: Rows | None) -> Rows:
    return np.arange(len(rows)) % FOLDS if folds is None else folds[rows]


def told_by(codes: Codes, width: int, labels: Codes, classes: int, fold: Rows) -> Numbers:
    """What an attribute adds to the log probabilities: rows x classes. ``fold`` has the fold of each row."""
    cells = (fold * width + codes) * classes + labels
    counts = np.bincount(cells, minlength=FOLDS * width * classes).reshape(FOLDS, width, classes)
    others = counts.sum(axis=0) - counts + 1.0
    return np.asarray(np.log(others / others.sum(axis=1, keepdims=True)))[fold, codes]


def bayes_scores(
    columns: Sequence[EncodedColumn], labels: Codes, classes: int, rows: Rows, folds: Rows | None = None
) -> Numbers:
    """Class probabilities of the rows, which are taken in the given order; see :func:`in_folds`."""
    logs, fold = prior(labels[rows], classes), _folds_of(rows, folds)
    for column in columns:
        logs = logs + told_by(column.codes[rows], column.width, labels[rows], classes, fold)
    odds = np.exp(logs - logs.max(axis=1, keepdims=True))
    scores = np.empty((len(rows), classes))
    scores[rows] = odds / odds.sum(axis=1, keepdims=True)
    return scores


@dataclass(frozen=True, eq=False)
class Guided:
    """Class probabilities of each row, and the share of rows whose likeliest class is their own.

    ``models`` tell them of rows that none of them has seen; of naive Bayes there are none, for it counts rows anew.
    """

    scores: Numbers
    accuracy: float
    models: tuple[Any, ...] = ()

    def of_others(
        self, table: EncodedTable, names: Sequence[str], target: str, randomness: Randomness, owners: Codes | None
    ) -> Guided:
        """The same of the rows of another part of the table, each told by one of the models."""
        labels, classes = table[target].codes, table[target].width
        columns = [table[name] for name in names]
        rows, folds = in_folds(table.height, owners, randomness)
        if not self.models:
            scores = bayes_scores(columns, labels, classes, rows, folds)
        else:
            scores, matrix = np.zeros((table.height, classes)), _taken_by(self.models[0], columns)
            parts = [rows[number :: len(self.models)] for number in range(len(self.models))]
            alone = one_thread()

            def tell(model: Any, part: Rows) -> None:
                with alone():
                    scores[np.ix_(part, model.classes_)] = model.predict_proba(matrix[part])

            with quiet(), ThreadPoolExecutor(THREADS) as pool:
                list(pool.map(tell, self.models, parts))
        return Guided(scores, _right(scores, labels), self.models)


def _boosting() -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(early_stopping=False)


def _forest() -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(TREES, min_samples_leaf=2)


def _logistic() -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000)


GUIDES: Mapping[str, Callable[[], Any]] = MappingProxyType(
    {"boosting": _boosting, "forest": _forest, "logistic": _logistic}
)


def check_guide(guide: Any) -> None:
    """Raise unless the guide can be had and gives probabilities."""
    if isinstance(guide, str):
        if guide not in (AUTO, BAYES, *GUIDES):
            known = ", ".join((AUTO, BAYES, *GUIDES))
            raise ParameterError(f"guide must be one of {known}, or a classifier of scikit-learn.")
    elif not (hasattr(guide, "fit") and hasattr(guide, "predict_proba")):
        raise ParameterError("guide must be a classifier that gives probabilities (predict_proba).")


def chosen_guide(guide: Any, rows: int) -> Any:
    """The guide, where it is left to the table: naive Bayes for tiny ones, a forest for small ones, else boosting.

    Examples
    --------
    >>> chosen_guide("auto", 50), chosen_guide("auto", 500), chosen_guide("auto", 50_000)
    ('bayes', 'forest', 'boosting')
    """
    if not isinstance(guide, str) or guide != AUTO:
        return guide
    return BAYES if rows < TINY else "forest" if rows < SMALL else "boosting"


def guided(
    table: EncodedTable,
    names: Sequence[str],
    target: str,
    guide: Any,
    randomness: Randomness,
    owners: Codes | None = None,
) -> Guided:
    """Probabilities of the classes, each row's by models that did not learn from it.

    A forest tells them out of bag, where rows are persons; other models are trained on two of three folds each. Of
    large tables a random part is learned from, and each of the other rows is told by one of the three models.
    ``owners`` has the person of each row, if rows are not persons.
    """
    labels, classes = table[target].codes, table[target].width
    columns = [table[name] for name in names]
    rows, folds = in_folds(table.height, owners, randomness)
    seed = int(randomness.words(1)[0] % np.uint64(2**31 - FOLDS))
    model = chosen_guide(guide, table.height)
    if len(np.unique(labels)) < 2 or not columns or table.height < 2 * FOLDS or model == BAYES:
        scores, models = bayes_scores(columns, labels, classes, rows, folds), ()
    elif model == "forest" and folds is None:
        scores, models = _out_of_bag(columns, labels, classes, rows[:LARGEST], seed)
    else:
        scores, models = _out_of_fold(model, columns, labels, classes, rows[:LARGEST], folds, seed)
    return Guided(scores, _right(scores, labels), models)


def _out_of_bag(
    columns: Sequence[EncodedColumn], labels: Codes, classes: int, rows: Rows, seed: int
) -> tuple[Numbers, tuple[Any, ...]]:
    matrix = _matrix(columns)
    model = _forest().set_params(oob_score=True, random_state=seed)
    with one_thread()(), quiet():  # a row that is in every bag is told below
        model.fit(matrix[rows], labels[rows])
    votes = np.nan_to_num(model.oob_decision_function_)
    votes[votes.sum(axis=1) == 0] = np.bincount(labels[rows], minlength=classes)[model.classes_] / len(rows)
    scores = np.zeros((len(matrix), classes))
    scores[np.ix_(rows, model.classes_)] = votes
    rest = _others(rows, len(labels))
    if len(rest):
        scores[np.ix_(rest, model.classes_)] = model.predict_proba(matrix[rest])
    return scores, (model,)


def _out_of_fold(
    guide: Any,
    columns: Sequence[EncodedColumn],
    labels: Codes,
    classes: int,
    rows: Rows,
    folds: Rows | None,
    seed: int,
) -> tuple[Numbers, tuple[Any, ...]]:
    from sklearn.base import clone

    scores, rest = np.zeros((len(labels), classes)), _others(rows, len(labels))
    model = GUIDES[guide]() if isinstance(guide, str) else clone(guide)
    matrix, alone = _taken_by(model, columns), one_thread()
    fold_of, fold_of_rest = _folds_of(rows, folds), _folds_of(rest, folds)

    def tell(fold: int) -> Any:
        learned = rows[fold_of != fold]
        left_out = np.concatenate([rows[fold_of == fold], rest[fold_of_rest == fold]])
        if folds is not None and len(np.unique(labels[learned])) < 2:  # persons may be few, and one have nearly all
            scores[left_out] = np.exp(prior(labels[learned], classes))
            return None
        with alone():  # several would wait for each other wherever a core is busy with something else
            trained = _fitted(model, matrix, labels, learned, seed + fold)
            scores[np.ix_(left_out, trained.classes_)] = trained.predict_proba(matrix[left_out])
        return trained

    with quiet(), ThreadPoolExecutor(THREADS) as pool:
        models = tuple(model for model in pool.map(tell, range(FOLDS)) if model is not None)
    return scores, models


def _others(rows: Rows, height: int) -> Rows:
    """The rows that are not among these."""
    others = np.ones(height, np.bool_)
    others[rows] = False
    return np.flatnonzero(others)


@contextmanager
def quiet() -> Iterator[None]:
    """Learning without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _fitted(model: Any, matrix: Any, labels: Codes, rows: Rows, seed: int) -> Any:
    from sklearn.base import clone

    fresh = clone(model)
    if "random_state" in fresh.get_params(deep=False):
        fresh.set_params(random_state=seed)
    fresh.fit(matrix[rows], labels[rows])
    return fresh


def _taken_by(model: Any, columns: Sequence[EncodedColumn]) -> Any:
    """The columns as the classifier takes them: codes and NaN, or a 0/1 column for each value and scaled numbers."""
    if model.__sklearn_tags__().input_tags.allow_nan:
        few = [not column.type.is_numeric and column.width <= WIDEST for column in columns]
        if "categorical_features" in model.get_params(deep=False):
            model.set_params(categorical_features=few)
        return _matrix(columns)
    from scipy.sparse import csr_array, hstack

    parts = []
    for column in columns:
        if column.type.is_numeric:
            numbers = _numbers(column)
            spread = np.nanstd(numbers) or 1.0
            parts.append(csr_array(np.nan_to_num((numbers - np.nanmean(numbers)) / spread)[:, None]))
        else:
            at = (np.arange(len(column.codes)), column.codes)
            parts.append(csr_array((np.ones(len(column.codes)), at), shape=(len(column.codes), column.width)))
    return hstack(parts, format="csr")


def _matrix(columns: Sequence[EncodedColumn]) -> Numbers:
    """Numbers, and codes of categories; NaN where a value is missing."""
    return np.stack([_numbers(column) for column in columns], axis=1)


def _numbers(column: EncodedColumn) -> Numbers:
    values = column.numbers if column.type.is_numeric else np.arange(len(column.dictionary))
    return np.append(values.astype(np.float64), np.nan)[column.codes]


def given_up(
    columns: Sequence[EncodedColumn], target: EncodedColumn, order: Rows, folds: Rows | None = None
) -> list[str]:
    """The attributes naive Bayes does better without, the most harmful first; one at least is left.

    ``columns``, ``target``: the attributes, numbers as bins, and the class. ``order``: the rows in random order; the
    first of them are looked at. ``folds``: see :func:`in_folds`.
    """
    rows = order[:LOOKED_AT]
    labels, fold = target.codes[rows], _folds_of(order[:LOOKED_AT], folds)
    parts = [told_by(column.codes[rows], column.width, labels, target.width, fold) for column in columns]
    left, whole = list(range(len(columns))), prior(labels, target.width) + sum(parts, np.zeros(1))
    least = max(LEAST_GAIN, NOISE / max(1, len(rows)) ** 0.5)
    right, gone = _right(whole, labels), list[str]()
    while len(left) > 1:
        without = [_right(whole - parts[a], labels) for a in left]
        best = int(np.argmax(without))
        if without[best] < right + least:
            break
        right, whole = without[best], whole - parts[left[best]]
        gone.append(columns[left.pop(best)].name)
    return gone


def hidden_names(
    names: Sequence[str], useless: Sequence[str], guide: Callable[[Sequence[str]], Guided], whole: Guided
) -> tuple[list[str], Guided]:
    """A beginning of the useless attributes that the guide can do without, and what it tells without them.

    ``whole`` is what it tells with all attributes. The list is halved until the guide agrees.
    """
    gone = list(useless)
    while gone:
        guidance = guide([name for name in names if name not in gone])
        if guidance.accuracy >= whole.accuracy - MOST_LOST:
            return gone, guidance
        gone = gone[: len(gone) // 2]
    return [], whole


def _right(scores: Numbers, labels: Codes) -> float:
    return float(np.mean(scores.argmax(axis=1) == labels))
