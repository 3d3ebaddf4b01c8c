"""Releases of persons with several rows, judged from input and written file: what is spoiled is refused."""

import hashlib
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from incrowd.errors import UndeterminedError
from incrowd.verification import faithfulness, histories
from incrowd.verification.judge import judge
from incrowd.verification.request import Request
from incrowd.vocabulary.requirement import KAnonymity, Together
from incrowd.vocabulary.requirements.closeness import ConfidenceCap
from incrowd.vocabulary.requirements.diversity import DistinctDiversity
from support.visits import PATIENTS, K, linked, patients, static, unlinked, visits


def failed(verdict):
    return {check.name for check in verdict.checks if not check.passed}


def finding(verdict, name):
    return next(check.finding for check in verdict.checks if check.name == name)


def shown_as(release, **cells):
    return replace(release, shown=release.shown.with_columns(**cells))


# unlinked


@pytest.mark.parametrize("form", [("release.csv", 1), ("release.parquet", 1), ("release.parquet", 4)])
def test_a_release_that_keeps_k_persons_holds(form, tmp_path):
    name, pieces = form
    verdict = judge(unlinked().request(tmp_path, name, pieces))
    assert not failed(verdict)
    assert finding(verdict, f"{K}-anonymity") == "smallest of 2 classes: 20 persons"
    counts = verdict.sizes.persons
    assert (counts.persons, counts.lost, counts.smallest, counts.histogram) == (PATIENTS, 0, 20, ((20, 2),))
    assert verdict.sizes.histogram == ((40, 1), (50, 1))
    assert verdict.unchanged.effective_k == 20


@pytest.mark.parametrize("pieces", [1, 3])
@pytest.mark.parametrize("persons", [K, K - 1])
def test_k_rows_of_fewer_persons_are_refused(persons, pieces, tmp_path, monkeypatch):
    """The women have many more than k rows, of so many persons."""
    monkeypatch.setattr(faithfulness, "MOST_HELD", 0)
    women = {f"a{number}": f"a{2 * (number // 2 % persons)}" for number in range(0, PATIENTS, 2)}
    table = visits().with_columns(patient=pl.col("patient").replace(women))
    verdict = judge(unlinked(table).request(tmp_path, "release.parquet", pieces))
    assert failed(verdict) == (set() if persons == K else {f"{K}-anonymity"})
    assert (verdict.sizes.smallest, verdict.sizes.persons.smallest) == (40, persons)
    assert verdict.unchanged.effective_k == persons


def test_a_person_column_under_its_own_or_another_name_is_refused(tmp_path):
    release = unlinked()
    own = pl.Series("patient", release.table["patient"].to_list())[release.origin.tolist()]
    named = replace(release, shown=release.shown.clone().insert_column(0, own))
    assert "columns" in failed(judge(named.request(tmp_path)))
    renamed = shown_as(release, ill=own.alias("ill"))
    table = release.table.with_columns(ill=pl.col("patient"))
    verdict = judge(replace(renamed, table=table).request(tmp_path))
    assert failed(verdict) == {"no column tells persons"}
    assert finding(verdict, "no column tells persons") == "'ill' has a value for each person"


def test_rows_without_a_person_are_refused_dropped_or_together(tmp_path):
    table = visits().with_columns(patient=pl.when(pl.col("patient") == "a0").then(None).otherwise("patient"))
    missing = table["patient"].null_count()
    release = unlinked(table)
    assert failed(judge(release.request(tmp_path))) == {"persons"}
    together = judge(replace(release, said={"missing": "together"}).request(tmp_path))
    assert not failed(together)
    assert together.sizes.persons.persons == PATIENTS
    dropping = replace(release, said={"missing": "drop"})
    assert failed(judge(dropping.request(tmp_path))) == {"persons"}
    there = table["patient"].is_not_null().to_numpy()[release.origin]
    kept = replace(dropping, origin=release.origin[there], shown=release.shown.filter(there))
    assert not failed(judge(kept.request(tmp_path, left_out=0)))
    assert failed(judge(kept.request(tmp_path, left_out=missing))) == {"left out"}


