"""Every attack catches the leak planted for it, and leaves a clean release alone."""

from __future__ import annotations

from functools import cache

import pytest

from incrowd.attacks.catalog import ATTACKS
from incrowd.attacks.run import run_attack
from support.examples import drawn
from support.planted import PLANTED, closeness

SEEDS, MANY = drawn(20), drawn(100)
FEWER = {
    "attribute inference": (3, drawn(50)),
    "model membership": (3, drawn(50)),
    "differencing": (3, drawn(50)),
    "minimality": (1, 1),
}
"""Forests and sixteen releases are slow; minimality goes through all small tables whatever the seed."""


def verdicts(name: str, leak: bool, seeds: int) -> list[str]:
    return [verdict(name, leak, seed) for seed in range(seeds)]


@cache
def verdict(name: str, leak: bool, seed: int) -> str:
    """Found once: many seeds begin with the few."""
    return run_attack(ATTACKS[name], PLANTED[name](seed, leak)).verdict


def test_a_leak_is_planted_for_every_attack() -> None:
    assert list(PLANTED) == list(ATTACKS)


@pytest.mark.each(3)
@pytest.mark.parametrize("name", ATTACKS)
def test_the_planted_leak_is_caught(name: str) -> None:
    seeds, _ = FEWER.get(name, (SEEDS, MANY))
    assert verdicts(name, True, seeds).count("leak") == seeds


@pytest.mark.each(5)
@pytest.mark.parametrize("name", ATTACKS)
def test_a_clean_release_gives_no_alarm(name: str) -> None:
    seeds, _ = FEWER.get(name, (SEEDS, MANY))
    found = verdicts(name, False, seeds)
    assert "not run" not in found
    assert found.count("leak") <= 1


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in ATTACKS if name != "minimality"])
def test_of_many_seeds_one_may_be_missed_and_one_alarm_false(name: str) -> None:
    _, many = FEWER.get(name, (SEEDS, MANY))
    assert verdicts(name, True, many).count("leak") >= many - 1
    clean = verdicts(name, False, many)
    assert clean.count("no leak found") >= many - 1


@pytest.mark.parametrize("leak", [True, False])
def test_a_promised_t_decides_over_chance(leak: bool) -> None:
    attack = ATTACKS["skewness"]
    found = [run_attack(attack, closeness(seed, leak)) for seed in range(SEEDS)]
    assert {one.verdict for one in found} == {"leak" if leak else "no leak found"}
    assert {one.goal for one in found} == {0.2}
