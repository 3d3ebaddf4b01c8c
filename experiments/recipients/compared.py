"""Opened releases against what `incrowd compare` measures, which have the same: a goal and a section of the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from experiments.pages import Goal, Table
from experiments.recipients.cells import COMPARED, OPENED, UNPROTECTED, Cell, Kind, Outcomes, kinds
from experiments.recipients.cells import cells as planned_cells
from experiments.recipients.figures import MARGIN, NAMES, Difference, differences, share_of
from experiments.recipients.trying import LEARNERS

PLANNED = [cell for cell in planned_cells(1) if cell.method != UNPROTECTED and cell.fold == 0]
"""One split of each table: every method and form, on every table, with every k. Both ways have the same draws."""
PER_KIND = len(PLANNED) // len(list(kinds()))
BY_TWO_OBJECTS = (
    "While comparisons still had a solver of their own for logistic regression, and neighbours that took deals as "
    "rows, 99.5 % of 2,560 cells (all methods and forms of that time; adult, car, credit-approval, german-credit and "
    "pima, one split each) were within the margin, 3 surely below: 1 of logistic regression, 2 of nearest neighbours. "
    "Trees and boosting gave the same answer to every row in all 1,280."
)
"""What a former run measured."""
COMPARED_HEADER = ("cells", "the same for every row", "difference", "within", "noise", "worse")


def compared_goal(known: Outcomes) -> Iterator[str | Goal]:
    """Opened against what `incrowd compare` measures; nothing, where it was not measured, and judged by all of it."""
    every = [one for learner in LEARNERS for _, one in differences(known, learner)]
    if not every:
        return
    verdicts = Counter(one.verdict for one in every)
    same, lost = sum(one.mean == one.error == 0 for one in every), _lost(known)
    goal = f"opened, every method and form is within {MARGIN} points of what `incrowd compare` measures, or better"
    figures = (
        f"{share_of(verdicts['within'], len(every))} of {len(every):,} cells are, and {share_of(same, len(every))} "
        f"have the same answer to every row; {share_of(verdicts['noise'], len(every))} are below, but not surely (95 "
        f"%); {share_of(verdicts['worse'], len(every))} are surely below; {lost} only a "
        "comparison could learn"
    )
    see, done = "See [as comparisons feed it](#as-comparisons-feed-it).", Counter(cell.kind for cell in _run(known))
    least = min(done[kind] for kind in kinds())
    if verdicts["worse"] or lost or done.total() >= len(PLANNED):
        yield Goal(goal, figures, not verdicts["worse"] and not lost, see)
    else:
        so_far = f"{done.total():,} of {len(PLANNED):,} releases have run, {_coverage(done)}"
        yield f"**{'Met so far' if least else 'Not judged yet'}**: {goal}. {so_far}: {figures}. {see}"


def _coverage(done: Counter[Kind]) -> str:
    """How evenly they have run."""
    every = [done[kind] for kind in kinds()]
    where = f"on {min(every)} to {max(every)} of the {PER_KIND} pairs of a table and a k"
    return f"every method, form and way to write numbers {where}"


def _lost(known: Outcomes) -> int:
    """How many learners a comparison could teach, and a recipient could not."""
    opened = ((cell, outcome.failed) for (cell, way), outcome in known.items() if way == OPENED)
    return sum(
        name in known[cell.origin, COMPARED].right
        for cell, failed in opened
        if (cell.origin, COMPARED) in known
        for name in failed
    )


def _run(known: Outcomes) -> list[Cell]:
    """The planned releases that a recipient opened and a comparison made."""
    return [cell for cell in PLANNED if (cell, OPENED) in known and (cell.origin, COMPARED) in known]


def compared(known: Outcomes) -> Iterator[str | Table]:
    """The same by learner and by what is released, and what could not be released."""
    by_learner = {learner: list(differences(known, learner)) for learner in LEARNERS}
    if not any(by_learner.values()):
        return
    yield (
        "Cells are dealt by one object (`incrowd.recipients.dealing`) and classifiers learn by one object "
        "(`incrowd.recipients.encoding.Fitted`) in `incrowd compare`, in the accuracy of a report and in a recipient's "
        "classifier. So a recipient gets the same answer to every row, given the same draws, and a test asks for that, "
        "for every method and form. Here both have the same draws: the one learns from what is in memory, the other "
        "from the file and its certificate. With draws of its own a recipient's figures differ by their chance, to "
        "both sides. A cell is a release and a learner; a pair is compared with the counts that "
        "it tells. Tables, splits, k and learners are those of the [protocol](#protocol); beside its releases there "
        "are every method's counts in fine bins (`--bins fine`) and by class (`--counts-by-class`), and Blend's "
        "clusters (`--set groups=clusters`):"
    )
    rows = [[NAMES[learner], *_compared_row([one for _, one in mine])] for learner, mine in by_learner.items() if mine]
    yield Table(["", *COMPARED_HEADER], rows)
    by_kind: dict[tuple[str, str], list[tuple[Cell, Difference]]] = {}
    for cell, one in (pair for mine in by_learner.values() for pair in mine):
        by_kind.setdefault((cell.method, cell.form), []).append((cell, one))
    yield "By what is released, over all ways to write numbers, with and without hierarchies:"
    rows = [
        [f"`{method}`", form, str(len({cell for cell, _ in mine})), *_compared_row([one for _, one in mine])]
        for method, form in dict.fromkeys((method, form) for method, form, *_ in kinds())
        if (mine := by_kind.get((method, form)))
    ]
    yield Table(["method", "form", "releases", *COMPARED_HEADER], rows, words=2)
    yield "By table:"
    by_table: dict[tuple[str, str], list[Difference]] = {}
    for cell, one in (pair for mine in by_learner.values() for pair in mine):
        by_table.setdefault((cell.table, str(cell.k)), []).append(one)
    rows = [[*where, *_compared_row(mine)] for where, mine in sorted(by_table.items())]
    yield Table(["table", "k", *COMPARED_HEADER], rows)
    yield (
        f"{len(_run(known)):,} of {len(PLANNED):,} releases have run: one split of each table, every method and form. "
        "Tables and k take turns, so that a run that ends early has as much of each; a further run with the same "
        "`--keep` goes on from there."
    )
    yield BY_TWO_OBJECTS
    yield from _refused(known)


def _compared_row(mine: Sequence[Difference]) -> Iterator[str]:
    yield f"{len(mine):,}"
    yield f"{sum(one.mean == one.error == 0 for one in mine):,}"
    yield f"{np.mean([one.mean for one in mine]):+.2f}"
    yield from (str(sum(one.verdict == verdict for one in mine)) for verdict in ("within", "noise", "worse"))


def _refused(known: Outcomes) -> Iterator[str | Table]:
    """Releases without figures: refused both ways, or by one alone."""
    reasons: Counter[tuple[str, str, str, str]] = Counter()
    for (cell, way), opened in known.items():
        lab = known.get((cell.origin, COMPARED))
        if way == OPENED and lab is not None and (opened.failed or lab.failed):
            sides = ("comparison", lab.failed), ("recipient", opened.failed)
            who = " and ".join(side for side, failed in sides if failed)
            why = next(iter((opened.failed or lab.failed).values()))
            reasons[f"`{cell.method}`", cell.form, who, why.partition(": ")[2].partition(". ")[0]] += 1
    if reasons:
        yield "No figures, for the release is refused:"
        rows = [[*what, str(times)] for what, times in reasons.items()]
        yield Table(["method", "form", "refused to", "reason", "releases"], rows, words=4)
