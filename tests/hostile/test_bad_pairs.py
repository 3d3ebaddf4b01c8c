"""Two tables that belong together: damage to either is found, both appear or none, hostile values come through."""

from __future__ import annotations

import hashlib
import json
from collections import Counter

import polars as pl
import pytest

import incrowd
from incrowd.errors import IncrowdError, OutputError, ParameterError, VerificationError
from incrowd.recipients import decode
from incrowd.tables.publishing import serialise, staging

HOSTILE = ["a|b:c", "%7C", "=1+2", "-5", "+x", "@cmd", "'=1", "ä𝔘", "line\nbreak", 'q"uote', "a,b", "*x", "\\", "group"]
NAMES = ["job", "=age", "kind"]


@pytest.fixture
def people():
    jobs = [HOSTILE[i % 14] if i % 5 else None for i in range(140)]
    ages, kinds = [20 + i % 41 for i in range(140)], [["x", None][i % 7 == 0] for i in range(140)]
    ill, group = ["yn"[i % 3 == 0] for i in range(140)], ["uv"[i % 2] for i in range(140)]
    return pl.DataFrame({"job": jobs, "=age": ages, "kind": kinds, "ill": ill, "group": group})


def make(people, **options):
    options = {"quasi_identifiers": NAMES, "target": "ill", "k": 10, "method": "infogain-mondrian", **options}
    return incrowd.release(people, **options)


@pytest.mark.each(3)
@pytest.mark.parametrize("redraw", [0, 2])
@pytest.mark.parametrize("form", ["counts", "pair"])
@pytest.mark.parametrize("ending", ["csv", "tsv.gz", "parquet", "arrow"])
def test_hostile_values_come_through(tmp_path, people, form, ending, redraw):
    made = make(people, form=form, redraw=redraw, to=tmp_path / f"out.{ending}")
    assert made.verdict.passed
    groups = tmp_path / f"out.groups.{ending}"
    assert groups.exists() == (form == "pair")
    plain = decode(tmp_path / f"out.{ending}", groups=groups if form == "pair" else None, deals=1)
    dealt = Counter(plain["job"].astype(object).where(plain["job"].notna(), None))
    marked = form == "pair" and ending in ("csv", "tsv.gz")  # text like an escaped formula cannot be told from one
    own = Counter(job[1:] if marked and job and job[:2] == "'=" else job for job in people["job"])
    assert dealt == own if not redraw else dealt.keys() <= own.keys() and dealt.total() == own.total()
    assert "=age" in plain.columns
    issued = json.loads((tmp_path / f"out.{ending}.certificate.json").read_text())
    for path, told in ((tmp_path / f"out.{ending}", issued["output"]), (groups, issued["output"].get("groups"))):
        assert not path.exists() or told["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()


def test_k_of_all_rows_is_one_group(people):
    made = make(people, form="pair", k=people.height)
    assert made.table["group_"].unique().to_list() == [1]
    assert made.groups["count"].sum() == people.height * len(set(made.groups["attribute"]))


@pytest.mark.slow
def test_groups_are_numbered_at_random(people):
    orders = set()
    for _ in range(5):
        made = make(people, form="pair")
        sizes = Counter(made.table["group_"].to_list())
        assert sorted(sizes) == list(range(1, len(sizes) + 1))
        kinds = made.groups.filter(pl.col("attribute") == "job").sort("group_")
        orders.add(tuple(kinds["count"].to_list()))
    assert len(orders) > 1


def damaged(monkeypatch, change):
    """Change the two tables between their making and their writing."""
    split = serialise.split_pair

    def changed(*given):
        return change(*split(*given))

    monkeypatch.setattr(serialise, "split_pair", changed)


def several(groups):
    """A line of an attribute that has several lines in its group; of its only one, the attribute would be hidden."""
    return groups.with_row_index().filter(pl.len().over("group_", "attribute") > 1)["index"][0]


DAMAGE = {
    "a count": lambda rows, groups: (rows, groups.with_columns(pl.col("count") + (pl.int_range(pl.len()) == 0))),
    "a value": lambda rows, groups: (
        rows,
        groups.with_columns(value=pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("zz")).otherwise("value")),
    ),
    "a line twice": lambda rows, groups: (rows, pl.concat([groups, groups[:1]])),
    "a line less": lambda rows, groups: (rows, groups.filter(pl.int_range(pl.len()) != several(groups))),
    "an attribute more": lambda rows, groups: (
        rows,
        pl.concat([groups, groups[:1].with_columns(attribute=pl.lit("size"))]),
    ),
    "a group without rows": lambda rows, groups: (
        rows,
        pl.concat([groups, groups[:1].with_columns(pl.lit(999, pl.Int64).alias("group_"))]),
    ),
    "a row in another group": lambda rows, groups: (
        rows.with_columns(
            pl.when(pl.int_range(pl.len()) == 0)
            .then(pl.col("group_") % rows["group_"].max() + 1)
            .otherwise("group_")
            .alias("group_")
        ),
        groups,
    ),
    "a row in no group": lambda rows, groups: (
        rows.with_columns(pl.when(pl.int_range(pl.len()) == 0).then(None).otherwise("group_").alias("group_")),
        groups,
    ),
    "rows in another order": lambda rows, groups: (rows.with_columns(pl.col("group_").reverse()), groups),
    "a group is two": lambda rows, groups: (
        rows.with_columns((pl.col("group_") + 100 * (pl.int_range(pl.len()) % 2)).alias("group_")),
        pl.concat([groups, groups.with_columns(pl.col("group_") + 100)]),
    ),
    "other columns": lambda rows, groups: (rows, groups.rename({"count": "rows"})),
    "a column of rows is gone": lambda rows, groups: (rows.drop("ill"), groups),
}


@pytest.mark.each(5)
@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_damage_is_found_and_nothing_is_published(tmp_path, people, monkeypatch, damage, ending):
    damaged(monkeypatch, DAMAGE[damage])
    with pytest.raises(VerificationError):
        make(people, form="pair", to=tmp_path / f"out.{ending}")
    assert list(tmp_path.iterdir()) == []


def test_both_are_in_place_or_none(tmp_path, people, monkeypatch):
    make(people, form="pair", to=tmp_path / "out.csv")
    before = sorted(path.name for path in tmp_path.iterdir())
    replace = staging.Path.replace

    def refused(self, target):
        if self.name == target.name == "out.csv":
            raise OSError(28, "No space left on device")
        return replace(self, target)

    monkeypatch.setattr(staging.Path, "replace", refused)
    with pytest.raises(OutputError):
        make(people, form="pair", to=tmp_path / "out.csv")
    assert before == ["out.csv", "out.csv.certificate.json", "out.groups.csv"]
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_what_pairs_cannot_do_is_refused(tmp_path, people):
    people.write_parquet(tmp_path / "out.groups.parquet")
    with pytest.raises(IncrowdError, match="input itself"):
        make(tmp_path / "out.groups.parquet", form="pair", to=tmp_path / "out.parquet")
    with pytest.raises(OutputError, match="table of groups"):
        make(people, form="pair", to=tmp_path / "a.csv", outputs=incrowd.Outputs(plan=tmp_path / "a.groups.csv"))
    with pytest.raises(ParameterError, match="one of strict, counts, pair"):
        make(people, form="sets")
