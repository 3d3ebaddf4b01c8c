"""Notices about a plan: little shown, rare values that counts would name, a class too rare for k."""

import polars as pl

import incrowd


def notices(frame, **asked):
    asked = {"k": 5, "method": "mondrian", **asked}
    made = incrowd.release(frame, quasi_identifiers=["job", "age"], target="ill", **asked)
    return {(notice.code, notice.where) for notice in made.report.notices}


def test_rare_values_are_told_where_counts_name_them():
    jobs = ["cook"] * 20 + ["nurse"] * 19 + ["pope"]
    frame = pl.DataFrame({"job": jobs, "age": list(range(20, 60)), "ill": ["y", "n"] * 20})
    assert ("rare-values", "job") in notices(frame, form="counts")
    assert ("rare-values", "age") not in notices(frame, form="counts")
    assert ("rare-values", "job") not in notices(frame)
    common = frame.with_columns(job=pl.Series(["cook"] * 20 + ["nurse"] * 20))
    assert ("rare-values", "job") not in notices(common, form="counts")


def test_a_class_with_fewer_rows_than_k_is_told_where_counts_are_released():
    ill = ["y"] * 6 + ["n"] * 34
    frame = pl.DataFrame({"job": ["cook", "nurse"] * 20, "age": list(range(20, 60)), "ill": ill})
    assert ("rare-class", "ill") in notices(frame, method="blend", k=7)
    assert ("rare-class", "ill") in notices(frame, form="counts", k=7)
    assert ("rare-class", "ill") not in notices(frame, method="blend", k=6)
    assert ("rare-class", "ill") not in notices(frame, k=7)
