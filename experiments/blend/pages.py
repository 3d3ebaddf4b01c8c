"""The page about Blend on Adult."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, median

import polars as pl

from experiments.blend.cells import (
    ADULT,
    BINNED,
    COUNTS,
    KS,
    LARGE_KS,
    PART_KS,
    PARTS,
    PLAIN,
    RIVALS,
    SECRETLY,
    SECRETS,
    SETS,
    SMALL,
    SMALL_KS,
    SMALL_PART_KS,
    SMALL_PARTS,
    STRICT,
    UNPROTECTED,
    UNSEEN,
    WITH_SECRETS,
    adult_cells,
    part_cells,
    small_cells,
)
from experiments.blend.figures import LEARNERS, Figures, asker, at_or_above, figure, rivals_named, table
from experiments.blend.trying import SEED
from experiments.charts import line_chart
from experiments.pages import Picture, machine
from experiments.papers import printed

DRAWN = (
    ("blend", COUNTS),
    ("infogain-mondrian", COUNTS),
    ("blend", STRICT),
    ("kactus", PLAIN),
    ("infogain-mondrian", PLAIN),
    ("kadet", PLAIN),
)
PRINTED = {"c45": "C4.5", "nb": "Naive Bayes", "logistic": "Logistic"}


def adult_page(kept: Path, repetitions: int) -> str:
    """The page, from what is kept so far."""
    figures = Figures.kept(kept, adult_cells(repetitions))
    pictures = {picture.name: str(picture) for picture in adult_plots(kept, repetitions)}
    return "\n".join(_adult_lines(figures, repetitions, pictures)) + "\n"


def adult_plots(kept: Path, repetitions: int) -> Iterator[Picture]:
    """For each learner, accuracy by k with all attributes as quasi-identifiers: Blend, some rivals, and the rows."""
    ask = asker(Figures.kept(kept, adult_cells(repetitions)), ADULT, "14/14")
    for learner, name in LEARNERS.items():
        lines = {
            called: [(float(k), right) for k in KS if (right := ask(method, form, k, learner)) is not None]
            for (method, form), called in zip(DRAWN, rivals_named(DRAWN), strict=True)
        }
        plain = ask(UNPROTECTED, PLAIN, 1, learner)
        lines["unprotected"] = [] if plain is None else [(float(k), plain) for k in KS]
        drawn = {called: points for called, points in lines.items() if points}
        title = f"Accuracy of {name} by k on Adult, all attributes quasi-identifiers, per cent"
        if drawn:
            yield Picture(
                f"blend_adult_{learner}", title, line_chart(title, "k", "", drawn, lambda k: f"{k:g}", "close")
            )


def papers_best(known: str, learner: str, k: int) -> float | None:
    """The best accuracy that the kACTUS paper prints for this cell, whatever the method; None if it prints none."""
    values = []
    for number in (3, 4, 5):
        here = printed(f"kactus_table{number}").filter(
            pl.col("quasi_identifiers") == known, pl.col("inducer") == PRINTED.get(learner, ""), pl.col("k") == k
        )
        values += here["mean"].drop_nulls().to_list()
    return max(values, default=None)


def _adult_lines(figures: Figures, repetitions: int, pictures: Mapping[str, str]) -> Iterator[str]:
    splits = figures.splits(adult_cells(repetitions))
    yield "# Blend on Adult"
    yield ""
    yield (
        f"Written by `python -m experiments blend adult`: 45,222 complete rows of Adult, two-fold cross-validation, "
        f"{splits} of {2 * repetitions} splits finished, seed {SEED}. Blend and its parameters were chosen on splits "
        "of another seed. Counts are learned from after five deals (weights 1/5), in the same public bins for every "
        "method; other releases as in every [comparison](../protocols.md). kADET is its own learner. Accuracies in per "
        "cent; differences under 0.5 are noise at this size."
    )
    yield from _adult_verdicts(figures)
    yield from (f"\n{picture}" for picture in pictures.values())
    for known in SETS:
        for learner, name in LEARNERS.items():
            yield from _accuracies(figures, known, learner, f"{name}, quasi-identifiers {known}")
    yield from _strict(figures)
    yield from _secrets(figures)
    yield "\n## How it was measured\n"
    yield f"{machine()} No hierarchies are used: methods that could use some do without, as in the paper's Table 4."


def _adult_verdicts(figures: Figures) -> Iterator[str]:
    ask = {known: asker(figures, ADULT, known) for known in SETS}
    cells = [(known, learner, k) for known in SETS for learner in LEARNERS for k in KS]
    blend = {cell: ask[cell[0]]("blend", COUNTS, cell[2], cell[1]) for cell in cells}
    yield "\n## In short\n"
    best = [(blend[cell], papers_best(*cell)) for cell in cells]
    yield f"- At or above the best that the kACTUS paper prints, whatever the method: {at_or_above(best)} cells."
    for (method, form), name in zip(RIVALS, rivals_named(RIVALS), strict=True):
        pairs = [(blend[cell], ask[cell[0]](method, form, cell[2], cell[1])) for cell in cells]
        yield f"- At or above {name}: {at_or_above(pairs)} cells."
    for learner, name in LEARNERS.items():
        plain, mine = ask["14/14"](UNPROTECTED, PLAIN, 1, learner), blend["14/14", learner, 1000]
        if plain is not None and mine is not None:
            yield f"- {name} at k = 1000, 14/14: {mine - plain:+.1f} against unprotected."


def _accuracies(figures: Figures, known: str, learner: str, title: str) -> Iterator[str]:
    ask = asker(figures, ADULT, known)
    yield f"\n## {title}"
    rows = [["**blend**", *(f"**{figure(ask('blend', COUNTS, k, learner))}**" for k in KS)]]
    for (method, form), name in zip(RIVALS, rivals_named(RIVALS), strict=True):
        rows.append([name, *(figure(ask(method, form, k, learner)) for k in KS)])
    if learner in PRINTED:
        rows.append(["the paper's best", *(figure(papers_best(known, learner, k)) for k in KS)])
    yield from table(["k", *map(str, KS)], rows)
    raw, binned = ask(UNPROTECTED, PLAIN, 1, learner), ask(BINNED, PLAIN, 5, learner)
    yield f"\nUnprotected: {figure(raw)}; in the same bins: {figure(binned)}."


def _strict(figures: Figures) -> Iterator[str]:
    yield "\n## Plain values instead of counts"
    yield ""
    yield (
        "For recipients who cannot use counts: what the rows of a group have in common, a value, a set, or nothing "
        "(`--form strict`), against kACTUS. Of a set one value is drawn for each row. 14/14."
    )
    ask = asker(figures, ADULT, "14/14")
    methods = (("blend", STRICT), ("kactus", PLAIN), ("kactus-plus", PLAIN))
    for learner, name in LEARNERS.items():
        rows = [
            [called, *(figure(ask(method, form, k, learner)) for k in KS)]
            for (method, form), called in zip(methods, rivals_named(methods), strict=True)
        ]
        yield from table([name, *map(str, KS)], rows)


def _secrets(figures: Figures) -> Iterator[str]:
    yield "\n## The class as a secret"
    yield ""
    yield (
        "Adult 14/14 with a requirement on the class inside every split: accuracy, area under the curve, rows in "
        "groups of one class (per cent), and the surest guess in any group (per cent). A group of one class tells the "
        "class of everybody in it, whatever k is. Requirements were measured in the first "
        f"{SECRETLY} repetitions."
    )
    for learner in ("c45", "logistic", "boosting"):
        rows = []
        for k, besides in (
            (100, ""),
            *((100, besides) for besides in SECRETS),
            (1000, ""),
            (1000, "entropy-l=1.4"),
        ):
            cells = [_secret(figures, method, form, k, besides, learner) for method, form in WITH_SECRETS]
            rows.append([f"k={k} {besides}".strip(), *cells])
        yield from table([LEARNERS[learner], *rivals_named(WITH_SECRETS)], rows)


def _secret(figures: Figures, method: str, form: str, k: int, besides: str, learner: str) -> str:
    outcomes = figures.of(ADULT, "14/14", method, form, k, besides)
    right, area = figures.accuracy(outcomes, learner), figures.accuracy(outcomes, learner, at=1)
    pure, surest = figures.fact(outcomes, "pure"), figures.fact(outcomes, "surest")
    sure = "" if pure is None or surest is None else f"; {100 * pure:.0f}; {100 * surest:.0f}"
    return f"{figure(right)}; {figure(None if area is None else area / 100, 2)}{sure}"


ALL_SMALL_KS = (*SMALL_KS, *LARGE_KS)
SMALL_RIVALS = {"kactus": PLAIN, "infogain-mondrian": COUNTS}


def small_page(kept: Path, repetitions: int) -> str:
    """The page, from what is kept so far."""
    figures = Figures.kept(kept, small_cells(repetitions))
    return "\n".join(_small_lines(figures, repetitions)) + "\n"


def _small_lines(figures: Figures, repetitions: int) -> Iterator[str]:
    splits = figures.splits(small_cells(repetitions))
    yield "# Blend on the small tables of the papers"
    yield ""
    yield (
        f"Written by `python -m experiments blend small`: two-fold cross-validation, {splits} of {2 * repetitions} "
        f"splits finished, seed {SEED}; all attributes are quasi-identifiers, rows with missing values left out, k up "
        "to a fifth of the rows learned from. All of these tables but "
        f"{' and '.join(UNSEEN)} were looked at while Blend's parameters were chosen, on splits of another seed: of "
        "these the splits are new, the tables are not. "
        "Halves have 107 to 6,480 rows, so single cells are noisy: a point is one row in Glass."
    )
    yield from _small_verdicts(figures)
    for learner, name in LEARNERS.items():
        yield f"\n## {name[0].upper()}{name[1:]}"
        rows = []
        for one in SMALL:
            ask = asker(figures, one, "all")
            cells = [
                " / ".join(figure(ask(m, f, k, learner)) for m, f in (("blend", COUNTS), *SMALL_RIVALS.items()))
                for k in ALL_SMALL_KS
            ]
            rows.append(
                [one, figure(ask(UNPROTECTED, PLAIN, 1, learner)), figure(ask(BINNED, PLAIN, 5, learner)), *cells]
            )
        yield "\nBlend / kACTUS / InfoGain Mondrian as counts:"
        yield from table(["", "unprotected", "same bins", *(f"k={k}" for k in ALL_SMALL_KS)], rows)
    yield "\n## How it was measured\n"
    yield machine()


def _small_verdicts(figures: Figures) -> Iterator[str]:
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
        return figure(median(apart)) if apart else figure(None)

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
                at_or_above(pairs("blend", STRICT, ALL_SMALL_KS, learner)),
                f"{lost((*SMALL_KS, 50), learner, UNPROTECTED)} ({lost((*SMALL_KS, 50), learner, BINNED)})",
                f"{lost((200,), learner, UNPROTECTED)} ({lost((200,), learner, BINNED)})",
            ]
        )
    header = ["", "kACTUS, k <= 30", "InfoGain counts, k <= 30", "InfoGain counts, k >= 50", "its own strict form"]
    yield from table([*header, "k <= 50: unprotected (same bins)", "k = 200"], rows)


def parts_page(kept: Path, repetitions: int) -> str:
    """The page, from what is kept so far."""
    return "\n".join(_part_lines(Figures.kept(kept, part_cells(repetitions)), repetitions)) + "\n"


def _part_lines(figures: Figures, repetitions: int) -> Iterator[str]:
    splits = figures.splits(part_cells(repetitions))
    yield "# What the parts of Blend are worth"
    yield ""
    yield (
        f"Written by `python -m experiments blend parts`: two-fold cross-validation, {splits} of {2 * repetitions} "
        f"splits finished, seed {SEED}. Accuracy in per cent of {', '.join(LEARNERS.values())}, and their mean. Every "
        "variant has the same rows, and, unless it is about them, the same guide and the same hidden attributes. A "
        "part that gives less than 0.1 points on average, on Adult and on the small tables, is not worth its lines; "
        "differences under 0.5 in a single cell are noise."
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
        [name, *(_part_cell(figures, tables, method, form, k, deals) for k in ks)]
        for name, method, form, deals in variants
    ]
    rows.append(["unprotected", _part_cell(figures, tables, UNPROTECTED, PLAIN, 1, 5), *[""] * (len(ks) - 1)])
    yield from table(["", *(f"k={k}" for k in ks)], rows)


def _part_cell(figures: Figures, tables: Sequence[tuple[str, str]], method: str, form: str, k: int, deals: int) -> str:
    values = []
    for learner in LEARNERS:
        each = [figures.accuracy(figures.of(*one, method, form, k, deals=deals), learner) for one in tables]
        known = [value for value in each if value is not None]
        values.append(fmean(known) if len(known) == len(each) else None)
    known = [value for value in values if value is not None]
    mean = fmean(known) if len(known) == len(values) else None
    return f"{' / '.join(map(figure, values))}: **{figure(mean, 2)}**"
