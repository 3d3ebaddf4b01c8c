"""The naive way: decode a release of counts, take any pipeline of scikit-learn, predict raw rows. No page is read."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import incrowd
from experiments.recipients.cells import ADULT, UNPROTECTED, Cell, Flags, Outcome, Outcomes, keep
from experiments.recipients.trying import SEED, Bench, Laid, estimators, lay
from incrowd.comparisons.protocol import FixedSplit, RowSplit
from incrowd.trees.compiled import one_thread
from incrowd.vocabulary.forms import COUNTS, STRICT

AS_THEY_ARE, SCALED = "numbers as they are", "numbers standardised"
NAIVE = Cell("all of adult", "blend", COUNTS, "", False, 1000, 0, 0)
BEFORE = Cell("all of adult", UNPROTECTED, STRICT, "", False, 1, 0, 0)
"""All complete rows of Adult, two thirds to learn from."""


class WholeBench(Bench):
    """The split of all rows."""

    @property
    def split(self) -> RowSplit:
        """Two thirds to learn from, a third to test on."""
        classes = self.laid.plain.classes.codes.astype(np.int64)
        return FixedSplit(stratified=True).splits(classes, SEED)[0]


def try_naive(known: Outcomes, path: Path, data: Path | None, tell: Callable[[str], None]) -> None:
    """Measure both tables with both pipelines, if they have no outcome yet."""
    missing = [(cell, way) for cell in (BEFORE, NAIVE) for way in (AS_THEY_ARE, SCALED) if (cell, way) not in known]
    if not missing:
        return
    bench = WholeBench(lay(ADULT, data, rows=None), 0, 0)
    tables = {cell: bench.train.to_pandas() if cell == BEFORE else _decoded(bench) for cell, _ in missing}
    for cell, way in missing:
        keep(path, cell, way, naively(tables[cell], bench.test.to_pandas(), bench.laid, way == SCALED))
        tell(f"naive: {cell.method}, {way}")


def _decoded(bench: Bench) -> Any:
    """The decoded release, without the column of weights: all are equal."""
    with tempfile.TemporaryDirectory(prefix="incrowd-recipients-") as folder:
        path = Path(folder) / "release.csv"
        bench.write(NAIVE, path)
        return incrowd.decode(path, seed=SEED).drop(columns="weight")


def naively(train: Any, test: Any, laid: Laid, scaled: bool) -> Outcome:
    """What each learner gets right, text one-hot encoded."""
    right: dict[str, Flags] = {}
    failed: dict[str, str] = {}
    target = laid.plain.target
    for name, estimator in estimators().items():
        try:
            with one_thread()(), warnings.catch_warnings(action="ignore"):
                model = _pipeline(estimator, scaled).fit(train.drop(columns=target), train[target])
                right[name] = np.asarray(model.predict(test.drop(columns=target)) == test[target].to_numpy(), bool)
        except ValueError as error:
            failed[name] = f"{type(error).__name__}: {error}"[:200]
    return Outcome(right, failed=failed)


def _pipeline(estimator: Any, scaled: bool) -> Any:
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    words = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    numbers = StandardScaler() if scaled else "passthrough"
    columns = make_column_transformer((words, make_column_selector(dtype_exclude="number")), remainder=numbers)
    return make_pipeline(columns, estimator)
