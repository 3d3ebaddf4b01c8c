"""What the kADET paper says, judged by our results and by the trees themselves."""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean

from incrowd.lab.reproduce.evidence import Evidence
from incrowd.lab.reproduce.experiment import Verdict
from incrowd.lab.reproduce.spans import Spans

BUMP, AFTER = BUMP_KS = (750, 1000)
UNEXPOSED = 75
BEST_HIDDEN = 75.1


def better_by(part: str) -> Callable[[Evidence], Verdict | None]:
    """A judge: is kADET's error lower than that of trees from TDS releases, on average over k?"""

    def judge(evidence: Evidence) -> Verdict | None:
        own = {value.k: value.mean for value in evidence.select(part=part, algorithm="kADET")}
        other = {value.k: value.mean for value in evidence.select(part=part, algorithm="TDS")}
        common = sorted(own.keys() & other.keys())
        if not common:
            return None
        gain = fmean(other[k] - own[k] for k in common)
        return Verdict(gain > 0, f"{abs(gain):.2f} points {'lower' if gain > 0 else 'higher'}, over {len(common)} k")

    return judge


def bumps(evidence: Evidence) -> Verdict | None:
    """The error at two k."""
    errors = {value.k: value.mean for value in evidence.select(part="id3", algorithm="kADET")}
    if BUMP not in errors or AFTER not in errors:
        return None
    return Verdict(errors[BUMP] > errors[AFTER], f"{errors[BUMP]:.2f} % and {errors[AFTER]:.2f} %")


def has_root(evidence: Evidence) -> Verdict | None:
    """What the root tests at two k."""
    roots = {spans.k: spans.root for spans in _spans(evidence, "id3")}
    if BUMP not in roots or AFTER not in roots:
        return None
    found = roots[BUMP], roots[AFTER]
    return Verdict(found == ("relationship", "marital-status (groups)"), f"{found[0]}; {found[1]}")


def exposes_none(evidence: Evidence) -> Verdict | None:
    """The smallest k from which on no span has a single class."""
    found = _spans(evidence, "c45")
    if not any(spans.k >= UNEXPOSED for spans in found):
        return None
    exposing = [spans.k for spans in found if spans.exposed]
    clean = [spans.k for spans in found if spans.k > max(exposing, default=0)]
    said = f"from k = {min(clean):,} on" if clean else "at every k somebody is"
    shares = ", ".join(f"{100 * spans.exposed:.1f} % at k = {spans.k:,}" for spans in found if spans.exposed)
    return Verdict(bool(clean) and min(clean) <= UNEXPOSED, f"{said}; exposed: {shares or 'none'}")


def worst_confidence(evidence: Evidence) -> Verdict | None:
    """The share of the larger class among the rows to learn from."""
    share = evidence.facts.get("majority")
    if not isinstance(share, float):
        return None
    return Verdict(round(100 * share, 1) == BEST_HIDDEN, f"{100 * share:.1f} %")


def _spans(evidence: Evidence, part: str) -> list[Spans]:
    found = evidence.facts.get(f"spans {part}", ())
    return [one for one in found if isinstance(one, Spans)] if isinstance(found, tuple) else []
