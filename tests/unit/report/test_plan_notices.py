"""Notices about a plan: little shown, and rare values that counts would name."""

import polars as pl

import incrowd


def notices(frame, **asked):
    made = incrowd.release(frame, quasi_identifiers=["job", "age"], target="ill", k=5, method="mondrian", **asked)
    return {(notice.code, notice.where) for notice in made.report.notices}


def test_rare_values_are_told_where_counts_name_them():
    jobs = ["cook"] * 20 + ["nurse"] * 19 + ["pope"]
    frame = pl.DataFrame({"job": jobs, "age": list(range(20, 60)), "ill": ["y", "n"] * 20})
    assert ("rare-values", "job") in notices(frame, form="counts")
    assert ("rare-values", "age") not in notices(frame, form="counts")
    assert ("rare-values", "job") not in notices(frame)
    common = frame.with_columns(job=pl.Series(["cook"] * 20 + ["nurse"] * 20))
    assert ("rare-values", "job") not in notices(common, form="counts")
