"""Attacks that are passed as objects: they run beside ours, and what they say of cells goes nowhere."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from incrowd.attacks.attack import LEAK, NOT_RUN, Finding
from incrowd.attacks.catalog import ATTACKS, Attack, find_attacks
from incrowd.attacks.run import attack_release
from incrowd.errors import CannotRunError, ParameterError

PEOPLE = pl.DataFrame({"age": [30, 41] * 20, "ill": ["no", "secret word"] * 20})


def leaking(scene: Any) -> Finding:
    return Finding(LEAK, "All of it.", 1.0, interval=(0.9, 1.0), unit="share")


def unable(scene: Any) -> Finding:
    raise CannotRunError("secret word")


def silent(scene: Any) -> Finding:
    return Finding(NOT_RUN, "secret word")


def failing(scene: Any) -> Finding:
    raise KeyError("secret word")


def test_attacks_of_others_run_where_they_are_passed_and_quote_nothing() -> None:
    functions = (leaking, unable, silent, failing, lambda _: "secret word")
    attacks = [Attack(f"attack {number}", one, "Tries.", "time") for number, one in enumerate(functions)]
    report = attack_release(PEOPLE, PEOPLE, quasi_identifiers=["age"], target="ill", only=["row-order", *attacks])
    assert report["attack 0"].verdict == LEAK
    assert [report[f"attack {number}"].words for number in range(1, 5)] == [
        "It needs time.",
        "It needs time.",
        "It raised KeyError.",
        "It gave no finding.",
    ]
    assert "secret" not in str(report)
    assert report["row order"].attack == "row order"
    assert attacks[0].package == f"the module {__name__}"


def test_all_are_ours_unless_others_are_named() -> None:
    assert find_attacks() == tuple(ATTACKS.values())
    assert {attack.package for attack in find_attacks()} == {"incrowd"}
    assert find_attacks([ATTACKS["row order"]]) == (ATTACKS["row order"],)
    for wrong in (5, Attack("Row-Order", leaking, "", ""), Attack("other", "run.other", "", "")):
        with pytest.raises(ParameterError):
            find_attacks([wrong])  # type: ignore[list-item]
