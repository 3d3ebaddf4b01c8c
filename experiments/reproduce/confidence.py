"""Figures 6 to 8 of the kADET paper: who is exposed, and what it costs to limit how sure an attacker can be."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from experiments.reproduce.document import Block, Grid, Heading, Picture, Words, shown
from experiments.reproduce.evidence import Evidence
from experiments.reproduce.experiment import Case, Verdict
from experiments.reproduce.trees import Spans, grown
from incrowd.comparisons.choices import MAJORITY, Choice
from incrowd.comparisons.trial import DONE, Laboratory, Trial
from incrowd.drawing.markup import Html
from incrowd.drawing.svg import LEFT, RIGHT, WIDTH, Scale, chart, colour, even_scale, marker, path, plot, series_entry

LIMITS = (0.76, 0.78, 0.80, 0.82, 0.84, 0.85, 0.86, 0.88, 0.90, 0.92, 0.94, 0.96, 0.98, 0.99, 1.0)
"""Limits of an attacker's confidence; the first is just above the share of the larger class, the last is no limit."""
USELESS, HIGH, SLIGHT = 0.85, 0.99, 1.0
"""Where ID3 learns nothing, by the paper; what we take as high enough, and as no significant loss, in points."""
FORMS = {"id3": "ID3", "c45": "C4.5"}


@dataclass(frozen=True)
class Limited:
    """A tree under a limit: the l that stands for it, its error, its spans, and the largest share of a class in one.

    ``guessing`` is the error of who guesses the larger class. Shares and errors are parts of one.
    """

    limit: float
    l: float  # noqa: E741
    error: float
    guessing: float
    spans: int
    surest: float

    @property
    def useful(self) -> bool:
        """Whether the tree errs less than guessing."""
        return self.error < self.guessing


def bits_of(confidence: float) -> float:
    """The entropy of two classes, one of which has this share, in bits.

    Examples
    --------
    >>> round(bits_of(0.85), 2)
    0.61
    """
    shares = [share for share in (confidence, 1 - confidence) if share > 0]
    return -sum(share * math.log2(share) for share in shares)


def l_of(confidence: float) -> float:
    """The l whose entropy l-diversity limits the confidence in one of two classes.

    Examples
    --------
    >>> round(l_of(0.85), 3), l_of(1.0)
    (1.526, 1.0)
    """
    return max(1.0, round(2 ** bits_of(confidence), 6))


def look_at_limits(laboratory: Laboratory, case: Case) -> tuple[Limited, ...]:
    """The trees of a case under each limit, on the first split; entropy l-diversity stands in place of k-anonymity."""
    repetition, fold = next(iter(laboratory.splits))
    guess = laboratory.run(Trial(Choice.of(MAJORITY), 1, repetition, fold, case.learners))[0]
    guessing = 1 - (guess.accuracy or 0.0)
    trees = []
    for limit in LIMITS:
        choice = replace(case.choice, parameters=(*case.choice.parameters, ("l", l_of(limit))))
        trial = Trial(choice, 1, repetition, fold, case.learners)
        (result,) = laboratory.run(trial)
        induction, classes = grown(laboratory, trial)
        if result.status != DONE or result.accuracy is None or induction.model is None:
            continue
        surest = max(float(np.bincount(classes[span.rows]).max() / len(span.rows)) for span in induction.spans)
        trees.append(Limited(limit, l_of(limit), 1 - result.accuracy, guessing, induction.model.spans, surest))
    return tuple(trees)


def limited(facts: Mapping[str, object], part: str) -> dict[float, Limited]:
    """The trees of a part, by their limit."""
    trees = facts.get(f"limits {part}", ())
    return {one.limit: one for one in trees if isinstance(one, Limited)} if isinstance(trees, tuple) else {}


def costs_little(part: str) -> Callable[[Evidence], Verdict | None]:
    """A judge: does a high limit cost at most a point?"""

    def judge(evidence: Evidence) -> Verdict | None:
        trees = limited(evidence.facts, part)
        if HIGH not in trees or 1.0 not in trees:
            return None
        free = trees[1.0].error
        slight = [limit for limit, tree in trees.items() if 100 * (tree.error - free) <= SLIGHT]
        errors = f"{100 * trees[HIGH].error:.2f} % at {100 * HIGH:.0f} %, {100 * free:.2f} % without a limit"
        return Verdict(HIGH in slight, f"{errors}; within a point down to {100 * _lowest(slight, trees):.0f} %")

    return judge


def _lowest(slight: Sequence[float], trees: Mapping[float, Limited]) -> float:
    """The lowest limit from which on all are slight."""
    dear = [limit for limit in trees if limit not in slight]
    return min(limit for limit in trees if limit > max(dear, default=0.0))


def id3_learns_nothing(evidence: Evidence) -> Verdict | None:
    """The lowest limit at which a tree of ID3 errs less than guessing."""
    trees = limited(evidence.facts, "id3")
    if not trees:
        return None
    useful = _useful(trees)
    return Verdict(not useful or useful[0] > USELESS, _from(useful))


