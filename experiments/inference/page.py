"""What was measured of cell hiding, as tables, pictures and goals next to the thesis' figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from experiments.charts import line_chart
from experiments.inference.attackers import MOST, Strong, Told
from experiments.inference.loss import ENHANCED, METRICS, Loss, metric
from experiments.inference.scale import Many, One
from experiments.inference.success import (
    BLANK,
    CLAIMS,
    HYBRID,
    MILLISECONDS,
    OURS,
    SINGLE,
    SUCCESS,
    WORKED_AGAINST,
    Trials,
    against,
)
from experiments.pages import Goal, Picture, Table
from incrowd.hiding.methods import Generic, Quiet
from incrowd.hiding.secret import Status

Parts = list[str | Table | Picture | Goal]
TOLD = (BLANK, *SINGLE, *HYBRID, *OURS)
FLOOR = 1e-6


def bayes_of(method: str) -> str:
    """The naive Bayes a method is made against: one that shares groups out, where cells are generalized."""
    return "nb-shared" if "-g" in method else "nb"


def targets_of(method: str) -> tuple[str, ...]:
    """The adversaries a method is made against."""
    if method in OURS:
        return WORKED_AGAINST
    return tuple("id3" if part.startswith("hid3") else bayes_of(part) for part in method.split("+"))


def success_told(trials: Trials) -> Parts:
    """Table 5.3: successes in per cent, of all cells and of those without the most common value."""
    thesis = SUCCESS[trials.data.name]
    rows = []
    for method in trials.methods(TOLD):
        judges = (bayes_of(method), "id3", "svm")
        rows.append(
            (
                method,
                *(f"{trials.success(method, judge):.0f}" for judge in judges),
                *(f"{trials.success(method, judge, rare=True):.0f}" for judge in judges),
                *(str(thesis[judge].get(method, "–")) for judge in WORKED_AGAINST),
                f"{trials.success(method, 'nb-ignored', rare=True):.0f}",
                f"{trials.share(method, Status.DELETED):.0f}",
                f"{trials.share(method, Status.COIN):.0f}",
            )
        )
    header = (
        trials.data.name,
        *("NB", "ID3", "SVM"),
        *("NB, rare", "ID3, rare", "SVM, rare"),
        *("NB, thesis", "ID3, thesis", "SVM, thesis"),
        *("NB ignoring blanks, rare", "deleted", "coin"),
    )
    rare = len(trials.of(BLANK, rare=True))
    return [
        f"**Table 5.3, {trials.data.name}**: per cent of {trials.cells} cells whose row was "
        f"kept and whose value the adversary does not guess. Rare: the {rare} cells without the most common value of "
        "their column.",
        Table(header, rows),
    ]


def exact_goals(everything: Sequence[Trials]) -> list[Goal]:
    """What must hold whatever cells are drawn; and the thesis' hundreds."""
    checked = wrong = rows_only = 0
    short = []
    for trials in everything:
        columns = len(trials.data.table.columns)
        for method in trials.methods((*SINGLE, *HYBRID, Generic.name)):
            kept = [each for each in trials.of(method) if each.status not in (Status.DELETED, Status.COIN)]
            checked += len(kept)
            wrong += sum(not each.right.isdisjoint(targets_of(method)) for each in kept)
            if "decp" not in method and "incp" not in method:
                rows_only += sum(each.changed > columns for each in trials.of(method))
            rates = [trials.success(method, judge, rare=True) for judge in targets_of(method)]
            short += [f"{method} {min(rates):.0f} % ({trials.data.name})"] * (min(rates) < 100)
    return [
        Goal(
            "no adversary a method is made against guesses a cell whose row it kept", f"{wrong} of {checked}", not wrong
        ),
        Goal(
            "methods that blank the row only change no more cells than it has", f"{rows_only} times more", not rows_only
        ),
        Goal(
            "as in the thesis, every method hides all cells from the adversaries it is made against, if they hold "
            "another value than the most common one",
            f"not {', '.join(short)}" if short else "all of them",
            not short,
            "Cells left to the coin, and rows deleted for want of another value to pass for, count as not hidden here.",
        ),
    ]


