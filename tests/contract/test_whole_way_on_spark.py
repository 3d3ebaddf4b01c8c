"""The door to Spark: the function and the command, from a table that Spark has to a verified folder."""

from __future__ import annotations

import datetime as dt
import json
import sys
import warnings
from collections import Counter

import numpy as np
import polars as pl
import pytest
from pyspark import cloudpickle

from incrowd.api import release
from incrowd.cli.main import main
from incrowd.errors import OutputError, ParameterError, ValuesError, VerificationError
from incrowd.recipients import decode
from incrowd.releases import kinds
from incrowd.releases.certified.consistency import check_consistency
from incrowd.releases.certified.statements import StatementStanding
from incrowd.releases.recount import verify
from incrowd.rows.spark import counting, held
from incrowd.rows.spark.store import stored
from incrowd.tables.databases.tables import Query
from incrowd.tables.options import Measuring, Outputs, Run
from incrowd.tables.recipe import Recipe, with_roles
from incrowd.vocabulary.hierarchy import Hierarchy
from support.class_parts import classes_of_parts, planned, written
from support.spark_session import local_session, spark_release

pytestmark = pytest.mark.slow  # a session of Spark costs more than hundreds of other tests

ASKED = {"quasi_identifiers": ["age", "job"], "target": "ill", "k": 5}


@pytest.fixture(scope="module")
def session():
    found = local_session()
    yield found
    found.stop()


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    draw = np.random.default_rng(0)
    place = tmp_path_factory.mktemp("people") / "people.parquet"
    pl.DataFrame(
        {
            "age": draw.integers(18, 90, 500),
            "job": draw.choice(["cook", "nurse", "?"], 500),
            "smoker": draw.random(500) < 0.5,
            "ill": draw.choice(["no", "yes"], 500),
            "__index_level_0__": np.arange(500),
        }
    ).write_parquet(place)
    return place


def test_a_frame_gives_a_frame(session, path, tmp_path):
    made = release(
        session.read.parquet(str(path)), **ASKED, to=tmp_path / "out", outputs=Outputs(report=tmp_path / "report.html")
    )
    assert made.table.columns == ["age", "job", "smoker", "ill"]
    assert made.table.count() == 500
    assert made.verdict.passed
    assert "index-dropped" in {notice.code for notice in made.report.notices}
    assert (
        made.certificate["verification"] == json.loads((tmp_path / "out.certificate.json").read_text())["verification"]
    )
    assert {name: sum(forms.values()) for name, forms in made.certificate["attributes"].items()} == {
        "age": 500,
        "job": 500,
    }
    assert all(one.standing is StatementStanding.HOLDS for one in check_consistency(made.certificate))
    assert verify(tmp_path / "out", k=5, quasi_identifiers=["age", "job"]).passed
    assert (tmp_path / "report.html").exists()


def test_counts_are_released_and_verified_and_pairs_refused(session, path, tmp_path):
    asked = ASKED | {"quasi_identifiers": ["age", "job", "smoker"], "method": "infogain-mondrian"}
    drawn = release(session.read.parquet(str(path)), **asked, form="counts", to=tmp_path / "drawn")
    assert {"age drawn", "job drawn", "smoker drawn"} <= {check.name for check in drawn.verdict.checks}
    made = release(session.read.parquet(str(path)), **asked, form="counts", redraw=0, to=tmp_path / "out")
    assert made.verdict.passed
    plain = decode(pl.read_parquet(tmp_path / "out" / "*.parquet"), certificate=made.certificate, deals=1)
    people = pl.read_parquet(path)
    assert Counter(plain["smoker"].to_list()) == Counter(str(each).lower() for each in people["smoker"])
    told = {"class_sensitive": False, "counts_by_class": True, "form": "counts"}
    parted = release(session.read.parquet(str(path)), **asked, **told, to=tmp_path / "parted")
    assert all(len(classes) == 1 for classes in classes_of_parts(parted.plan))
    rows = pl.read_parquet(tmp_path / "parted" / "*.parquet")
    assert written(rows, asked["quasi_identifiers"], "ill") == planned(parted.plan)
    assert "class-by-counts" in {notice.code for notice in parted.report.notices}
    with pytest.raises(ParameterError, match="one table"):
        release(session.read.parquet(str(path)), **asked, form="pair", to=tmp_path / "pair")


