"""What each part of Blend is worth: the method without it, on the same splits. A part that gives nothing has to go."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean

from incrowd.lab.blending.cells import COUNTS, PLAIN, STRICT, UNPROTECTED
from incrowd.lab.blending.experiments import ADULT, PART_KS, PARTS, SMALL_PART_KS, SMALL_PARTS, part_cells
from incrowd.lab.blending.figures import LEARNERS, Figures, said, table
from incrowd.lab.blending.trying import SEED


def ablation_page(kept: Path, repetitions: int) -> str:
    """The page, from what is kept so far."""
    return "\n".join(_lines(Figures.kept(kept, part_cells(repetitions)), repetitions)) + "\n"


def _lines(figures: Figures, repetitions: int) -> Iterator[str]:
    splits = figures.splits(part_cells(repetitions))
    yield "# What the parts of Blend are worth"
    yield ""
    yield (
        f"Written by `incrowd lab ablate blend`: two-fold cross-validation, {splits} of {2 * repetitions} splits "
        f"finished, seed {SEED}. Accuracy in per cent of {', '.join(LEARNERS.values())}, and their mean. Every variant "
        "has the same rows, and, unless it is about them, the same guide and the same hidden attributes. A part that "
        "gives less than 0.1 points on average, on Adult and on the small tables, is not worth its lines; differences "
        "under 0.5 in a single cell are noise."
    )
    yield "\n## Adult, all attributes quasi-identifiers"
    yield from _variants(figures, [(ADULT, "14/14")], PART_KS)
    yield f"\n## {', '.join(SMALL_PARTS)}: means"
    yield from _variants(figures, [(name, "all") for name in SMALL_PARTS], SMALL_PART_KS)


def _variants(figures: Figures, tables: Sequence[tuple[str, str]], ks: Sequence[int]) -> Iterator[str]:
    variants = [(said_so, method, COUNTS, 5) for said_so, method in PARTS.items()]
    variants += [
        ("one deal instead of five", "blend", COUNTS, 1),
        ("plain values instead of counts", "blend", STRICT, 5),
        ("InfoGain Mondrian's groups, as counts", "infogain-mondrian", COUNTS, 5),
    ]
    rows = [
        [name, *(_cell(figures, tables, method, form, k, deals) for k in ks)] for name, method, form, deals in variants
    ]
    rows.append(["unprotected", _cell(figures, tables, UNPROTECTED, PLAIN, 1, 5), *[""] * (len(ks) - 1)])
    yield from table(["", *(f"k={k}" for k in ks)], rows)


def _cell(figures: Figures, tables: Sequence[tuple[str, str]], method: str, form: str, k: int, deals: int) -> str:
    values = []
    for learner in LEARNERS:
        each = [figures.accuracy(figures.of(*one, method, form, k, deals=deals), learner) for one in tables]
        known = [value for value in each if value is not None]
        values.append(fmean(known) if len(known) == len(each) else None)
    known = [value for value in values if value is not None]
    mean = fmean(known) if len(known) == len(values) else None
    return f"{' / '.join(map(said, values))}: **{said(mean, 2)}**"