def time_told(everything: Sequence[Trials]) -> Parts:
    """Table 5.2, as ratios to DECP."""
    rows = []
    for trials in everything:
        thesis = MILLISECONDS[trials.data.name]
        base = trials.milliseconds("decp") or 1.0
        for method in trials.methods((*SINGLE, *HYBRID, *OURS)):
            spent = trials.milliseconds(method)
            ratio = f"{thesis[method] / thesis['decp']:.2f}" if method in thesis else "–"
            rows.append((trials.data.name, method, f"{spent:.2f}", f"{spent / base:.2f}", ratio))
    slow, fast = (sum(trials.milliseconds(name) for name in SINGLE[:4]) for trials in everything)
    return [
        "**Table 5.2**: CPU time for one cell, counts made beforehand; for `generic` and `quiet` without the learning "
        f"of their adversaries. Breast cancer takes {slow / (fast or 1.0):.1f} times as long as Car for the four "
        "methods that blank (thesis: 3.6).",
        Table(("", "method", "ms", "in DECP", "in DECP, thesis"), rows, words=2),
    ]


def loss_told(trials: Trials, losses: Mapping[str, Sequence[Loss]]) -> Parts:
    """The metrics after the last cell, the orders of the figures, and a picture of each metric."""
    last = {method: line[-1] for method, line in losses.items()}
    name = trials.data.name
    header = (name, "average direct distance", *METRICS, "values lost", "pairs lost")
    rows = [
        (
            method,
            f"{trials.changed(method):.2f}",
            *(f"{metric(each, which):.4g}" for which in METRICS),
            str(each.costs.divergence.vanished),
            str(each.costs.information.lost),
        )
        for method, each in last.items()
    ]
    count = next(iter(last.values())).cells
    return [
        f"**Figures 5.1 to 5.5, {name}**: cells changed for one cell by itself, on average; then the metrics after the "
        f"same {count} cells one after the other (SKLD with half a cell for a value that was lost, ACMI as the mean "
        "size of the change in bits, for the printed ratio is infinite where a pair has lost all).",
        Table(header, rows),
        *(_picture(name, which, losses) for which in METRICS),
    ]


def _picture(name: str, which: str, losses: Mapping[str, Sequence[Loss]]) -> Picture:
    title = f"{which}, {name}: by the number of cells hidden"
    lines = {
        method: [(float(each.cells), max(metric(each, which), FLOOR)) for each in line]
        for method, line in losses.items()
        if method not in ("nrd", "generic")
    }
    drawn = line_chart(title, "cells hidden", METRICS[which], lines, "{:,.0f}".format, scale="powers")
    return Picture(f"hiding_{name.split()[0].lower()}_{which.split()[0].lower()}", title, drawn)


def orders_told(everything: Sequence[Trials], losses: Mapping[str, Mapping[str, Sequence[Loss]]]) -> Parts:
    """For each figure: how many pairs of methods are in the thesis' order, and which are not."""
    rows = []
    for claim in CLAIMS:
        for trials in everything:
            average = {name: trials.changed(name) for name in trials.methods((*SINGLE, *HYBRID, "nrd"))}
            lines = losses[trials.data.name]
            single = claim.quantity in METRICS
            values = {name: metric(each[-1], claim.quantity) for name, each in lines.items()} if single else average
            pairs, others = against(claim, values)
            rows.append(
                (
                    f"{claim.figure}, {claim.quantity}",
                    trials.data.name,
                    ", ".join(others) or "none",
                    f"{pairs - len(others)} of {pairs}",
                )
            )
    return [
        "**Orders of the figures**: pairs of methods in the order the thesis describes, and those that are not.",
        Table(("figure", "data", "the other way round", "as in the thesis"), rows, words=3),
    ]


def enhanced_told(changes: Mapping[str, Mapping[str, float]], rows: int) -> Parts:
    """Figure 5.7: cells changed by the enhanced methods, in those of the plain ones."""
    lines = []
    for name, changed in changes.items():
        for plain, better in zip(ENHANCED[::2], ENHANCED[1::2], strict=True):
            if better in changed:
                ratio = changed[better] / (changed[plain] or 1.0)
                lines.append((name, plain, f"{changed[plain]:.1f}", f"{changed[better]:.1f}", f"{ratio:.2f}"))
    return [
        f"**Figure 5.7**: cells changed for a set of cells at once and one by one, on average (thesis: about half). "
        f"For DECP and its kind {rows} cells of one column with one value, for DROPP and its kind three cells "
        "of one row.",
        Table(("", "method", "one by one", "at once", "ratio"), lines, words=2),
    ]


