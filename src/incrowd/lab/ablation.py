"""What each part of Blend is worth: the method without it, on the same splits. A part that gives nothing has to go."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

from incrowd.lab.blending.cells import COUNTS, PLAIN, STRICT, UNPROTECTED, read_outcomes
from incrowd.lab.blending.experiments import ADULT, PART_KS, PARTS, part_cells
from incrowd.lab.blending.figures import LEARNERS, Figures, said, table
from incrowd.lab.blending.trying import SEED

KNOWN = "14/14"


def ablation_page(kept: Path, repetitions: int) -> str:
    """The page, from what is kept so far."""
    return "\n".join(_lines(Figures(read_outcomes(kept)), repetitions)) + "\n"


def _lines(figures: Figures, repetitions: int) -> Iterator[str]:
    splits = figures.splits(part_cells(repetitions))
    yield "# What the parts of Blend are worth"
    yield ""
    yield (
        f"Written by `incrowd lab ablate blend`: Adult {KNOWN}, two-fold cross-validation, {splits} of "
        f"{2 * repetitions} splits finished, seed {SEED}. Accuracy in per cent of {', '.join(LEARNERS.values())}, and "
        "their mean. A part that gives less than 0.1 points on average is not worth its lines; differences under 0.5 "
        "in a single cell are noise."
    )
    variants = [(said_so, method, COUNTS, 5) for said_so, method in PARTS.items()]
    variants += [
        ("one deal instead of five", "blend", COUNTS, 1),
        ("plain values instead of counts", "blend", STRICT, 5),
        ("InfoGain Mondrian's groups, as counts", "infogain-mondrian", COUNTS, 5),
    ]
    rows = [
        [name, *(_cell(figures, method, form, k, deals) for k in PART_KS)] for name, method, form, deals in variants
    ]
    rows.append(["unprotected", _cell(figures, UNPROTECTED, PLAIN, 1, 5), *[""] * (len(PART_KS) - 1)])
    yield from table(["", *(f"k={k}" for k in PART_KS)], rows)


def _cell(figures: Figures, method: str, form: str, k: int, deals: int) -> str:
    found = figures.of(ADULT, KNOWN, method, form, k, deals=deals)
    values = [figures.accuracy(found, learner) for learner in LEARNERS]
    known = [value for value in values if value is not None]
    mean = fmean(known) if len(known) == len(values) else None
    return f"{' / '.join(map(said, values))}: **{said(mean, 2)}**"
