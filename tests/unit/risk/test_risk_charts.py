"""Charts of risk, as drawings and on axes."""

from __future__ import annotations

import polars as pl
import pytest

from incrowd.errors import ParameterError
from incrowd.risk.assessment import measure_risk
from support.axes import RecordedAxes

BEFORE = pl.DataFrame({"age": [1, 2, 2, 3, 3, 3, 3, 4, 4, 4]})
AFTER = BEFORE.with_columns(age=pl.lit("*"))


@pytest.fixture(scope="module")
def risk():
    return measure_risk(BEFORE, quasi_identifiers=["age"], after=AFTER)


def test_a_curve_rises_by_the_rows_of_each_class(risk):
    axes = RecordedAxes()
    assert risk.plot(ax=axes) is axes
    (before, after) = axes.named("step")
    assert before[0] == ([1, 1, 2, 3, 4], pytest.approx([0, 10, 30, 60, 100]))
    assert after[0] == ([1, 10], pytest.approx([0, 100]))
    assert axes.labels == ["before", "after"]
    assert "10 % at least 100 %" in risk.plot().picture.replace("10.0 %", "10 %")


def test_bars_are_the_shares_of_the_rows(risk):
    axes = RecordedAxes()
    risk.plot("sizes", ax=axes)
    lengths = [values[1] for values, _ in axes.named("barh")]
    assert lengths == [pytest.approx([10, 20, 30, 40, 0]), pytest.approx([0, 0, 0, 0, 100])]
    assert [labels for (_, labels), _ in axes.named("set_yticks")] == [["1", "2", "3", "4", "10"]]


def test_a_view_has_the_charts_of_the_page(risk):
    assert risk._repr_html_().count("<svg") == 2
    assert "<script" not in risk.plot("sizes")._repr_html_()


def test_there_is_no_other_chart(risk):
    with pytest.raises(ParameterError, match="kind must be one of curve, sizes"):
        risk.plot("pie")
