"""What the attacks found, as plain data: on the release, and on the table as if it were released as it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from incrowd.drawing.wording import counted
from incrowd.report.certificate import plain

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
        ends = finding.get("interval")
        return cls(
            attack=finding["attack"],
            verdict=finding["verdict"] if finding["verdict"] in (LEAK, NO_LEAK) else NOT_RUN,
            words=finding.get("words", ""),
            measured=finding.get("measured"),
            control=finding.get("control"),
            interval=None if ends is None else (ends[0], ends[1]),
            goal=finding.get("goal"),
            unit=finding.get("unit", ""),
            asks=asks,
        )

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
