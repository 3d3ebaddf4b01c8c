"""A recount gives the same classes whatever file or frame the table is in."""

from __future__ import annotations

import tempfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import incrowd
from support.containers import TEXTS, TYPED, WHOLE, container, is_missing, writable, written


@pytest.mark.each(5)
@pytest.mark.parametrize("kind", WHOLE)
@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@example(texts=["", "*", "?", "a", "a "])
@given(texts=st.lists(st.sampled_from(TEXTS), min_size=1, max_size=12))
def test_a_recount_of_texts_does_not_depend_on_the_container(kind, texts):
    if not writable(kind, texts):
        texts = ["a"]
    frame = pl.DataFrame({"x": texts, "y": ["y"] * len(texts)}, {"x": pl.String, "y": pl.String})
    with tempfile.TemporaryDirectory() as folder:
        found = incrowd.verify(container(Path(folder), kind, frame, texts), k=2, quasi_identifiers=["x"])
        plain = incrowd.verify(container(Path(folder), "csv", frame, texts), k=2, quasi_identifiers=["x"])
    assert found.sizes == plain.sizes


@pytest.mark.each(11)
@pytest.mark.parametrize("values", TYPED)
@pytest.mark.parametrize("kind", WHOLE)
@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_recount_of_numbers_truths_and_dates_does_not_depend_on_the_container(kind, values, data):
    dtype, pool, _ = TYPED[values]
    own = data.draw(st.permutations(pool) | st.lists(st.sampled_from(pool), min_size=1, max_size=12))
    if kind == "arff" and values in ("truth", "date"):
        kind = "csv"
    frame = pl.DataFrame({"x": own, "y": ["y"] * len(own)}, {"x": dtype, "y": pl.String})
    classes = len({None if is_missing(value) else value for value in own})
    with tempfile.TemporaryDirectory() as folder:
        given_ = container(Path(folder), kind, frame, [written(value) for value in own])
        assert incrowd.verify(given_, k=2, quasi_identifiers=["x"]).sizes.classes == classes