def test_spellings_are_one_person_only_if_the_user_says_so(tmp_path):
    words = {"a0": " A0", "a2": "00a2", "a4": "\uff41\uff14"}
    table = visits()
    spoiled = table.with_columns(
        patient=pl.when(pl.col("ward") == "x").then(pl.col("patient").replace(words)).otherwise("patient")
    )
    release = unlinked(spoiled)
    assert failed(judge(release.request(tmp_path))) == {"persons"}
    exact = judge(replace(release, said={"ids": "exact"}).request(tmp_path))
    assert exact.sizes.persons.persons == PATIENTS + 3
    same = judge(replace(release, said={"ids": "normalised"}).request(tmp_path))
    assert same.sizes.persons.persons == PATIENTS
    assert not failed(same) | failed(exact)


def test_a_rare_value_is_what_few_persons_have(tmp_path):
    table = visits().with_columns(sex=pl.when(pl.col("patient").is_in(["a0", "a4"])).then(pl.lit("d")).otherwise("sex"))
    assert table.filter(pl.col("sex") == "d").height == 6
    release = unlinked(table)
    rare = release.request(tmp_path, requirement=KAnonymity(2), rarest=3)
    assert failed(judge(rare)) == {"names only what 3 people or more have"}
    assert not failed(judge(replace(rare, rarest=2)))


def test_a_mean_of_which_one_person_has_more_than_half_is_refused(tmp_path):
    rows = 12 * ["a0"] + [f"a{n}" for n in range(1, K + 1)]
    table = pl.DataFrame({"patient": rows, "sex": "f", "ward": "x", "day": range(len(rows)), "ill": ["yes", "no"] * 11})
    order = np.random.default_rng(86420).permutation(len(rows))
    mean = pl.lit(table["day"].mean())
    shown = table[order.tolist()].select("sex", "ward", mean.alias("day"), "ill")
    release = replace(unlinked(), table=table, origin=order, shown=shown, columns=linked().columns)
    assert failed(judge(release.request(tmp_path))) == {"means"}
    same = replace(release, table=table.with_columns(day=5), shown=shown.with_columns(day=pl.lit(5.0)))
    assert not failed(judge(same.request(tmp_path)))


@pytest.mark.parametrize("persons", [K - 1, K])
def test_a_method_that_loses_rows_loses_those_of_fewer_than_k_persons(persons, tmp_path):
    release = unlinked()
    gone = [f"a{2 * number}" for number in range(persons)]
    kept = ~np.isin(owners(release), gone)
    fewer = replace(release, origin=release.origin[kept], shown=release.shown.filter(kept))
    verdict = judge(fewer.request(tmp_path, loses_rows=True))
    assert failed(verdict) == (set() if persons < K else {"rows"})
    assert verdict.sizes.persons.lost == persons
    assert failed(judge(fewer.request(tmp_path))) == {"rows"}


# linked


def test_a_release_of_whole_histories_holds(tmp_path):
    verdict = judge(linked().request(tmp_path))
    assert not failed(verdict)
    assert finding(verdict, f"{K}-anonymity") == "smallest of 2 histories: 20 persons"
    assert (verdict.sizes.persons.persons, verdict.sizes.persons.lost) == (PATIENTS, 0)
    some = judge(linked(known_rows=2, count_known=True).request(tmp_path))
    assert not failed(some)
    assert finding(some, f"{K}-anonymity") == "smallest of 6 sets of up to 2 known rows: 20 persons"


def test_too_many_sets_of_known_rows_are_not_counted(tmp_path, monkeypatch):
    asked = linked(known_rows=2).request(tmp_path)
    monkeypatch.setattr(histories, "MOST_COMBINATIONS", 10)
    with pytest.raises(UndeterminedError, match="Nothing was published"):
        judge(asked)


def test_what_is_required_of_columns_is_not_counted_of_known_rows(tmp_path):
    required = Together((KAnonymity(K), ConfidenceCap("0.9")))
    assert not failed(judge(linked().request(tmp_path, requirement=required)))
    verdict = judge(linked(known_rows=2).request(tmp_path, requirement=required))
    assert failed(verdict) == {str(required.on_columns[0])}


