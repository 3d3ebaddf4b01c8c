"""The page of an experiment that was run again, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from experiments.reproduce.document import Block, Bullets, Document, Grid, Heading, Shown, Words, shown
from experiments.reproduce.evidence import NEAR, Cell, Distance, distance, distances, distinct, furthest, signed
from experiments.reproduce.experiment import ERROR, Part
from experiments.reproduce.pictures import pictures, ranking_blocks
from incrowd.comparisons.workers import in_words

if TYPE_CHECKING:
    from experiments.reproduce.reproduction import Judged, Reproduction

from collections.abc import Sequence

from experiments.reproduce.evidence import DIFFERENT, HIGHER, LOWER, is_large, shade
from experiments.reproduce.experiment import Experiment
from incrowd.comparisons.trial import DISCRETIZE
from incrowd.drawing.wording import counted

FURTHEST = 8
QUICK = (
    "This was a quick run, with fewer splits, fewer k and perhaps fewer rows than the paper: it shows that everything "
    "works, and its differences from the paper say little."
)


def page_of(run: Reproduction) -> Document:
    """The whole page; where parts were named, they are its title."""
    title = run.experiment.title
    if run.options.parts:
        title = f"{title.partition(':')[0]}: {', '.join(part.title.partition(':')[0] for part in run.parts)}"
    return Document(f"Reproduction of {title}", tuple(_blocks(run)))


def _blocks(run: Reproduction) -> Iterator[Block]:
    yield Words(f"{run.experiment.paper}.")
    yield Words(f"This page was written by `{run.options.command(run.experiment.name)}`. {_about(run)}")
    if run.options.quick:
        yield Words(QUICK)
    yield Heading("What the paper shows, and whether ours shows it")
    yield Words(
        "What counts as met is our choice; the printed numbers are judged in the same way where there are some."
    )
    yield _judgements(run.judged)
    yield from _distances(run)
    for part in run.parts:
        yield from _part(run, part)
    if run.experiment.further is not None:
        yield from run.experiment.further(run.facts)
    yield from _troubles(run)
    yield Heading("How it was measured")
    yield Bullets(tuple(_measured(run)))
    yield Heading("What the paper does not say")
    yield Bullets(run.experiment.unknown)
    yield Heading("How ours is done, and where it differs")
    yield Bullets(run.experiment.notes)


def _about(run: Reproduction) -> str:
    known = sum(cell.mean is not None for cell in run.cells)
    tables = len({used.name for used in run.tables})
    return f"{counted(known, 'cell')} on {counted(tables, 'table')}; {_protocol(run)}."


def _protocol(run: Reproduction) -> str:
    split: dict[str, list[str]] = {}
    for name, protocol in run.protocols.items():
        split.setdefault(protocol, []).append(name)
    several = len(split) > 1
    words = "; ".join(f"{', '.join(names)}: {protocol}" if several else protocol for protocol, names in split.items())
    some = run.options.splits
    return words if some is None else f"{words}, the first {counted(some, 'split')} of it"


def _judgements(judged: tuple[Judged, ...]) -> Grid:
    rows = tuple(
        (
            Shown(one.point.claim),
            Shown(one.standing, one.standing.replace(" ", "-"), strong=one.standing == "missed"),
            Shown("" if one.ours is None else one.ours.figures),
            Shown(one.paper),
        )
        for one in judged
    )
    return Grid("Points of the paper", ("point", "ours", "our figures", "paper"), rows, words=4)


def _distances(run: Reproduction) -> Iterator[Block]:
    once = distinct(run.cells)
    whole = distance("all", once)
    if whole is None:
        return
    reference = run.experiment.reference
    yield Heading(f"How far from {reference}")
    parts = [
        whole,
        *distances(run.cells, lambda cell: run.experiment.part(cell.part).title.partition(":")[0]),
        *distances(once, lambda cell: cell.algorithm if cell.algorithm != "none" else "unprotected"),
        *distances(once, lambda cell: cell.inducer),
        *distances(sorted(once, key=lambda cell: cell.k), lambda cell: f"k = {cell.k:,}"),
    ]
    header = ("cells", "number", "mean difference", "mean absolute", *(f"within {near:g}" for near in NEAR))
    caption = f"Ours minus {reference}, in points"
    yield Words("A result that is printed in several tables counts once, but for the rows of the tables.")
    yield Grid(caption, header, tuple(_distance_row(one) for one in dict.fromkeys(parts)))
    yield Words("The cells that differ most:")
    yield Bullets(tuple(_gap(cell, run) for cell in furthest(once, FURTHEST)))


def _distance_row(one: Distance) -> tuple[Shown, ...]:
    return shown(
        one.name, f"{one.cells:,}", signed(one.mean), f"{one.absolute:.2f}", *(f"{near:,}" for near in one.within)
    )


def _gap(cell: Cell, run: Reproduction) -> str:
    assert cell.printed is not None
    where = f"{run.experiment.part(cell.part).title.partition(':')[0]}, {cell.label}, {_algorithm(cell)}"
    spread = f" ± {cell.sd:.2f}" if cell.sd is not None else ""
    theirs = f" ± {cell.printed.sd:.2f}" if cell.printed.sd is not None else ""
    return (
        f"{where}, {cell.inducer}, k = {cell.k:,}: {cell.mean:.2f}{spread} against "
        f"{cell.printed.mean:.2f}{theirs} ({signed(cell.difference)})"
    )


def _algorithm(cell: Cell) -> str:
    return "unprotected" if cell.algorithm == "none" else cell.algorithm


def _part(run: Reproduction, part: Part) -> Iterator[Block]:
    cells = run.of_part(part)
    yield Heading(part.title)
    yield Words(_how_to_read(run, part, cells))
    yield beside_grid(cells, run.experiment)
    marks = marks_grid(part, cells)
    if marks is not None:
        yield marks
    yield from ranking_blocks(run, part)
    yield from pictures(run, part)


def _how_to_read(run: Reproduction, part: Part, cells: list[Cell]) -> str:
    measure = "Errors" if run.experiment.measure == ERROR else "Accuracies"
    if not any(cell.printed for cell in cells):
        return f"{measure} in per cent, ± the standard deviation over the splits; nothing was printed to compare with."
    words = (
        f"{measure} in per cent: ours / {run.experiment.reference} / difference in points. Differences of more than "
        f"{NEAR[1]:g} points are bold, or coloured by their side and size."
    )
    if part.control is None:
        return words
    if not any(len(cell.folds) == 10 for cell in cells):
        return f"{words} Marks of significance are the paper's only: the test needs five repetitions of two folds."
    marks = (
        f"+ or - : {part.control} is significantly higher or lower at the same k"
        if part.at_same_k
        else "* : significantly different from k = 1"
    )
    return f"{words} {marks} (combined 5x2cv F test, 0.05)."


def _troubles(run: Reproduction) -> Iterator[Block]:
    reasons: dict[str, list[str]] = {}
    for cell in run.cells:
        if cell.status:
            reasons.setdefault(cell.status, []).append(
                f"{cell.label}, {cell.algorithm}, {cell.inducer}, k = {cell.k:,}"
            )
    if reasons:
        yield Heading("What could not be done")
        yield Bullets(tuple(f"{_some(places)}: {reason}" for reason, places in reasons.items()))
    doubts = [cell for cell in run.cells if cell.doubt]
    if doubts:
        yield Heading("Printed numbers not to be trusted")
        yield Words("They are shown in brackets, and left out of differences and judgements.")
        places = [f"{run.experiment.part(c.part).title.partition(':')[0]}, {c.label}, {c.inducer}" for c in doubts]
        named = zip(places, doubts, strict=True)
        yield Bullets(tuple(f"{place}, {cell.algorithm}, k = {cell.k:,}: {cell.doubt}." for place, cell in named))


def _processor_time(run: Reproduction) -> float:
    """Seconds of all trials; a release is counted once, whoever learned from it."""
    results = {result for cell in run.cells for result in cell.results}
    releases = {(r.method, r.k, r.repetition, r.fold, r.release_seconds) for r in results}
    return sum(r.learn_seconds for r in results) + sum(release[-1] for release in releases)


def _some(places: list[str]) -> str:
    return "; ".join(places[:3]) + (f" and {len(places) - 3} more" if len(places) > 3 else "")


def _measured(run: Reproduction) -> Iterator[str]:
    setup = run.setup
    yield (
        f"{_protocol(run)}; only rows to learn from are released; the same splits for all methods; seed {setup.seed}."
    )
    yield f"Feeding: {setup.feeding}. Suppressed and missing cells are missing."
    yield "Test rows are seen through the plan where a method generalizes, else as they are."
    cuts = {case.table.discretize for case in run.experiment.cases}
    if cuts & {DISCRETIZE[2]}:
        yield "Numbers are cut by MDL on all rows, before the splits."
    learners = dict.fromkeys(result.learner for cell in run.cells for result in cell.results)
    yield f"Learners: {', '.join(f'`{name}`' for name in learners)}."
    for used in run.tables:
        known = len(used.quasi_identifiers)
        yield f"{used.name}: {counted(used.rows, 'row')}, {known} of {counted(used.attributes, 'attribute')} known."
    yield "Standard deviations are over the splits."
    yield f"All trials together took {in_words(_processor_time(run))} of processor time."


Row = tuple[str, str, str]


def beside_grid(cells: Sequence[Cell], experiment: Experiment) -> Grid:
    """A row for each label, learner and algorithm, a column for each k.

    The unprotected table, which has only k = 1, shares the row of the algorithm where there is only one.
    """
    alone = len({cell.algorithm for cell in cells if cell.algorithm != "none"}) == 1
    rows: dict[Row, dict[int, Cell]] = {}
    for cell in cells:
        algorithm = "" if alone else "unprotected" if cell.algorithm == "none" else cell.algorithm
        rows.setdefault((cell.label, cell.inducer, algorithm), {})[cell.k] = cell
    ks = sorted({cell.k for cell in cells})
    header = ("", "learner", *(() if alone else ("algorithm",)), *(f"k={k:,}" for k in ks))
    body = tuple(
        (*shown(*(key[:2] if alone else key)), *(_cell(by_k.get(k)) for k in ks)) for key, by_k in rows.items()
    )
    return Grid(f"{experiment.measure.capitalize()}, in per cent", header, body, words=2 if alone else 3)


def _cell(cell: Cell | None) -> Shown:
    if cell is None or (cell.mean is None and cell.printed is None):
        return Shown("")
    ours = "–" if cell.mean is None else f"{cell.mean:.2f}{cell.flag}"
    if cell.printed is None:
        return Shown(ours if cell.sd is None else f"{ours} ± {cell.sd:.2f}")
    theirs = f"{cell.printed.mean:.2f}{cell.printed.flag}"
    if cell.doubt:
        return Shown(f"{ours} / ({theirs})", "doubt")
    if cell.difference is None:
        return Shown(f"{ours} / {theirs}")
    words = f"{ours} / {theirs} / {signed(cell.difference)}"
    return Shown(words, shade(cell.difference), is_large(cell.difference))


def marks_grid(part: Part, cells: Sequence[Cell]) -> Grid | None:
    """How often each algorithm is marked, in ours and in the paper; None where ours has no marks."""
    if part.control is None or not any(len(cell.folds) == 10 for cell in cells):
        return None
    marks = {HIGHER: f"{part.control} higher", LOWER: f"{part.control} lower"} if part.at_same_k else {}
    marks = marks or {DIFFERENT: "different from k = 1"}
    names = dict.fromkeys(cell.algorithm for cell in cells if cell.algorithm != part.control)
    header = ("algorithm", "cells", *(f"{words}, {whose}" for words in marks.values() for whose in ("ours", "paper")))
    rows = []
    for name in names:
        own = [cell for cell in cells if cell.algorithm == name]
        counts = [
            str(sum(flag == mark for flag in flags))
            for mark in marks
            for flags in ([cell.flag for cell in own], [cell.printed.flag for cell in own if cell.printed])
        ]
        rows.append(shown(name, str(len(own)), *counts))
    return Grid("Significant differences (combined 5x2cv F test, 0.05)", header, tuple(rows))
