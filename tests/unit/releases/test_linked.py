"""Releases in which persons can be followed: the whole way, from a table to what recipients open."""

from __future__ import annotations

import datetime
import random
from collections import Counter

import polars as pl
import pytest

import incrowd
from incrowd.errors import IncrowdError, ParameterError, PlanError, VerificationError
from incrowd.plan.plan_file import plan_from_json, plan_to_json, read_plan, write_plan
from incrowd.tables.options import Measuring, Run
from incrowd.tables.recipe import Recipe, read_recipe


def visits(persons=120, seed=4):
    """Rows of persons: sex and home do not change, ward and day do, ill is the class."""
    chance, rows = random.Random(seed), []
    for person in range(persons):
        sex, home, day = chance.choice("fm"), chance.choice("ABCD"), chance.randrange(400)
        for _ in range(min(9, 1 + int(chance.expovariate(0.5)))):
            ward = chance.choice(["er", "gp", "icu"])
            date = datetime.date(2020, 1, 1) + datetime.timedelta(days=day)
            rows.append((f"id{person * 7919 % 10007:05d}", sex, home, ward, str(date), chance.choice("yn")))
            day += chance.randrange(1, 90)
    chance.shuffle(rows)
    return pl.DataFrame(rows, schema=["pid", "sex", "home", "ward", "day", "ill"], orient="row")


TABLE = visits()
ASKED = {
    "quasi_identifiers": ["sex", "home", "ward", "day"],
    "target": "ill",
    "person": "pid",
    "keep_link": True,
    "k": 4,
    "class_sensitive": False,
    "run": Run(seed=3),
}


def histories(table):
    """The multiset of quasi-identifier tuples of each pseudonym, and how many have it."""
    own = {}
    for row in table.select("pid", "sex", "home", "ward", "day").rows():
        own.setdefault(row[0], []).append(tuple(map(str, row[1:])))
    return Counter(tuple(sorted(each)) for each in own.values())


@pytest.fixture(scope="module")
def whole():
    return incrowd.release(TABLE, **ASKED, order="day")


def test_every_history_belongs_to_k_pseudonyms(whole):
    table = whole.table
    assert min(histories(table).values()) >= 4
    assert table["pid"].n_unique() == TABLE["pid"].n_unique()
    assert table["pid"].str.contains("^p[0-9a-f]{32}$").all()
    assert table.columns == TABLE.columns
    assert whole.plan.method == "whole-histories"
    assert whole.verdict.passed


def test_days_count_from_the_first_row_and_no_date_is_left(whole):
    cells = whole.table["day"].drop_nulls()
    assert len(cells)
    assert not cells.str.contains("20[0-9][0-9]-").any()
    first = whole.table.filter(pl.col("day").str.starts_with("(-inf, 0]"))
    assert first["pid"].n_unique() == first.height  # nobody has two first rows


def test_pseudonyms_are_fresh_each_time():
    one, two = (incrowd.release(TABLE, **{**ASKED, "run": Run()}).table["pid"] for _ in range(2))
    assert not set(one.to_list()) & set(two.to_list())


def test_a_seed_repeats_a_release():
    one, two = (incrowd.release(TABLE, **ASKED).table for _ in range(2))
    assert one.equals(two)


@pytest.mark.parametrize("count", [False, True])
def test_known_rows(count):
    made = incrowd.release(TABLE, **ASKED, known_rows=2, count_known=count)
    assert dict(made.plan.parameters) == {"rows": 2, "count": count}
    assert made.table["pid"].n_unique() == TABLE["pid"].n_unique()
    assert made.verdict.passed


def test_requirements_beyond_k_are_recounted_in_histories():
    made = incrowd.release(TABLE, **ASKED, require="distinct-l=2")
    assert [check.passed for check in made.verdict.checks if "distinct" in check.name] == [True]


