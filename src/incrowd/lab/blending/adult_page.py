"""The page about Blend on Adult."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from incrowd.lab.blending.cells import BINNED, COUNTS, PLAIN, STRICT, UNPROTECTED
from incrowd.lab.blending.experiments import ADULT, KS, RIVALS, SECRETLY, SECRETS, SETS, WITH_SECRETS, adult_cells
from incrowd.lab.blending.figures import LEARNERS, Figures, asker, at_or_above, rivals_named, said, table
from incrowd.lab.blending.trying import SEED
from incrowd.lab.charts.standalone import line_chart
from incrowd.lab.machine import machine
from incrowd.lab.papers.tables import printed
from incrowd.lab.section import Picture

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
    return "\n".join(_lines(figures, repetitions, pictures)) + "\n"


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
    found = []
    for number in (3, 4, 5):
        here = printed(f"kactus_table{number}").filter(
            pl.col("quasi_identifiers") == known, pl.col("inducer") == PRINTED.get(learner, ""), pl.col("k") == k
        )
        found += here["mean"].drop_nulls().to_list()
    return max(found, default=None)


def _lines(figures: Figures, repetitions: int, pictures: Mapping[str, str]) -> Iterator[str]:
    splits = figures.splits(adult_cells(repetitions))
    yield "# Blend on Adult"
    yield ""
    yield (
        f"Written by `incrowd lab blend adult`: 45,222 complete rows of Adult, two-fold cross-validation, {splits} of "
        f"{2 * repetitions} splits finished, seed {SEED}. Blend and its parameters were chosen on splits of another "
        "seed. Counts are learned from after five deals (weights 1/5), in the same public bins for every method; other "
        "releases as everywhere in the [lab](lab.md). kADET is its own learner. Accuracies in per cent; differences "
        "under 0.5 are noise at this size."
    )
    yield from _verdicts(figures)
    yield from (f"\n{picture}" for picture in pictures.values())
    for known in SETS:
        for learner, name in LEARNERS.items():
            yield from _accuracies(figures, known, learner, f"{name}, quasi-identifiers {known}")
    yield from _strict(figures)
    yield from _secrets(figures)
    yield "\n## How it was measured\n"
    yield f"{machine()} No hierarchies are used: methods that could use some do without, as in the paper's Table 4."


def _verdicts(figures: Figures) -> Iterator[str]:
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
    rows = [["**blend**", *(f"**{said(ask('blend', COUNTS, k, learner))}**" for k in KS)]]
    for (method, form), name in zip(RIVALS, rivals_named(RIVALS), strict=True):
        rows.append([name, *(said(ask(method, form, k, learner)) for k in KS)])
    if learner in PRINTED:
        rows.append(["the paper's best", *(said(papers_best(known, learner, k)) for k in KS)])
    yield from table(["k", *map(str, KS)], rows)
    raw, binned = ask(UNPROTECTED, PLAIN, 1, learner), ask(BINNED, PLAIN, 5, learner)
    yield f"\nUnprotected: {said(raw)}; in the same bins: {said(binned)}."


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
            [called, *(said(ask(method, form, k, learner)) for k in KS)]
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
        for k, asked in ((100, ""), *((100, asked) for asked in SECRETS), (1000, ""), (1000, "entropy-l=1.4")):
            cells = [_secret(figures, method, form, k, asked, learner) for method, form in WITH_SECRETS]
            rows.append([f"k={k} {asked}".strip(), *cells])
        yield from table([LEARNERS[learner], *rivals_named(WITH_SECRETS)], rows)


def _secret(figures: Figures, method: str, form: str, k: int, asked: str, learner: str) -> str:
    found = figures.of(ADULT, "14/14", method, form, k, asked)
    right, area = figures.accuracy(found, learner), figures.accuracy(found, learner, at=1)
    pure, surest = figures.fact(found, "pure"), figures.fact(found, "surest")
    told = "" if pure is None or surest is None else f"; {100 * pure:.0f}; {100 * surest:.0f}"
    return f"{said(right)}; {said(None if area is None else area / 100, 2)}{told}"
