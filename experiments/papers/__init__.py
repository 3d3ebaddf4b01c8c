"""The printed tables as frames.

``sd`` is what the kACTUS paper prints behind ±: the standard deviation over the ten folds. ``flag`` is its mark of a
significant difference: ``*`` from k = 1 (Table 2); ``+`` where kACTUS is higher and ``-`` where it is lower (Tables
3 to 5).
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import polars as pl

from incrowd.errors import ParameterError

KACTUS = "Kisilevich, Rokach, Elovici, Shapira: Efficient Multi-Dimensional Suppression for K-Anonymity, TKDE 22, 2010"
KADET = "Friedman, Schuster, Wolff: k-Anonymous Decision Tree Induction, PKDD 2006"
TDR = "Chandrasekaran, Nammalwar: Data Sharing Taxonomy Records for Security Conservation (top-down refinement)"
IAC = "Li, Liu, Baig, Wong: Information based data anonymization for classification utility, DKE 70, 2011"
PRINTED = {
    "kactus_table1": (KACTUS, "the data sets"),
    "kactus_table2": (KACTUS, "accuracy of kACTUS against k, ten data sets, four inducers"),
    "kactus_table3": (KACTUS, "accuracy on Adult: TDS, TDR, kADET with taxonomies, and kACTUS"),
    "kactus_table4": (KACTUS, "accuracy on Adult: TDS, TDR, kADET without taxonomies, and kACTUS"),
    "kactus_table5": (KACTUS, "accuracy on Adult: Mondrian and kACTUS"),
    "kactus_table6": (KACTUS, "seconds against rows"),
    "kactus_claims": (KACTUS, "what the text claims, and what the printed tables give"),
    "kadet_targets": (KADET, "what the text and the figures say"),
    "iac_targets": (IAC, "what the text and the figures say"),
    "adult_counts": ("UCI Machine Learning Repository", "rows and classes of Adult and its parts"),
}
"""Each table: the paper, and what the table holds."""


@cache
def printed(name: str) -> pl.DataFrame:
    """A table as it is printed; empty cells are null.

    Examples
    --------
    >>> table = printed("kactus_table3")
    >>> table.filter(pl.col("case") == "C4.5 QI:8/14", pl.col("k") == 5).select("algorithm", "mean").rows()
    [('TDS', 83.01), ('TDR', 84.63), ('kADET', 82.8), ('kACTUS', 86.01)]
    """
    if name not in PRINTED:
        raise ParameterError(f"No printed table is called {name!r}. There are: {', '.join(PRINTED)}.")
    content = (files("experiments.papers") / f"{name}.csv").read_bytes()
    return pl.read_csv(content, infer_schema_length=None)


def by_case(name: str, algorithms: tuple[str, ...]) -> pl.DataFrame:
    """The mean accuracies of a printed table, a row for each case and k, a column for each algorithm.

    Cases that lack one of the algorithms are left out.

    Examples
    --------
    >>> by_case("kactus_table5", ("Mondrian", "kACTUS")).height
    72
    """
    wide = printed(name).pivot("algorithm", index=["case", "k"], values="mean", maintain_order=True)
    unknown = [algorithm for algorithm in algorithms if algorithm not in wide.columns]
    if unknown:
        raise ParameterError(f"{name} has no algorithm {unknown[0]!r}. It has: {', '.join(wide.columns[2:])}.")
    return wide.select("case", "k", *algorithms).drop_nulls()
