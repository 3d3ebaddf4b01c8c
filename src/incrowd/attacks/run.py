"""All attacks on one release, one after the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Unpack

from incrowd.attacks.attack import LEAK, NO_LEAK, NOT_RUN, Finding
from incrowd.attacks.catalog import Attack, find_attacks
from incrowd.attacks.opening import AttackRequest, open_scene
from incrowd.attacks.options import AttackOptions
from incrowd.attacks.scene import Scene
from incrowd.errors import IncrowdError, guarded
from incrowd.vocabulary.option import described

Progress = Callable[[str], None]


@dataclass(frozen=True)
class AttackReport:
    """What the attacks found, in their order.

    Examples
    --------
    >>> report = AttackReport((Finding("not run", "How it was made is not known.", attack="minimality"),))
    >>> print(report)
    minimality: not run. How it was made is not known.
    0 of 1 attacks found a leak; 1 did not run, which says nothing about the risk.
    """

    findings: tuple[Finding, ...]

    def _count(self, verdict: str) -> int:
        return sum(finding.verdict == verdict for finding in self.findings)

    @property
    def leaks(self) -> tuple[Finding, ...]:
        """What leaked."""
        return tuple(finding for finding in self.findings if finding.verdict == LEAK)

    @property
    def summary(self) -> str:
        """How many attacks found a leak, and how many did not run."""
        gone = self._count(NOT_RUN)
        leaks = f"{self._count(LEAK)} of {len(self.findings)} attacks found a leak"
        return f"{leaks}; {gone} did not run, which says nothing about the risk." if gone else f"{leaks}."

    def plot(self, *, ax: Any = None) -> Any:
        """What each attack measured with its interval, beside its control and its goal.

        Parameters
        ----------
        ax
            Axes of Matplotlib to draw on, which are given back.

        Returns
        -------
        Drawing
            Notebooks show it; ``.save("attacks.svg")`` writes it.
        """
        from incrowd.attacks.page import attacks_drawing

        drawing = attacks_drawing(self.findings)
        return drawing if ax is None else drawing.on(ax)

    def _repr_html_(self) -> str:
        from incrowd.attacks.page import report_page

        return report_page(self, "", whole=False)

    @property
    def seconds(self) -> float:
        """How long all took."""
        return sum(finding.seconds for finding in self.findings)

    def __getitem__(self, attack: str) -> Finding:
        return next(finding for finding in self.findings if finding.attack == attack)

    def __str__(self) -> str:
        return "\n".join([*map(str, self.findings), self.summary])

    def to_json(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "incrowd_attacks": 1,
            "leaks": self._count(LEAK),
            "no leak found": self._count(NO_LEAK),
            "not run": self._count(NOT_RUN),
            "findings": [finding.to_json() for finding in self.findings],
        }


def attack_scene(
    scene: Scene, only: Iterable[str | Attack] | None = None, progress: Progress | None = None
) -> AttackReport:
    """Run the attacks, all or those named; one that cannot run says so and does not stop the others."""
    attacks = find_attacks(only)
    tell = progress or (lambda _: None)
    findings = []
    for number, attack in enumerate(attacks, start=1):
        tell(f"{attack.name} ({number} of {len(attacks)})")
        findings.append(run_attack(attack, scene))
    return AttackReport(tuple(findings))


def run_attack(attack: Attack, scene: Scene) -> Finding:
    """One attack, timed; what keeps it from running is told."""
    begun = time.perf_counter()
    try:
        finding = attack.run(scene)
    except IncrowdError as error:
        finding = Finding(NOT_RUN, str(error), attack=attack.name)
    return replace(finding, seconds=time.perf_counter() - begun)


@described(AttackOptions)
@guarded
def attack_release(
    release: Any,
    original: Any,
    *,
    only: Iterable[str | Attack] | None = None,
    progress: Callable[[str], None] | None = None,
    **options: Unpack[AttackOptions],
) -> AttackReport:
    """Attack a release as somebody would who knows more than its owner likes, and say how far that goes.

    Parameters
    ----------
    release, original
        Paths or frames, or what ``incrowd.release`` gave back.
    only
        Names of attacks, or attacks of your own; all of incrowd's if not given.
    progress
        Called with the name of each attack as it begins.
    {options}

    Returns
    -------
    AttackReport
        A finding for each attack: ``leak``, ``no leak found``, or ``not run`` with the reason.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [30, 41] * 20, "ill": ["no", "yes"] * 20})
    >>> found = attack_release(people, people, quasi_identifiers=["age"], target="ill", only=["homogeneity"], seed=1)
    >>> found["homogeneity"].verdict, found["homogeneity"].measured
    ('leak', 1.0)
    """
    tell = progress or (lambda _: None)
    tell("reading")
    return attack_scene(open_scene(AttackRequest(release, original, **options)), only, progress)