def test_truth_values_that_are_known_stay_truth_values(session, path, tmp_path):
    asked = ASKED | {"quasi_identifiers": ["age", "smoker"]}
    made = release(session.read.parquet(str(path)), **asked, to=tmp_path / "out")
    assert dict(made.table.dtypes)["smoker"] == "boolean"


def test_the_command(session, path, tmp_path, monkeypatch, capsys):
    words = ["release", str(path), "--engine", "spark", "-q", "age,job", "--target", "ill", "-k", "5"]
    words += ["--class-sensitive", "no"]
    monkeypatch.setattr(sys, "argv", ["incrowd", *words, "--to", str(tmp_path / "out"), "--json"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    told = json.loads(capsys.readouterr().out)
    assert told["certificate"]["rows"]["released"] == 500
    assert list(told["seconds"]) == ["reading", "encoding", "deciding", "applying", "verifying"]
    assert min(told["seconds"].values()) > 0
    assert {file.suffix for file in (tmp_path / "out").iterdir() if not file.name.startswith(".")} == {".parquet"}


def test_nothing_is_said_of_pandas(session, path, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error", FutureWarning)
        assert release(path, **ASKED, run=Run(engine="spark"), to=tmp_path / "out").verdict.passed


def test_what_unchanged_columns_undo_is_counted_as_on_one_machine(session, tmp_path):
    draw = np.random.default_rng(1)
    level = draw.integers(0, 8, 3000)
    people = {"age": draw.integers(18, 80, 3000), "school": [f"school {at}" for at in level], "level": level}
    people |= {"weight": draw.normal(70, 9, 3000).round(1), "ill": draw.choice(["no", "yes"], 3000)}
    pl.DataFrame(people).write_parquet(tmp_path / "people.parquet")
    asked = {"quasi_identifiers": ["age", "school"], "target": "ill", "k": 10, "method": "mondrian"}
    asked |= {"despite_unchanged": True}
    here = release(tmp_path / "people.parquet", **asked, to=tmp_path / "out.parquet").verdict.unchanged
    there = release(session.read.parquet(str(tmp_path / "people.parquet")), **asked, to=tmp_path / "out")
    counted = there.verdict.unchanged
    assert counted is not None
    assert counted.alone == here.alone
    assert counted.alone.without_class > 0
    assert [one.columns for one in counted.by] == [one.columns for one in here.by] == [("level",)]
    assert counted.effective_k < 10
    assert {check.name for check in there.verdict.checks} >= {"bytes", "order", "hidden order"}


def classes_shown(released):
    """How many rows show the same, missing cells among them."""
    return Counter(released.select("age", "job").rows())


def test_limits_are_kept_as_in_memory(session, path, tmp_path):
    trees = {"job": Hierarchy.from_paths("job", [("cook", "staff", "*"), ("nurse", "staff", "*")])}
    asked = ASKED | {"method": "mondrian", "hierarchies": trees, "at_most": {"job": 0}, "apart": {"job": "nurse"}}
    here = release(path, **asked, to=tmp_path / "out.parquet", run=Run(seed=3))
    there = release(session.read.parquet(str(path)), **asked, to=tmp_path / "out", run=Run(seed=3))
    limits = {"job at most at level 0", "job apart"}
    assert limits <= {check.name for check in there.verdict.checks if check.passed}
    assert there.certificate["limits"] == here.certificate["limits"]
    parts = pl.read_parquet(tmp_path / "out" / "*.parquet")
    assert classes_shown(parts) == classes_shown(pl.read_parquet(tmp_path / "out.parquet"))


@pytest.mark.parametrize("most", [counting.MOST_CELLS, 1_200], ids=["all rows", "a sample"])
def test_risk_is_measured_as_in_memory(session, path, tmp_path, monkeypatch, most):
    monkeypatch.setattr(counting, "MOST_CELLS", most)
    asked = ASKED | {"method": "mondrian", "sensitive": ["smoker"], "measuring": Measuring(risk=True)}
    asked |= {"class_sensitive": True, "require": "distinct-l=2", "despite_unchanged": True}
    here = release(path, **asked, to=tmp_path / "out.parquet", run=Run(seed=3)).report.risk
    there = release(session.read.parquet(str(path)), **asked, to=tmp_path / "out", run=Run(seed=3)).report.risk
    assert 0 < here.uniques.in_sample < 500
    for one, other in ((here, there), (here.after, there.after)):
        of_sample = [notice.code for notice in other.notices]
        assert ("not found" in {str(item.standing) for item in other.safe_harbor}) is not bool(of_sample)
        assert of_sample == ([] if most > 1_200 else ["risk-of-a-sample"])
        counted, expected = other.to_json(), one.to_json()
        for each in (counted, expected):
            for name in ("notices", "table", "after", *(["special_uniques", "safe_harbor"] if of_sample else [])):
                each.pop(name, None)
            if of_sample:
                each["wp216"].pop("linkability")
        assert counted == expected


def test_columns_are_coarsened_as_in_memory(session, path, tmp_path):
    draw, days = np.random.default_rng(6), [dt.date(1930, 1, 1) + dt.timedelta(days=53 * at) for at in range(500)]
    beside = {"zip": draw.choice(["02139", "0213", "03601", "90210-1234", None], 500), "born": days}
    beside |= {"seen": [None if at % 9 == 0 else dt.datetime(2020, 12, 31, 23, at % 60) for at in range(500)]}
    people = pl.read_parquet(path).with_columns(**{name: pl.Series(values) for name, values in beside.items()})
    people.write_parquet(tmp_path / "people.parquet")
    rules = {"zip": "zip3", "born": "year-from-1936", "seen": "year", "age": "top-60"}
    asked = ASKED | {
        "quasi_identifiers": ["age", "zip", "born"],
        "private": ["seen"],
        "method": "mondrian",
        "rarest": 2,
    }
    asked |= {"reading": {"coarsen": rules}, "method": "mondrian"}
    here = release(tmp_path / "people.parquet", **asked, to=tmp_path / "out.parquet", run=Run(seed=3))
    frame = session.read.parquet(str(tmp_path / "people.parquet"))
    there = release(frame, **asked, to=tmp_path / "out", run=Run(seed=3))
    read_back = [pl.read_parquet(tmp_path / name) for name in ("out.parquet", "out/*.parquet")]
    assert read_back[0].schema == read_back[1].schema
    assert Counter(read_back[0].rows()) == Counter(read_back[1].rows())
    assert read_back[0]["zip"].n_unique() > 2
    told = [sorted(n.message for n in made.report.notices if n.code == "coarsened") for made in (here, there)]
    assert told[0] == told[1]
    assert len(told[0]) == 4
    with pytest.raises(ValuesError, match="500 cells cannot be read as dates or years"):
        release(frame, **asked | {"reading": {"coarsen": {"smoker": "year"}}}, to=tmp_path / "refused")


@pytest.mark.parametrize("most", [counting.MOST_CELLS, 2_000], ids=["all cells", "a sample"])
def test_a_preset_does_what_it_does_in_memory(session, path, tmp_path, monkeypatch, most):
    monkeypatch.setattr(counting, "MOST_CELLS", most)
    days = [dt.date(1930, 1, 1) + dt.timedelta(days=53 * at) for at in range(500)]
    beside = {
        "remark": ["x" if at % 2 else f"a{at % 5}@b.org" for at in range(500)],
        "born": days,
        "zip": ["02139"] * 500,
    }
    people = pl.read_parquet(path).with_columns(pl.col("age") + 10, **{n: pl.Series(v) for n, v in beside.items()})
    people.write_parquet(tmp_path / "people.parquet")
    asked = ASKED | {"preset": "safe-harbor", "method": "mondrian"}
    here = release(tmp_path / "people.parquet", **asked, to=tmp_path / "out.parquet", run=Run(seed=3))
    frame = session.read.parquet(str(tmp_path / "people.parquet"))
    there = release(frame, **asked, to=tmp_path / "out", run=Run(seed=3))
    assert "safe-harbor" in {check.name for check in there.verdict.checks if check.passed}
    assert there.certificate["coarsened"] == here.certificate["coarsened"]
    codes = ("preset", "coarsened")
    told = [sorted((n.code, n.where) for n in made.report.notices if n.code in codes) for made in (here, there)]
    assert told[0] == told[1]
    assert ("preset", "remark") in told[0]
    read_back = [pl.read_parquet(tmp_path / name) for name in ("out.parquet", "out/*.parquet")]
    assert Counter(read_back[0].rows()) == Counter(read_back[1].rows())
    assert ("preset-of-a-sample" in {n.code for n in there.report.notices}) is (most == 2_000)
    if most > 2_000:
        return
    monkeypatch.setattr(kinds, "deeds_of", without_remark)
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    try:
        with pytest.raises(VerificationError, match="safe-harbor: remark: 250 cells with e-mail addresses"):
            release(frame, **asked, to=tmp_path / "refused")
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
    assert not (tmp_path / "refused").exists()


def without_remark(recipe, preset, missing, frame):
    """A fault: a column is not looked at."""
    from incrowd.releases.kinds import deeds_of  # as executors have it

    return deeds_of(recipe, preset, missing, frame.drop("remark"))


def test_who_is_alone_can_be_bounded(session, path, tmp_path):
    weighed = tmp_path / "weighed.parquet"
    pl.read_parquet(path).with_columns(weight=pl.int_range(500) * 0.1).write_parquet(weighed)
    with pytest.raises(VerificationError, match="alone"):
        release(weighed, **ASKED, run=Run(engine="spark"), alone_at_most=0, to=tmp_path / "out")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"measuring": Measuring(accuracy=True)}, ParameterError),
        ({"run": Run(memory="4GB")}, ParameterError),
        ({"to": "postgresql:///clinic?table=release"}, OutputError),
    ],
)
def test_what_spark_does_not_do(session, path, options, error):
    with pytest.raises(error):
        release(session.read.parquet(str(path)), **ASKED, **options)


