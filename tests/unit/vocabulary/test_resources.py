"""Amounts of memory as people write them, and what is refused."""

from __future__ import annotations

import os

import pytest

from incrowd.errors import ParameterError
from incrowd.vocabulary.resources import PROGRAM, Resources, amount, bytes_of, cores


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
