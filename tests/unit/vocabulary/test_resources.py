"""Amounts of memory as people write them, and what is refused."""

from __future__ import annotations

import gc
import itertools
import os

import pytest

from incrowd.errors import ParameterError
from incrowd.vocabulary import resources as clocks
from incrowd.vocabulary.resources import PROGRAM, Clock, Resources, amount, bytes_of, cores, how_far, looking_rarely


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("500MB", 500 * 10**6),
        ("1gb", 10**9),
        (" 2 GiB ", 2 * 10**9),
        ("1.5G", 1_500_000_000),
        ("600000k", 600_000_000),
        ("1TB", 10**12),
        (4 * 10**9, 4 * 10**9),
        ("4000000000", 4 * 10**9),
    ],
)
def test_amounts(text, amount):
    assert bytes_of(text) == amount


@pytest.mark.parametrize(
    "text",
    ["", "GB", "-4GB", "4 4GB", "4PB", "1e9", "4,5GB", "nan", "inf", "four", True, None, 0, -1, "0", "499MB", 1.5],
)
def test_what_is_no_amount_or_too_little_is_refused(text):
    with pytest.raises(ParameterError, match="memory"):
        bytes_of(text)


def test_a_part_of_the_memory_that_the_program_leaves():
    assert Resources(PROGRAM + 10**9, program=PROGRAM).share(0.25) == 250_000_000
    assert Resources(PROGRAM, program=PROGRAM).share(1.0) == PROGRAM // 5
    assert Resources(10**9).share(0.25) == 250_000_000
    assert Resources().share(0.25) is None


def test_cores_are_those_the_process_may_use():
    assert 1 <= cores() <= (os.cpu_count() or 1)
    assert Resources().threads == cores()


@pytest.mark.parametrize(("size", "text"), [(1, "100MB"), (10**8, "100MB"), (10**9, "1GB"), (1_050_000_000, "1.1GB")])
def test_amounts_are_rounded_up(size, text):
    assert amount(size) == text
    assert size <= 10**8 or bytes_of(text) >= size


def test_what_does_not_fit_is_refused_with_the_limit_that_would_do():
    Resources().check_fits(10**12, 0.25, "A table")
    with pytest.raises(ParameterError, match="Use --memory") as refused:
        Resources(10**9).check_fits(10**9, 0.25, "A table")
    Resources(bytes_of(str(refused.value).split("--memory ")[1].split(",")[0])).check_fits(10**9, 0.25, "A table")


@pytest.mark.parametrize(
    ("done", "total", "seconds", "said"),
    [
        (0, 10, 1.0, "0 of 10 rows"),
        (10, 10, 0.0, "10 of 10 rows"),
        (1_000, 4_000, 2.0, "1,000 of 4,000 rows, 500 rows/s, 6 s left"),
        (1, 61, 1.0, "1 of 61 rows, 1 rows/s, 1 min 0 s left"),
        (10, 10, 5.0, "10 of 10 rows, 2 rows/s, 0 s left"),
        (10**6, 10**8, 10.0, "1,000,000 of 100,000,000 rows, 100,000 rows/s, 16 min 30 s left"),
    ],
)
def test_rows_speed_and_time_left(done, total, seconds, said):
    assert how_far(done, total, seconds) == said


@pytest.fixture
def ticking(monkeypatch):
    """A clock whose seconds are set by hand."""
    now = [100.0]
    monkeypatch.setattr(clocks.time, "perf_counter", lambda: now[0])
    return now


def test_a_stage_is_announced_and_timed(ticking):
    said = []
    clock = Clock(said.append)
    for _ in range(2):
        with clock("reading"):
            ticking[0] += 1.5
    assert said == ["reading", "reading"]
    assert clock.seconds == {"reading": 3.0}


def test_progress_is_told_at_most_five_times_a_second_and_always_at_the_end(ticking):
    said = []
    clock = Clock(said.append)
    with clock("encoding"):
        for done in range(1, 101):
            ticking[0] += 0.01
            clock.rows("encoding", done, 100)
    told = said[1:]
    assert len(told) <= 6
    assert told[-1] == "encoding: 100 of 100 rows, 100 rows/s, 0 s left"
    assert all(line.startswith("encoding: ") and "rows/s" in line and line.endswith(" left") for line in told)


def test_the_speed_is_that_of_the_running_stage(ticking):
    said = []
    clock = Clock(said.append)
    with clock("encoding"):
        ticking[0] += 1000
    with clock("verifying"):
        ticking[0] += 2
        clock.rows("verifying", 50, 100)
    assert said[-1] == "verifying: 50 of 100 rows, 25 rows/s, 2 s left"


def test_clocks_do_not_share_their_seconds():
    first, second = Clock(), Clock()
    with first("reading"):
        pass
    assert second.seconds == {}


def test_time_left_only_shrinks_at_a_steady_speed():
    left = [float(how_far(done, 50, done / 10).split(", ")[-1].split(" s ")[0]) for done in range(1, 51)]
    assert all(now >= after for now, after in itertools.pairwise(left))


def test_garbage_is_looked_for_rarely_and_then_as_before():
    before = gc.get_threshold()
    with looking_rarely():
        assert gc.get_threshold()[0] > before[0]
    assert gc.get_threshold() == before
    gc.set_threshold(0)
    try:
        with looking_rarely():
            assert gc.get_threshold()[0] == 0
    finally:
        gc.set_threshold(*before)
