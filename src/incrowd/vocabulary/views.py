"""What notebooks show of schemas, hierarchies and verdicts, in the colours of the reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from incrowd.drawing.markup import Html, element, text, texts
from incrowd.drawing.page import page, standing, table, tiles
from incrowd.drawing.wording import Tone, counted, listed, sentence

COLUMN_CHECKS = ("faithful", "untouched", "recomputed")


class Checked(Protocol):
    """A promise that was recounted."""

    @property
    def name(self) -> str:
        """What was checked."""
        ...

    @property
    def passed(self) -> bool:
        """Whether it holds."""
        ...

    @property
    def finding(self) -> str:
        """What was counted."""
        ...


def table_view(title: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table under its title, as a fragment of HTML.

    Examples
    --------
    >>> "a&lt;b" in table_view("Columns", ["name"], [["a<b"]])
    True
    """
    return page(title, table(title, texts(*header), (texts(*row) for row in rows), class_="unbroken"), whole=False)


def verdict_view(checks: Sequence[Checked], figures: Mapping[str, str]) -> str:
    """Whether all checks passed, what was counted, and each check, as a fragment of HTML."""
    good = all(check.passed for check in checks)
    outcome = standing(sentence(checks_outcome(checks)), Tone.GOOD if good else Tone.BAD, "✓" if good else "✗")
    return page("Verification", outcome, tiles(figures), checks_table(checks), whole=False)


def checks_outcome(checks: Sequence[Checked]) -> str:
    """How many checks passed."""
    failed = sum(not check.passed for check in checks)
    return f"{failed} of {counted(len(checks), 'check')} failed" if failed else f"all {len(checks)} checks passed"


def checks_table(checks: Sequence[Checked]) -> Html:
    """Every check with its outcome and finding; columns that passed the same check share a row."""
    rows = [
        (
            text(name),
            element("span", text("✓ passed"), class_="good")
            if passed
            else element("strong", text("✗ FAILED"), class_="bad"),
            text(finding),
        )
        for name, passed, finding in _merged(checks)
    ]
    return table("Checks", texts("Check", "Outcome", "Finding"), rows, class_="checks")


def _merged(checks: Sequence[Checked]) -> Iterator[tuple[str, bool, str]]:
    """The checks in their order; those about single columns that ended alike stand together, at the first of them."""
    alike: dict[tuple[str, bool, str], list[str]] = {}
    for check in checks:
        column, _, kind = check.name.rpartition(" ")
        if kind not in COLUMN_CHECKS:
            column, kind = "", check.name
        alike.setdefault((kind, check.passed, check.finding), []).append(column)
    for (kind, passed, finding), columns in alike.items():
        if len(columns) == 1:
            yield f"{columns[0]} {kind}".strip(), passed, finding
        else:
            yield f"{counted(len(columns), 'column')} {kind}", passed, f"{finding}: {listed(columns)}"
