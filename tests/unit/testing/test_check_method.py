"""The check finds what a method breaks, and says what and where."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from incrowd.errors import ParameterError
from incrowd.methods.catalog import METHODS
from incrowd.methods.method import MethodTraits
from incrowd.plan.steps import Group, Place, Share, Show
from incrowd.testing import check_description, check_method, check_on_tables, check_target, check_whole_way
from incrowd.testing.tables import AWKWARD, fixed
from incrowd.trees.tree import Node, Tree
from incrowd.vocabulary.released_value import Shown, Suppressed
from incrowd.vocabulary.requirement import KAnonymity

SMALL = {"one value": AWKWARD["one value"], "two": fixed({"a": ["v", "w"] * 10}, ["x"] * 20)}


@dataclass(frozen=True)
class Hiding:
    """Shows nothing; its subclasses each do one thing wrong."""

    name: ClassVar[str] = "hiding"
    traits: ClassVar[MethodTraits] = MethodTraits(needs_target=False)

    def parameters(self) -> dict[str, Any]:
        return {}

    def decide(self, population, requirement, randomness, preferences=None):
        requirement.check_possible(population.rows)
        names, rows = population.schema.quasi_identifiers, population.rows
        everybody = Tree((Node(None, (), (0,)),), "", (None,))
        group = Group(rows, tuple(self.shown(population.schema[name]) for name in names))
        return Place(everybody, (Share(0, None, 0, rows),)), Show(names, (group,))

    def shown(self, column):
        return Suppressed()


class Losing(Hiding):
    name = "losing"

    def decide(self, population, requirement, randomness, preferences=None):
        tree = Tree((Node(None, (), (0,)),), "", (None,))
        rows, names = population.rows, population.schema.quasi_identifiers
        few = max(rows - 1, 1)
        shares = (Share(0, None, 0, few), *((Share(0, None, -1, rows - few),) if rows > few else ()))
        return Place(tree, shares), Show(names, (Group(few, (Suppressed(),) * len(names)),))


class Gambling(Hiding):
    name = "gambling"

    def decide(self, population, requirement, randomness, preferences=None):
        random.random()
        return super().decide(population, requirement, randomness)


class Betting(Hiding):
    name = "betting"

    def decide(self, population, requirement, randomness, preferences=None):
        np.random.random()
        return super().decide(population, requirement, randomness)


class Lying(Hiding):
    name = "lying"

    def shown(self, column):
        return Suppressed() if column.type.is_numeric else Shown("never seen")


class Failing(Hiding):
    name = "failing"

    def decide(self, population, requirement, randomness, preferences=None):
        raise KeyError("a")


@dataclass(frozen=True)
class Vain(Hiding):
    name: ClassVar[str] = "vain"
    beauty: int = 3


@dataclass
class Thawed:
    """Not frozen."""

    name: ClassVar[str] = "thawed"
    parameters = Hiding.parameters
    decide = Hiding.decide


def told(check, *values) -> str:
    with pytest.raises(AssertionError) as broken:
        check(*values)
    return str(broken.value)


@pytest.mark.slow
def test_a_method_that_keeps_everything_passes() -> None:
    check_method(Hiding(), tables=2)


@pytest.mark.parametrize(
    ("method", "words"),
    [
        (Losing(), "losing, on the table 'one value', in memory, k=1: 1 rows are left out, more than its traits allow"),
        (Gambling(), "it draws from a global source of chance"),
        (Betting(), "it draws from a global source of chance"),
        (Lying(), "a new row shows of 'a' what it does not have"),
        (Failing(), "failing, on the table 'one value', in memory, k=1: raised KeyError"),
    ],
    ids=lambda one: getattr(one, "name", ""),
)
def test_what_is_broken_is_said_with_the_table(method, words) -> None:
    assert words in told(check_on_tables, method, SMALL, 1)


def test_what_the_method_says_of_itself_is_held_to() -> None:
    assert told(check_description, Vain()) == "parameters() are not those of its fields"
    assert told(check_description, Thawed()) == "it is not frozen"
    needing = type("Needing", (Hiding,), {"name": "needing", "traits": replace(Hiding.traits, needs_target=True)})
    assert "decides without a target" in told(check_target, needing())
    with pytest.raises(ParameterError, match="is not a method"):
        check_method(object())


def test_a_release_that_the_verification_refuses_is_a_fault_of_the_method() -> None:
    """It says that everybody shows one value, which many do not have."""
    lying = type("Lies", (Lying,), {"name": "lies", "traits": replace(Hiding.traits, forms=("strict",))})
    assert "lies, released as strict: raised VerificationError" in told(check_whole_way, lying())


def test_a_small_group_is_found() -> None:
    """One that forgets k."""
    few = fixed({"a": ["v"] * 57 + ["w"] * 3}, ["x"] * 57 + ["y"] * 3)
    kactus = METHODS["kactus"].load()()

    class Forgetful(type(kactus)):
        name = "forgetful"

        def decide(self, population, requirement, randomness, preferences=None):
            return super().decide(population, KAnonymity(1), randomness)

    assert "fewer than k" in told(check_on_tables, Forgetful(), {"few": few}, 1)


def test_nothing_of_pytest_is_needed() -> None:
    room = Path(__import__("incrowd.testing").testing.__file__).parent
    assert not [path for path in room.glob("*.py") if "pytest" in path.read_text("utf-8").replace("needs pytest", "")]
