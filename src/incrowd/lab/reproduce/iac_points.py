"""What the IAC paper's text and figures say, judged by our results."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from statistics import fmean

from incrowd.lab.reproduce.evidence import Evidence, Value
from incrowd.lab.reproduce.experiment import Verdict

OWN, OTHER, PLAIN = "IACk", "InfoGain Mondrian", "none"
J48_UP_TO, BAYES_UP_TO = 122, 147
CLOSE = 1.0


def beats_mondrian(part: str) -> Callable[[Evidence], Verdict | None]:
    """A judge: is IACk better in every cell? With 8 quasi-identifiers J48 is excused beyond k = 122."""

    def judge(evidence: Evidence) -> Verdict | None:
        gaps = [
            (value, gap)
            for value, gap in _gaps(evidence, part)
            if not (part == "8" and value.inducer == "J48" and value.k > J48_UP_TO)
        ]
        if not gaps:
            return None
        won = sum(gap > 0 for _, gap in gaps)
        by_learner = ", ".join(f"{name} {gap:+.2f}" for name, gap in _by_inducer(gaps).items())
        return Verdict(won == len(gaps), f"better in {won} of {len(gaps)} cells; mean difference {by_learner}")

    return judge


def j48_loses_later(evidence: Evidence) -> Verdict | None:
    """J48 with 8 quasi-identifiers beyond k = 122."""
    gaps = [gap for value, gap in _gaps(evidence, "8") if value.inducer == "J48" and value.k > J48_UP_TO]
    if not gaps:
        return None
    return Verdict(max(gaps) < 0, f"IACk minus InfoGain Mondrian: {', '.join(f'{gap:+.2f}' for gap in gaps)}")


def stays_close(evidence: Evidence) -> Verdict | None:
    """How far IACk is below the unprotected table, at most."""
    plain = {(value.part, value.inducer): value.mean for value in evidence.select(algorithm=PLAIN)}
    losses = [
        (plain[value.part, value.inducer] - value.mean, value)
        for value in evidence.select(algorithm=OWN)
        if (value.part, value.inducer) in plain
        and not (value.part == "4" and value.inducer == "Naive Bayes" and value.k > BAYES_UP_TO)
    ]
    if not losses:
        return None
    loss, value = max(losses, key=lambda found: found[0])
    near = sum(one <= CLOSE for one, _ in losses)
    said = f"{near} of {len(losses)} cells; at most {loss:.2f} below ({value.inducer}, {value.label}, k = {value.k:,})"
    return Verdict(near == len(losses), said)


def is_faster(evidence: Evidence) -> Verdict | None:
    """CPU seconds of a release."""
    seconds = {
        name: [result.release_seconds for cell in evidence.cells if cell.algorithm == name for result in cell.results]
        for name in (OWN, OTHER)
    }
    if not all(seconds.values()):
        return None
    own, other = fmean(seconds[OWN]), fmean(seconds[OTHER])
    return Verdict(own < other, f"{own:.2f} s and {other:.2f} s of CPU a release, on average")


def _gaps(evidence: Evidence, part: str) -> list[tuple[Value, float]]:
    other = {(value.inducer, value.k): value.mean for value in evidence.select(part=part, algorithm=OTHER)}
    return [
        (value, value.mean - other[value.inducer, value.k])
        for value in evidence.select(part=part, algorithm=OWN)
        if (value.inducer, value.k) in other
    ]


def _by_inducer(gaps: Iterable[tuple[Value, float]]) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for value, gap in gaps:
        found.setdefault(value.inducer, []).append(gap)
    return {name: fmean(each) for name, each in found.items()}
