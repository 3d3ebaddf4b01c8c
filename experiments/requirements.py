"""What does the stronger promise cost? Trees learned from releases of Adult that keep l or t on the class."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

import numpy as np

from experiments.charts import line_chart
from incrowd.comparisons.datasets.catalog import find_dataset, load
from incrowd.comparisons.feeding import Feeding, feed_release, feed_unprotected
from incrowd.comparisons.learners.c45 import C45Learner
from incrowd.comparisons.learners.learner import Examples
from incrowd.comparisons.protocol import FixedSplit, RowSplit, seed_of
from incrowd.comparisons.releasing import publish_and_score, release_rows
from incrowd.comparisons.scores import Quality, quality
from incrowd.comparisons.subject import Subject, understand_table
from incrowd.errors import RequirementError
from incrowd.methods.catalog import METHODS, find_method
from incrowd.tables.hierarchies.read import adult_hierarchies
from incrowd.tables.reading.read import read
from incrowd.vocabulary.requirement import KAnonymity
from incrowd.vocabulary.requirements.words import asked_for
from incrowd.vocabulary.schema import Schema

KADET = "kadet"
K, SEED = 10, 1
LEVELS = {"entropy-l": ("1", "1.2", "1.4", "1.6"), "t-equal": ("1", "0.6", "0.5", "0.4", "0.3", "0.2", "0.1")}
TITLES = {"entropy-l": "Accuracy under entropy l-diversity of the class", "t-equal": "Accuracy under t-closeness"}
ATTRIBUTES = "iac-8"
Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Cost:
    """What one release was worth: accuracy, area under the curve, cells that show something (of a model: None)."""

    method: str
    word: str
    level: str
    accuracy: float
    auc: float
    cells: float | None


def adult(folder: Path | None, rows: int | None) -> Subject:
    """Adult without missing values: eight quasi-identifiers and the class."""
    dataset = find_dataset("adult")
    names = dataset.attribute_sets[ATTRIBUTES]
    target = read(load("adult", folder)).frame.columns[-1]
    frame = read(load("adult", folder)).frame.select(*names, target)
    return understand_table(
        frame,
        target=target,
        quasi_identifiers=names,
        numeric=[name for name in dataset.numeric if name in names],
        hierarchies=adult_hierarchies(),
        complete=True,
        rows=rows,
        name="Adult",
    )


def measure(
    subject: Subject, repetitions: int, methods: Iterable[str] = (*METHODS, KADET), tell: Callable[[str], None] = print
) -> list[Cost]:
    """The costs of all methods and levels, two thirds of the rows released, the last third to be told."""
    splits = FixedSplit(repetitions=repetitions).splits(subject.classes.codes.astype(np.int64), SEED)
    costs = []
    for method in methods:
        for word, levels in LEVELS.items():
            for level in levels:
                for split in splits:
                    cost = _cost(subject, split, method, word, level)
                    costs += [] if cost is None else [cost]
        tell(f"{method}: measured")
    return costs


def unprotected(subject: Subject, repetitions: int) -> tuple[float, float]:
    """Accuracy of the same learner on the rows as they are, and of guessing the most frequent class."""
    splits = FixedSplit(repetitions=repetitions).splits(subject.classes.codes.astype(np.int64), SEED)
    every = [subject.parts(split) for split in splits]
    learned = fmean(_learned(*feed_unprotected(parts)).accuracy for parts in every)
    guessed = fmean(float(np.mean(parts.truth == np.argmax(parts.train[parts.target].counts))) for parts in every)
    return learned, guessed


def _cost(subject: Subject, split: RowSplit, method: str, word: str, level: str) -> Cost | None:
    """One release; None if it is impossible."""
    parts, required = subject.parts(split), level != "1"
    seed = seed_of(SEED, method, word, level, split.repetition)
    try:
        if method == KADET:
            options = {"require": f"{word}={level}"} if required else {}
            scores, _ = publish_and_score(parts, subject.schema, K, options)
            reached = quality(scores, parts.truth)
            return Cost(method, word, level, reached.accuracy, reached.auc, None)
        requirement = asked_for(f"{word}={level}", KAnonymity(K)) if required else KAnonymity(K)
        schema = subject.schema if find_method(method).generalizes else _plain(subject.schema)
        made = release_rows(parts.train, subject.frame[split.train], schema, method, {}, requirement, seed)
    except RequirementError:
        return None
    fed = feed_release(parts, made.plan, made.draft, subject.frame[split.test], Feeding(sets="auto"), seed)
    reached = _learned(*fed)
    return Cost(method, word, level, reached.accuracy, reached.auc, made.plan.share_of_cells_shown)


def _plain(schema: Schema) -> Schema:
    return Schema(tuple(replace(column, hierarchy=None) for column in schema.columns))


def _learned(train: Examples, test: Examples) -> Quality:
    return quality(C45Learner().fit(train, 0).scores(test), test.classes)


def write_page(page: Path, subject: Subject, repetitions: int, costs: Sequence[Cost]) -> None:
    """The page, and its plots in the folder ``plots`` beside it."""
    (page.parent / "plots").mkdir(parents=True, exist_ok=True)
    for word in LEVELS:
        (page.parent / _picture(word)).write_text(_drawn(word, costs), encoding="utf-8")
    page.write_text("\n".join(_lines(subject, repetitions, costs)) + "\n", encoding="utf-8")


def _picture(word: str) -> str:
    return f"plots/requirements_adult_{word.replace('-', '_')}.svg"


def _mean(costs: Sequence[Cost], method: str, word: str, level: str) -> Cost | None:
    here = [cost for cost in costs if (cost.method, cost.word, cost.level) == (method, word, level)]
    if not here:
        return None
    cells = [cost.cells for cost in here if cost.cells is not None]
    right, area = fmean(cost.accuracy for cost in here), fmean(cost.auc for cost in here)
    return Cost(method, word, level, right, area, fmean(cells) if cells else None)


def _drawn(word: str, costs: Sequence[Cost]) -> str:
    """The plot; methods that are alike in all plots are one line, so that colours mean the same in each."""
    alike: dict[tuple[Points, ...], list[str]] = {}
    for method in dict.fromkeys(cost.method for cost in costs):
        alike.setdefault(tuple(_points(costs, method, each) for each in LEVELS), []).append(method)
    place = list(LEVELS).index(word)
    series = {", ".join(methods): points[place] for points, methods in alike.items()}
    return line_chart(TITLES[word], f"{word} (1: k={K} alone)", "% right", series, lambda x: f"{x:g}", "close")


def _points(costs: Sequence[Cost], method: str, word: str) -> Points:
    means = [_mean(costs, method, word, level) for level in LEVELS[word]]
    return tuple(sorted((float(mean.level), round(100 * mean.accuracy, 1)) for mean in means if mean is not None))


def _lines(subject: Subject, repetitions: int, costs: Sequence[Cost]) -> Iterator[str]:
    learned, guessed = unprotected(subject, repetitions)
    yield from (
        "# What requirements cost on Adult",
        "",
        f"Written by `python -m experiments requirements`: {subject.table.height:,} rows of Adult without missing "
        f"values, the quasi-identifiers {', '.join(subject.schema.quasi_identifiers)}, k = {K}, and a requirement "
        f"on the class ({subject.target}), see [requirements](../requirements.md). Two thirds of the rows are "
        f"released, C4.5 learns from the release and is tested on the last third; splits: {repetitions}. kadet is its "
        f"own learner. On the rows as they are C4.5 is right in {100 * learned:.1f} %, the most frequent class "
        f"alone in {100 * guessed:.1f} %.",
        "",
        "A strict requirement on the class keeps every group near the whole table. Where no group may have another "
        "most frequent class (t below one half minus the share of the rarer class) every tree is pruned to a leaf that "
        "guesses the most frequent one (area 0.50): that is the promise, and no fault of a method. Searches are "
        "greedy: a weaker requirement may end in a worse release.",
    )
    for word, levels in LEVELS.items():
        yield from ("", f"## {word}", "", f"![{TITLES[word]}]({_picture(word)})", "")
        yield "% right; area under the curve; cells that show something, in %:"
        yield ""
        yield f"| method | k alone | {' | '.join(f'{word}={level}' for level in levels[1:])} |"
        yield "|---|" + "---:|" * len(levels)
        for method in dict.fromkeys(cost.method for cost in costs):
            cells = (_said(_mean(costs, method, word, level)) for level in levels)
            yield f"| {method} | {' | '.join(cells)} |"


def _said(cost: Cost | None) -> str:
    if cost is None:
        return "impossible"
    shown = "" if cost.cells is None else f"; {100 * cost.cells:.0f}"
    return f"{100 * cost.accuracy:.1f}; {cost.auc:.2f}{shown}"
