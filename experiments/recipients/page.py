"""The page of what recipients lose, and all its figures as a CSV file beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from experiments.pages import Goal, Section, Table
from experiments.pages import write_page as write_sections
from experiments.recipients.causes import cause_of
from experiments.recipients.cells import (
    ADULT,
    KS,
    OPENED,
    REPETITIONS,
    SMALL,
    UNPROTECTED,
    UNSHARED,
    Cell,
    Kind,
    Outcomes,
    kinds,
)
from experiments.recipients.cells import cells as planned_cells
from experiments.recipients.compared import compared, compared_goal
from experiments.recipients.figures import (
    MARGIN,
    NAMES,
    Difference,
    Figure,
    Figures,
    read_figures,
    share_of,
    write_figures,
)
from experiments.recipients.naive import AS_THEY_ARE, BEFORE, NAIVE, SCALED
from experiments.recipients.trying import ADULT_ROWS, ADULT_TEST, FEEDING, LEARNERS
from incrowd.vocabulary.forms import PAIR

LOSS = 2.0
"""Points that the naive way may lose against learning from the rows themselves."""


def write_page(page: Path, known: Outcomes) -> None:
    """Write the page, and all figures into a file of the same name that ends in ``.csv``.

    What has no outcome keeps the figures that the file has of a former run, and the sections that the page has.
    """
    figures, table = Figures(known), page.with_suffix(".csv")
    every = list(figures.all(LEARNERS))
    measured = {(figure.table, figure.kind, figure.k) for figure in every}
    every += [one for one in read_figures(table) if (one.table, one.kind, one.k) not in measured]
    if measured:
        write_figures(table, every)
    by_unshared, naively = (any(way in ways for _, way in known) for ways in ((UNSHARED,), (AS_THEY_ARE, SCALED)))
    former = [] if measured else _stated(page, FORMER_GOAL)
    goals: list[str | Table | Goal] = [
        *compared_goal(known),
        *(_naive_goal(known) or _stated(page, NAIVE_GOAL)),
        *(former or [_former_goal(figures, every)]),
    ]
    by_lab = bool(measured)
    sections = [
        Section("In short", goals),
        Section("As comparisons feed it", list(compared(known))),
        _measured(by_lab, page, "Before: test rows seen through the private plan", _before(every)),
        _measured(by_lab, page, "By method and form", _by_kind(figures, every)),
        _measured(by_lab, page, "Where opening loses", _misses(figures, every)),
        _measured(by_unshared, page, "Hierarchies that are kept back", _unshared(known)),
        _measured(naively, page, "The naive way", _naive(known)),
        _measured(by_lab, page, "Protocol", _protocol(figures, every, known)),
    ]
    write_sections(page, "What recipients lose who open a release", list(_about(page)), sections)


def _measured(is_so: bool, page: Path, title: str, parts: Iterator[str | Table]) -> Section:
    """A section of what was measured; or as the page has it, from a former run."""
    if not is_so and page.exists():
        for text in page.read_text(encoding="utf-8").split("\n## ")[1:]:
            name, _, rest = text.partition("\n\n")
            if name == title:
                return Section(title, [rest.rstrip("\n")])
    return Section(title, list(parts))


def named(kind: Kind) -> tuple[str, str, str]:
    """Method, form with how numbers are written, hierarchies."""
    method, form, numeric, hierarchies = kind
    return method, f"{form}, {numeric}" if numeric else form, "yes" if hierarchies else ""


def _about(page: Path) -> Iterator[str]:
    yield (
        "Written by `python -m experiments recipients`. A recipient who writes "
        "`incrowd.open_release(path).classifier(estimator).predict(new_rows)` has the release, its certificate and raw "
        "rows, and nothing else. So has `incrowd compare`: what it promises, a recipient gets. Where hierarchies were "
        "used, their owner shares them in the certificate (`--share-hierarchies`); what it costs to keep them back is "
        "[below](#hierarchies-that-are-kept-back). All figures of the history are in "
        f"[{page.with_suffix('.csv').name}]({page.with_suffix('.csv').name})."
    )


NAIVE_GOAL = f"the naive way loses at most {LOSS:g} points for every learner"


def _naive_goal(known: Outcomes) -> list[str | Goal]:
    losses = [row for row in _losses(known) if row is not None]
    if not losses:
        return []
    see = "See [the naive way](#the-naive-way)."
    return [Goal(NAIVE_GOAL, f"at most {max(losses):.1f}", max(losses) <= LOSS, see)]


def _stated(page: Path, goal: str) -> Sequence[str | Goal]:
    """What the page says of a goal, from a former run."""
    lines = page.read_text(encoding="utf-8").splitlines() if page.exists() else []
    return [line for line in lines if f": {goal}." in line][:1]


FORMER_GOAL = (
    f"opened, every method and form is within {MARGIN} points of what our comparisons fed before releases could be "
    "opened, when they saw test rows through the private plan"
)


def _former_goal(figures: Figures, every: Sequence[Figure]) -> Goal:
    """Opened against what no recipient has."""
    verdicts = Counter(figure.difference.verdict for figure in every)
    failed = len(figures.failures())
    total = len(every) + failed
    return Goal(
        FORMER_GOAL,
        f"{share_of(verdicts['within'], total)} of {total:,} cells are; {share_of(verdicts['noise'], total)} are "
        f"below, but not surely (95 %); {share_of(verdicts['worse'], total)} are surely below; {failed} could not be "
        "measured",
        not verdicts["worse"] and not failed,
        "No recipient has that plan. Most that are surely below are means and middles of boxes: where a box ends is in "
        "the plan and not in the release, see [where](#where-opening-loses).",
    )


def _before(every: Sequence[Figure]) -> Iterator[str | Table]:
    """The history: what comparisons fed before releases could be opened."""
    yield (
        "Before releases could be opened, our comparisons had more than a recipient has: the private plan. This "
        "section and the next two keep the distance to those figures. A cell is a method, form, way to write numbers, "
        "with or without hierarchies, table, k and learner:"
    )
    rows = [(NAMES[learner], *_learner_row(every, learner)) for learner in LEARNERS]
    yield Table(["", "unprotected", "plan", "opened", "difference", "within", "noise", "worse"], rows)


def _learner_row(every: Sequence[Figure], learner: str) -> Iterator[str]:
    mine = [figure for figure in every if figure.learner == learner]
    for way in ("unprotected", "lab", "opened"):
        yield _mean([getattr(figure, way) for figure in mine])
    yield f"{sum(figure.difference.mean for figure in mine) / max(len(mine), 1):+.1f}"
    yield from _counted(mine)


def _by_kind(figures: Figures, every: Sequence[Figure]) -> Iterator[str | Table]:
    yield (
        "Points of accuracy, opened minus comparisons, with the standard error of the paired difference: the mean over "
        f"the tables, k = {' and '.join(map(str, KS))}, by learner. Then how many cells of all learners are within "
        f"{MARGIN} points or better, below but not surely, surely below. A pair is compared with the counts that it "
        "tells."
    )
    cells = _cells_by_kind(figures)
    rows = []
    for kind in kinds():
        mine = [figure for figure in every if figure.kind == kind]
        if not mine:
            continue
        if any(figure.earlier for figure in mine):
            differences = [_over_tables(mine, learner) for learner in LEARNERS]
        else:
            differences = [_said(figures.together(cells[kind], learner)) for learner in LEARNERS]
        rows.append([*named(kind), *differences, *_counted(mine)])
    header = [
        "method",
        "form",
        "hierarchies",
        *(NAMES[learner] for learner in LEARNERS),
        "within",
        "noise",
        "worse",
    ]
    yield Table(header, rows, words=3)


def _over_tables(mine: Sequence[Figure], learner: str) -> str:
    """The mean of figures, with their errors over test rows."""
    each = [figure.difference for figure in mine if figure.learner == learner]
    if not each:
        return _said(None)
    error = sum(one.error**2 for one in each) ** 0.5 / len(each)
    return _said(Difference(sum(one.mean for one in each) / len(each), error))


def _misses(figures: Figures, every: Sequence[Figure]) -> Iterator[str | Table]:
    lost: dict[Kind, list[Figure]] = {}
    for figure in every:
        if figure.difference.verdict == "worse":
            lost.setdefault(figure.kind, []).append(figure)
    if not lost:
        yield f"No cell is surely more than {MARGIN} points below."
    else:
        yield (
            f"Cells that are surely more than {MARGIN} points below the comparisons' feeding, by learner, with the "
            "least and the largest loss; other cells of the same kind may gain as much, see the mean above. Causes are "
            "read off what the two ways do differently:"
        )
        rows = [_lost_row(kind, lost[kind]) for kind in kinds() if kind in lost]
        learners = [NAMES[learner] for learner in LEARNERS]
        yield Table(["method", "form", "hierarchies", "likely cause", *learners, "loss"], rows, words=4)
    failed = Counter((cell.method, cell.form, learner, why) for (cell, learner), why in figures.failures().items())
    if failed:
        rows = [[*what, str(times)] for what, times in failed.most_common(20)]
        yield "What could not be measured, though the comparisons can:"
        yield Table(["method", "form", "learner", "reason", "cells"], rows, words=4)


def _lost_row(kind: Kind, lost: Sequence[Figure]) -> list[str]:
    times = Counter(figure.learner for figure in lost)
    losses = [-figure.difference.mean for figure in lost]
    least, largest = f"{min(losses):.1f}", f"{max(losses):.1f}"
    span = least if least == largest else f"{least} to {largest}"
    return [*named(kind), cause_of(kind), *(str(times[learner] or "") for learner in LEARNERS), span]


def _unshared(known: Outcomes) -> Iterator[str | Table]:
    yield (
        "Which group of a hierarchy a value belongs to is not in the release. An owner whose hierarchies are public "
        "shares them (`--share-hierarchies`): they travel in the certificate, and recipients need nothing else. It is "
        "no default, for a hierarchy may name values that only few people have, or none: where a group is shown in "
        "place of all its values, none of these is in the release. The same cells shared and kept back, as far as both "
        "are measured, opened minus comparisons:"
    )
    ways = {"shared": Figures(known), "kept back": Figures(known, UNSHARED)}
    rows = []
    for kind, cells in _cells_by_kind(ways["kept back"]).items():
        both = [cell for cell in cells if (cell, OPENED) in known]
        for called, figures in ways.items():
            differences = [_said(figures.together(both, name)) for name in LEARNERS]
            rows.append([*named(kind)[:2], called, *differences, str(len(both))])
    header = ["method", "form", "hierarchies", *(NAMES[name] for name in LEARNERS), "releases"]
    yield Table(header, rows, words=3)


def _naive(known: Outcomes) -> Iterator[str | Table]:
    yield (
        "Adult, all 45,222 complete rows, 14 of 14 attributes, two thirds of them released by `blend` with k = 1000. "
        "`incrowd.decode` with its defaults, then a pipeline as anybody would write it: text one-hot encoded, numbers "
        "as they are or standardised. Raw rows are predicted; % right:"
    )
    rows = []
    for learner in LEARNERS:
        cells = [NAMES[learner]]
        for way in (AS_THEY_ARE, SCALED):
            before, after = (_accuracy(known, cell, way, learner) for cell in (BEFORE, NAIVE))
            loss = None if before is None or after is None else after - before
            cells += [_number(before), _number(after), "–" if loss is None else f"{loss:+.1f}"]
        rows.append(cells)
    header = ["", AS_THEY_ARE, "decoded", "difference", SCALED, "decoded", "difference"]
    yield Table(header, rows)
    reasons = Counter(why for way in (AS_THEY_ARE, SCALED) for why in _failed(known, way).values())
    yield from (f"Not measured ({times} times): {why}" for why, times in reasons.items())


def _losses(known: Outcomes) -> Iterator[float | None]:
    for learner in LEARNERS:
        for way in (AS_THEY_ARE, SCALED):
            before, after = (_accuracy(known, cell, way, learner) for cell in (BEFORE, NAIVE))
            yield None if before is None or after is None else before - after


def _failed(known: Outcomes, way: str) -> Mapping[str, str]:
    outcome = known.get((NAIVE, way))
    return {} if outcome is None else outcome.failed


def _protocol(figures: Figures, every: Sequence[Figure], known: Outcomes) -> Iterator[str | Table]:
    splits = Counter(table for table, _, _ in {cell.split for cell, way in known if way == OPENED})
    same, of = figures.same_release()
    yield "Fixed before anything was measured:"
    yield "\n".join(
        [
            f"- Tables: Adult, {ADULT_ROWS:,} of the 45,222 complete rows, drawn at random, {ADULT_TEST:,} of them to "
            f"test on and the others to release, one stratified split; {', '.join(SMALL)}, all rows, two stratified "
            f"halves, each the test of the other. All attributes are quasi-identifiers.",
            "- Releases: every method of the catalog, every form it has, every way it has to write numbers; methods "
            "that generalize also with hierarchies: of Adult those of the package, else drafted by the program from "
            "the values.",
            f"- k = {' and '.join(map(str, KS))}. Releases are CSV files with their certificates, verified.",
            "- Learners of scikit-learn: a decision tree with at least 5 rows in a leaf, logistic regression (C = 1), "
            "gradient boosting on histograms (no early stopping), the 5 nearest neighbours; all else as by default.",
            f"- Comparisons: as `incrowd compare` fed learners before releases could be opened ({FEEDING}); test rows "
            "are seen through the private plan where a method generalizes. Counts are dealt five times; nearest "
            "neighbours know no weights, and take the deals as rows.",
            "- Difference: test row by test row, right or wrong, on the same release. The standard error of a cell is "
            "that of the mean over test rows; a row that is tested more than once counts once, by its mean. It does "
            "not know how lucky a release was. Over tables: the mean of the tables, with the larger of the errors over "
            "test rows and over releases. Surely below: the 95 % interval ends below the margin.",
            "- Where the class alone gives back a released cell, which `incrowd release` refuses, the releases are "
            "made with `despite_unchanged`.",
        ]
    )
    yield (
        "How opened releases are fed was chosen in two rounds. In the first (hidden cells are dealt, ordered bins are "
        "thermometers), on the first folds and on Adult. In the second (boxes are found by cuts, means are seen no "
        "farther than they reach, neighbours learn from all deals) on the first folds and on 10,000 rows of Adult that "
        "are not among those of this page; the second folds and Adult's rows here had no part in it, but for that the "
        "page of the first round said which kinds lose. They were measured when all was chosen. What the second round "
        "can touch was measured again:"
    )
    yield Table(["", "cells", "difference", "within", "noise", "worse"], [*_by_fold(known)])
    yield (
        "A table of which one fold is measured has wider intervals than one with two, and fewer of its cells can be "
        "surely below."
    )
    planned = [cell for cell in planned_cells(REPETITIONS) if cell.method != UNPROTECTED]
    done = sum((cell, OPENED) in known for cell in planned)
    yield (
        f"Of {len(planned):,} releases that were planned, in {REPETITIONS} repetitions of two halves, {done:,} are "
        "measured; a further run with the same `--keep` goes on from there."
    )
    measured = ", ".join(f"{table} {times}" for table, times in sorted(splits.items()))
    yield (
        f"Splits that are measured: {measured}. In {same:,} of {of:,} releases both ways have the same plan, groups "
        "and forms. Opened pairs and the counts that they "
        f"tell give the same answer to every row in {_same_pairs(known)} cells."
    )
    earlier = Counter(named(figure.kind) for figure in every if figure.earlier)
    if earlier:
        methods = ", ".join(sorted({method for method, *_ in earlier}))
        yield (
            f"{sum(earlier.values()):,} cells ({methods}) are those of a former run: nothing that changed since "
            "touches them, as they are seen value by value, and those with hierarchies lost nothing without having "
            "them shared. `earlier` in the table of figures says which."
        )


def _same_pairs(known: Outcomes) -> str:
    both = [
        np.array_equal(right, known[cell.origin, OPENED].right[learner])
        for (cell, way), outcome in known.items()
        if way == OPENED and cell.form == PAIR and (cell.origin, OPENED) in known
        for learner, right in outcome.right.items()
        if learner in known[cell.origin, OPENED].right
    ]
    return f"{sum(both):,} of {len(both):,}"


def _by_fold(known: Outcomes) -> Iterator[list[str]]:
    """Adult, and the folds of the other tables, as far as they are measured."""
    parts = (("first folds", 0, False), ("second folds", 1, False), ("Adult", 0, True))
    for called, fold, is_adult in parts:
        mine = {key: one for key, one in known.items() if (key[0].fold, key[0].table == ADULT) == (fold, is_adult)}
        every = list(Figures(mine).all(LEARNERS))
        if every:
            mean = sum(figure.difference.mean for figure in every) / len(every)
            yield [called, f"{len(every):,}", f"{mean:+.2f}", *_counted(every)]


def _cells_by_kind(figures: Figures) -> dict[Kind, list[Cell]]:
    """The cells that both ways have, in the order of the catalog."""
    cells_of: dict[Kind, list[Cell]] = {}
    for (_, kind, _), cells in figures.pairs.items():
        cells_of.setdefault(kind, []).extend(cells)
    return {kind: cells_of[kind] for kind in kinds() if kind in cells_of}


def _accuracy(known: Outcomes, cell: Cell, way: str, learner: str) -> float | None:
    outcome = known.get((cell, way))
    right = None if outcome is None else outcome.right.get(learner)
    return None if right is None else 100 * float(right.mean())


def _counted(mine: Sequence[Figure]) -> Iterator[str]:
    verdicts = Counter(figure.difference.verdict for figure in mine)
    yield from (str(verdicts[verdict]) for verdict in ("within", "noise", "worse"))


def _said(difference: Difference | None) -> str:
    return "–" if difference is None else str(difference)


def _mean(numbers: Sequence[float]) -> str:
    return f"{sum(numbers) / len(numbers):.1f}" if numbers else "–"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"
