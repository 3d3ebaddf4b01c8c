"""The worked examples: ten points for Mondrian, Table 1 of Li, Liu, Baig, Wong for InfoGain Mondrian."""

import polars as pl
import pytest

from incrowd.methods.partitioning.mondrian import InfoGainMondrian, Mondrian
from incrowd.plan.steps import Place, Reasons, Show
from incrowd.rows.memory.population import EmbeddedPopulation
from incrowd.tables.reading.encode import encode
from incrowd.tables.reading.source import Origin, Source
from incrowd.trees.routing import route
from incrowd.vocabulary.hierarchy import Hierarchy, Leaves
from incrowd.vocabulary.randomness import SystemRandomness
from incrowd.vocabulary.released_value import Shown, Suppressed
from incrowd.vocabulary.requirement import KAnonymity
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema

POINTS = [(25, 1), (25, 2), (26, 2), (27, 3), (28, 3), (28, 4), (40, 1), (41, 2), (42, 3), (43, 4)]
TABLE_1 = [  # how often, gender, age, class
    (5, "Male", 60, "yes"),
    (5, "Male", 70, "yes"),
    (1, "Male", 30, "yes"),
    (1, "Female", 70, "no"),
    (5, "Female", 30, "no"),
    (5, "Female", 40, "no"),
]


def decided(frame, columns, method, k):
    """The group of each row, what the groups show, how often each attribute was cut."""
    schema = Schema(tuple(columns))
    table, _ = encode(Source(frame, Origin("frame")), schema, schema.names)
    population = EmbeddedPopulation(table, schema, SystemRandomness())
    steps = method.decide(population, KAnonymity(k), SystemRandomness())
    place, show, reasons = (next(s for s in steps if isinstance(s, kind)) for kind in (Place, Show, Reasons))
    group_at = {share.node: share.group for share in place.shares}
    groups = [group_at[node] for node in route(place.tree, table).tolist()]
    return groups, show.groups, {name: cuts for name, cuts, _ in reasons.rows}


def test_ten_points():
    columns = [Column(name, Role.QUASI_IDENTIFIER, ColumnType.INTEGER) for name in ("age", "zip")]
    frame = pl.DataFrame(POINTS, schema=["age", "zip"], orient="row")
    groups, _, _ = decided(frame, columns, Mondrian(), 2)
    members = [[row for row, own in enumerate(groups) if own == group] for group in sorted(set(groups))]
    assert sorted(members) == [[0, 1, 2], [3, 4, 5], [6, 7], [8, 9]]


def ages():
    inner = {"(20, 50]": ["(20, 30]", "(30, 50]"], "(50, 80]": ["(50, 60]", "(60, 80]"]}
    paths = [(leaf, f"about {group}", "*") for group, leaves in inner.items() for leaf in leaves]
    return Hierarchy.from_paths("age", paths, Leaves.NUMBERS)


@pytest.mark.parametrize("hierarchy", [None, ages()], ids=["thresholds", "hierarchy"])
def test_table_1_cuts_gender_and_nothing_else(hierarchy):
    rows = [(gender, age, label) for count, gender, age, label in TABLE_1 for _ in range(count)]
    frame = pl.DataFrame(rows, schema=["gender", "age", "class"], orient="row")
    columns = [
        Column("gender", Role.QUASI_IDENTIFIER),
        Column("age", Role.QUASI_IDENTIFIER, ColumnType.INTEGER, hierarchy=hierarchy),
        Column("class", Role.TARGET),
    ]
    _, shown, cuts = decided(frame, columns, InfoGainMondrian(), 10)
    assert sorted(((group.rows, group.forms) for group in shown), key=str) == [
        (11, (Shown("Female"), Suppressed())),
        (11, (Shown("Male"), Suppressed())),
    ]
    assert cuts == {"gender": 1, "age": 0}
