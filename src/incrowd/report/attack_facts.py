"""What the attacks found, as plain data: on the release, and on the table as if it were released as it is.

Earlier releases about the same people, as the report and the certificate tell them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from incrowd.drawing.wording import counted
from incrowd.report.certificate import plain

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


LEAK, NO_LEAK, NOT_RUN = "leak", "no leak found", "not run"
UNASKED = "It was not requested."


@dataclass(frozen=True)
class AttackFact:
    """One attack: how far it came, how far without the release, what it should keep to.

    ``words`` is what was found, or why the attack did not run; ``asks`` what the attacker does, if that was told.
    """

    attack: str
    verdict: str
    words: str = ""
    measured: float | None = None
    control: float | None = None
    interval: tuple[float, float] | None = None
    goal: float | None = None
    unit: str = ""
    asks: str = ""

    @classmethod
    def of(cls, finding: Mapping[str, Any], asks: str = "") -> AttackFact:
        """A finding of the attack lab in its plain form."""
        known: dict[str, Any] = {one.name: finding[one.name] for one in fields(cls) if one.name in finding}
        known["interval"] = known.get("interval") and tuple(known["interval"])
        known["verdict"] = known["verdict"] if known["verdict"] in (LEAK, NO_LEAK) else NOT_RUN
        return cls(**known | {"asks": asks})

    def to_json(self) -> dict[str, Any]:
        """The figures; in words only why an attack did not run."""
        if self.verdict == NOT_RUN:
            return {"attack": self.attack, "verdict": NOT_RUN, "reason": self.words}
        figures = {"measured": self.measured, "control": self.control, "interval": self.interval, "goal": self.goal}
        return {"attack": self.attack, "verdict": self.verdict, **plain(figures), "unit": self.unit}


@dataclass(frozen=True)
class AttackFacts:
    """The attacks on the release, in their order; ``before`` those on the table itself, if they were tried."""

    after: tuple[AttackFact, ...]
    before: tuple[AttackFact, ...] | None = None

    def first(self, attack: str) -> AttackFact | None:
        """What the attack found on the table itself."""
        return next((one for one in self.before or () if one.attack == attack), None)

    def count(self, verdict: str) -> int:
        """How many attacks on the release ended so."""
        return sum(one.verdict == verdict for one in self.after)

    def to_json(self) -> dict[str, Any]:
        """The figures of all attacks."""
        return {
            "leaks": self.count(LEAK),
            "no_leak_found": self.count(NO_LEAK),
            "not_run": self.count(NOT_RUN),
            "after": [one.to_json() for one in self.after],
            "before": NOT_RUN if self.before is None else [one.to_json() for one in self.before],
        }


def attacks_of(
    after: Mapping[str, Any], before: Mapping[str, Any] | None = None, asks: Mapping[str, str] | None = None
) -> AttackFacts:
    """The facts of attack reports, on the release and on the table itself, in their plain form (``to_json()``).

    ``asks`` has what each attacker does, by the name of the attack. Give them all: those that the report on the release
    does not mention are entered as not run.
    """
    questions = asks or {}

    def facts_in(report: Mapping[str, Any]) -> tuple[AttackFact, ...]:
        return tuple(AttackFact.of(finding, questions.get(finding["attack"], "")) for finding in report["findings"])

    facts = facts_in(after)
    gone = questions.keys() - {one.attack for one in facts}
    left = tuple(AttackFact(name, NOT_RUN, UNASKED, asks=questions[name]) for name in questions if name in gone)
    return AttackFacts((*facts, *left), None if before is None else facts_in(before))


def attack_summary(attacks: AttackFacts) -> str:
    """How many attacks found a leak, and how many did not run.

    Examples
    --------
    >>> attack_summary(AttackFacts((AttackFact("row order", NO_LEAK), AttackFact("minimality", NOT_RUN))))
    '0 of 2 attacks found a leak, 1 found none, 1 did not run.'
    """
    leaks = f"{attacks.count(LEAK)} of {counted(len(attacks.after), 'attack')} found a leak"
    return f"{leaks}, {attacks.count(NO_LEAK)} found none, {attacks.count(NOT_RUN)} did not run."
