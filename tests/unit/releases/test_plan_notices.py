"""Notices about a plan: little shown, rare values that cells would name, a class too rare for k."""

import polars as pl
import pytest

import incrowd


def notices(frame, **asked):
    asked = {"k": 5, "method": "mondrian", **asked}
    asked |= {"redraw": 0} if asked.get("form") in ("counts", "pair") else {}
    made = incrowd.release(frame, quasi_identifiers=["job", "age"], target="ill", run=incrowd.Run(seed=1), **asked)
    return {(notice.code, notice.where) for notice in made.report.notices}


FORMS = [("mondrian", None), ("mondrian", "counts"), ("mondrian", "pair"), ("blend", "strict")]


@pytest.mark.each(3)
@pytest.mark.parametrize(("method", "form"), FORMS)
def test_rare_values_are_told_in_whatever_form_cells_name_them(method, form):
    jobs = ["cook"] * 20 + ["nurse"] * 19 + ["pope"]
    frame = pl.DataFrame({"job": jobs, "age": list(range(20, 60)), "ill": ["y", "n"] * 20})
    assert ("rare-values", "job") in notices(frame, method=method, form=form)
    common = frame.with_columns(job=pl.Series(["cook"] * 20 + ["nurse"] * 20))
    for quiet in (notices(common, method=method, form=form), notices(frame, method=method, form=form, rarest=5)):
        assert not any(code == "rare-values" for code, _ in quiet)


def test_one_sentence_tells_of_rare_values_in_many_columns():
    rare = ["common"] * 38 + ["rare", "rarer"]
    frame = pl.DataFrame({"job": rare, "age": rare[::-1], "ill": ["y", "n"] * 20})
    made = incrowd.release(frame, quasi_identifiers=["job", "age"], target="ill", k=5, form="counts", redraw=0)
    (told,) = (notice for notice in made.report.notices if notice.code == "rare-values")
    assert told.where == "job, age"
    assert told.message.startswith("4 values are in fewer than 5 rows of the table")
    assert "rarest=5" in told.message


def test_a_class_with_fewer_rows_than_k_is_told_where_counts_are_released():
    ill = ["y"] * 6 + ["n"] * 34
    frame = pl.DataFrame({"job": ["cook", "nurse"] * 20, "age": list(range(20, 60)), "ill": ill})
    assert ("rare-class", "ill") in notices(frame, method="blend", k=7)
    assert ("rare-class", "ill") in notices(frame, form="counts", k=7)
    assert ("rare-class", "ill") not in notices(frame, method="blend", k=6)
    assert ("rare-class", "ill") not in notices(frame, k=7)


def test_rare_is_what_few_persons_have():
    """Ten rows of one person name nobody's crowd; the rarest class is had by one person in six rows."""
    jobs = ["cook"] * 20 + ["nurse"] * 20 + ["pope"] * 10
    ill = ["y", "n"] * 22 + ["dead"] * 6
    whose = [*range(40), *[40] * 10]
    frame = pl.DataFrame({"job": jobs, "age": [20 + i % 9 for i in range(50)], "ill": ill, "who": whose})
    plain = notices(frame.drop("who"), form="counts")
    assert not {code for code, _ in plain} & {"rare-values", "rare-class"}
    made = incrowd.release(
        frame,
        quasi_identifiers=["job", "age"],
        target="ill",
        person="who",
        k=5,
        method="mondrian",
        form="counts",
        redraw=0,
    )
    messages = {notice.code: notice.message for notice in made.report.notices}
    assert messages["rare-values"].startswith("1 value is in rows of fewer than 5 persons of the table")
    assert messages["rare-class"].startswith("the rarest class has 1 person, fewer than k = 5")