def strong_told(name: str, results: Sequence[Strong]) -> Parts:
    """Successes against five adversaries, of several ways to hide the same cells."""
    judges = list(results[0].success)
    rows = [
        (each.way, *(f"{each.success[judge]:.0f}" for judge in judges), f"{each.kept:.0f}", f"{each.changed:,}")
        for each in results
    ]
    last = results[-1]
    short = [judge for judge in judges if last.success[judge] < last.kept]
    return [
        f"**Stronger adversaries, {name}**: the same cells of two columns hidden in one run; success in per cent.",
        Table((name, *judges, "rows kept", "other cells changed"), rows),
        Goal(
            f"{name}: the generic hider against all five leaves none of them a right guess in a row it kept",
            f"{len(short)} of {len(judges)} adversaries are right somewhere",
            not short,
        ),
    ]


def patterns_told(name: str, source: str, results: Sequence[Told]) -> Parts:
    """Posterior over prior, by method."""
    rows = [
        (
            result.method,
            f"{result.prior:.3f}",
            f"{result.posterior:.3f}",
            f"{result.lift:.2f}",
            f"{result.worst:.2f}",
            f"{result.within:.0f}",
            f"{result.certain:.0f}",
        )
        for result in results
    ]
    header = (name, "prior", "posterior", "posterior over prior", "worst", f"% at most {MOST}", "% certain")
    above = [result.method for result in results if result.lift > MOST]
    goal = f"at most {MOST} times what it was"
    return [
        f"**Suppression pattern, {name}** ({source}): {len(results[0].attacks)} cells.",
        Table(header, rows),
        Goal(
            f"{name}: with `quiet`, the pattern of hidden cells raises the probability of the true value to {goal}",
            ", ".join(f"{result.lift:.2f} times on average" for result in results if result.method == Quiet.name),
            Quiet.name not in above,
        ),
        Goal(
            f"{name}: the same, with every method",
            f"{len(results) - len(above)} of {len(results)} methods",
            not above,
            "The others do what the true value asks for, and only the next best guess and the coin are drawn, so "
            "whoever knows all other cells of the source sees for which values they would have done the same.",
        ),
    ]


def scale_told(many: Sequence[Many], shape: tuple[int, int], one: Sequence[One], size: tuple[int, int]) -> Parts:
    """Many cells in one run; one cell of a large table."""
    cells = [
        (
            each.method,
            f"{each.seconds:.1f}",
            f"{1000 * each.seconds / each.cells:.1f}",
            f"{each.calls:,}",
            f"{each.kept:.0f}",
            str(each.exposed),
            f"{each.side_effects:,}",
        )
        for each in many
    ]
    large = [
        (
            each.method,
            f"{each.first_milliseconds:.0f}",
            str(each.first_scans),
            f"{each.milliseconds:.1f}",
            str(each.scans),
            f"{each.rows:,}",
            f"{each.changed:,}",
        )
        for each in one
    ]
    is_told = all(each.calls >= each.cells for each in many)
    again = sum(each.scans for each in one)
    return [
        f"**Many cells**: {many[0].cells:,} random cells of {shape[0]:,} people in {shape[1]} columns.",
        Table(("", "CPU s", "ms a cell", "times progress was told", "% kept", "exposed", "other cells changed"), cells),
        Goal(
            f"{many[0].cells:,} cells in one run, with progress, and none exposed whose row was kept",
            f"{sum(each.exposed for each in many)} exposed, progress told {many[0].calls:,} times",
            is_told and not any(each.exposed for each in many),
        ),
        f"**One cell** of {size[0]:,} rows and {size[1]} columns: the first time, when columns are counted and "
        "indexed, and once they are. CPU time.",
        Table(("", "first, ms", "columns read", "then, ms", "columns read then", "rows read then", "changed"), large),
        Goal("a cell costs no rescan of a table that was counted", f"{again} columns read again", not again),
    ]
