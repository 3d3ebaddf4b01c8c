"""Stages, how far they are, and how long they took."""

from __future__ import annotations

import itertools

import pytest

from incrowd.vocabulary import clock as clocks
from incrowd.vocabulary.clock import Clock, how_far


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
