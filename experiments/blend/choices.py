"""Two questions on many tables: are clusters better groups than splits, and which plain values keep most?

Trials are those of :mod:`experiments.many_tables.trials`: the same tables, splits, learners as recipients, attack.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import product, zip_longest
from pathlib import Path
from statistics import fmean, stdev

import numpy as np

from experiments.blend.trying import subject_of as adult_of
from experiments.many_tables.page import NAMES, Kept
from experiments.many_tables.page import called as called_alone
from experiments.many_tables.tables import SEED
from experiments.many_tables.trials import BLEND, COUNTS, ENTROPY, PUREST, Trial, read_outcomes
from experiments.pages import Goal, Section, Table, machine, write_page
from incrowd.comparisons.choices import Choice
from incrowd.comparisons.feeding import Feeding, feed_release
from incrowd.comparisons.learners.catalog import find_learner
from incrowd.comparisons.protocol import FiveByTwo
from incrowd.comparisons.releasing import release_rows
from incrowd.comparisons.scores import quality
from incrowd.vocabulary.requirement import KAnonymity

PAPERS = ("german-credit", "credit-approval", "pima", "tic-tac-toe", "vehicle", "breast-cancer", "car", "ionosphere")
KEEL = ("vowel", "abalone9-18", "saheart", "wdbc", "mammographic", "led7digit", "bupa", "bands", "flare-F")
"""Tables of 300 to 1,800 rows: to choose by, and to report on."""
TABLES = tuple(table for pair in zip_longest(PAPERS, KEEL) for table in pair if table)
"""In turn, as they are run."""
LEARNERS = ("c45", "nb", "logistic", "boosting", "knn", "forest")
KS = (10, 100, 30)
"""In the order in which they are run; the last when all tables have had the others."""
CLUSTERS, STRICT, STRICT_CLUSTERS = (
    "blend(groups='clusters')",
    "blend(form='strict')",
    "blend(form='strict', groups='clusters')",
)
PLAIN = ("kactus-plus", "infogain-mondrian", STRICT, STRICT_CLUSTERS)
"""What may become the default of plain values; the first is that of today."""
MOST_BELOW = 1.5  # points that the default of plain values may be below counts, on average


def called(method: str) -> str:
    """A method, its form and what its groups are, as the page says it."""
    return "blend as strict, clusters" if method == STRICT_CLUSTERS else called_alone(method)


def choice_trials(repetitions: int = 1) -> Iterator[Trial]:
    """All trials: on the tables of the papers, where the choice is made, and on the others, where it is reported."""
    for repetition in range(repetitions):
        for fold in (0, 1):
            for ks in (KS[:2], KS[2:]):
                for table, k in product(TABLES, ks):
                    yield from (
                        Trial(table, method, k, "", repetition, fold) for method in (BLEND, COUNTS, CLUSTERS, *PLAIN)
                    )
                    yield from (
                        Trial(table, method, k, besides, repetition, fold)
                        for besides in (PUREST, ENTROPY)
                        for method in (BLEND, CLUSTERS)
                    )


READERS = {
    "every text a category, `*` as well": Feeding(sets="category", hidden="category"),
    "every text a category, `*` missing": Feeding(sets="category"),
    "one of a set, `*` a category": Feeding(sets="draw", hidden="category"),
    "one of a set, `*` missing": Feeding(sets="draw"),
    "as recipients take it: one of a set, `*` any value": Feeding(),
}
TREES = ("tree", "tree(min_samples_leaf=20)", "c45", "logistic", "boosting")
ADULT_ROWS, ADULT_K = 16_000, 100


def read_as(data: Path | None, folder: Path) -> list[list[str]]:
    """Accuracy on Adult, eight quasi-identifiers, by what is released and how it is read; kept as JSON."""
    kept = folder / "readers.json"
    if kept.exists():
        lines: list[list[str]] = json.loads(kept.read_text(encoding="utf-8"))
        return lines
    subject = adult_of("adult", "8/14", data, ADULT_ROWS)
    (split, *_) = FiveByTwo(1, stratified=True).splits(subject.classes.codes.astype(np.int64), SEED)
    parts = subject.parts(split)
    lines = []
    for method in (*PLAIN[:3], BLEND, COUNTS):
        choice = Choice.of(method)
        made = release_rows(
            subject.table.take(split.train),
            subject.frame[split.train],
            subject.schema,
            choice.method,
            dict(choice.parameters),
            KAnonymity(ADULT_K),
            SEED,
        )
        readers = READERS if method == PLAIN[0] else {name: one for name, one in READERS.items() if one == Feeding()}
        for name, feeding in readers.items():
            fed = feed_release(parts, made.plan, made.draft, subject.frame[split.test], feeding, SEED)
            right = [quality(find_learner(one).fit(fed[0], 1).scores(fed[1]), fed[1].classes).accuracy for one in TREES]
            lines.append([called(method), name, *(f"{100 * each:.1f}" for each in right)])
    kept.write_text(json.dumps(lines), encoding="utf-8")
    return lines


def write_choices(page: Path, folder: Path, data: Path | None = None) -> None:
    """Write the page from what is kept."""
    kept = Kept(read_outcomes(folder))
    every = list(choice_trials())
    done = sum(trial in kept.outcomes for trial in every)
    sections = (
        Section("Protocol", [PROTOCOL, f"**{done} of {len(every)} trials of the first repetition have run.**"]),
        Section("Clusters or splits", _clusters(kept)),
        Section("Plain values", _plain(kept)),
        Section(
            "Who reads the cells",
            [
                f"Adult, {ADULT_ROWS:,} rows, half to learn from; eight quasi-identifiers alone; k = {ADULT_K}. "
                "What a cell of plain values is taken for decides more than the method.",
                Table(["released", "read", *TREES], read_as(data, folder), 2),
            ],
        ),
        Section("How it was measured", [machine()]),
    )
    about = [
        "Written by `python -m experiments choices`, from what has run so far of a protocol that was fixed before."
    ]
    write_page(page, "Clusters, and plain values at their best", about, sections)


PROTOCOL = f"""Fixed before anything of it was measured. **Tables**: choices are made on {len(PAPERS)} tables of the
papers ({", ".join(PAPERS)}) and reported on {len(KEEL)} of the KEEL repository ({", ".join(KEEL)}), where nothing is
chosen or tuned; all of 300 to 1,800 rows. Complete rows; every attribute is a quasi-identifier. **Splits** of two
folds, classes in equal parts, drawn with seed {SEED}. **k** = 10, 30, 100, at most a third of the rows learned from.
**Learners**: {", ".join(NAMES[name] for name in LEARNERS)}, which take a release as its recipient does.

