"""What a group shows, from the tests its rows have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from incrowd.vocabulary.predicate import Eq, Gt, In, Le, Missing, Predicate
from incrowd.vocabulary.released_value import (
    Form,
    Interval,
    Mean,
    Shown,
    ShownMissing,
    Suppressed,
    Value,
)

FormOfSet = Callable[[str, frozenset[Value]], Form]


def forms_of_path(
    path: Iterable[Predicate], names: Sequence[str], *, numeric: str, of_set: FormOfSet
) -> tuple[Form, ...]:
    """One form per quasi-identifier for rows that pass all tests of the path.

    Parameters
    ----------
    numeric
        ``"mean"``: an attribute tested only by thresholds is released as the group's mean; otherwise as the interval
        of its thresholds.
    of_set
        The form of an attribute of which several values remain possible.
    """
    tests: dict[str, list[Predicate]] = {}
    for predicate in path:
        tests.setdefault(predicate.attribute, []).append(predicate)
    return tuple(_form(name, tests.get(name, []), numeric, of_set) for name in names)


def suppress_sets(_attribute: str, _values: frozenset[Value]) -> Form:
    """The paper's rule: several possible values are not released."""
    return Suppressed()


def _form(name: str, tests: Sequence[Predicate], numeric: str, of_set: FormOfSet) -> Form:
    if any(isinstance(test, Missing) for test in tests):
        return ShownMissing()
    possible = _possible_values(tests)
    if possible is not None:
        return Shown(next(iter(possible))) if len(possible) == 1 else of_set(name, possible)
    low = max((test.threshold for test in tests if isinstance(test, Gt)), default=None)
    high = min((test.threshold for test in tests if isinstance(test, Le)), default=None)
    if low is None and high is None:
        return Suppressed()
    return Mean() if numeric == "mean" else Interval(low, high)


def _possible_values(tests: Sequence[Predicate]) -> frozenset[Value] | None:
    """The values that pass all equality and membership tests; None if there is no such test."""
    sets = [
        frozenset([test.value]) if isinstance(test, Eq) else test.values for test in tests if isinstance(test, Eq | In)
    ]
    return frozenset.intersection(*sets) if sets else None