def with_surplus(release):
    """One more row of one person is kept."""
    row = int(release.table.with_row_index("row").filter(pl.col("ward") == "z")["row"][0])
    whole = linked()
    name = whole.shown["patient"].to_list()[
        [whole.table["patient"][int(at)] for at in whole.origin].index(whole.table["patient"][row])
    ]
    cells = release.table[row].select(
        pl.lit(name).alias("patient"), "sex", "ward", pl.lit("(0, 60]").alias("day"), "ill"
    )
    order = np.random.default_rng(86422).permutation(len(release.origin) + 1)
    shown = pl.concat([release.shown, cells])[order.tolist()]
    return replace(release, origin=np.append(release.origin, row)[order], shown=shown)


def owners(release):
    return [release.table["patient"][int(row)] for row in release.origin]


def by_key_order(release):
    places = {key: f"p{place:032x}" for place, key in enumerate(sorted(set(owners(release))))}
    return shown_as(release, patient=pl.Series([places[key] for key in owners(release)]))


def by_input_order(release):
    places = {}
    for key in release.table["patient"]:
        places.setdefault(key, f"p{len(places):032x}")
    return shown_as(release, patient=pl.Series([places[key] for key in owners(release)]))


def by_digest(function):
    def spoil(release):
        digests = [f"p{hashlib.new(function, key.encode()).hexdigest()[:32]}" for key in owners(release)]
        return shown_as(release, patient=pl.Series(digests))

    spoil.__name__ = f"digest {function}"
    return spoil


def two_persons_with_one(release):
    names = release.shown["patient"].unique(maintain_order=True).to_list()
    return shown_as(release, patient=pl.col("patient").replace({names[0]: names[1]}))


def one_person_with_two(release):
    cells = release.shown["patient"].to_list()
    cells[0] = f"p{'ab' * 16}"
    return shown_as(release, patient=pl.Series(cells))


def moved_between_persons(release):
    """Two rows of different persons change their pseudonyms."""
    cells, whose = release.shown["patient"].to_list(), owners(release)
    other = next(at for at, key in enumerate(whose) if key != whose[0])
    cells[0], cells[other] = cells[other], cells[0]
    return shown_as(release, patient=pl.Series(cells))


def another_form(release):
    return shown_as(release, patient=pl.col("patient").str.to_uppercase())


def days_from_the_first_kept_row(release):
    """A row that was left out is the first; others are counted from the second."""
    table = release.table
    earlier = table.filter(pl.col("ward") == "z").with_columns(pl.col("day") - pl.duration(days=400))
    return replace(release, table=pl.concat([table.filter(pl.col("ward") != "z"), earlier]), origin=reindexed(release))


def reindexed(release):
    """Where the kept rows are once those that were left out stand at the end."""
    kept = (release.table["ward"] != "z").to_numpy()
    return (np.cumsum(kept) - 1)[release.origin]


def wrong_days(release):
    cells = release.shown["day"].to_list()
    cells[0] = {"(-1, 0]": "(0, 60]", "(0, 60]": "(-1, 0]"}[cells[0]]
    return shown_as(release, day=pl.Series(cells))


def dates_as_they_are(release):
    days = [str(release.table["day"][int(row)]) for row in release.origin]
    return shown_as(release, day=pl.Series(days))


SPOILED = [
    (with_surplus, {f"{K}-anonymity"}),
    (by_key_order, {"patient order"}),
    (by_input_order, {"patient order"}),
    (by_digest("md5"), {"patient no digests"}),
    (by_digest("sha1"), {"patient no digests"}),
    (by_digest("sha256"), {"patient no digests"}),
    (by_digest("sha512"), {"patient no digests"}),
    (by_digest("blake2b"), {"patient no digests"}),
    (two_persons_with_one, {"patient one to one"}),
    (one_person_with_two, {"patient one to one"}),
    (moved_between_persons, {"patient one to one"}),
    (another_form, {"patient pseudonyms"}),
    (days_from_the_first_kept_row, {"day faithful"}),
    (wrong_days, {"day faithful", f"{K}-anonymity"}),
    (dates_as_they_are, {"day faithful", f"{K}-anonymity"}),
]


@pytest.mark.parametrize(("spoil", "why"), SPOILED, ids=[spoil.__name__ for spoil, _ in SPOILED])
def test_a_spoiled_linked_release_is_refused(spoil, why, tmp_path):
    verdict = judge(spoil(linked()).request(tmp_path))
    assert why <= failed(verdict)