@pytest.mark.parametrize("known", [None, 2])
def test_plans_are_read_as_they_were_written_and_explained(tmp_path, known):
    made = incrowd.release(TABLE, **ASKED, known_rows=known)
    assert plan_from_json(plan_to_json(made.plan)) == made.plan
    for name in ("plan.json", "plan.parquet"):
        write_plan(made.plan, tmp_path / name)
        assert read_plan(tmp_path / name) == made.plan
    words = incrowd.explain(made.plan)
    assert made.plan.method in words
    assert f"{made.plan.rows_dropped:,} rows are left out" in words or "no row is left out" in words


def test_a_plan_of_histories_shows_no_new_rows():
    made = incrowd.release(TABLE, **ASKED)
    with pytest.raises(PlanError, match="whole histories"):
        incrowd.transform(made.plan, TABLE)


def test_a_plan_of_values_shows_new_rows_without_pseudonyms():
    made = incrowd.release(TABLE, **ASKED, known_rows=1)
    shown = incrowd.transform(made.plan, TABLE)
    assert "pid" not in shown.columns
    assert shown.height == TABLE.height
    assert not set(TABLE["pid"]) & {cell for row in shown.rows() for cell in row}


def test_recipients_learn_from_no_pseudonym(tmp_path):
    incrowd.release(TABLE, **ASKED, to=tmp_path / "out.csv")
    received = incrowd.open_release(tmp_path / "out.csv")
    assert [one.name for one in received.attributes] == ["sex", "home", "ward", "day"]


