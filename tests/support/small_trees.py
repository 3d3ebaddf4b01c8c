"""Published trees in a few words, and tables for them."""

from __future__ import annotations

import numpy as np
import polars as pl

from incrowd.verification.spans import verify_spans
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.schema import ColumnType


def word(name, public, missing=False, fill=None, domain=("u", "v", "w")):
    kind = {"type": "categorical", "domain": list(domain), "missing": missing, "fill": fill}
    return {"name": name, "public": public, **kind}


def number(name, public, missing=False, fill=None, kind="integer"):
    return {"name": name, "public": public, "type": kind, "domain": None, "missing": missing, "fill": fill}


def tree(*nodes):
    """Nodes: the attribute and its branches, (condition, child); nothing for a leaf."""
    found = []
    for attribute, *branches in (each or (None,) for each in nodes):
        ways = [{"if": condition(attribute, asked), "go": child} for asked, child in branches]
        found.append({"label": 0} | ({"attribute": attribute, "branches": ways} if ways else {}))
    return found


def condition(attribute, asked):
    """``uv``: one of these; ``<=3`` and ``>3``: thresholds; ``?``: missing."""
    if asked == "?":
        return {"is": "missing", "attribute": attribute}
    if asked.startswith(("<=", ">")):
        threshold = asked.lstrip("<=>")
        value = float(threshold) if "." in threshold or "e" in threshold else int(threshold)
        return {"is": "le" if asked[0] == "<" else "gt", "attribute": attribute, "threshold": value}
    if len(asked) == 1:
        return {"is": "eq", "attribute": attribute, "value": asked}
    return {"is": "in", "attribute": attribute, "values": list(asked)}


def model(attributes, nodes, *, spans=1, smallest=1, private=True, classes=("x", "y"), k=1, **asked):
    return {
        "incrowd_model": 1,
        "target": "class",
        "classes": list(classes),
        "class_private": private,
        "attributes": attributes,
        "requirement": {"k": k, "l": None, "max_confidence": None, **asked},
        "smallest_span": smallest,
        "spans": spans,
        "nodes": nodes,
    }


def encoded(said, columns):
    """The table of a model, from lists."""
    kinds = {each["name"]: ColumnType(each["type"]) for each in said["attributes"]}
    found = []
    for name, values in columns.items():
        kind = kinds.get(name, ColumnType.CATEGORICAL)
        known = sorted({value for value in values if value is not None})
        codes = [len(known) if value is None else known.index(value) for value in values]
        dtype = {ColumnType.INTEGER: pl.Int64, ColumnType.REAL: pl.Float64}.get(kind, pl.String)
        found.append(EncodedColumn(name, kind, np.array(codes, np.int32), pl.Series(known, dtype=dtype)))
    return EncodedTable.of(found)


def verify(said, columns, **options):
    rows = len(next(iter(columns.values())))
    return verify_spans(said, encoded(said, {"class": ["x"] * rows, **columns}), **options)