def test_as_many_rows_are_lost_as_were_announced(tmp_path):
    asked = linked().request(tmp_path)
    assert asked.left_out == 10
    assert failed(judge(replace(asked, left_out=9))) == {"left out"}


# two tables


def both(folder, persons=None, events=None):
    rows = (persons or static()).request(folder, "patients.csv")
    asked = (events or linked()).request(folder, "visits.csv", static=rows)
    return replace(asked, together=asked.requirement)


def test_two_tables_hold_together(tmp_path):
    asked = both(tmp_path)
    verdict = judge(asked)
    assert not failed(verdict)
    assert finding(verdict, "table of persons") == "40 persons, 0 of them without events"
    again = Request.from_text(asked.to_text())
    assert again.static.columns == asked.static.columns
    assert again.to_text() == asked.to_text()


def test_what_only_both_tables_tell_is_counted(tmp_path):
    """Each table alone keeps k; a patient's sex and wards together do not."""
    persons = static()
    halved = persons.table.with_columns(sex=pl.col("smokes"))
    shown = persons.shown.with_columns(sex=pl.col("smokes"))
    verdict = judge(both(tmp_path, replace(persons, table=halved, shown=shown)))
    assert not failed(judge(replace(persons, table=halved, shown=shown).request(tmp_path)))
    assert failed(verdict) == {f"{K}-anonymity"}


def test_persons_without_events_are_counted(tmp_path):
    few = patients(PATIENTS + 4)
    names = dict(zip(owners(linked()), linked().shown["patient"], strict=True))
    new = {f"{'ab'[n % 2]}{n}": f"p{n:032x}" for n in range(PATIENTS, PATIENTS + 4)}
    shown = few.with_columns(patient=pl.col("patient").replace_strict({**names, **new}))
    order = np.random.default_rng(86421).permutation(few.height)
    persons = replace(static(), table=few, shown=shown[order.tolist()], origin=order)
    verdict = judge(both(tmp_path, persons))
    assert failed(verdict) == {f"{K}-anonymity"}
    assert finding(verdict, "table of persons") == "44 persons, 4 of them without events"


def test_other_pseudonyms_in_the_second_table_are_refused(tmp_path):
    persons = static()
    other = shown_as(persons, patient="p" + pl.col("patient").str.slice(1).str.reverse())
    assert failed(judge(both(tmp_path, other))) == {"same pseudonyms"}


def test_events_of_nobody_in_the_first_table_are_refused(tmp_path):
    persons = static()
    there = persons.table["patient"].to_numpy()[persons.origin] != "a0"
    table = persons.table.filter(pl.col("patient") != "a0")
    places = {key: place for place, key in enumerate(table["patient"])}
    origin = np.array([places[key] for key in persons.table["patient"].to_numpy()[persons.origin][there]])
    fewer = replace(persons, table=table, origin=origin, shown=persons.shown.filter(there))
    assert "table of persons" in failed(judge(both(tmp_path, fewer)))
    events = linked()
    mine = np.array(owners(events)) != "a0"
    dropped = replace(events, origin=events.origin[mine], shown=events.shown.filter(mine))
    lost = int((events.table["patient"] == "a0").sum())
    asked = both(tmp_path, fewer, dropped)
    asked = replace(asked, left_out=asked.left_out - lost)
    assert failed(judge(asked)) == {"table of persons"}  # the user wants them refused, not left out
    assert not failed(judge(replace(asked, orphans="drop")))


def test_a_promise_of_neither_table_is_refused(tmp_path):
    asked = both(tmp_path)
    more = Together((KAnonymity(asked.requirement.smallest_group), DistinctDiversity(2, on="smokes")))
    assert failed(judge(replace(asked, together=more))) == {"required of both"}


def test_a_table_of_persons_that_fails_fails_both(tmp_path):
    persons = static()
    wrong = shown_as(persons, smokes=pl.lit("yes"))
    assert failed(judge(both(tmp_path, wrong))) == {"smokes untouched"}


@pytest.mark.parametrize("linked_", [False, True])
def test_without_repeated_rows_persons_are_rows(linked_, tmp_path):
    table = visits().filter(pl.col("ward") == "x")
    release = linked(table) if linked_ else unlinked(table)
    verdict = judge(release.request(tmp_path))
    assert not failed(verdict)
    assert verdict.sizes.histogram == verdict.sizes.persons.histogram