def test_rows_of_a_database_are_read_without_spark(session):
    with pytest.raises(ParameterError, match="without Spark"):
        release(Query.of("postgresql:///clinic?table=visits"), **ASKED, run=Run(engine="spark"))


@pytest.mark.parametrize("row_group", [250, 9_000], ids=["row groups", "one row group"])
@pytest.mark.parametrize("opened", ["by tasks", "by Spark"])
def test_nine_rows_of_ten_in_one_file_make_no_block_and_no_piece_larger(
    session, tmp_path, monkeypatch, opened, row_group
):
    draw, sizes, most = np.random.default_rng(2), [9_000, *[100] * 10], 1_000
    folder = tmp_path / "people"
    folder.mkdir()
    for place, size in enumerate(sizes):
        people = {
            "age": draw.integers(18, 90, size),
            "job": draw.choice(["cook", "nurse", "smith"], size),
            "ill": draw.choice(["no", "yes"], size),
            "note": np.arange(size) + 10_000 * place,
        }
        pl.DataFrame(people).write_parquet(folder / f"{place:02}.parquet", row_group_size=row_group)
    blocks = []

    def listed(*given):
        store = stored(*given)
        blocks.extend(block.rows for block in store.listed)
        return store

    monkeypatch.setattr(held, "stored", listed)
    table = str(folder) if opened == "by tasks" else session.read.parquet(str(folder))
    kept = Recipe(k=5, columns={"note": {"role": "other"}})
    recipe = with_roles(kept, quasi_identifiers=["age", "job"], target=["ill"])
    made = spark_release(table, tmp_path / "out", recipe, block_rows=most)
    assert made.verdict.passed
    assert sum(blocks) == sum(sizes)
    assert max(blocks) <= most
    files = [pl.read_parquet(file) for file in (tmp_path / "out").glob("*.parquet")]
    assert max(file.height for file in files) < 1.25 * most
    assert sorted(pl.concat(files)["note"]) == sorted(pl.read_parquet(folder / "*.parquet")["note"])
    assert all(file["note"].lt(10_000).mean() > 0.8 for file in files)  # the large file is dealt to all pieces