def root_stays_whole(evidence: Evidence) -> Verdict | None:
    """The trees of ID3 that split anything at the limits at which the paper says nothing can be split."""
    trees = [tree for limit, tree in limited(evidence.facts, "id3").items() if limit <= USELESS]
    if not trees:
        return None
    split = [tree for tree in trees if tree.spans > 1]
    surest = ", ".join(f"at {100 * one.limit:.0f} %, no class above {100 * one.surest:.1f} %" for one in split)
    return Verdict(not split, f"split: {surest}" if split else "no tree is split")


def c45_stretches(evidence: Evidence) -> Verdict | None:
    """The lowest limits at which C4.5 and ID3 err less than guessing."""
    own, other = (limited(evidence.facts, part) for part in ("c45", "id3"))
    if not own or not other:
        return None
    mine, theirs = _useful(own), _useful(other)
    met = bool(mine) and (not theirs or mine[0] < theirs[0])
    return Verdict(met, f"C4.5 {_from(mine)}; ID3 {_from(theirs)}")


def stays_below(evidence: Evidence) -> Verdict | None:
    """How many trees have a span in which a class has a larger share than the limit."""
    trees = [tree for part in FORMS for tree in limited(evidence.facts, part).values()]
    if not trees:
        return None
    above = sum(tree.surest > tree.limit + 1e-6 for tree in trees)
    return Verdict(not above, f"{above} of {len(trees)} trees have a surer span")


def gives_l(_evidence: Evidence) -> Verdict:
    """What a limit of 85 % is in bits, and as l."""
    bits, l = bits_of(USELESS), l_of(USELESS)  # noqa: E741
    return Verdict((round(bits, 2), round(l, 3)) == (0.61, 1.526), f"{bits:.2f} bits, l = {l:.3f}")


def _useful(trees: Mapping[float, Limited]) -> list[float]:
    return sorted(limit for limit, tree in trees.items() if tree.useful)


def _from(useful: Sequence[float]) -> str:
    return (
        f"errs less than guessing from a limit of {100 * useful[0]:.0f} % on"
        if useful
        else "never errs less than guessing"
    )


def figure_blocks(facts: Mapping[str, object]) -> Iterator[Block]:
    """Figures 6, 7 and 8: tables and drawings."""
    exposed = {name: _exposed(facts, part) for part, name in FORMS.items()}
    if any(exposed.values()):
        yield Heading("Figure 6: people whose class is certain")
        yield Words(
            "The share of the rows to learn from that are in spans of one class, in per cent. Drawn in the paper."
        )
        ks = sorted({k for series in exposed.values() for k in series})
        rows = tuple(shown(name, *(f"{series.get(k, math.nan):.1f}" for k in ks)) for name, series in exposed.items())
        yield Grid("Exposed, in per cent", ("scores", *(f"k={k:,}" for k in ks)), rows)
    for (part, name), number, attributes in zip(FORMS.items(), (7, 8), (8, 14), strict=True):
        trees = limited(facts, part)
        if not trees:
            continue
        yield Heading(f"Figure {number}: limits of confidence against error, {name} scores, {attributes} attributes")
        yield Words(
            "Entropy l-diversity of the class in every span, in place of k-anonymity; l follows from the limit. "
            f"Guessing the larger class errs in {100 * next(iter(trees.values())).guessing:.2f} %. The paper draws "
            "its errors and prints none; what its text says is judged above."
        )
        yield _limits_grid(trees)
        title = f"Figure {number}: error by the limit of confidence, {name} scores"
        yield Picture(f"reproduction_kadet_confidence_{part}", title, _drawing(title, trees))


def _exposed(facts: Mapping[str, object], part: str) -> dict[int, float]:
    facts_of_part = facts.get(f"spans {part}", ())
    spans = [one for one in facts_of_part if isinstance(one, Spans)] if isinstance(facts_of_part, tuple) else []
    return {one.k: 100 * one.exposed for one in spans}


def _limits_grid(trees: Mapping[float, Limited]) -> Grid:
    rows = tuple(
        shown(
            "none" if tree.limit == 1 else f"{100 * tree.limit:.0f} %",
            f"{tree.l:.4f}",
            f"{100 * tree.error:.2f}",
            f"{tree.spans:,}",
            f"{100 * tree.surest:.1f}",
        )
        for tree in trees.values()
    )
    return Grid("Limits", ("limit", "l", "error, %", "spans", "largest share of a class in a span, %"), rows)


def _drawing(title: str, trees: Mapping[float, Limited]) -> Html:
    points = [(100 * tree.limit, 100 * tree.error) for tree in trees.values()]
    guessing = [(at, 100 * tree.guessing) for (at, _), tree in zip(points, trees.values(), strict=True)]
    series = {"error": points, "guessing the larger class": guessing}
    across: Scale = even_scale([at for at, _ in points], LEFT, WIDTH - RIGHT)
    entries = [series_entry(name, place) for place, name in enumerate(series)]
    heights = [value for line in series.values() for _, value in line]
    up, parts = plot(entries, across, partial(even_scale, heights), ("limit of confidence, %", "% wrong"))
    for place, (name, line) in enumerate(series.items()):
        parts.append(path([(across(at), up(value)) for at, value in line], f"line {colour(place)}"))
        parts += [
            marker(place, (across(at), up(value)), 4, f"{name}, {at:g} %: {value:.2f} %")
            for at, value in line
            if not place
        ]
    values = ", ".join(f"{at:g} %: {value:.1f} %" for at, value in points)
    return chart(f"{title}. {values}", parts, up)