def test_sets_known_together_are_kept_in_whole_histories():
    asked = {**ASKED, "known_together": [(["sex", "home"], 3), (["ward", "day"], 5)]}
    made = incrowd.release(TABLE, **asked)
    assert min(histories(made.table).values()) >= 5


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"method": "mondrian"}, "Name no method"),
        ({"method": "kactus-plus"}, "Name no method"),
        ({"form": "counts"}, "form strict"),
        ({"form": "pair"}, "form strict"),
        ({"run": Run(engine="spark")}, "looks at all rows of a person"),
        ({"require": "k-map=3", "population": TABLE}, "k-map"),
        ({"ledger": "book"}, "A ledger does not know"),
        ({"lose": "5%"}, "cannot leave rows out"),
        ({"weights": {"sex": 2}}, "cannot weigh"),
        ({"known_rows": 2, "require": "distinct-l=2"}, "nothing beyond it yet"),
        ({"known_rows": 2, "known_together": [(["sex", "home", "ward", "day"], 3)]}, "known in all columns"),
        ({"known_rows": 0}, "at least 1"),
        ({"count_known": True}, "known_rows"),
        ({"order": "ill"}, "tells persons apart"),
        ({"k": 500}, "impossible"),
        ({"person": None}, "Whose rows"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_linked_releases_do_not_have_is_refused(more, told):
    with pytest.raises(IncrowdError, match=told):
        incrowd.release(TABLE, **{**ASKED, **more})


@pytest.mark.parametrize("method", ["whole-histories", "known-rows"])
def test_methods_of_linked_releases_need_a_link(method):
    with pytest.raises(ParameterError, match="keep_link"):
        incrowd.release(TABLE, **{**ASKED, "method": method, "keep_link": False})


def test_a_recipe_says_it(tmp_path):
    (tmp_path / "recipe.yaml").write_text(
        "columns:\n  pid: {role: person}\n  sex: {role: quasi-identifier}\nkeep_link: true\nknown_rows: 2\nk: 4\n",
        encoding="utf-8",
    )
    recipe = read_recipe(tmp_path / "recipe.yaml")
    assert (recipe.method, recipe.parameters) == ("known-rows", {"rows": 2, "count": False})
    assert Recipe(columns=recipe.columns, keep_link=True).method == "whole-histories"


def test_what_is_measured_is_measured_of_linked_releases_too():
    made = incrowd.release(TABLE, **ASKED, order="day", measuring=Measuring(risk=True))
    assert made.report.risk is not None


def test_one_row_each_is_a_history_of_one_row():
    table = pl.DataFrame({"pid": [f"i{n}" for n in range(40)], "age": [20 + n for n in range(40)]})
    made = incrowd.release(table, quasi_identifiers=["age"], person="pid", keep_link=True, k=5, run=Run(seed=1))
    assert made.table.height == 40
    assert min(made.table["age"].value_counts()["count"]) >= 5
    assert "one-row-each" in {notice.code for notice in made.report.notices}


def test_effective_k_of_known_rows_is_that_of_the_promise_or_of_whole_histories():
    asked = {**ASKED, "quasi_identifiers": ["sex", "ward"]}
    made = incrowd.release(TABLE.drop("day", "home"), **asked, known_rows=2)
    persons = made.verdict.sizes.persons
    assert made.verdict.unchanged.given_back == 0
    assert made.verdict.unchanged.effective_k == persons.smallest
    told = TABLE.drop("day", "home").with_columns(wing=pl.col("ward") + " wing")
    despite = incrowd.release(told, **{**asked, "k": 30}, known_rows=2, despite_unchanged=True)
    counts = despite.verdict.unchanged
    assert counts.given_back > 0  # the wing tells the ward, which is hidden
    assert counts.effective_k < 30 <= despite.verdict.sizes.persons.smallest


def test_who_is_alone_by_all_rows_together_is_refused():
    """Nobody's next ward is rare in one row; by all of them, joined by the pseudonym, many are alone."""
    table = TABLE.select("pid", "ward", following=pl.col("ward").reverse())
    asked = {"quasi_identifiers": ["ward"], "person": "pid", "keep_link": True, "k": 4, "run": Run(seed=1)}
    made = incrowd.release(table, **asked)
    multisets = Counter(tuple(sorted(rows)) for rows in made.table.group_by("pid").agg("following")["following"])
    lonely = sum(people == 1 for people in multisets.values())
    assert made.verdict.unchanged.alone.without_class == lonely > 0
    with pytest.raises(VerificationError, match="alone by unchanged"):
        incrowd.release(table, **asked, alone_at_most=0)


BESIDE = {"quasi_identifiers": ["sex", "ward", "day"], "drop": ["home"], "order": "day"}
DAY = pl.col("day").str.to_date()


@pytest.mark.each(2)
@pytest.mark.parametrize("known", [{}, {"known_rows": 1}], ids=["whole histories", "known rows"])
def test_an_unchanged_date_beside_days_since_the_first_row_is_refused(known):
    """Days are counted from the first row, and a date two days later tells which day that was."""
    table = visits(persons=300).with_columns(left=DAY + pl.duration(days=2))
    with pytest.raises(VerificationError, match=r"left gives back day as a date.* effective k is then [4-9]"):
        incrowd.release(table, **{**ASKED, **BESIDE, **known})
    despite = incrowd.release(table, **{**ASKED, **BESIDE, **known}, despite_unchanged=True)
    stated = despite.certificate["unchanged_columns"]
    assert stated["effective_k"] < 4
    assert stated["given_back"] == 0  # of cells that a column of the release has
    assert [one["columns"] for one in stated["sets"]] == [["sex", "ward", "day"]]
    assert incrowd.release(table, **{**ASKED, **BESIDE, **known, "drop": ["home", "left"]}).verdict.passed


def test_an_unchanged_column_that_tells_how_many_rows_there_were_is_refused():
    """Rows were left out, and who knows how many somebody had finds it in an unchanged column."""
    table = visits(persons=300)
    heavy = table.head(30).with_columns(pl.lit("id99999").alias("pid"), pl.lit("f").alias("sex"))
    table = pl.concat([table, heavy]).with_columns(visits=pl.len().over("pid"))
    with pytest.raises(VerificationError, match="visits gives back the number of rows"):
        incrowd.release(table, **{**ASKED, **BESIDE})
    with pytest.raises(VerificationError, match="visits gives back the number of rows"):
        incrowd.release(table, **{**ASKED, **BESIDE}, known_rows=1, count_known=True)
    made = incrowd.release(table, **{**ASKED, **BESIDE}, known_rows=1)  # nobody is taken to know the number
    assert made.certificate["unchanged_columns"]["by"] == []