**Clusters** become the default of Blend below their limit of rows if, with `--purest 0.9` for both, they are better
than splits by more than 1.96 standard errors of the mean over the tables of the papers. Without that bound groups of
exactly k are purer, and accuracy that is bought with purity decides nothing. Added when this was known, and before
anything was measured with it: entropy-l = 1.4 of the class, by the same rule for requirements other than that bound.

**Plain values**: the candidates are {", ".join(f"`{called(method)}`" for method in PLAIN)}. The one of the highest mean
accuracy over tables of the papers, k and learners becomes the default of plain values, unless it leads the present
default, `{PLAIN[0]}`, by less than 1.96 standard errors of the mean over tables. Counts, to which it is compared, are
the better of `blend` and `infogain-mondrian as counts`, each by its mean over all cells."""


def _mean(
    kept: Kept,
    tables: Sequence[str],
    one: tuple[str, str],
    other: tuple[str, str],
    ks: Sequence[int] = KS,
    learners: Sequence[str] = LEARNERS,
) -> tuple[list[float], str]:
    """By table the mean difference over k and learners, in points; and their mean with 1.96 standard errors."""
    each = []
    for table in tables:
        known = [
            apart
            for k in ks
            for name in learners
            if (apart := kept.apart(table, name, (one[0], k, one[1]), (other[0], k, other[1]))) is not None
        ]
        if known:
            each.append(fmean(known))
    if len(each) < 2:
        return each, "–"
    return each, f"{fmean(each):+.1f} ± {1.96 * stdev(each) / len(each) ** 0.5:.1f}"


SETS = (("papers, to choose", PAPERS), ("KEEL, to report", KEEL))


def _clusters(kept: Kept) -> list[str | Table]:
    rows = []
    for where, tables in SETS:
        for besides in ("", PUREST, ENTROPY):
            for ks in (*((k,) for k in sorted(KS)), KS):
                each, mean = _mean(kept, tables, (CLUSTERS, besides), (BLEND, besides), ks)
                facts = [
                    " / ".join(_fact_text(kept, tables, method, ks[0], besides, fact) for method in (BLEND, CLUSTERS))
                    if len(ks) == 1
                    else ""
                    for fact in ("pure", "advantage")
                ]
                better = f"{sum(apart > 0 for apart in each)} of {len(each)}"
                rows.append([where, besides or "–", str(ks[0]) if len(ks) == 1 else "all", better, mean, *facts])
    by_k = Table(
        ["tables", "required", "k", "better", "points", "in groups of one class, %", "attacker's advantage, %"], rows, 2
    )
    by_table = [
        [
            name,
            *(
                _mean(kept, (name,), (CLUSTERS, besides), (BLEND, besides), (k,))[0]
                for besides in ("", PUREST)
                for k in KS
            ),
        ]
        for name in (*PAPERS, *KEEL)
    ]
    columns = [f"k = {k}{', ' + besides if besides else ''}" for besides in ("", PUREST) for k in KS]
    lines = [[str(name), *(f"{one[0]:+.1f}" if one else "–" for one in cells)] for name, *cells in by_table]
    return [
        "Accuracy of `blend(groups='clusters')` less that of splits: mean over tables of the mean over learners, with "
        "1.96 standard errors of it; splits / clusters. Clusters are the default only where something is required of "
        "the class, which is less than the rule allows: without that nearly all rows are in groups of one class.",
        by_k,
        Table(["", *columns], lines),
    ]


def _fact_text(kept: Kept, tables: Sequence[str], method: str, k: int, besides: str, fact: str) -> str:
    known = [
        one.facts[fact] for name in tables for one in kept.of(name, method, k, besides).values() if fact in one.facts
    ]
    return f"{100 * fmean(known):.0f}" if known else "–"


def _plain(kept: Kept) -> list[str | Table | Goal]:
    counts = _better_counts(kept)
    rows = []
    for where, tables in SETS:
        for method in PLAIN:
            each = [_mean(kept, tables, (method, ""), (counts, ""), (k,))[1] for k in sorted(KS)]
            against = "–" if method == PLAIN[0] else _mean(kept, tables, (method, ""), (PLAIN[0], ""))[1]
            _, mean = _mean(kept, tables, (method, ""), (counts, ""))
            rows.append(
                [where, called(method), *each, mean, against, _fact_text(kept, tables, method, 10, "", "advantage")]
            )
    learners = [
        [
            where,
            called(method),
            *(_mean(kept, tables, (method, ""), (counts, ""), KS, (name,))[1] for name in LEARNERS),
        ]
        for where, tables in SETS
        for method in PLAIN
    ]
    best = chosen_plain(kept)
    apart = _mean(kept, KEEL, (best, ""), (counts, ""))[0]
    goal = Goal(
        f"the default of plain values (`{called(best)}`) is at most {MOST_BELOW} points below counts, on the tables "
        "on which nothing was chosen",
        f"{fmean(apart):+.1f}" if apart else "not yet",
        bool(apart) and fmean(apart) >= -MOST_BELOW,
    )
    header = ["tables", "plain values", *(f"k = {k}" for k in sorted(KS)), "all", f"less {PLAIN[0]}", "advantage, %"]
    return [
        f"Accuracy less that of counts (`{called(counts)}`), in points, with 1.96 standard errors of the mean over "
        "tables; the attacker's advantage at k = 10.",
        Table(header, rows, 2),
        "By learner, all k:",
        Table(["tables", "plain values", *(NAMES[name] for name in LEARNERS)], learners, 2),
        str(goal),
    ]


def _better_counts(kept: Kept) -> str:
    """The form of counts that is better on the tables of the papers."""
    each, _ = _mean(kept, PAPERS, (COUNTS, ""), (BLEND, ""))
    return COUNTS if each and fmean(each) > 0 else BLEND


def chosen_plain(kept: Kept) -> str:
    """The default that follows from the tables of the papers."""
    best, lead = PLAIN[0], 0.0
    for method in PLAIN[1:]:
        each, _ = _mean(kept, PAPERS, (method, ""), (PLAIN[0], ""))
        if len(each) > 1 and fmean(each) > max(lead, 1.96 * stdev(each) / len(each) ** 0.5):
            best, lead = method, fmean(each)
    return best
