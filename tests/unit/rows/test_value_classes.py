"""Classes that are joined when a mean or a name is hidden: judged again where a person has several rows."""

import numpy as np
import pytest

from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import Part, Rarest, Recode, Recoding
from incrowd.rows.memory.held import EmbeddedEngine
from incrowd.testing.tables import fixed
from incrowd.vocabulary.randomness import SeededRandomness
from incrowd.vocabulary.released_value import Interval, Level, Suppressed
from incrowd.vocabulary.requirement import KAnonymity, Together
from incrowd.vocabulary.requirements.closeness import ConfidenceCap

# Three of four persons have x at 10, other three of the same four at 20: all four have it at 10 or 20.
ROWS = [
    *[(1, 10, "x")] * 10,
    *[(2, 10, "x"), (3, 10, "x"), (4, 10, "y")],
    *[(2, 20, "x")] * 10,
    *[(3, 20, "x"), (4, 20, "x"), (1, 20, "y")],
    *[(person, 50, "y") for person in range(5, 9)],
    *[(person, 50, "z") for person in range(9, 13)],
]
ENDS = ((None, 15), (15, 30), (30, None))


def settled(requirement, *, numeric, rarest=()):
    owners, numbers, labels = zip(*ROWS, strict=True)
    case = fixed({"a": numbers, "b": ["same"] * len(ROWS)}, labels)
    forms = [Level(*ends) if numeric == "mean" else Interval(*ends) for ends in ENDS]
    sizes = [13, 13, 8]
    parts = tuple(Part(Interval(*ends), form, n) for ends, form, n in zip(ENDS, forms, sizes, strict=True))
    steps = (Recode((Recoding("a", parts), Recoding("b", ()))), *rarest)
    population = EmbeddedEngine().population(
        case.table, case.schema, SeededRandomness(1), np.array(owners, np.int32) - 1
    )
    plan = ReleasePlan("tdr", (), requirement, case.schema, len(ROWS), steps)
    return [str(form) for form in EmbeddedEngine().settle(plan, population).forms("a")]


NOTHING = str(Suppressed())
ALPHA = Together((KAnonymity(2), ConfidenceCap("0.75")))


def test_means_that_are_mostly_one_persons_are_not_shown():
    first, second, third, last = settled(KAnonymity(2), numeric="mean")
    assert (first, second, last) == (NOTHING,) * 3
    assert "50" in third


def test_two_of_them_together_break_what_each_keeps_so_nothing_of_the_attribute_is_shown():
    assert settled(ALPHA, numeric="mean") == [NOTHING] * 4


def test_nothing_more_is_hidden_where_nothing_was():
    assert settled(ALPHA, numeric="interval") == settled(KAnonymity(2), numeric="interval")
    assert NOTHING not in settled(ALPHA, numeric="interval")[:3]


@pytest.mark.parametrize("people", [4, 5])
def test_rare_names_join_classes_as_well(people):
    """Four persons have a number in each of the first two intervals: with five asked for, both are hidden."""
    shown = settled(ALPHA, numeric="interval", rarest=(Rarest(people),))
    assert (shown == [NOTHING] * 4) == (people == 5)
