"""What counts by class tell: how often the class follows for a person whose values are known."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from incrowd.drawing.wording import percent
from incrowd.errors import Notice
from incrowd.methods.method import Population
from incrowd.plan.release_plan import ReleasePlan
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.released_value import Counts, Interval, Member

Numbers = npt.NDArray[np.float64]
PEOPLE, FEWEST, WORK = 1_000, 100, 50_000_000
"""So many people are looked at; fewer where there are many groups to compare each with."""


def notices_of_class(plan: ReleasePlan, population: Population) -> Iterator[Notice]:
    """How often the class is guessed right from a release of counts by class, for people of the table."""
    target = plan.schema.target
    if not plan.by_class or target is None or not plan.groups:
        return
    right, people, most = share_told(plan, population)
    message = (
        f"counts are by class, as you asked. Whoever knows all values of a person takes the likeliest class by the "
        f"counts of all groups: right for {percent(right)} of {people:,} people of the table; the most "
        f"frequent class, {percent(most)}. The attack 'attribute inference' tells how often it is right for others."
    )
    yield Notice("class-by-counts", target, message)


def share_told(plan: ReleasePlan, population: Population) -> tuple[float, int, float]:
    """The share of people guessed right by Bayes' rule, how many were looked at, and the share of the largest class.

    Values are taken as independent within a group, and each group as if it had one more row, of the whole table.
    """
    table, classes = population.sample(), _classes(plan)
    sizes = classes.sum(axis=1)
    people = min(table.height, PEOPLE, max(FEWEST, WORK // len(sizes)))
    rows = np.linspace(0, table.height - 1, people).astype(np.int64)
    likely = np.zeros((len(sizes), people)) + np.log(sizes)[:, None]
    for name in plan.names:
        forms = plan.forms(name)
        codes, places, whole = _places(table[name], plan.cuts.get(name), rows)
        had = np.zeros((len(sizes), int(codes.max()) + 1))
        for group, form in enumerate(forms):
            for member, many in (form.members or ()) if isinstance(form, Counts) else ():
                if (at := places.get(member)) is not None:
                    had[group, at] = many
        shown = np.array([isinstance(form, Counts) for form in forms])
        total = np.array([sum(n for _, n in form.members or ()) if isinstance(form, Counts) else 0 for form in forms])
        shares = np.where(shown[:, None], (had + whole) / (total + 1)[:, None], whole)
        likely += np.log(shares)[:, codes]
    weights = np.exp(likely - likely.max(axis=0)).T @ (classes / sizes[:, None])
    truth = table[str(plan.schema.target)].codes[rows]
    whole_classes = classes.sum(axis=0)
    return float(np.mean(weights.argmax(axis=1) == truth)), people, float(whole_classes.max() / whole_classes.sum())


def _classes(plan: ReleasePlan) -> Numbers:
    """The rows of each class in each group, by the step that parted groups by class."""
    place = plan.places[-1]
    classes = np.zeros((len(plan.groups), len(place.tree.classes)))
    for share in place.shares:
        if share.group >= 0 and share.label is not None:
            classes[share.group, share.label] += share.rows
    return classes


def _places(
    column: EncodedColumn, cuts: tuple[float, ...] | None, rows: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], dict[Member, int], Numbers]:
    """The value or bin of some rows, numbered; the number of each; and how frequent each is in the whole column."""
    members: list[Member] = list(column.dictionary.to_list())
    if cuts is not None:
        bins = [Interval(low, high) for low, high in zip((None, *cuts), (*cuts, None), strict=True)]
        members = [bins[at] for at in np.searchsorted(np.asarray(cuts, np.float64), column.numbers, side="left")]
    members.append(None)
    places: dict[Member, int] = {}
    numbers = np.array([places.setdefault(members[code], len(places)) for code in column.codes[rows]], np.int64)
    whole = np.zeros(len(places))
    for member, many in zip(members, column.counts.tolist(), strict=True):
        if member in places:
            whole[places[member]] += many
    return numbers, places, whole / column.counts.sum()
