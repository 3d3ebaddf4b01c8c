"""What a task of Spark finds in a piece, without Spark."""

from __future__ import annotations

import pickle
from functools import partial
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from incrowd.errors import OutputError
from incrowd.rows.spark.checking import Comparing, _compare, _of_all
from incrowd.tables.publishing.serialise import parquet_options
from incrowd.verification.request import Expected, Original
from incrowd.verification.verdict import Check

ROWS = 200
AGES = np.random.default_rng(3).integers(18, 90, ROWS)
ASKED = Expected([("2-anonymity", ["age"], 2)], ["age", "ill"], ["age"], 0)
REQUEST = SimpleNamespace(seeded=False, preset=None, counted=(), groups=None, columns=(), at_most={}, apart={})


def found(order, **options):
    """The bytes check and the findings of a piece whose rows come from the input in this order."""
    own = pa.table({"age": AGES[order].astype(float), "ill": ["y", "n"] * (ROWS // 2)})
    stream = pa.BufferOutputStream()
    pq.write_table(own, stream, **{**parquet_options(own.schema), **options})
    mixing = SimpleNamespace(original=lambda _key, _parts: Original(own, np.asarray(order), ROWS))
    comparing = Comparing(mixing, partial(_compare, REQUEST, (), ASKED, 5, {}))  # type: ignore[arg-type]
    parts = pa.table({"key": [0], "block": [0], "rows": [b""]})
    answer = comparing(parts, pa.table({"content": [stream.getvalue().to_pybytes()]}))["answer"][0].as_py()
    return pickle.loads(answer)


def fair():
    return np.random.default_rng(20261116).permutation(ROWS)


def test_a_piece_in_random_order_with_nothing_beside_its_cells_passes():
    checked, findings = found(fair())
    assert checked == Check("bytes", True, "nothing but the released cells")
    assert [check.passed for check in findings.checks] == [True, True, True]


@pytest.mark.parametrize("order", [np.arange(ROWS), np.arange(ROWS)[::-1], np.random.default_rng(0).permutation(ROWS)])
def test_an_order_that_tells_something_is_found(order):
    assert not found(order)[1].checks[0].passed


def test_rows_sorted_by_a_hidden_value_are_found():
    assert [check.name for check in found(np.argsort(AGES, kind="stable"))[1].checks if not check.passed] == [
        "hidden order"
    ]


def test_what_lies_beside_the_cells_is_found():
    assert found(fair(), write_statistics=True)[0].finding == "the footer holds the smallest and largest values"


def test_a_piece_without_rows_has_no_rows_in_its_file():
    none = pa.table({"key": pa.array([], pa.int32())})
    comparing = Comparing(SimpleNamespace(), print)  # type: ignore[arg-type]
    table = pa.table({"age": [1.0]})
    for written, refused in ((table[:0], False), (table, True)):
        stream = pa.BufferOutputStream()
        pq.write_table(written, stream, **parquet_options(table.schema))
        files = pa.table({"content": [stream.getvalue().to_pybytes()]})
        if refused:
            with pytest.raises(OutputError, match="does not belong"):
                comparing(none, files)
        else:
            assert pickle.loads(comparing(none, files)["answer"][0].as_py())[1] is None
    with pytest.raises(OutputError, match="missing"):
        comparing(none, files.slice(0, 0))


def test_one_check_stands_for_all_pieces():
    checks = [Check("order", True, "a"), Check("order", False, "b"), Check("order", False, "c")]
    assert _of_all(checks) is checks[1]
    assert _of_all(checks[:1]) is checks[0]
