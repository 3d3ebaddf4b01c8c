"""scikit-learn's tree as a yardstick: ``python -m bench.fitting FILE SMALLEST_LEAF``.

It reads a Parquet file, makes ordinal codes of all columns, and tells as JSON what the fit alone takes.
"""

from __future__ import annotations

import json
import sys
from time import perf_counter, process_time

import numpy as np
import polars as pl
from sklearn.tree import DecisionTreeClassifier

from bench.people import TARGET


def main() -> None:
    """Read, fit, tell."""
    file, smallest = sys.argv[1:]
    frame = pl.read_parquet(file)
    inputs = np.column_stack([_codes(frame[name]) for name in frame.columns if name != TARGET])
    classes = _codes(frame[TARGET])
    del frame
    tree = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=int(smallest), random_state=0)
    wall, cpu = perf_counter(), process_time()
    tree.fit(inputs, classes)
    print(json.dumps({"seconds": {"wall": perf_counter() - wall, "CPU": process_time() - cpu}}))


def _codes(column: pl.Series) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return column.rank("dense").to_numpy().astype(np.float32)


if __name__ == "__main__":
    main()
