"""The page about Blend on the small tables of the papers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from incrowd.lab.blending.cells import BINNED, COUNTS, PLAIN, STRICT, UNPROTECTED
from incrowd.lab.blending.experiments import LARGE_KS, SMALL, SMALL_KS, UNSEEN, small_cells
from incrowd.lab.blending.figures import LEARNERS, Figures, asker, at_or_above, said, table
from incrowd.lab.blending.trying import SEED
from incrowd.lab.machine import machine

KS = (*SMALL_KS, *LARGE_KS)
RIVALS = {"kactus": PLAIN, "infogain-mondrian": COUNTS}


def small_page(kept: Path, repetitions: int) -> str:
    """The page, from what is kept so far."""
    figures = Figures.kept(kept, small_cells(repetitions))
    return "\n".join(_lines(figures, repetitions)) + "\n"


def _lines(figures: Figures, repetitions: int) -> Iterator[str]:
    splits = figures.splits(small_cells(repetitions))
    yield "# Blend on the small tables of the papers"
    yield ""
    yield (
        f"Written by `incrowd lab blend small`: two-fold cross-validation, {splits} of {2 * repetitions} splits "
        f"finished, seed {SEED}; all attributes are quasi-identifiers, rows with missing values left out, k up to a "
        "fifth of the rows learned from. All of these tables but "
        f"{' and '.join(UNSEEN)} were looked at while Blend's parameters were chosen, on splits of another seed: of "
        "these the splits are new, the tables are not. "
        "Halves have 107 to 6,480 rows, so single cells are noisy: a point is one row in Glass."
    )
    yield from _verdicts(figures)
    for learner, name in LEARNERS.items():
        yield f"\n## {name[0].upper()}{name[1:]}"
        rows = []
        for one in SMALL:
            ask = asker(figures, one, "all")
            cells = [
                " / ".join(said(ask(m, f, k, learner)) for m, f in (("blend", COUNTS), *RIVALS.items())) for k in KS
            ]
            rows.append([one, said(ask(UNPROTECTED, PLAIN, 1, learner)), said(ask(BINNED, PLAIN, 5, learner)), *cells])
        yield "\nBlend / kACTUS / InfoGain Mondrian as counts:"
        yield from table(["", "unprotected", "same bins", *(f"k={k}" for k in KS)], rows)
    yield "\n## How it was measured\n"
    yield machine()


def _verdicts(figures: Figures) -> Iterator[str]:
    asks = {one: asker(figures, one, "all") for one in SMALL}

    def pairs(method: str, form: str, ks: Sequence[int], learner: str) -> list[tuple[float | None, float | None]]:
        return [(a("blend", COUNTS, k, learner), a(method, form, k, learner)) for a in asks.values() for k in ks]

    def lost(ks: Sequence[int], learner: str, method: str) -> str:
        at = 1 if method == UNPROTECTED else 5
        apart = [
            mine - plain
            for ask in asks.values()
            for k in ks
            if (mine := ask("blend", COUNTS, k, learner)) is not None
            and (plain := ask(method, PLAIN, at, learner)) is not None
        ]
        return said(median(apart)) if apart else said(None)

    yield "\n## In short\n"
    yield "Cells at or above (mean difference); median difference to learning from the rows themselves:"
    rows = []
    for learner, name in LEARNERS.items():
        rows.append(
            [
                name,
                at_or_above(pairs("kactus", PLAIN, SMALL_KS, learner)),
                at_or_above(pairs("infogain-mondrian", COUNTS, SMALL_KS, learner)),
                at_or_above(pairs("infogain-mondrian", COUNTS, LARGE_KS, learner)),
                at_or_above(pairs("blend", STRICT, KS, learner)),
                f"{lost((*SMALL_KS, 50), learner, UNPROTECTED)} ({lost((*SMALL_KS, 50), learner, BINNED)})",
                f"{lost((200,), learner, UNPROTECTED)} ({lost((200,), learner, BINNED)})",
            ]
        )
    header = ["", "kACTUS, k <= 30", "InfoGain counts, k <= 30", "InfoGain counts, k >= 50", "its own strict form"]
    yield from table([*header, "k <= 50: unprotected (same bins)", "k = 200"], rows)
