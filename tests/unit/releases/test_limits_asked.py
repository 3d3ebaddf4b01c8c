"""Weights and limits of a release, the whole way: what is kept, what is refused, and who recounts it."""

from __future__ import annotations

import polars as pl
import pytest

import incrowd
from incrowd.errors import HeaderError, ParameterError, RequirementError
from incrowd.methods.catalog import METHODS
from incrowd.report.certificate import faults
from incrowd.report.certificate import schema as certificate_schema

JOBS = {"nurse": "care", "doctor": "care", "cook": "food", "waiter": "food", "clerk": "office", "coder": "office"}
LEVELING = [name for name, entry in METHODS.items() if entry.limits_levels]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table of 90 people whose job tells nothing of the class, so that no method would show it by itself."""
    folder = tmp_path_factory.mktemp("limits")
    jobs = list(JOBS)
    rows = [
        {"job": jobs[i % 6], "age": 20 + i // 6 * 4, "sex": "fm"[i % 2], "ill": "yes" if i > 44 else "no"}
        for i in range(90)
    ]
    pl.DataFrame(rows).write_csv(folder / "people.csv")
    tree = "".join(f"{job};{group};*\n" for job, group in JOBS.items())
    (folder / "job.csv").write_text(tree)
    return folder


def released(folder, method="tdr", **options):
    asked = {"quasi_identifiers": ["job", "age", "sex"], "target": "ill", "class_sensitive": False, "k": 5}
    asked |= {"hierarchies": {"job": folder / "job.csv"}} | options
    return incrowd.release(folder / "people.csv", method=method, **asked)


def test_a_weight_keeps_an_attribute_finer(folder):
    heavy = released(folder, "mondrian", hierarchies=None, weights={"job": 1000})
    assert heavy.plan.steps != released(folder, "mondrian", hierarchies=None).plan.steps


def test_where_weights_mean_nothing_they_are_refused_by_name(folder):
    with pytest.raises(ParameterError, match=r"iack cannot weigh attributes. Leave weights out, or choose one"):
        released(folder, "iack", weights={"job": 3})
    with pytest.raises(ParameterError, match="'ill' is no such"):
        released(folder, weights={"ill": 3})
    with pytest.raises(HeaderError, match="no column 'jobs'"):
        released(folder, weights={"jobs": 3})


@pytest.mark.each(3)
@pytest.mark.parametrize("method", LEVELING)
def test_no_cell_is_coarser_than_the_level(folder, method):
    allowed = [{*JOBS, *JOBS.values()}, {*JOBS}]
    assert set(released(folder, "tdr").table["job"]) - allowed[0]  # it is hidden where nobody minds
    for level in (1, 0):
        shown = released(folder, method, at_most={"job": level})
        assert set(shown.table["job"]) <= allowed[1 - level]
        assert f"job at most at level {level}" in [check.name for check in shown.verdict.checks]


def test_a_level_that_cannot_be_kept_says_so(folder):
    told = r"cannot be kept with at_most job=0: 6 groups \(90 rows\).* Raise a level, lower k, or let more"
    for method in LEVELING:
        with pytest.raises(RequirementError, match=told):
            released(folder, method, at_most={"job": 0}, k=20)


@pytest.mark.each(3)
@pytest.mark.parametrize("method", LEVELING)
@pytest.mark.parametrize("trees", [True, False])
def test_values_stay_apart_and_are_counted(folder, method, trees):
    trees = {} if trees else {"hierarchies": None}
    shown = released(folder, method, apart={"job": "nurse|cook,waiter"}, **trees)
    cells = set(shown.table["job"])
    assert "nurse" in cells
    assert not any("nurse" in cell and cell != "nurse" for cell in cells)
    assert not any(("cook" in cell or "waiter" in cell) and "c" in cell.replace("cook", "") for cell in cells)
    assert "job apart" in [check.name for check in shown.verdict.checks if check.passed]
    always = released(folder, method, apart={"sex": "*"}, **trees)
    assert set(always.table["sex"]) == {"f", "m"}


@pytest.mark.parametrize("method", ["tdr", "mondrian"])
def test_limits_of_tables_that_are_worked_on_in_blocks(folder, method, tmp_path):
    (tmp_path / "parts").mkdir()
    pl.read_csv(folder / "people.csv").write_parquet(tmp_path / "parts" / "1.parquet")
    asked = {"quasi_identifiers": ["job", "age", "sex"], "target": "ill", "class_sensitive": False, "k": 5}
    asked |= {"at_most": {"job": 1}, "apart": {"job": "nurse"}, "hierarchies": {"job": folder / "job.csv"}}
    shown = incrowd.release(tmp_path / "parts", method=method, to=tmp_path / "out.parquet", **asked)
    assert set(pl.read_parquet(tmp_path / "out.parquet")["job"]) <= {*JOBS, *JOBS.values()} - {"care"}
    assert {"job at most at level 1", "job apart"} <= {check.name for check in shown.verdict.checks if check.passed}


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            {"method": "kactus-plus"},
            "kactus-plus cannot keep cells below a level of a hierarchy. Leave at_most out",
        ),
        ({"at_most": {"job": 3}}, "has the levels 0 to 2; at 2 everything is hidden"),
        ({"at_most": {"age": 1}}, "'age' is without one. Name one with hierarchies="),
        ({"at_most": {"job": 1.5}}, "the level of 'job' must be a whole number"),
        ({"at_most": {"job": -1}}, "the level of 'job' must be a whole number"),
        ({"at_most": {"ill": 0}}, "'ill' is no such"),
        ({"method": "mondrian", "form": "counts"}, "not counts of them. Choose form strict"),
        ({"rarest": 3}, "rarest hides cells"),
        ({"parameters": {"numeric": "mean"}}, "numeric=interval or numeric=bounds"),
    ],
)
def test_limits_that_cannot_be_kept_are_refused(folder, options, told):
    with pytest.raises(ParameterError, match=told):
        released(folder, **{"at_most": {"job": 1}, **options})


def test_a_release_leaves_out_what_it_may(folder):
    strict = {"at_most": {"job": 0}, "k": 8}  # the jobs of the two halves have 7 or 8 rows
    with pytest.raises(RequirementError, match=r"or let more rows be left out \(lose\)"):
        released(folder, at_most={"job": 0}, k=16)
    within = released(folder, "mondrian", lose="10%", **strict)
    assert within.plan.rows_dropped <= 9
    assert within.table.height == 90 - within.plan.rows_dropped


@pytest.mark.each(3)
@pytest.mark.parametrize("method", [name for name, entry in METHODS.items() if entry.loses_on_request])
def test_rows_are_left_out_beside_what_groups_keep_by_themselves(folder, method):
    asked = {"quasi_identifiers": ["job", "age"], "require": ["distinct-l=2 on sex", "alpha=0.9 on sex"]}
    shown = released(folder, method, lose="10%", **asked)
    assert shown.plan.rows_dropped <= 9
    classes = shown.table.group_by([name for name in shown.table.columns if name.startswith(("job", "age"))])
    assert classes.agg(pl.col("sex").n_unique())["sex"].min() >= 2
    assert classes.len()["len"].min() >= 5


def test_certificate_and_report_state_what_was_asked(folder, tmp_path):
    limits = {"weights": {"age": 3}, "at_most": {"job": 1}, "apart": {"job": "nurse|cook", "sex": "*"}, "lose": "5%"}
    shown = released(folder, outputs=incrowd.Outputs(report=tmp_path / "r.html"), to=tmp_path / "o.csv", **limits)
    assert shown.certificate["limits"] == {**limits, "apart": {"job": 2, "sex": "each value"}}
    assert list(faults(shown.certificate, certificate_schema())) == []
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    for words in ("Weights and limits", "at most at level 1", "sets of values that stay apart: 2", "of 90"):
        assert words in page
    assert "limits" in shown.certificate
    assert released(folder).certificate["limits"] == {}
    named = released(folder, rarest=3, outputs=incrowd.Outputs(report=tmp_path / "n.html"), to=tmp_path / "n.csv")
    assert named.certificate["limits"] == {"rarest": 3}
    assert list(faults(named.certificate, certificate_schema())) == []
    page = (tmp_path / "n.html").read_text(encoding="utf-8")
    assert "names only what 3 people or more have</td><td>every cell" in page.replace("\n", "")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            {"method": "blend", "hierarchies": None},
            "blend cannot leave rows out. Leave lose out, or choose one of",
        ),
        ({"require": "t=0.4 on sex"}, r"0.4-closeness of sex is kept with all rows. Leave one of the two out"),
        ({"require": "distinct-l=2 on sex, delta-disclosure=2 on ill"}, "is kept with all rows"),
        ({"known_together": [(["job"], 5), (["age", "sex"], 5)]}, "is kept with all rows"),
        ({"parameters": {"numeric": "midpoint"}}, "A middle needs k rows"),
        ({"lose": "all"}, "lose is a share of the rows"),
    ],
)
def test_rows_are_not_left_out_beside_what_looks_at_all_rows(folder, options, told):
    asked = {"lose": "5%", "quasi_identifiers": None if "known_together" in options else ["job", "age"], **options}
    with pytest.raises(ParameterError, match=told):
        released(folder, **asked)
