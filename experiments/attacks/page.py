"""The attacks on Adult as a Markdown page: what was measured next to the baseline, and which goals were met."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from experiments.attacks.adult import (
    BY_COLUMN,
    KS,
    METHODS,
    OCCUPATION,
    QUASI_IDENTIFIERS,
    SALARY,
    STRONGER,
    Results,
    Tell,
    attack_adult,
    attack_means,
    attack_patterns,
    attack_plain,
    attack_promised,
    attack_trees,
    read_adult,
)
from experiments.charts import line_chart
from experiments.pages import Goal, Picture, Section, Table, machine, write_page
from incrowd.attacks.attack import LEAK, Finding
from incrowd.attacks.catalog import ATTACKS

LIMIT = 600.0
PERCENT = (
    "homogeneity",
    "singling out",
    "membership by box",
    "composition",
    "sequential releases",
    "minimality",
)
BASELINE: dict[tuple[str, str], tuple[float, float, float]] = {
    ("homogeneity", SALARY): (0.375, 0.284, 0.125),
    ("skewness", OCCUPATION): (0.98, 0.87, 0.65),
    ("singling out", ""): (0.60, 0.57, 0.69),
    ("membership by box", ""): (0.124, 0.068, 0.017),
    ("attribute inference", OCCUPATION): (0.18, 0.11, 0.035),
    ("model membership", ""): (0.511, 0.504, 0.500),
    ("composition", OCCUPATION): (0.044, 0.009, 0.0),
    ("sequential releases", ""): (0.047, 0.053, 0.134),
}
GOALS = {
    "homogeneity": "0 % with l",
    "background knowledge": ">= l - 1",
    "skewness": "<= t",
    "singling out": "<= chance",
    "membership by box": "<= 0.5 points",
    "attribute inference": "<= 0.08, 0.03 with l, t",
    "model membership": "<= 0.51",
    "composition": "<= one release",
    "sequential releases": "0 %",
    "minimality": "0 %",
    "deFinetti": "<= 1.1 with t",
    "seed re-run": "secret chance",
    "row order": "< 3/sqrt(n)",
}
WHY = {
    "membership by box": "Why: a cut along a hierarchy makes boxes only of groups that somebody is in. Who would lie "
    "between the boxes is known not to be in the table. Against it: no hierarchies, see below.",
    "composition": "Why: the two releases here are partitioned each by itself, and two small boxes may share only "
    "one value. Against it: one partition for all releases (`incrowd release --ledger`), or l-diversity of the column.",
    "sequential releases": "Why: a tenth more rows move the cuts, and a box of the one release crosses a box of the "
    "other in a few people. Against it: the partition of the first release used again (`incrowd release --ledger`).",
    "minimality": "Why: a method that hides no more than it must, on six people, at k = 2, leaves tables that are the "
    "only ones to be released so. Nothing here is done against it. What kactus draws by chance makes it rarer.",
    "deFinetti": "Why: t-closeness makes the classes alike, so the frequencies of a class guess little; what all "
    "classes together teach about who tends to have which value is left, and t says nothing about it. Strangers are "
    "guessed as well: see attribute inference.",
}
STRONGER_GOALS = ("homogeneity", "background knowledge", "skewness", "attribute inference", "deFinetti")
BEFORE = (
    "The baseline was measured earlier, by others: a minimal Mondrian with tight boxes, on 30,162 rows of Adult and "
    "seven quasi-identifiers. It is what to be clearly better than, not the same experiment: rows and hierarchies "
    "differ. Only its homogeneity says its column, the salary. Its distances are larger than the salary can have, so "
    "they are another column's; that they, attribute inference and composition stand with the occupation here is our "
    "guess."
)
CAUTION = (
    "Goals are printed whether they were met or missed. An attack that finds nothing proves nothing; what each one "
    "measures, and its control, stands in [attacks.md](../attacks.md)."
)
BELOW = "What is below 0, by chance, is drawn at 0."
BUSY = "Where CPU is far below, the cores were shared with other work."
TOO_SMALL = "This was a quick run on fewer rows: everything ran, but its figures and goals say nothing."


def write_attacks(page: Path, data: Path | None = None, rows: int | None = None, tell: Tell = print) -> None:
    """Run everything and write the page; with ``rows``, on so many rows only, for a quick look."""
    subject = read_adult(data, rows)
    results = attack_adult(subject, tell=tell)
    promised, plain, means = attack_promised(subject), attack_plain(subject), attack_means(subject)
    trees, patterns = attack_trees(subject), attack_patterns(subject)
    write_adult(page, results, promised, plain, means, trees, patterns, quick=rows is not None)


def write_adult(
    path: Path,
    results: Results,
    promised: Results,
    plain: Results,
    means: Results,
    trees: Results,
    patterns: Results,
    *,
    quick: bool,
) -> None:
    """Write the page, and its pictures into the folder ``plots`` beside it."""
    made = "Written by `python -m experiments attacks`, with the data in the folder that `INCROWD_DATA` names."
    spent = [(one.seconds, one.cpu) for one in (results, promised, plain, means, trees, patterns)]
    sections = [
        _overview(results),
        _goals(results, promised, *(sum(one) for one in zip(*spent, strict=True))),
        _promised(promised),
        _plain(plain),
        _apart(means, trees, patterns),
        _pictures(results),
        _all(results),
    ]
    write_page(path, "Attacks on releases of Adult", [made, machine(), TOO_SMALL if quick else CAUTION], sections)


def _columns(attack: str) -> Sequence[str]:
    return (SALARY, OCCUPATION) if attack in BY_COLUMN else ("",)


def _shown(attack: str, value: float) -> str:
    if attack in PERCENT:
        return f"{100 * value:.1f} %"
    return f"{value:.0f}" if attack == "background knowledge" else f"{value:.3f}"


def _cell(finding: Finding | None, attack: str) -> str:
    """The measured value, with a star where it is a leak."""
    if finding is None or finding.measured is None:
        return "not run"
    return _shown(attack, finding.measured) + ("*" if finding.verdict == LEAK else "")


def _overview(results: Results) -> Section:
    """One row for each attack and column, three k in a cell."""
    rows = []
    for attack in (name for name in ATTACKS if name in GOALS):
        for column in _columns(attack):
            before = BASELINE.get((attack, column))
            cells = [
                " / ".join(_cell(results.find(attack, column, method, k), attack) for k in KS) for method in METHODS
            ]
            shown = "" if before is None else " / ".join(_shown(attack, one) for one in before)
            rows.append([attack, column, GOALS[attack], shown, *cells])
    about = (
        f"{results.people:,} rows without missing values; quasi-identifiers {', '.join(QUASI_IDENTIFIERS)}; numbers as "
        f"intervals; example hierarchies. The target is the salary ({SALARY}). Each cell has k = 5 / 10 / 50; a star "
        "is a leak by the rule of the attack. The seed re-run and the row order are correlations. Minimality is about "
        "the method, at k = 2, and so the same for all k."
    )
    return Section(
        "The table", [about, BEFORE, Table(["attack", "column", "goal at k = 10", "baseline", *METHODS], rows, 4)]
    )


def _goals(results: Results, promised: Results, wall: float, cpu: float) -> Section:
    parts: list[str | Table | Picture | Goal] = [
        "At k = 10, for every method; where the goal is about l-diversity or t-closeness, on releases that keep them, "
        "see below."
    ]
    for attack in (name for name in ATTACKS if name in GOALS):
        under_more = attack in STRONGER_GOALS
        parts += [_goal(promised if under_more else results, attack, column, under_more) for column in _columns(attack)]
    parts.append(_goal(results, "attribute inference", OCCUPATION))
    parts.append(
        Goal("all attacks within 10 minutes", f"{wall:.0f} s, of which {cpu:.0f} s of CPU", wall <= LIMIT, BUSY)
    )
    return Section("Goals", parts)


def _goal(results: Results, attack: str, column: str, under_more: bool = False) -> Goal:
    findings = {method: results.find(attack, column, method, 10) for method in METHODS}
    ran = {method: one for method, one in findings.items() if one is not None and one.measured is not None}
    missed = [method for method, one in ran.items() if _misses(one)]
    words = ", ".join(f"{method} {_cell(one, attack)}" for method, one in findings.items())
    words += "" if len(ran) == len(findings) else "; what was not run says nothing"
    about = (f" ({column})" if column else "") + (" with l and t" if under_more else "")
    why = f"Missed by {', '.join(missed)}. {WHY.get(attack, '')}".strip() if missed else ""
    return Goal(f"{attack}{about}: {GOALS[attack]}", words, bool(ran) and not missed, why)


def _misses(finding: Finding) -> bool:
    """A goal is missed where the measure itself is beyond it, whatever the interval says."""
    assert finding.measured is not None
    if finding.attack == "background knowledge":
        return finding.goal is not None and finding.measured < finding.goal
    if finding.attack in ("singling out", "skewness"):  # by the rule of the attack: chance has an interval, t is exact
        return finding.verdict == LEAK
    measured = abs(finding.measured) if finding.attack == "row order" else finding.measured
    return finding.goal is not None and measured > finding.goal + 1e-12


def _promised(results: Results) -> Section:
    rows = []
    for column in STRONGER:
        for attack in BY_COLUMN:
            cells = [_cell(results.find(attack, column, method, 10), attack) for method in METHODS]
            rows.append([attack, column, GOALS[attack], *cells])
    about = " and ".join(f"`{promise}` for attacks on the {column}" for column, promise in STRONGER.items())
    return Section(
        "With l-diversity and t-closeness",
        [f"Releases that keep {about}.", Table(["attack", "column", "goal", *METHODS], rows, 3)],
    )


def _plain(results: Results) -> Section:
    rows = [[row.method, str(row.k), _cell(row.finding, row.attack)] for row in results.rows]
    about = (
        "Membership by box, Mondrian without hierarchies: categories are cut into sets, and every value belongs to "
        "one, whether somebody has it or not."
    )
    return Section("Without hierarchies", [about, Table(["method", "k", "members minus control rows"], rows, 1)])


def _apart(means: Results, trees: Results, patterns: Results) -> Section:
    """What is not about these releases: means, trees, hidden cells."""
    by_decimals = [
        [
            row.method,
            str(row.k),
            _percent(row.finding.measured),
            *(_percent(row.finding.details.get(f"with {decimals} decimals")) for decimals in (2, 1, 0)),
            _percent(row.finding.control),
        ]
        for row in means.rows
    ]
    grown = [[str(row.k), _percent(row.finding.measured), row.finding.verdict, row.finding.words] for row in trees.rows]
    hidden = [
        [row.method, str(row.k + 1), f"{row.finding.measured:.2f}", row.finding.verdict]
        for row in patterns.rows
        if row.finding.measured is not None
    ]
    return Section(
        "Means, trees, hidden cells",
        [
            "These attacks need other kinds of releases; on the releases above they are not run.",
            "Mean of a group: ages recovered exactly by somebody who knows all others of the group, from releases with "
            '`numeric="mean"`. The baseline recovers 100 % of full means and 98 / 80 / 24 % with one decimal.',
            Table(["method", "k", "as released", "2 decimals", "1 decimal", "whole", "by the mode"], by_decimals, 1),
            "Tree reconstruction: trees of kADET, all quasi-identifiers public.",
            Table(["k", "people in groups below k", "verdict", "what follows"], grown, 1),
            "Suppression pattern: marital status of 4 people in each of 3 samples of 40 rows, withheld by three "
            "hiders; posterior over prior, goal 1.2.",
            Table(["hider", "sample", "posterior over prior", "verdict"], hidden, 1),
        ],
    )


def _percent(share: float | None) -> str:
    return "not run" if share is None else f"{100 * share:.1f} %"


def _pictures(results: Results) -> Section:
    charts = (
        ("membership by box", "", "membership", "In a box: members minus control rows, in points", 100.0),
        ("homogeneity", SALARY, "homogeneity", "Rows in classes of one salary, in per cent", 100.0),
        ("attribute inference", OCCUPATION, "inference", "Advantage in guessing the occupation", 1.0),
    )
    parts: list[str | Table | Picture | Goal] = [BELOW]
    for attack, column, name, title, scale in charts:
        series = {method: list(_points(results, attack, column, method, scale)) for method in METHODS}
        before = BASELINE.get((attack, column)) or BASELINE.get((attack, ""))
        if before is not None:
            series["baseline"] = [(float(k), scale * one) for k, one in zip(KS, before, strict=True)]
        drawn = line_chart(
            title, "k", "", {one: points for one, points in series.items() if points}, lambda k: f"{k:g}"
        )
        parts.append(Picture(f"attacks_{name}", title, drawn))
    return Section("In pictures", parts)


def _points(results: Results, attack: str, column: str, method: str, scale: float) -> Iterator[tuple[float, float]]:
    for k in KS:
        finding = results.find(attack, column, method, k)
        if finding is not None and finding.measured is not None:
            yield float(k), scale * max(0.0, finding.measured)


def _all(results: Results) -> Section:
    """Every finding with its interval and its control."""
    rows = []
    for row in sorted(results.rows, key=lambda one: (list(ATTACKS).index(one.attack), one.column, one.k)):
        one = row.finding
        numbers = ["", "", ""]
        if one.measured is not None and one.interval is not None:
            numbers = [f"{one.measured:.4g}", f"{one.interval[0]:.4g} to {one.interval[1]:.4g}", f"{one.control:.4g}"]
        rows.append([row.attack, row.column, row.method, str(row.k), one.verdict, *numbers, f"{one.seconds:.1f}"])
    header = ["attack", "column", "method", "k", "verdict", "measured", "99 % interval", "control", "s"]
    return Section("All findings", [Table(header, rows, 5)])
