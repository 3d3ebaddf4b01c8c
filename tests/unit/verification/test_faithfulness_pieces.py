"""A release next to its original in pieces: every defect is found as it is when both are compared whole."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from test_faithfulness import COLUMNS, DEFECTS, EVERYWHERE, QUASI_IDENTIFIERS, failed, original_table, released_frame

from incrowd.errors import FileFormatError
from incrowd.tables.publishing.serialise import write_table
from incrowd.verification.faithfulness import verify_release
from incrowd.verification.request import Expected, Original, Originals
from incrowd.vocabulary.forms import FileForm
from incrowd.vocabulary.resources import Resources
from support.covering import in_turn

TIMES = 2  # the table of the tests of whole releases, as often
ASKED = Expected([("3-anonymity", QUASI_IDENTIFIERS, 3)], COLUMNS, QUASI_IDENTIFIERS, 0, shared_means=["level"])


def cut(whole, ends):
    """The pieces of an original that end at some rows; a row may be the end of several pieces."""
    starts = [0, *ends[:-1]]

    def piece(place):
        rows = slice(starts[place], ends[place])
        claims = {name: (low[rows], high[rows]) for name, (low, high) in whole.claims.items()}
        table = whole.table.slice(rows.start, rows.stop - rows.start)
        return Original(table, whole.origin[rows], whole.rows, claims)

    return Originals(whole.rows, [end - start for start, end in zip(starts, ends, strict=True)], piece, whole.origin)


def some_cuts(rng, rows):
    """From one piece to pieces of a row, and empty ones."""
    return [*np.sort(rng.integers(0, rows + 1, rng.integers(0, 7))).tolist(), rows]


def both(folder, ending, frame, original, asked, ends, threads=2):
    """The verdicts on the whole and on the pieces."""
    form, path = FileForm.of(f"release.{ending}"), folder / f"release.{ending}"
    write_table(frame, path, form)
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    limits = Resources(10**9, threads, scratch)
    told = []
    parts = verify_release(path, form, asked, cut(original, ends), limits, lambda *rows: told.append(rows))
    return verify_release(path, form, asked, original), parts, told


def outcome(verdict):
    return [(check.name, check.passed) for check in verdict.checks], verdict.sizes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("defect", "ending"),
    [
        *in_turn(EVERYWHERE, ["parquet", "csv", "arrow"]),
        *((defect, "parquet") for defect in DEFECTS if defect not in EVERYWHERE),
    ],
)
def test_a_defect_is_found_in_pieces_as_in_the_whole(tmp_path, ending, defect):
    """The defect is in the first table or in the last, so that it may lie in any piece."""
    change, names = DEFECTS[defect]
    rng = np.random.default_rng(list(defect.encode()))
    good, bad = released_frame(), change(released_frame())
    tables = [good.with_columns(job=good["job"]), bad] if rng.integers(2) else [bad, good]
    tables = [bad, bad] if bad.columns != good.columns else tables
    original = Original(pa.concat_tables([original_table()] * TIMES), np.arange(24), 24)
    whole, parts, _ = both(tmp_path, ending, pl.concat(tables), original, ASKED, some_cuts(rng, 24))
    assert outcome(parts) == outcome(whole)
    if names - {"3-anonymity"}:  # a class may be large enough twice
        assert failed(parts)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ends", "ending"),
    in_turn(
        [[12], [1, 12], [5, 5, 12], [0, 12, 12], list(range(1, 13))],
        ["parquet", "csv", "csv.gz", "tsv", "arrow"],
        each=2,
    ),
    ids=str,
)
def test_a_faithful_release_passes_however_it_is_cut(tmp_path, ending, ends):
    original = Original(original_table(), np.arange(12), 12)
    whole, parts, told = both(tmp_path, ending, released_frame(), original, ASKED, ends)
    assert parts.passed, str(parts)
    assert outcome(parts) == outcome(whole)
    assert [done for done, _ in told] == ends
    assert {rows for _, rows in told} == {12}


def test_rows_that_change_places_between_pieces_are_found(tmp_path):
    """Two rows of one class, in different pieces: only the untouched columns tell."""
    order = list(range(12))
    order[0], order[2] = 2, 0
    original = Original(original_table(), np.arange(12), 12)
    for ends in ([12], [1, 12], [2, 12]):
        whole, parts, _ = both(tmp_path, "parquet", released_frame()[order], original, ASKED, ends)
        assert failed(parts) == failed(whole) == {"note untouched", "score untouched"}


@pytest.mark.each(4)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("wrong", [0.0, 1e-6, -1.0])
def test_a_mean_over_rows_in_many_pieces(tmp_path, threads, wrong):
    """No piece alone has the mean of its class; together they have, or they have not."""
    rng = np.random.default_rng(3)
    rows = 300
    group = rng.integers(0, 3, rows)
    age = rng.integers(20, 90, rows).astype(np.int64)
    means = {code: age[group == code].mean() for code in range(3)}
    means[1] += wrong
    frame = pl.DataFrame({"job": [f"g{code}" for code in group], "age": [means[code] for code in group]})
    original = Original(pa.table({"job": frame["job"].to_arrow(), "age": age}), rng.permutation(rows), rows)
    asked = Expected([("9-anonymity", ["job", "age"], 9)], ["job", "age"], ["job", "age"], 0)
    ends = [*range(7, rows, 7), rows]
    whole, parts, _ = both(tmp_path, "parquet", frame, original, asked, ends, threads)
    assert failed(parts) == failed(whole) == ({"age faithful"} if wrong else set())


@pytest.mark.parametrize("moved", [0, 1])
def test_levels_that_overlap_only_over_pieces_are_found(tmp_path, moved):
    """Within each piece the numbers of a level lie apart from those of the next; over all pieces they may not."""
    age = [1, 2, 10, 11, 3, 4 + 4 * moved, 12, 7]
    level = [0, 0, 1, 1, 0, 0, 1, 1]
    means = [np.mean([a for a, which in zip(age, level, strict=True) if which == mine]) for mine in level]
    table = pa.table({"age": pa.array(age, pa.int64())})
    asked = Expected([("2-anonymity", ["age"], 2)], ["age"], ["age"], 0, shared_means=["age"])
    frame, original = pl.DataFrame({"age": means}), Original(table, np.arange(8), 8)
    whole, parts, _ = both(tmp_path, "parquet", frame, original, asked, [4, 6, 8])
    assert failed(parts) == failed(whole) == ({"age faithful"} if moved else set())


@pytest.mark.parametrize(
    ("origin", "fine"), [(range(12), True), ([0, 0, *range(2, 12)], False), ([*range(11), 12], False)]
)
def test_the_rows_of_all_pieces_are_different_ones(tmp_path, origin, fine):
    original = Original(original_table(), np.array(list(origin)), 12)
    whole, parts, _ = both(tmp_path, "parquet", released_frame(), original, ASKED, [1, 7, 12])
    assert failed(parts) == failed(whole) == (set() if fine else {"rows"})


def test_middles_are_compared_with_the_claims_of_their_piece(tmp_path):
    low, high = np.array([0.0, 0.0, 10.0, 10.0]), np.array([10.0, 10.0, 20.0, 20.0])
    table = pa.table({"age": pa.array([3.0, 4.0, 13.0, 14.0])})
    asked = Expected([("2-anonymity", ["age"], 2)], ["age"], ["age"], 0)
    original = Original(table, np.arange(4), 4, {"age": (low, high)})
    for shown, names in (([5.0, 5.0, 15.0, 15.0], set()), ([5.0, 5.0, 16.0, 16.0], {"age faithful"})):
        frame = pl.DataFrame({"age": shown})
        whole, parts, _ = both(tmp_path, "parquet", frame, original, asked, [1, 3, 4])
        assert failed(parts) == failed(whole) == names


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_a_file_that_ends_too_early_never_passes(tmp_path, ending):
    frame = pl.concat([released_frame()] * 30)
    form, path = FileForm.of(f"release.{ending}"), tmp_path / f"release.{ending}"
    write_table(frame, path, form)
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * 0.7)])
    original = Original(pa.concat_tables([original_table()] * 30), np.arange(360), 360)
    verdict = None
    try:
        limits = Resources(10**9, 2, tmp_path)
        verdict = verify_release(path, form, ASKED, cut(original, [100, 360]), limits)
    except FileFormatError as error:
        assert "release" in str(error)  # noqa: PT017, either way is right
    assert verdict is None or "rows" in failed(verdict)
