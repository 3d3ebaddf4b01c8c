"""Which cells are tried: Adult, the small tables of the papers, the class as a secret, and Blend without its parts."""

from __future__ import annotations

from collections.abc import Iterator

from incrowd.lab.blending.cells import BINNED, COUNTS, PLAIN, STRICT, UNPROTECTED, Cell

ADULT, KS, SETS = "adult", (5, 20, 50, 100, 500, 1000), ("14/14", "11/14", "8/14")
SMALL = (
    "credit-approval", "pima", "glass", "ionosphere", "nursery", "tic-tac-toe", "vehicle", "waveform", "german-credit",
    "breast-cancer", "car",
)  # fmt: skip
UNSEEN = ("breast-cancer", "car")
SMALL_KS, LARGE_KS = (5, 10, 30), (50, 200)
RIVALS = (
    ("infogain-mondrian", COUNTS),
    ("kactus", PLAIN),
    ("kactus-plus", PLAIN),
    ("tdr", PLAIN),
    ("kadet", PLAIN),
    ("mondrian", PLAIN),
    ("mondrian", COUNTS),
    ("infogain-mondrian", PLAIN),
    ("blend", STRICT),
)
SECRETLY = 2
SECRETS = ("entropy-l=1.2", "entropy-l=1.4", "entropy-l=1.6", "t-equal=0.3", "t-equal=0.2")
WITH_SECRETS = (
    ("blend", COUNTS),
    ("infogain-mondrian", COUNTS),
    ("mondrian", COUNTS),
    ("kactus", PLAIN),
    ("kactus-plus", PLAIN),
    ("infogain-mondrian", PLAIN),
    ("mondrian", PLAIN),
    ("tdr", PLAIN),
    ("kadet", PLAIN),
)
PARTS = {
    "all of it": "blend",
    "nothing hidden": "blend(hide=False)",
    "no splits on the score": "blend(scores=0)",
    "attributes do not count": "blend(attributes=0)",
    "the class itself does not count": "blend(labels=0)",
    "finer bins": "blend(bins='fine')",
    "a logistic guide": "blend(guide='logistic')",
    "a guide of naive Bayes": "blend(guide='bayes')",
}
PART_KS, SMALL_PART_KS = (5, 100, 1000), (5, 50)
SMALL_PARTS = tuple(table for table in SMALL if table not in ("glass", "nursery", *UNSEEN))
"""Without glass, which is too small for k = 50, and nursery, where a class of two rows makes boosting erratic."""


def adult_cells(repetitions: int) -> Iterator[Cell]:
    """Adult: Blend first, then its rivals, then, twice, the class as a secret; repetition by repetition."""
    for repetition in range(repetitions):
        for fold in (0, 1):
            for known in SETS:
                split = (repetition, fold)
                yield Cell(ADULT, known, UNPROTECTED, PLAIN, 1, "", *split)
                yield Cell(ADULT, known, BINNED, PLAIN, 5, "", *split)
                for method, form in (("blend", COUNTS), *RIVALS):
                    yield from (Cell(ADULT, known, method, form, k, "", *split) for k in KS)
        if repetition < SECRETLY:
            for fold in (0, 1):
                yield from secret_cells(repetition, fold)


def secret_cells(repetition: int, fold: int) -> Iterator[Cell]:
    """Adult, the class a secret: at k = 100 every requirement, at k = 1000 one."""
    for method, form in WITH_SECRETS:
        for asked in SECRETS:
            yield Cell(ADULT, "14/14", method, form, 100, asked, repetition, fold)
        yield Cell(ADULT, "14/14", method, form, 1000, "entropy-l=1.4", repetition, fold)


def small_cells(repetitions: int) -> Iterator[Cell]:
    """The small tables: Blend, kACTUS and InfoGain groups as counts; k no larger than a fifth of the rows."""
    from incrowd.lab.datasets.catalog import find_dataset

    for repetition in range(repetitions):
        for table in SMALL:
            rows = find_dataset(table).rows // 2
            for fold in (0, 1):
                split = (repetition, fold)
                yield Cell(table, "all", UNPROTECTED, PLAIN, 1, "", *split)
                yield Cell(table, "all", BINNED, PLAIN, 5, "", *split)
                for k in (k for k in (*SMALL_KS, *LARGE_KS) if 5 * k <= rows):
                    for method, form in (("blend", COUNTS), ("infogain-mondrian", COUNTS), ("kactus", PLAIN)):
                        yield Cell(table, "all", method, form, k, "", *split)
                    yield Cell(table, "all", "blend", STRICT, k, "", *split)


def part_cells(repetitions: int) -> Iterator[Cell]:
    """Blend without each of its parts, with one deal instead of five, and the standing control."""
    tables = [(ADULT, "14/14", PART_KS), *((table, "all", SMALL_PART_KS) for table in SMALL_PARTS)]
    for repetition in range(repetitions):
        for table, known, ks in tables:
            for fold in (0, 1):
                split = (repetition, fold)
                yield Cell(table, known, UNPROTECTED, PLAIN, 1, "", *split)
                for k in ks:
                    for method in PARTS.values():
                        yield Cell(table, known, method, COUNTS, k, "", *split)
                    yield Cell(table, known, "blend", COUNTS, k, "", *split, deals=1)
                    yield Cell(table, known, "blend", STRICT, k, "", *split)
                    yield Cell(table, known, "infogain-mondrian", COUNTS, k, "", *split)
