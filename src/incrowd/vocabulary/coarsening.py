"""Rules by which a column is made coarser as it is read: what each is called, and what it means.

::

    year            a date becomes its year
    year-from-1936  the same, and years before 1936 become 1936: "1936 or earlier"
    top-90          numbers above 90 become 90: "90 or more"
    zip3            a ZIP code becomes its first three digits, and 000 where 20,000 people or fewer live
    none            the column stays as it is, whatever a preset says

A missing cell stays missing. Reading and verification each know by themselves how a rule is kept.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from incrowd.errors import ParameterError

YEAR, TOP, ZIP3, NONE = "year", "top", "zip3", "none"
SMALL_AREAS = frozenset(
    (
        *("036", "059", "063", "102", "202", "203", "204", "205", "369", "556", "692", "753"),
        *("772", "790", "821", "823", "830", "831", "878", "879", "884", "890", "893"),
    )
)
"""Three-digit ZIP areas of 20,000 people or fewer in the census of 2000 (the list of the HHS) or in that of 2010."""
NO_AREA = "000"
"""What stands for a small area, and for what is no ZIP code."""
_RULE = re.compile(r"(year)(?:-from-([0-9]{4}))?|(top)-([0-9]{1,9})|(zip3)|(none)")


@dataclass(frozen=True)
class Coarsening:
    """A rule: its kind, and the number at which it begins, if it has one.

    Examples
    --------
    >>> Coarsening.of("top-90"), str(Coarsening.of("year-from-1936"))
    (Coarsening(kind='top', bound=90), 'year-from-1936')
    """

    kind: str
    bound: int | None = None

    @classmethod
    def of(cls, text: str) -> Coarsening:
        """The rule that is called so."""
        match = _RULE.fullmatch(text) if isinstance(text, str) else None
        if match is None:
            raise ParameterError("A column is coarsened by year, year-from-1936, top-90, zip3 or none (any numbers).")
        year, first, top, most, *_ = match.groups()
        bound = first or most
        return cls(year or top or match[0], None if bound is None else int(bound))

    def __str__(self) -> str:
        between = "-from" if self.kind == YEAR else ""
        return self.kind if self.bound is None else f"{self.kind}{between}-{self.bound}"


def coarsenings(rules: Mapping[str, str] | None) -> dict[str, Coarsening]:
    """The rules of columns, those apart that change nothing.

    Examples
    --------
    >>> coarsenings({"seen": "year", "age": "none"})
    {'seen': Coarsening(kind='year', bound=None)}
    """
    if rules is not None and not isinstance(rules, Mapping):
        raise ParameterError("coarsen takes columns and their rules, such as age: top-90.")
    known = {name: Coarsening.of(rule) for name, rule in (rules or {}).items()}
    return {name: rule for name, rule in known.items() if rule.kind != NONE}
