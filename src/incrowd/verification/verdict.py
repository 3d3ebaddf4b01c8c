"""The outcome of a verification: what was checked, what was found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from incrowd.errors import VerificationError
from incrowd.verification.unchanged_counts import Alone, UnchangedCounts


@dataclass(frozen=True)
class Check:
    """One promise, recounted."""

    name: str
    passed: bool
    finding: str

    def to_json(self) -> dict[str, Any]:
        """The check as plain data."""
        return {"name": self.name, "passed": self.passed, "found": self.finding}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Check:
        """The check in plain data."""
        return cls(data["name"], data["passed"], data["found"])


@dataclass(frozen=True)
class PersonCounts:
    """Persons, counted where they may have several rows.

    Parameters
    ----------
    persons, lost
        How many have a released row, and how many of the input have none.
    smallest, histogram
        The fewest persons of a class, and (persons, number of classes with so many), ascending. Where recipients can
        follow persons, a class is all persons with one history; where an attacker knows some rows of a person only,
        all persons who have these rows.
    largest_share
        The largest part of the rows of a class that one person has.
    without
        How many input rows have no person and were left out.
    strangers
        How many of the lost persons are not in the table of persons beside this one.

    Examples
    --------
    >>> counts = PersonCounts(12, 0, 3, ((3, 4),), 0.5)
    >>> PersonCounts.from_json(counts.to_json()) == counts
    True
    """

    persons: int
    lost: int
    smallest: int
    histogram: tuple[tuple[int, int], ...]
    largest_share: float
    without: int = 0
    strangers: int = 0

    def classes_below(self, k: int) -> int:
        """Classes of fewer than k persons."""
        return sum(classes for persons, classes in self.histogram if persons < k)

    def to_json(self) -> dict[str, Any]:
        """The counts as plain data."""
        return {**vars(self), "histogram": [list(bar) for bar in self.histogram]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PersonCounts:
        """The counts that :meth:`to_json` wrote."""
        return cls(**{**data, "histogram": tuple((persons, classes) for persons, classes in data["histogram"])})


@dataclass(frozen=True)
class ClassSizes:
    """Groups of rows with the same quasi-identifier values, counted.

    ``histogram`` lists (size, number of classes of that size), ascending; ``persons`` are counted where a person may
    have several rows.
    """

    rows: int
    classes: int
    smallest: int
    histogram: tuple[tuple[int, int], ...]
    persons: PersonCounts | None = None

    @property
    def largest(self) -> int:
        """Size of the largest class."""
        return self.histogram[-1][0] if self.histogram else 0

    def rows_below(self, k: int) -> int:
        """Rows in classes smaller than k."""
        return sum(size * classes for size, classes in self.histogram if size < k)

    def classes_below(self, k: int) -> int:
        """Classes smaller than k."""
        return sum(classes for size, classes in self.histogram if size < k)


@dataclass(frozen=True)
class Verdict:
    """All checks of one verification, and what it counted.

    Parameters
    ----------
    sizes
        The classes of rows that look alike.
    checks
        What was checked.
    input_rows
        Rows of the table that was released; None where it was not looked at.
    shown
        For each released quasi-identifier, how many cells show what, see
        :func:`incrowd.verification.shown.count_shown`.
    digests
        The SHA-256 of the files that were verified: the release, and its table of groups if it has one.
    unchanged
        What unchanged columns undo; None where it was not counted.
    alone
        Who is alone by unchanged columns, counted from the release alone; None where it was not counted.
    beside
        What unchanged columns undo of the table of persons beside this one, counted with both; None where it was not
        counted.

    Examples
    --------
    >>> sizes = ClassSizes(20, 2, 10, ((10, 2),))
    >>> print(Verdict(sizes, (Check("10-anonymity", True, "smallest class: 10 rows"),)))
    passed  10-anonymity: smallest class: 10 rows
    """

    sizes: ClassSizes
    checks: tuple[Check, ...] = field(default=())
    input_rows: int | None = None
    shown: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    digests: tuple[str, ...] = ()
    unchanged: UnchangedCounts | None = None
    alone: Alone | None = None
    beside: UnchangedCounts | None = None

    @property
    def suppressed(self) -> dict[str, int]:
        """For each released quasi-identifier, how many cells show nothing."""
        return {name: forms.get("empty", 0) for name, forms in self.shown.items()}

    @property
    def passed(self) -> bool:
        """True if every check passed."""
        return all(check.passed for check in self.checks)

    def _repr_html_(self) -> str:
        from incrowd.vocabulary.views import verdict_view

        sizes = self.sizes
        figures = {"rows": f"{sizes.rows:,}", "groups": f"{sizes.classes:,}", "smallest group": f"{sizes.smallest:,}"}
        return verdict_view(self.checks, figures)

    def proven(self, thing: str) -> Verdict:
        """The verdict itself; raises unless every check passed: then the ``thing`` is not published."""
        if not self.passed:
            failed = "; ".join(f"{check.name}: {check.finding}" for check in self.checks if not check.passed)
            raise VerificationError(f"The {thing} failed its verification and was not published. {failed}.")
        return self

    @property
    def exit_status(self) -> int:
        """0: everything holds, 1: something does not."""
        return 0 if self.passed else 1

    def to_json(self) -> dict[str, Any]:
        """The verdict as plain data; what it counted beside classes of rows is not in it."""
        return {
            "passed": self.passed,
            "checks": [check.to_json() for check in self.checks],
            "rows": self.sizes.rows,
            "classes": self.sizes.classes,
            "smallest_class": self.sizes.smallest,
            "class_size_histogram": [list(bar) for bar in self.sizes.histogram],
        }

    @classmethod
    def from_json(cls, data: dict[str, Any], persons: dict[str, Any] | None = None, **counted: Any) -> Verdict:
        """The verdict in plain data; what it counted beside that, also of persons, is given apart."""
        bars = tuple((size, classes) for size, classes in data["class_size_histogram"])
        people = None if persons is None else PersonCounts.from_json(persons)
        sizes = ClassSizes(data["rows"], data["classes"], data["smallest_class"], bars, people)
        verdict = cls(sizes, tuple(map(Check.from_json, data["checks"])), **counted)
        unchanged, beside = (
            counted.get(name) and UnchangedCounts.from_json(counted[name]) for name in ("unchanged", "beside")
        )
        return replace(verdict, digests=tuple(verdict.digests), unchanged=unchanged, beside=beside)

    def __str__(self) -> str:
        return "\n".join(
            f"{'passed' if check.passed else 'FAILED'}  {check.name}: {check.finding}" for check in self.checks
        )
