"""Printed tables as cells that ours can stand beside."""

from __future__ import annotations

import re

import polars as pl

from incrowd.lab.reproduce.evidence import Printed
from incrowd.lab.reproduce.experiment import Part

Place = tuple[str, str, str, str, int]
_REFERENCE = re.compile(r"^our reference kADET-ID3 test error at k=(\d+)")


def printed_cells(part: Part, table: pl.DataFrame) -> dict[Place, Printed]:
    """What was printed, by part, label, inducer, algorithm and k.

    Examples
    --------
    >>> from incrowd.lab.papers.tables import printed
    >>> cells = printed_cells(Part("3", "Table 3"), printed("kactus_table3"))
    >>> cells["3", "8/14", "C4.5", "TDS", 5]
    Printed(mean=83.01, sd=0.21, flag='+')
    """
    return _reference(part, table) if "item" in table.columns else _accuracies(part, table)


def _accuracies(part: Part, table: pl.DataFrame) -> dict[Place, Printed]:
    """A label is the data set where all attributes are known, else the set of quasi-identifiers."""
    found = {}
    for row in table.iter_rows(named=True):
        label = row["case"] if row["quasi_identifiers"] == "all" else row["quasi_identifiers"]
        cell = Printed(row["mean"], row["sd"], row["flag"] or "")
        found[part.name, label, row["inducer"], row["algorithm"], row["k"]] = cell
    return found


def _reference(part: Part, table: pl.DataFrame) -> dict[Place, Printed]:
    """Errors of kADET with ID3 scores, derived by another implementation; not printed anywhere."""
    found = {}
    for item, value in table.filter(pl.col("where") == "derived").select("item", "value").iter_rows():
        match = _REFERENCE.match(item)
        if match:
            found[part.name, "8 attributes", "tree", "kADET", int(match[1])] = Printed(100 * float(value))
    return found
