"""A plausible release to describe: made-up numbers in the manner of a census table at k = 10."""

import datetime
from dataclasses import replace
from typing import Any

from incrowd.errors import Notice
from incrowd.plan.steps import Group
from incrowd.report.facts import Accuracy, AttributeFacts, Facts
from incrowd.verification.verdict import Check, ClassSizes, Verdict
from incrowd.vocabulary.released_value import Form, Interval, Mean, Shown, Suppressed, ValueSet
from incrowd.vocabulary.schema import STATED, Column, ColumnType, Role, Schema

SHARES: dict[str, dict[str, float]] = {
    "age": {"mean": 0.715, "interval": 0.105},
    "workclass": {"value": 0.343, "set": 0.201},
    "education": {"value": 0.561, "set": 0.288},
    "marital-status": {"value": 0.9997},
    "occupation": {"value": 0.402, "set": 0.331},
    "race": {"value": 0.118},
    "sex": {"value": 0.497},
    "native-country": {},
}
NUMBERS = ("age",)
_SIZES = (10, 11, 12, 13, 14, 16, 19, 24, 33, 47, 68, 95, 140, 232, 410, 1204)
_CLASSES = (41, 27, 24, 19, 16, 31, 22, 40, 28, 17, 14, 9, 6, 3, 2, 1)
HISTOGRAM = tuple(zip(_SIZES, _CLASSES, strict=True))


def sizes(histogram: tuple[tuple[int, int], ...] = HISTOGRAM) -> ClassSizes:
    rows, classes = sum(size * count for size, count in histogram), sum(count for _, count in histogram)
    return ClassSizes(rows, classes, histogram[0][0] if histogram else 0, histogram)


def schema() -> Schema:
    quasi = [
        Column(name, Role.QUASI_IDENTIFIER, ColumnType.INTEGER if name in NUMBERS else ColumnType.CATEGORICAL)
        for name in SHARES
    ]
    drafted = [replace(column, reason=STATED) for column in quasi]
    person = Column("person", Role.IDENTIFIER, ColumnType.TEXT, reason="whole numbers; unique in every row")
    hours = Column("hours-per-week", Role.OTHER, ColumnType.INTEGER, reason="whole numbers; no role was named")
    return Schema((person, *drafted, hours, Column("income", Role.TARGET, reason=STATED)))


def verdict() -> Verdict:
    found = sizes()
    checks = [
        Check("columns", True, "10 columns, as asked"),
        Check("10-anonymity", True, f"smallest of {found.classes} classes: 10 rows"),
        Check("rows", True, f"{found.rows:,} released, 4 left out"),
        *(Check(f"{name} faithful", True, "every cell") for name in SHARES),
        Check("income untouched", True, "every cell"),
    ]
    shown = {"age": {"empty": 7, "interval": found.rows - 7}, "sex": {"single": found.rows}}
    return Verdict(found, tuple(checks), found.rows + 4, shown)


def largest_groups() -> tuple[Group, ...]:
    hidden = Suppressed()
    shown: list[tuple[Form, ...]] = [
        (Mean(41.2), Shown("x"), hidden, Shown("x"), hidden, hidden, Shown("x"), hidden),
        (Interval(30, 45), hidden, ValueSet(("x", "y")), Shown("x"), hidden, hidden, hidden, hidden),
        (Mean(27.9), ValueSet(("x", "y")), Shown("x"), Shown("x"), Shown("x"), hidden, Shown("x"), hidden),
    ]
    return tuple(Group(rows, forms) for rows, forms in zip((1204, 410, 410), shown, strict=True))


def example(**changes: Any) -> Facts:
    """The facts of the made-up release, with some of them changed."""
    found = sizes()
    facts = Facts(
        source="census.csv",
        output="census-release.csv",
        schema=schema(),
        requirement="10-anonymity",
        method="kactus-plus",
        parameters={"inducer": "C45(min_node=k)", "numeric": "mean", "regrow": True, "largest_set": 0.5},
        rows=found.rows + 4,
        rows_dropped=4,
        groups=found.classes,
        smallest_group=10,
        cells_shown=0.557,
        attributes=tuple(AttributeFacts(name, shares) for name, shares in SHARES.items()),
        largest_groups=largest_groups(),
        verdict=verdict(),
        notices=(
            Notice("missing-class", "income", "12 rows have no class; they count as a class of their own."),
            Notice("other-sheets", "", "The workbook has 3 sheets; the first was read."),
        ),
        accuracy=Accuracy(0.8553, 0.8487, 0.7511, 6_060, 3_030),
        seconds={"reading": 0.21, "encoding": 0.34, "deciding": 1.07, "applying": 0.4, "verifying": 0.62},
        when=datetime.datetime(2026, 3, 14, 9, 26, 53, tzinfo=datetime.UTC),
    )
    return replace(facts, **changes)