@pytest.mark.parametrize("linked", [False, True])
def test_another_method_is_not_advised_where_persons_are_followed(linked):
    who = list(range(48))  # too few for two groups, and all differ: nothing can be shown
    names = [f"name {i}" for i in who]
    frame = pl.DataFrame({"job": names, "age": names, "ill": ["y", "n"] * 24, "who": who})
    asked = {"quasi_identifiers": ["job", "age"], "target": "ill", "person": "who", "k": 30, "method": None}
    asked |= {"keep_link": True} if linked else {"method": "mondrian"}
    made = incrowd.release(frame, run=incrowd.Run(seed=1), **asked)
    (told,) = (notice.message for notice in made.report.notices if notice.code == "little-shown")
    assert ("another method" in told) is not linked
    assert told.endswith("hierarchies, fewer quasi-identifiers or a smaller k.")


def codes(**asked):
    ages = list(range(20, 60)) * 3
    frame = pl.DataFrame({"job": ["cook", "nurse"] * 60, "age": ages, "ill": ["y", "y", "n"] * 40})
    return {code for code, _ in notices(frame, **asked)}


@pytest.mark.slow
def test_blend_proposes_larger_groups_and_a_bound_on_purity_will_do():
    assert "small-k" in codes(method="blend", k=10)
    for asked in ({"k": 50}, {"k": 10, "form": "strict"}, {"k": 10, "purest": 0.9}, {"k": 10, "method": "mondrian"}):
        assert "small-k" not in codes(**({"method": "blend"} | asked))


@pytest.mark.slow
def test_a_sensitive_class_needs_more_than_closeness_that_pure_groups_keep():
    """A third of the rows has the rarer class: a group of the other lies 1/3 from the table, beyond t = 0.3."""
    assert "class-may-be-pure" not in codes(class_sensitive=True)
    for loose in ("t-equal=0.34", "t-equal=1", "distinct-l=2", "alpha=1", "entropy-l=1", "recursive-l=1 c=2"):
        assert "class-may-be-pure" in codes(class_sensitive=True, require=loose), loose
    assert "class-may-be-pure" not in codes(class_sensitive=False)
    for bound in ({"purest": 0.9}, {"require": "entropy-l=1.2"}, {"require": "alpha=0.9"}):
        assert "class-may-be-pure" not in codes(class_sensitive=True, **bound)


def test_a_bound_on_purity_comes_on_top_of_what_a_sensitive_class_requires():
    columns = {"job": {"role": "quasi-identifier"}, "ill": {"role": "target"}}
    usual, bounded = (
        str(incrowd.Recipe(columns=columns, class_sensitive=True, purest=purest).requirement) for purest in (None, 0.9)
    )
    assert bounded == f"{usual}; confidence in any value of ill of at most 0.9"


@pytest.mark.parametrize("method", ["blend", "kactus-plus", "tdr"])
def test_no_group_tells_a_class_with_more_than_was_asked_for(method):
    frame = pl.DataFrame({"job": ["cook", "nurse"] * 60, "age": list(range(120)), "ill": ["y"] * 70 + ["n"] * 50})
    asked = {"quasi_identifiers": ["job", "age"], "target": "ill", "class_sensitive": False, "k": 10, "method": method}
    made = incrowd.release(frame, **asked, purest=0.75)
    assert "confidence in any value of ill of at most 0.75" in made.certificate["requirement_asked"]
    shares = made.table.group_by("job", "age").agg(most=pl.col("ill").unique_counts().max() / pl.len())
    assert shares["most"].max() <= 0.75


@pytest.mark.each(2)
@pytest.mark.parametrize("bins", ["fine", "class"])
def test_no_number_is_counted_in_a_bin_that_few_have(bins):
    frame = pl.DataFrame({"job": ["a"] * 200, "age": [1] * 188 + [99] * 12, "ill": ["n"] * 188 + ["y"] * 12})
    asked = {"quasi_identifiers": ["age", "job"], "target": "ill", "method": "blend", "redraw": 0, "bins": bins}
    few, enough = (incrowd.release(frame, **asked, k=k) for k in (50, 12))
    assert ("rare-values", "age") not in {(notice.code, notice.where) for notice in few.report.notices}
    assert (few.certificate["public_cuts"]["age"], set(few.table["age"])) == ([], {"*"})
    assert enough.certificate["public_cuts"]["age"] == [50]
