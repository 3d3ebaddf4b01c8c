"""What the kACTUS paper's tables show, judged on any numbers of the same tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import fmean

from incrowd.lab.reproduce.evidence import Evidence, Value
from incrowd.lab.reproduce.experiment import Verdict

OWN, SETS = "kACTUS", ("8/14", "11/14", "14/14")
MAJORITY, CLOSE, ROUGHLY = 75.2, 1.5, 0.5
LARGE, SMALL = 500, 10
MOST = 0.75
STEP = 0.1
"""Points by which a mean may rise from one k to the next and still count as falling."""


def ours_is_better(evidence: Evidence) -> Verdict | None:
    """kACTUS minus each rival, on average over the cells that both have, table by table."""
    gaps = {}
    for part in ("3", "4", "5"):
        own = {_case(value): value.mean for value in evidence.select(part=part, algorithm=OWN)}
        for rival in ("TDS", "TDR", "kADET", "Mondrian"):
            pairs = [(own.get(_case(value)), value.mean) for value in evidence.select(part=part, algorithm=rival)]
            found = [mine - theirs for mine, theirs in pairs if mine is not None]
            if found:
                gaps[f"{rival} (Table {part})"] = fmean(found)
    if not gaps:
        return None
    said = ", ".join(f"{rival} {gap:+.2f}" for rival, gap in gaps.items())
    return Verdict(min(gaps.values()) >= 0, f"kACTUS minus {said}")


def falls_with_k(evidence: Evidence) -> Verdict | None:
    """The mean over all cells of kACTUS at each k; from one k to the next it may rise by a tenth of a point."""
    said, met = [], True
    for part in ("2", "3"):
        means = _means_by_k(_whole_series(evidence.select(part=part, algorithm=OWN)))
        if len(means) < 2:
            continue
        steps = list(means.values())
        met &= all(later <= earlier + STEP for earlier, later in pairwise(steps))
        said.append(f"Table {part}: " + ", ".join(f"{mean:.2f} (k={k:,})" for k, mean in means.items()))
    return Verdict(met, "; ".join(said)) if said else None


def fewer_known_is_better(evidence: Evidence) -> Verdict | None:
    """Mean accuracy of kACTUS for each set of quasi-identifiers."""
    values = evidence.select(part="3", algorithm=OWN)
    common = set.intersection(*({(v.inducer, v.k) for v in values if v.label == label} for label in SETS))
    if not common:
        return None
    means = [fmean(v.mean for v in values if v.label == label and (v.inducer, v.k) in common) for label in SETS]
    met = means[0] >= means[1] - ROUGHLY and means[1] >= means[2] - ROUGHLY
    return Verdict(met, ", ".join(f"{label} {mean:.2f}" for label, mean in zip(SETS, means, strict=True)))


def rivals_collapse(evidence: Evidence) -> Verdict | None:
    """How many of the rivals' cells with all attributes known and a large k are close to mere guessing."""
    said, near, total = [], 0, 0
    for part, rival in (("3", "TDS"), ("3", "TDR"), ("5", "Mondrian")):
        values = [v for v in evidence.select(part=part, label="14/14", algorithm=rival) if v.k >= LARGE]
        close = sum(abs(value.mean - MAJORITY) <= CLOSE for value in values)
        near, total = near + close, total + len(values)
        if values:
            said.append(f"{rival} {close} of {len(values)}, mean {fmean(v.mean for v in values):.2f}")
    return Verdict(near >= MOST * total, f"within {CLOSE} points: {'; '.join(said)}") if total else None


def logistic_is_unstable(evidence: Evidence) -> Verdict | None:
    """The largest standard deviation over the folds at k up to 10, of logistic regression and of the others."""
    values = [v for v in evidence.select(part="2", algorithm=OWN) if v.k <= SMALL and v.sd is not None]
    logistic = [v.sd for v in values if v.inducer == "Logistic" and v.sd is not None]
    others = [v.sd for v in values if v.inducer != "Logistic" and v.sd is not None]
    if not logistic or not others:
        return None
    said = f"largest standard deviation {max(logistic):.1f}; of other learners {max(others):.1f}"
    return Verdict(max(logistic) > max(others), said)


def _case(value: Value) -> tuple[str, str, int]:
    return value.label, value.inducer, value.k


def _whole_series(values: Sequence[Value]) -> list[Value]:
    """Without the series that lack a k: means of different series cannot be compared."""
    ks = {value.k for value in values}
    series: dict[tuple[str, str], list[Value]] = {}
    for value in values:
        series.setdefault((value.label, value.inducer), []).append(value)
    return [value for found in series.values() if len(found) == len(ks) for value in found]


def _means_by_k(values: Iterable[Value]) -> dict[int, float]:
    by_k: dict[int, list[float]] = {}
    for value in values:
        by_k.setdefault(value.k, []).append(value.mean)
    return {k: fmean(found) for k, found in sorted(by_k.items())}
