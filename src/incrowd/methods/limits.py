"""Whether rows can stay together in large enough groups if some attributes may not be coarser than a level.

Rows that differ at that level may never look alike. What they show of all limited attributes at their coarsest parts
the table into groups; any release that keeps the limits parts it further, and a union of groups that keep a requirement
keeps it. So there is such a release if, and only if, these groups keep the requirement.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from incrowd.errors import RequirementError, option_name
from incrowd.methods.judging import Judge
from incrowd.methods.method import Population
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.preferences import AT_MOST, Preferences
from incrowd.vocabulary.requirement import KnownSet
from incrowd.vocabulary.schema import Column


def check_levels(population: Population, judge: Judge, sets: Sequence[KnownSet], preferences: Preferences) -> None:
    """Raise unless the requirement can be kept with every limited attribute at its coarsest level."""
    schema, table = population.schema, population.sample()
    for known in sets:
        names = [name for name in known.names if preferences.lowest_level(schema[name]) is not None]
        if not names:
            continue
        held = population.combinations(names)
        shown = [_coarsest(table[name], schema[name], preferences)[held.codes[:, at]] for at, name in enumerate(names)]
        _, group = np.unique(np.stack(shown, axis=1), axis=0, return_inverse=True)
        sizes = np.bincount(group.ravel(), held.sizes).astype(np.int64)
        allowed = sizes >= known.k
        if not judge.by_size:
            allowed &= judge.records(population, names).holds(np.arange(len(held.codes)), group.ravel(), sizes)
        if not allowed.all():
            raise RequirementError(cannot_keep(preferences, names, int((~allowed).sum()), int(sizes[~allowed].sum())))


def _coarsest(column: EncodedColumn, known: Column, preferences: Preferences) -> npt.NDArray[np.int64]:
    """For each code the group of the hierarchy that it may show at most; the missing one has its own."""
    level = preferences.lowest_level(known)
    assert known.hierarchy is not None
    assert level is not None
    return np.append(known.hierarchy.at_level(level), -1)[known.hierarchy.encode(column)]


def cannot_keep(preferences: Preferences, names: Sequence[str], groups: int, rows: int) -> str:
    """The sentence for limits that are too tight for what is required."""
    limits = ", ".join(f"{name}={preferences.at_most[name]}" for name in names)
    several = groups != 1
    return (
        f"What is required cannot be kept with {option_name(*AT_MOST)} {limits}: {groups:,} group{'s' * several} "
        f"({rows:,} rows) that may not be made coarser {'are' if several else 'is'} too small, or not mixed enough. "
        "Raise a level, or lower k."
    )
