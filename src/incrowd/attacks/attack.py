"""What an attack is, and what it finds.

An attack that cannot run says so and why: "not run" is never a low risk.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Verdict = Literal["no leak found", "leak", "not run"]
NO_LEAK: Verdict = "no leak found"
LEAK: Verdict = "leak"
NOT_RUN: Verdict = "not run"


@dataclass(frozen=True)
class Finding:
    """What one attack found."""

    verdict: Verdict  # ``no leak found``, ``leak`` or ``not run``
    words: str  # what was found, or why the attack did not run, in a sentence without any cell value
    measured: float | None = None
    control: float | None = None
    interval: tuple[float, float] | None = None  # the 99 % confidence interval of what was measured
    goal: float | None = None  # what the measure shall keep to, if the design names a number
    unit: str = ""  # of measured, control, interval and goal: ``share``, ``points``, ``AUC`` and so on
    details: Mapping[str, float] = field(default_factory=dict)  # more numbers, by name
    attack: str = ""  # its name in the catalog
    seconds: float = 0.0  # how long it took

    def __str__(self) -> str:
        if self.measured is None or self.interval is None:
            return f"{self.attack}: {self.verdict}. {self.words}"
        low, high = self.interval
        figures = [f"{self.measured:.4g} {self.unit} (99 % interval {low:.4g} to {high:.4g})"]
        figures += [] if self.control is None else [f"control {self.control:.4g}"]
        figures += [] if self.goal is None else [f"goal {self.goal:.4g}"]
        return f"{self.attack}: {self.verdict}. {', '.join(figures)}. {self.words}"

    def to_json(self) -> dict[str, Any]:
        """The finding as plain data."""
        return {
            "attack": self.attack,
            "verdict": self.verdict,
            "words": self.words,
            "measured": self.measured,
            "control": self.control,
            "interval": None if self.interval is None else list(self.interval),
            "goal": self.goal,
            "unit": self.unit,
            "details": dict(self.details),
            "seconds": round(self.seconds, 3),
        }
