"""Examples as the text of an ARFF file, in memory, with neutral names: what Weka reads."""

from __future__ import annotations

import numpy as np
import polars as pl

from incrowd.lab.examples import Attribute, Examples

LARGEST = 1e150  # Weka squares numbers and adds them up


def arff_text(examples: Examples, *, with_classes: bool) -> str:
    """Header and rows. Without classes they are all unknown, so that nothing can look at them.

    Examples
    --------
    >>> sex, age = Attribute("sex", np.array([1, -1]), ("f", "m")), Attribute("age", np.array([30.5, np.nan]))
    >>> print(arff_text(Examples((sex, age), np.array([0, 1]), ("no", "yes")), with_classes=True))
    @relation rows
    @attribute a0 {c0,c1}
    @attribute a1 numeric
    @attribute class {c0,c1}
    @data
    c1,30.5,c0
    ?,?,c1
    """
    kinds = ["numeric" if each.categories is None else _codes(len(each.categories)) for each in examples.attributes]
    header = [f"@attribute a{place} {kind}" for place, kind in enumerate(kinds)]
    columns = [_column(each).alias(f"a{place}") for place, each in enumerate(examples.attributes)]
    classes = examples.classes if with_classes else np.full(examples.height, -1)
    columns.append(_column(Attribute("class", classes, examples.labels)).alias("class"))
    if examples.weights is not None and with_classes:
        weights = pl.Series("weight", examples.weights).cast(pl.String)
        columns.append("{" + weights + "}")
    rows = pl.DataFrame(columns).write_csv(include_header=False, null_value="?", quote_style="never")
    header = ["@relation rows", *header, f"@attribute class {_codes(len(examples.labels))}", "@data"]
    return "\n".join([*header, rows.rstrip("\n")])


def _codes(count: int) -> str:
    """The categories by number; at least one, since Weka wants one."""
    return "{" + ",".join(f"c{code}" for code in range(max(1, count))) + "}"


def _column(attribute: Attribute) -> pl.Series:
    if attribute.categories is None:
        return pl.Series(np.clip(attribute.values, -LARGEST, LARGEST), nan_to_null=True, dtype=pl.Float64)
    codes = pl.Series(attribute.values, dtype=pl.Int64)
    return pl.select(pl.when(codes >= 0).then("c" + codes.cast(pl.String))).to_series()
