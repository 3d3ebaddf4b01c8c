"""What is expected of a release, told by a request alone; and releases of two tables, and of a population."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from test_judge import COLUMNS, ROWS, failed, people, released, request

from incrowd.tables.publishing.serialise import write_pair, write_table
from incrowd.verification import faithfulness
from incrowd.verification import judge as judging
from incrowd.verification.judge import expected_columns, expected_of, judge, written
from incrowd.verification.request import Hint, InputFile, Original, Request
from incrowd.vocabulary.counts_text import write_counts
from incrowd.vocabulary.forms import FileForm, groups_path
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.randomness import SystemRandomness
from incrowd.vocabulary.requirement import KAnonymity, KnownSet, KnownTogether, Together
from incrowd.vocabulary.requirements.closeness import TCloseness
from incrowd.vocabulary.requirements.diversity import DistinctDiversity
from incrowd.vocabulary.requirements.population import KMap
from incrowd.vocabulary.schema import Column, ColumnType, Role

JOBS = Hierarchy.from_paths("job", [["cook", "work", "*"], ["nurse", "work", "*"]])
DAYS = Hierarchy.from_paths("day", [["1", "*"]])
QUASI, OTHER, TARGET = Role.QUASI_IDENTIFIER, Role.OTHER, Role.TARGET


def plain(*columns, **changes):
    """A request about columns; no file of it is there."""
    known = tuple(columns) or (
        Column("id", Role.IDENTIFIER),
        Column("age", QUASI, ColumnType.INTEGER),
        Column("job", QUASI, hierarchy=JOBS),
        Column("=pay", QUASI, ColumnType.REAL),
        Column("ill", TARGET),
        Column("more", OTHER, ColumnType.INTEGER),
    )
    asked = Request(
        InputFile(Path("in.csv"), "csv", missing=("?",)),
        Path("out.csv"),
        FileForm("csv"),
        known,
        KAnonymity(4),
        Hint(Path("o.npy"), (1,)),
    )
    return replace(asked, **changes)


# names


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow", "arff"])
def test_names_that_a_spreadsheet_would_run_are_written_as_text(kind):
    asked = plain(form=FileForm(kind))
    for sign in "=+@-\t\r":
        assert written(f"{sign}a", asked) == (f"'{sign}a" if kind == "csv" else f"{sign}a")
        assert written(f"a{sign}", asked) == f"a{sign}"
        assert written(sign, asked) == sign
    for name in ("a", "ab", "'=a", " =a", "_low"):
        assert written(name, asked) == name


@pytest.mark.parametrize(
    ("header", "shown"),
    [
        (["age", "job", "'=pay", "ill", "more"], ["age", "job", "'=pay", "ill", "more"]),
        ([], ["age", "job", "'=pay", "ill", "more"]),
        (["age_low", "age_high"], ["age_low", "age_high", "job", "'=pay", "ill", "more"]),
        (["age_high", "x", "age_low"], ["age_low", "age_high", "job", "'=pay", "ill", "more"]),
        (["age_low", "age_high", "age"], ["age", "job", "'=pay", "ill", "more"]),
        (["age_low"], ["age", "job", "'=pay", "ill", "more"]),
        (["age_high"], ["age", "job", "'=pay", "ill", "more"]),
        (["'=pay_low", "'=pay_high"], ["age", "job", "'=pay_low", "'=pay_high", "ill", "more"]),
        (["'=pay_low", "'=pay_high", "'=pay"], ["age", "job", "'=pay", "ill", "more"]),
        (["=pay_low", "=pay_high"], ["age", "job", "'=pay", "ill", "more"]),
        (["job_low", "job_high"], ["age", "job", "'=pay", "ill", "more"]),
        (["more_low", "more_high"], ["age", "job", "'=pay", "ill", "more"]),
        (["id"], ["age", "job", "'=pay", "ill", "more"]),
    ],
)
def test_a_release_has_all_columns_but_identifiers_and_numbers_perhaps_by_their_bounds(header, shown):
    asked = plain()
    found = expected_columns(asked, header)
    assert [one.name for one in found] == shown
    for one in found:
        assert one.name.removeprefix("'").removesuffix("_low").removesuffix("_high") == one.column.name
        assert one.column in asked.columns


# what is asked


def asked_for(header=(), **changes):
    given = plain(**changes)
    return expected_of(given, expected_columns(given, header), None)


def test_what_is_asked_in_the_names_of_the_file():
    found = asked_for()
    assert found.promises == [("4-anonymity", ["age", "job", "'=pay"], 4)]
    assert found.columns == ["age", "job", "'=pay", "ill", "more"]
    assert found.quasi_identifiers == ["age", "job", "'=pay"]
    assert (found.may_lose, found.shared_means, found.bounds, found.counts) == (0, (), [], ())
    assert (found.further, found.people, found.extremes) == ((), None, False)
    assert found.hierarchies == {"job": JOBS}
    assert asked_for(extremes=True).extremes


def test_bounds_are_asked_for_as_pairs():
    age = Column("age", QUASI, ColumnType.INTEGER, hierarchy=DAYS)
    given = plain(age, Column("job", QUASI, hierarchy=JOBS), Column("n", QUASI, ColumnType.REAL))
    sources = expected_columns(given, ["age_low", "age_high", "n_low", "n_high", "job"])
    found = expected_of(given, sources, None)
    assert found.bounds == [("age_low", "age_high"), ("n_low", "n_high")]
    assert found.quasi_identifiers == ["age_low", "age_high", "job", "n_low", "n_high"]
    assert found.promises == [("4-anonymity", ["age_low", "age_high", "job", "n_low", "n_high"], 4)]
    assert found.hierarchies == {"job": JOBS}  # bounds show no group
    whole = expected_of(given, expected_columns(given, []), None)
    assert (whole.bounds, whole.hierarchies) == ([], {"age": DAYS, "job": JOBS})


def test_hierarchies_of_columns_that_are_released_as_they_are_do_not_matter():
    given = plain(Column("age", QUASI), Column("ill", TARGET, hierarchy=JOBS))
    assert expected_of(given, expected_columns(given, []), None).hierarchies == {}


def test_means_are_shared_where_numbers_are_levels():
    assert asked_for(levels=True).shared_means == ["age", "'=pay"]
    assert asked_for(["age_low", "age_high"], levels=True).shared_means == ["age_low", "age_high", "'=pay"]


def test_counts_are_asked_of_all_quasi_identifiers():
    assert asked_for(counted=True).counts == ["age", "job", "'=pay"]


SETS = KnownTogether((KnownSet(("age", "job"), 4), KnownSet(("job", "=pay"), 7)))


@pytest.mark.parametrize(
    ("requirement", "loses", "most"),
    [
        (KAnonymity(4), False, 0),
        (KAnonymity(4), True, 3),
        (KAnonymity(1), True, 0),
        (SETS, True, 9),
        (SETS, False, 0),
        (Together((KAnonymity(4), KMap(9))), True, 3),
        (Together((KAnonymity(4), DistinctDiversity(2))), True, 0),
        (Together((KAnonymity(4), DistinctDiversity(2))), False, 0),
    ],
)
def test_rows_that_may_be_lost(requirement, loses, most):
    assert asked_for(requirement=requirement, loses_rows=loses).may_lose == most


def test_every_set_of_columns_is_a_promise():
    assert asked_for(requirement=SETS).promises == [
        ("4-anonymity of age, job", ["age", "job"], 4),
        ("7-anonymity of job, =pay", ["job", "'=pay"], 7),
    ]


def test_requirements_are_about_the_target_unless_they_name_a_column():
    parts = (KAnonymity(4), DistinctDiversity(2), TCloseness(0.2, "more"), KMap(9))
    found = asked_for(requirement=Together(parts))
    assert [promise for promise, _, _ in found.promises] == ["4-anonymity"]
    one, two = found.further
    assert (one.part, one.name, one.type, one.missing) == (parts[1], "ill", ColumnType.CATEGORICAL, ("?",))
    assert (two.part, two.name, two.type, two.missing) == (parts[2], "more", ColumnType.INTEGER, ("?",))


# the whole verdict


def test_a_verdict_says_what_was_looked_at(tmp_path):
    asked = request(tmp_path)
    verdict = judge(asked)
    told = {check.name: check.finding for check in verdict.checks}
    assert told["left out"] == "0 rows, as announced"
    assert told["bytes"] == "nothing but the released cells"
    assert {"order", "hidden order", "order in classes"} <= set(told)
    assert "group numbers" not in told
    assert len(verdict.checks) == len(told)
    assert verdict.digests == (hashlib.sha256(asked.release.read_bytes()).hexdigest(),)
    wrong = judge(replace(asked, left_out=1200))
    assert {c.name: c.finding for c in wrong.checks if not c.passed} == {"left out": "0 rows, not the 1,200 announced"}


def test_a_column_too_many_is_told(tmp_path):
    asked = request(tmp_path)
    verdict = judge(replace(asked, columns=COLUMNS[:-1]))
    assert [(check.name, check.passed) for check in verdict.checks] == [("bytes", True), ("input", False)]
    assert verdict.checks[-1].finding == "60 rows, 4 columns"
    assert verdict.sizes.rows == 0
    text = asked.input.path.read_text().splitlines()
    lines = [f"{line},{'__index_level_0__' if place == 0 else place}" for place, line in enumerate(text)]
    asked.input.path.write_text("\n".join(lines) + "\n")
    assert judge(asked).passed  # which frames write of themselves


def test_a_table_on_a_server_is_told_nothing_of_its_bytes_and_order(tmp_path):
    verdict = judge(request(tmp_path, order=np.arange(ROWS), file=False))
    assert not {"bytes", "order", "hidden order", "order in classes"} & {check.name for check in verdict.checks}
    assert len(verdict.digests) == 1


def test_classes_and_hidden_values_are_those_of_the_same_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(judging, "window", lambda _: slice(10, 40))
    looked = []
    check = judging.class_order_check
    monkeypatch.setattr(judging, "class_order_check", lambda *given: looked.append(given) or check(*given))
    asked = request(tmp_path)
    judge(asked)
    [(hidden, classes)] = looked
    rows = np.load(asked.hint.origin)[10:40]
    assert [name for name, _ in hidden] == ["id", "age", "job"]
    for name, values in hidden:
        assert values.to_pylist() == people()[name].gather(rows).to_list()
    jobs = people()["job"].gather(rows).to_list()
    pairs = {(job, number) for job, number in zip(jobs, classes.tolist(), strict=True)}
    assert (len(classes), len(pairs), len(set(jobs))) == (30, 3, 3)


def test_half_of_the_memory_is_for_the_database_and_the_input_is_forgotten(tmp_path, monkeypatch):
    limits, left = [], []
    connect, verify = judging.connect, judging.verify_release

    def limited(*given):
        limits.append(given)
        return connect(*given)

    def verified(*given, database, **options):
        left.extend(database.execute("SELECT table_name FROM duckdb_tables()").fetchall())
        return verify(*given, database=database, **options)

    monkeypatch.setattr(judging, "connect", limited)
    monkeypatch.setattr(judging, "verify_release", verified)
    assert judge(request(tmp_path, memory=10**9, threads=1)).passed
    assert limits == [(500_000_000, None, tmp_path)]
    assert ("input",) not in left


@pytest.mark.parametrize(("cells", "memory", "sizes"), [(240, None, [60]), (239, None, [25, 35]), (0, 15_360, [60])])
def test_a_release_in_pieces_is_compared_whole_if_there_is_room_for_its_cells(
    tmp_path, monkeypatch, cells, memory, sizes
):
    compared = []
    verifying = judging.verify_release

    def verified(*given, **more):
        compared.append([len(given[3].origin)] if isinstance(given[3], Original) else [*given[3].sizes])
        return verifying(*given, **more)

    monkeypatch.setattr(faithfulness, "MOST_HELD", cells)
    monkeypatch.setattr(judging, "verify_release", verified)
    asked = request(tmp_path, "parquet")
    pieces = replace(asked.hint, sizes=(25, 35))
    held = faithfulness.in_one_piece(replace(asked, hint=pieces, memory=memory))
    assert judge(replace(held, memory=None)).passed
    assert compared == [sizes]


@pytest.mark.parametrize("typed", [False, True])
@pytest.mark.parametrize("damage", [None, "hint", "age", "job", "ill"])
def test_large_parquet_is_read_by_the_dictionaries_of_its_file(tmp_path, monkeypatch, damage, typed):
    """Every verdict is that on a file that is copied."""
    frame = people().with_columns(pl.col("age").cast(pl.Int64)) if typed else people()
    order = np.random.default_rng(86420).permutation(ROWS)
    shown = released(order)
    if damage in shown.columns:
        texts = shown[damage].to_list()
        texts[7] = {"age": "(60, 90]", "job": "smith", "ill": "maybe"}[damage]
        shown = shown.with_columns(pl.Series(damage, texts))
    asked = request(tmp_path, "parquet", shown, order)
    frame.write_parquet(tmp_path / "people.parquet", row_group_size=25)
    asked = replace(asked, input=InputFile(tmp_path / "people.parquet", "parquet", missing=("?", "*")))
    if damage == "hint":
        np.save(asked.hint.origin, np.roll(order, 1))
    copied = judge(asked)
    monkeypatch.setattr(faithfulness, "MOST_COPIED", 0)
    assert judge(asked) == copied
    assert copied.passed == (damage is None)
    if damage in shown.columns:
        assert f"{damage} {'untouched' if damage == 'ill' else 'faithful'}" in failed(copied)


def test_large_parquet_with_words_of_no_row_is_refused(tmp_path, monkeypatch):
    import pyarrow as pa
    import pyarrow.parquet as pq

    monkeypatch.setattr(faithfulness, "MOST_COPIED", 0)
    asked = request(tmp_path, "parquet")
    table = pq.read_table(asked.release)
    jobs = table["job"].combine_chunks().dictionary_encode()
    more = pa.DictionaryArray.from_arrays(jobs.indices, pa.concat_arrays([jobs.dictionary, pa.array(["smith"])]))
    pq.write_table(table.set_column(1, "job", more), asked.release, write_statistics=False, store_schema=False)
    check = next(one for one in judge(asked).checks if one.name == "bytes")
    assert (check.passed, check.finding) == (False, "job has a dictionary with values of no row")


def test_a_large_input_is_read_where_it_is(tmp_path, monkeypatch):
    copied = []
    opening = judging.InputTable.open
    monkeypatch.setattr(
        judging.InputTable, "open", lambda *given, copy: copied.append(copy) or opening(*given, copy=copy)
    )
    asked = request(tmp_path, "parquet")
    assert judge(asked).passed
    pieces = replace(asked, hint=replace(asked.hint, sizes=(25, 35)))
    assert judge(pieces).passed
    monkeypatch.setattr(faithfulness, "MOST_HELD", 0)
    assert judge(pieces).passed
    assert copied == [True, True, False]


# two tables


def people_called(cook):
    return people().with_columns(pl.col("job").replace("cook", cook))


def pair(folder, cook="cook"):
    """The people in groups of one job each, as counts in two tables."""
    order = np.random.default_rng(86420).permutation(ROWS)
    people_called(cook).write_csv(folder / "people.csv")
    frame = people_called(cook)[order]
    texts = {}
    for job in (cook, "nurse", None):
        mine = people_called(cook).filter(pl.col("job").eq_missing(pl.lit(job, pl.String)))
        texts[job] = (write_counts([("(10, 60]", mine.height)]), write_counts([(job, mine.height)]))
    shown = pl.DataFrame(
        {
            "age": [texts[job][0] for job in frame["job"]],
            "job": [texts[job][1] for job in frame["job"]],
            "ill": [None if cell == "?" else cell for cell in frame["ill"]],
        }
    )
    asked = request(folder, order=order, frame=shown)
    write_pair([shown.to_arrow()], asked.release, asked.form, ["age", "job"], SystemRandomness())
    groups = groups_path(asked.release)
    return replace(asked, groups=groups, counted=True)


def test_two_tables_are_judged_together(tmp_path):
    asked = pair(tmp_path)
    verdict = judge(asked)
    assert verdict.passed, str(verdict)
    files = (asked.release, asked.groups)
    assert verdict.digests == tuple(hashlib.sha256(file.read_bytes()).hexdigest() for file in files)
    names = [check.name for check in verdict.checks]
    assert (names.count("bytes"), names.count("group numbers")) == (2, 1)
    elsewhere = judge(replace(asked, file=False))
    assert elsewhere.passed
    assert not {"bytes", "group numbers"} & {check.name for check in elsewhere.checks}


@pytest.mark.parametrize(("rarest", "holds"), [(20, True), (21, False)])
def test_rare_values_in_two_tables(tmp_path, rarest, holds):
    assert judge(replace(pair(tmp_path, "=cook"), rarest=rarest)).passed is holds


@pytest.mark.parametrize(("ending", "cook"), [("csv", "=cook"), ("csv", "cook"), ("parquet", "'=cook")])
def test_rare_values_are_told_by_what_was_meant(tmp_path, ending, cook):
    people_called(cook).write_csv(tmp_path / "people.csv")
    order = np.random.default_rng(86420).permutation(ROWS)
    frame = released(order).with_columns(pl.col("job").replace("cook", cook))
    asked = request(tmp_path, ending, frame=frame, order=order)
    assert judge(replace(asked, rarest=20)).passed
    assert len(failed(judge(replace(asked, rarest=21)))) == 1


@pytest.mark.parametrize("which", ["release", "groups"])
def test_both_files_hold_nothing_else(tmp_path, which):
    asked = pair(tmp_path)
    path = getattr(asked, which)
    path.write_bytes(path.read_bytes() + b"\n")
    assert failed(judge(asked)) == {"bytes"}


# a population


def population(folder, times):
    path = folder / "population.csv"
    people().drop("id", "ill").select("job", "age").write_csv(path)
    header, *lines = path.read_text().splitlines()
    path.write_text("\n".join([header, *(lines * times)]) + "\n")
    return InputFile(path, "csv", missing=("?", "*"))


@pytest.mark.parametrize(("times", "k", "holds"), [(2, 40, True), (2, 41, False), (3, 60, True), (3, 61, False)])
@pytest.mark.parametrize("bounds", [False, True])
def test_a_population_is_counted(tmp_path, times, k, holds, bounds):
    asked = request(tmp_path, requirement=Together((KAnonymity(10), KMap(k))), population=population(tmp_path, times))
    if bounds:
        low, high = (
            pl.when(pl.col("age").is_not_null()).then(pl.lit(end)).alias(f"age{name}")
            for name, end in (("_low", 10), ("_high", 60))
        )
        order = np.load(asked.hint.origin)
        write_table(released(order).select(low, high, "job", "ill"), asked.release, asked.form)
    verdict = judge(asked)
    assert failed(verdict) == (set() if holds else {f"{k}-map"}), str(verdict)


def test_a_population_shows_groups_by_their_hierarchy(tmp_path):
    columns = tuple(replace(one, hierarchy=JOBS) if one.name == "job" else one for one in COLUMNS)
    order = np.random.default_rng(86420).permutation(ROWS)
    grown = released(order).with_columns(
        pl.when(pl.col("job").is_not_null()).then(pl.lit("work")).alias("job"), pl.lit(None, pl.String).alias("age")
    )
    for k, holds in ((80, True), (81, False)):
        asked = request(
            tmp_path,
            frame=grown,
            order=order,
            columns=columns,
            requirement=Together((KAnonymity(10), KMap(k))),
            population=population(tmp_path, 2),
        )
        assert failed(judge(asked)) == (set() if holds else {f"{k}-map"}), k


def test_half_of_the_memory_is_for_the_population(tmp_path, monkeypatch):
    limits = []
    connect = judging.connect
    monkeypatch.setattr(judging, "connect", lambda *given: limits.append(given) or connect(*given))
    both = Together((KAnonymity(10), KMap(20)))
    assert judge(request(tmp_path, requirement=both, population=population(tmp_path, 1), memory=10**9)).passed
    assert limits == [(500_000_000, None, tmp_path)] * 2


def test_a_population_that_nothing_is_asked_of_is_not_read(tmp_path):
    nowhere = InputFile(tmp_path / "nowhere.csv", "csv")
    assert judge(request(tmp_path, population=nowhere)).passed
    both = Together((KAnonymity(10), DistinctDiversity(2)))
    assert judge(request(tmp_path, requirement=both)).passed
