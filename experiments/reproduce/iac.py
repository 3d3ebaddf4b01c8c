"""What the IAC paper's text and figures say, judged by our results."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from statistics import fmean

from experiments.papers import IAC as PAPER
from experiments.reproduce.evidence import Evidence, Value
from experiments.reproduce.experiment import J48, LOGISTIC, WEKA, Case, Experiment, Part, Point, Table, Verdict
from experiments.reproduce.iac_figures import (
    around_two_are_unique,
    figure_blocks,
    information_differs_less,
    is_faster,
    largest_change,
    largest_divergence,
    look_at_figures,
    sex_changes_little,
    shows_more,
)
from experiments.reproduce.preparing import Prepared
from incrowd.comparisons.feeding import Feeding
from incrowd.comparisons.protocol import KFold

OWN, OTHER, PLAIN = "IACk", "InfoGain Mondrian", "none"
FURTHER, PRINTED = "IACk, generalized further", "IACk as printed"
J48_UP_TO, BAYES_UP_TO = 122, 147
CLOSE, VERY_CLOSE, SLIGHTLY = 1.0, 0.5, 2.0


def beats_mondrian(part: str) -> Callable[[Evidence], Verdict | None]:
    """A judge: is IACk better in every cell? With 8 quasi-identifiers J48 is excused beyond k = 122."""

    def judge(evidence: Evidence) -> Verdict | None:
        gaps = [
            (value, gap)
            for value, gap in _gaps(evidence, part)
            if not (part == "8" and value.inducer == "J48" and value.k > J48_UP_TO)
        ]
        if not gaps:
            return None
        won = sum(gap > 0 for _, gap in gaps)
        by_learner = ", ".join(f"{name} {gap:+.2f}" for name, gap in _by_inducer(gaps).items())
        return Verdict(won == len(gaps), f"better in {won} of {len(gaps)} cells; mean difference {by_learner}")

    return judge


def j48_loses_later(evidence: Evidence) -> Verdict | None:
    """J48 with 8 quasi-identifiers beyond k = 122."""
    gaps = [gap for value, gap in _gaps(evidence, "8") if value.inducer == "J48" and value.k > J48_UP_TO]
    if not gaps:
        return None
    return Verdict(max(gaps) < 0, f"IACk minus InfoGain Mondrian: {', '.join(f'{gap:+.2f}' for gap in gaps)}")


def stays_close(evidence: Evidence) -> Verdict | None:
    """How far IACk is below the unprotected table, at most."""
    plain = {(value.part, value.inducer): value.mean for value in evidence.select(algorithm=PLAIN)}
    losses = [
        (plain[value.part, value.inducer] - value.mean, value)
        for value in evidence.select(algorithm=OWN)
        if (value.part, value.inducer) in plain
        and not (value.part == "4" and value.inducer == "Naive Bayes" and value.k > BAYES_UP_TO)
    ]
    if not losses:
        return None
    loss, value = max(losses, key=lambda pair: pair[0])
    near = sum(one <= CLOSE for one, _ in losses)
    figures = (
        f"{near} of {len(losses)} cells; at most {loss:.2f} below ({value.inducer}, {value.label}, k = {value.k:,})"
    )
    return Verdict(near == len(losses), figures)


def generalized_stays(near: tuple[str, ...], below: tuple[str, ...]) -> Callable[[Evidence], Verdict | None]:
    """A judge: at k = 1, which learners do as well as on the table itself, and which slightly worse?"""

    def judge(evidence: Evidence) -> Verdict | None:
        plain = {value.inducer: value.mean for value in evidence.select(part="8", algorithm=PLAIN)}
        own = {value.inducer: value.mean for value in evidence.select(part="8", algorithm=OWN, k=1)}
        losses = {name: plain[name] - mean for name, mean in own.items() if name in plain}
        if not {*near, *below} <= set(losses):
            return None
        met = all(abs(losses[name]) <= VERY_CLOSE for name in near)
        met &= all(0 < losses[name] <= SLIGHTLY for name in below)
        return Verdict(met, ", ".join(f"{name} {-loss:+.2f}" for name, loss in losses.items()))

    return judge


def falls_with_k(evidence: Evidence) -> Verdict | None:
    """The last k against the first, for each learner and method with 8 quasi-identifiers."""
    falls: dict[tuple[str, str], float] = {}
    for algorithm in (OWN, OTHER):
        lines: dict[str, dict[int, float]] = {}
        for value in evidence.select(part="8", algorithm=algorithm):
            lines.setdefault(value.inducer, {})[value.k] = value.mean
        falls |= {(algorithm, name): line[max(line)] - line[min(line)] for name, line in lines.items() if len(line) > 1}
    if not falls:
        return None
    rising = [f"{name} ({algorithm}) {gap:+.2f}" for (algorithm, name), gap in falls.items() if gap >= 0]
    figures = f"in {len(falls) - len(rising)} of {len(falls)} lines" + (f"; not {', '.join(rising)}" if rising else "")
    return Verdict(not rising, figures)


def four_do_better(evidence: Evidence) -> Verdict | None:
    """IACk with 4 quasi-identifiers against IACk with 8."""
    eight = {(value.inducer, value.k): value.mean for value in evidence.select(part="8", algorithm=OWN)}
    four = {(value.inducer, value.k): value.mean for value in evidence.select(part="4", algorithm=OWN)}
    gaps = [four[place] - eight[place] for place in eight.keys() & four.keys()]
    if not gaps:
        return None
    return Verdict(
        min(gaps) > 0, f"in {sum(gap > 0 for gap in gaps)} of {len(gaps)} cells, by {fmean(gaps):.2f} points"
    )


def further_helps(evidence: Evidence) -> Verdict | None:
    """Rare rows generalized further against rare rows hidden, by learner, with 8 quasi-identifiers."""
    hidden = {(value.inducer, value.k): value.mean for value in evidence.select(part="8", algorithm=OWN)}
    gaps = [
        (value, value.mean - hidden[value.inducer, value.k])
        for value in evidence.select(part="8", algorithm=FURTHER)
        if (value.inducer, value.k) in hidden
    ]
    if not gaps:
        return None
    by_learner = _by_inducer(gaps)
    figures = ", ".join(f"{name} {gap:+.2f}" for name, gap in by_learner.items())
    return Verdict(min(by_learner.values()) > 0, f"against IACk on average: {figures}")


def _gaps(evidence: Evidence, part: str) -> list[tuple[Value, float]]:
    other = {(value.inducer, value.k): value.mean for value in evidence.select(part=part, algorithm=OTHER)}
    return [
        (value, value.mean - other[value.inducer, value.k])
        for value in evidence.select(part=part, algorithm=OWN)
        if (value.inducer, value.k) in other
    ]


def _by_inducer(gaps: Iterable[tuple[Value, float]]) -> dict[str, float]:
    by_inducer: dict[str, list[float]] = {}
    for value, gap in gaps:
        by_inducer.setdefault(value.inducer, []).append(gap)
    return {name: fmean(each) for name, each in by_inducer.items()}


LEARNERS = (J48, LOGISTIC, "svm", "nb")
INDUCERS = {"c45": "J48", "logistic": "Logistic", "svm": "SVM", "nb": "Naive Bayes", J48: "J48", LOGISTIC: "Logistic"}
INDUCERS |= {weka: INDUCERS[own] for own, weka in WEKA.items() if own in INDUCERS}
KS = (2, 5, 10, 25, 50, 75, 100, 122, 147, 175, 200)
QUICK_KS = (10, 50, 122, 200)
FURTHER_KS, PRINTED_KS = (2, 10, 50, 122, 200), (2, 200)
DELTAS = (0.01, 0.05, 0.2)
METHODS = {OWN: "iack", OTHER: "infogain-mondrian"}
TABLES = {part: Table("adult", f"iac-{part}", attributes="iac-8", hierarchies="all") for part in ("8", "4")}


def _cases(part: str) -> tuple[Case, ...]:
    table, label = TABLES[part], f"{part} QI"
    return (
        Case(part, label, PLAIN, "unprotected", table, (1,), (1,), LEARNERS),
        Case(part, label, OWN, METHODS[OWN], table, (1, *KS), (1, *QUICK_KS), LEARNERS),
        Case(part, label, OTHER, METHODS[OTHER], table, KS, QUICK_KS, LEARNERS),
        Case(part, label, FURTHER, "iack(on_rare='generalize')", table, FURTHER_KS, QUICK_KS[:2], LEARNERS),
        Case(part, label, PRINTED, "iack(strict=False)", table, PRINTED_KS, QUICK_KS[-1:], LEARNERS),
    )


def _cases_of_iacc() -> tuple[Case, ...]:
    methods = {f"IACc, {delta:g}": f"iacc(delta_c={delta}, delta_d={delta})" for delta in DELTAS}
    named = {PLAIN: "unprotected", **methods}
    return tuple(Case("c", "8 QI", *each, TABLES["8"], (1,), (1,), LEARNERS) for each in named.items())


def _look(prepared: Prepared) -> dict[str, object]:
    return look_at_figures(prepared, TABLES["8"], KS, METHODS, DELTAS)


IAC = Experiment(
    name="iac",
    title="IACk and IACc: figures 2 to 6",
    paper=PAPER,
    parts=(
        Part("8", "Figure 4: eight quasi-identifiers"),
        Part("4", "Figure 6: four quasi-identifiers, the other four attributes as they are"),
        Part("c", "IACc: eight quasi-identifiers, thresholds in place of k"),
    ),
    cases=(*_cases("8"), *_cases("4"), *_cases_of_iacc()),
    protocol=KFold(10),
    quick_protocol=KFold(2),
    complete=frozenset({"adult"}),
    inducers=INDUCERS,
    weka={own: weka for own, weka in WEKA.items() if own in INDUCERS},
    feeding=Feeding(sets="auto", hidden="category"),
    points=(
        Point(
            "with 8 quasi-identifiers, IACk is better than InfoGain Mondrian, but for J48 beyond k = 122",
            beats_mondrian("8"),
            "so in figure 4",
        ),
        Point(
            "with 8 quasi-identifiers, J48 does better with InfoGain Mondrian beyond k = 122",
            j48_loses_later,
            "so in figure 4",
        ),
        Point(
            "with 4 quasi-identifiers, IACk is better than InfoGain Mondrian everywhere",
            beats_mondrian("4"),
            "so in figure 6",
        ),
        Point(
            "IACk stays close to the unprotected table (a point at most), but for naive Bayes beyond k = 147 with 4 "
            "quasi-identifiers",
            stays_close,
            "“close”, in figures 4 and 6; what is close is our choice",
        ),
        Point("IACk takes less time at every k", is_faster, "so in section 6, drawn in figure 5"),
        Point(
            "around 2 % of the rows are unique once they are generalized",
            around_two_are_unique,
            "around 2 % (section 6, figure 2(b))",
        ),
        Point("native country and race have the largest D_N", largest_divergence, "so in section 6, figure 3(a)"),
        Point("sex has a small D_N: below the median of the attributes", sex_changes_little, "relatively small"),
        Point(
            "marital status and work class have the largest changes of I_N",
            largest_change,
            "so in section 6, figure 3(b)",
        ),
        Point(
            "attributes differ less in the change of I_N than in D_N",
            information_differs_less,
            "so in section 6; largest over median is our measure",
        ),
        Point(
            "generalized only (k = 1), J48 and naive Bayes are within half a point of the table itself, and logistic "
            "regression and the support vector machine up to two points below",
            generalized_stays(("J48", "Naive Bayes"), ("Logistic", "SVM")),
            "“very close” and “slightly lower” (section 6, figure 4); the points are our choice",
        ),
        Point("accuracy falls with k, from the first to the last", falls_with_k, "so in section 6, figure 4"),
        Point(
            "accuracies are higher with 4 quasi-identifiers than with 8",
            four_do_better,
            "“significantly higher” (section 6, figure 6)",
        ),
        Point(
            "rare rows that are generalized further show more cells than hidden ones have left",
            shows_more,
            "“more values will be preserved” (section 6)",
        ),
        Point(
            "rare rows that are generalized further serve every learner better, on average over k",
            further_helps,
            "“this will be helpful for classification” (section 6)",
        ),
    ),
    look=_look,
    further=figure_blocks,
    unknown=(
        "All accuracies: they are drawn, not printed.",
        "The taxonomies; that of age has a height of 7, ours has 6.",
        "The k of the figures: sizes of classes, of which 122 and 147 are named.",
        "The kernel and the scaling of LibSVM, and how it and logistic regression take `*`.",
        "How InfoGain Mondrian was run: with which hierarchies, and how test rows were shown.",
    ),
    notes=(
        "Adult: the 45,222 complete rows, and eight of its attributes: age and seven categories.",
        "Hierarchies: those that come with incrowd, for both methods. On marital-status they choose another level than "
        "the paper.",
        "IACk: strict, so that the rows that show nothing are k or none; the paper lets them be fewer.",
        "InfoGain Mondrian shows test rows through its cuts, IACk by the levels of the training rows.",
        "Support vector machine: linear (scikit-learn's), on one-hot categories.",
        "Rows that IACk suppresses show `*`, fed as a category like any other, as Weka would take it from a file; the "
        "paper does not say. This one choice decides what C4.5 shows here: on one split of a quick run (8 "
        "quasi-identifiers), `*` as missing gave C4.5 75.2 instead of 81.0 % at k = 122 and 75.2 instead of 81.7 % at "
        "k = 200, where 53 and 62 % of the rows are suppressed; naive Bayes 76.8 instead of 70.9 % and 77.7 instead of "
        "72.9 %; the others moved by less than a point. It was settled after that look.",
        "The k are ours; k = 1 of IACk is the generalized table, as in the paper.",
        "IACk, generalized further: what the authors suggest and did not try; which algorithm parts the rare rows they "
        "leave open, ours takes the attribute that tells most of the class. IACk as printed: the rows that show "
        "nothing may be fewer than k; at the k tried they are more, so its releases are those of the strict form. "
        "Both were run at some k only, chosen before looking, for the time it takes.",
        "IACc stands under k = 1, its floor; the thresholds decide, and the k reached is in the last table.",
    ),
)
