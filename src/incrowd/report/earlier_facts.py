"""Earlier releases about the same people, as the report and the certificate tell them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from incrowd.drawing.wording import counted

if TYPE_CHECKING:
    from incrowd.verification.joint import Joint


@dataclass(frozen=True)
class EarlierRelease:
    """A release of the ledger that this one was compared with."""

    # the digest of its bytes, when, and what it promises
    sha256: str
    made: str = ""
    requirement: str = ""
    # by what people were compared, and what came of it
    by: str = "identifier"
    relation: str = "complete"
    shared: int | None = None  # people of the table who are in it; None if that cannot be told, or was not looked at

    @property
    def when(self) -> str:
        """When it was made, for people.

        Examples
        --------
        >>> EarlierRelease("", "2026-01-02T03:04:05+00:00").when
        '2026-01-02 03:04 UTC'
        """
        date, _, time = self.made.partition("T")
        return f"{date} {time[:5]} UTC" if time else date


@dataclass(frozen=True)
class Earlier:
    """What the ledger knows of the people of a table."""

    releases: tuple[EarlierRelease, ...] = ()  # the releases of the ledger, the first one first
    # what those that share people make together with this one; None if nothing had to be counted
    joint: Joint | None = None
    # people of the table, and those of them who are in earlier releases
    people: int = 0
    shared: int = 0
    same_groups: bool = False  # whether the groups are those of an earlier release of the same people
    vouched: tuple[Mapping[str, Any], ...] = ()  # what somebody vouched for
    despite: bool = False  # whether this release was published though more is told together than was promised
    not_counted: tuple[str, ...] = ()  # what of the ledger could not be counted, and why
    # the number of this release in the ledger, and the MAC of its entry
    entry: int = 0
    mac: str = ""

    @property
    def ways(self) -> tuple[str, ...]:
        """By what people were compared, each way once."""
        return tuple(dict.fromkeys(one.by for one in self.releases if one.shared is not None))

    def to_json(self) -> dict[str, Any]:
        """The figures."""
        compared = ("sha256", "by", "relation", "shared")
        return {
            "entry": self.entry,
            "mac": self.mac,
            "compared": [{name: getattr(one, name) for name in compared} for one in self.releases],
            "people": {"table": self.people, "shared": self.shared},
            "same_groups": self.same_groups,
            "k": None if self.joint is None else self.joint.k,
            "below_k": None if self.joint is None else asdict(self.joint.below),
            "smallest": None if self.joint is None else asdict(self.joint.smallest),
            "said": [dict(one) for one in self.vouched],
            "despite": self.despite or bool(self.not_counted),
            "not_counted": list(self.not_counted),
        }


def joint_sentence(ledger: Earlier) -> str:
    """What this release and the earlier ones tell together.

    Examples
    --------
    >>> joint_sentence(Earlier())
    'The ledger has no earlier release.'
    """
    if not ledger.releases:
        return "The ledger has no earlier release."
    number = sum(one.shared is not None for one in ledger.releases)
    if not number:
        return f"None of {counted(len(ledger.releases), 'earlier release')} was compared."
    people = (
        f"Compared with {counted(number, 'earlier release')} by {' and by '.join(ledger.ways)}: "
        f"{ledger.shared:,} of {ledger.people:,} people are in {'it' if number == 1 else 'them'}."
    )
    return f"{people} {_joint(ledger)}" + " It was published despite that." * ledger.despite


def _joint(ledger: Earlier) -> str:
    if ledger.same_groups:
        return "The groups are those of an earlier release: together the releases reveal no more than that one."
    if ledger.joint is None:
        return "Nothing had to be counted together."
    figures, fewest = asdict(ledger.joint.below), asdict(ledger.joint.smallest)
    below = [f"{number:,} {who}" for who, number in figures.items() if number]
    if not below:
        return f"Together, no group of shared, new or left people became smaller than {ledger.joint.k}."
    least = min(number for number in fewest.values() if number is not None)
    return (
        f"Together, groups became smaller than {ledger.joint.k} for {' and '.join(below)} people, the smallest of "
        f"{least:,}."
    )
