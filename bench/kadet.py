"""kADET on Adult: errors and exposed people by k, next to plain trees and to trees learned from TDS releases; speed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from time import process_time

import numpy as np
import polars as pl

import incrowd
from bench.people import ATTRIBUTES, NUMERIC, QUICK_ROWS, TARGET, encode, people
from bench.setting import Setting, tell
from experiments.charts import line_chart
from experiments.pages import Goal, Picture, Section, Table
from incrowd.models.induction import Induction
from incrowd.models.kadet import KAdet
from incrowd.models.published_tree import PublishedTree
from incrowd.tables.hierarchies.read import adult_hierarchies
from incrowd.trees.c45 import C45, ID3
from incrowd.trees.routing import predict
from incrowd.trees.tree import In, Tree
from incrowd.verification.spans import verify_spans
from incrowd.vocabulary.encoded_table import EncodedTable
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema

KS = (2, 5, 10, 25, 50, 75, 100, 250, 500, 750, 1000, 2000, 3000)
QUICK_KS = (5, 50)
CATEGORIES = [name for name in ATTRIBUTES if name not in NUMERIC]
SCORES = {"ID3": "gain", "C4.5": "gain_ratio"}
NAMES = {"ID3": CATEGORIES, "C4.5": ATTRIBUTES}
PRIVATE = ("occupation", "hours-per-week", "capital-gain", "workclass")
SPEED_K, MOST_TIMES_SLOWER, MANY_SPANS = 100, 5.0, 5_000
BUMP, AFTER = 750, 1000
OURS = "the hierarchies that come with incrowd, whose groups are the paper's"
Points = list[tuple[float, float]]


@dataclass(frozen=True)
class Rows:
    """Complete rows to learn from and to test on, as frames and as codes."""

    train: pl.DataFrame
    test: pl.DataFrame
    source: str
    hierarchies: Mapping[str, Hierarchy]
    groups: str


@dataclass(frozen=True)
class Result:
    """One k: test errors in per cent, the share of people in spans of one class, and what the checker said."""

    k: int
    kadet: float
    tds: float
    exposed: float
    spans: int
    smallest: int
    verified: bool
    root: str


def measure(setting: Setting) -> Section:
    """Errors by k with both scores, then speed."""
    rows = _rows(setting)
    ks = [k for k in (QUICK_KS if setting.quick else KS) if k <= rows.train.height]
    plain = {learner: _plain_error(rows, learner) for learner in SCORES}
    results = {learner: [_result(rows, learner, k) for k in ks] for learner in SCORES}
    parts = [part for learner in SCORES for part in _told(learner, results[learner], plain[learner])]
    return Section(
        "Trees that are k-anonymous themselves",
        (
            f"{rows.source}, {rows.train.height:,} complete rows to learn from and {rows.test.height:,} to test on, as "
            "they are. kADET with all inputs public and a private class; ID3 scores on the "
            f"{len(CATEGORIES)} categories with {rows.groups}, C4.5 scores on all "
            f"{len(ATTRIBUTES)} attributes. TDS: a C4.5 tree learned from a release by `tds` of the same attributes, "
            "test rows shown through its plan. Error: share of wrong test rows, in per cent. Exposed: share of people "
            "in spans of a single class, who are certain to be of that class.",
            *parts,
            _exposed_picture(results),
            *_goals(rows, results),
            *_speed(rows, setting),
        ),
    )


def _rows(setting: Setting) -> Rows:
    """Adult's own parts; of a stand-in, two thirds and one third."""
    files = [setting.data / f"adult_{part}.csv" for part in ("train", "test")] if setting.data else []
    if files and all(file.exists() for file in files):
        parts = [pl.read_csv(file, null_values="?").drop_nulls() for file in files]
        few = QUICK_ROWS if setting.quick else max(part.height for part in parts)
        return Rows(parts[0].head(few), parts[1].head(few), "Adult", _ours(), OURS)
    frame, source = people(setting)
    frame = frame.drop_nulls()
    third = frame.height // 3
    return Rows(frame[third:], frame[:third], source, {}, "no hierarchies")


def _ours() -> Mapping[str, Hierarchy]:
    ours = adult_hierarchies()
    return {name: ours[name] for name in CATEGORIES}


def schema_of(rows: Rows, names: Sequence[str]) -> Schema:
    """The attributes as quasi-identifiers, with their hierarchies."""
    columns = [
        Column(
            name,
            Role.QUASI_IDENTIFIER,
            ColumnType.INTEGER if name in NUMERIC else ColumnType.CATEGORICAL,
            hierarchy=rows.hierarchies.get(name),
        )
        for name in names
    ]
    return Schema((*columns, Column(TARGET, Role.TARGET)))


def induce(rows: Rows, learner: str, k: int, private: Sequence[str] = ()) -> tuple[Induction, EncodedTable]:
    """The induction, and the table it saw."""
    names = NAMES[learner]
    table = EncodedTable.of(encode(rows.train.select(*names, TARGET)))
    method = KAdet(k, tuple(private), score=SCORES[learner])
    return method.induce(table, schema_of(rows, names)), table


def _result(rows: Rows, learner: str, k: int) -> Result:
    induction, table = induce(rows, learner, k)
    model = induction.model
    assert model is not None, induction.reason
    verdict = verify_spans(json.loads(json.dumps(model.to_json())), table)
    labels = table[TARGET].codes
    exposed = sum(len(span.rows) for span in induction.spans if len(np.unique(labels[span.rows])) == 1)
    test = EncodedTable.of(encode(rows.test.select(*NAMES[learner], TARGET)))
    error = _error(model.classes, model.predict(test), rows.test)
    result = Result(
        k,
        error,
        _tds_error(rows, NAMES[learner], k),
        100 * exposed / table.height,
        model.spans,
        model.smallest_span,
        verdict.passed,
        root_of(model),
    )
    tell(f"{learner}, k = {k}: {result.kadet:.2f} %, TDS {result.tds:.2f} %")
    return result


def root_of(model: PublishedTree) -> str:
    """What the root tests, and whether by groups of values."""
    root = model.tree.nodes[0]
    grouped = any(isinstance(branch.predicate, In) for branch in root.branches)
    return f"{root.attribute or 'nothing'}{' (groups)' if grouped else ''}"


def _plain_error(rows: Rows, learner: str) -> float:
    """The error of a tree that nobody protects."""
    names = NAMES[learner]
    train, test = (EncodedTable.of(encode(part.select(*names, TARGET))) for part in (rows.train, rows.test))
    return _tree_error(_plain(learner)(train, names), test, rows.test)


def _plain(learner: str) -> Callable[[EncodedTable, Sequence[str]], Tree]:
    return lambda table, names: (ID3() if learner == "ID3" else C45()).grow(table, names, TARGET)


def _tds_error(rows: Rows, names: Sequence[str], k: int) -> float:
    """The error of a C4.5 tree learned from a release, on test rows shown through its plan."""
    groups: Mapping[str, Hierarchy] = {name: tree for name, tree in rows.hierarchies.items() if name in names}
    train, test = rows.train.select(*names, TARGET), rows.test.select(names)
    made = incrowd.release(
        train, quasi_identifiers=names, target=TARGET, k=k, method="tds", hierarchies=groups, despite_unchanged=True
    )
    shown = incrowd.transform(made.plan, test).with_columns(rows.test[TARGET])
    learned, unseen = (
        EncodedTable.of(encode(_words(frame))) for frame in (made.table, shown.select(made.table.columns))
    )
    return _tree_error(C45().grow(learned, list(names), TARGET), unseen, rows.test)


def _words(frame: pl.DataFrame) -> pl.DataFrame:
    """All cells as categories, what is hidden among them."""
    return frame.select(pl.all().cast(pl.String).fill_null("*"))


def _tree_error(tree: Tree, table: EncodedTable, frame: pl.DataFrame) -> float:
    return _error(tree.classes, predict(tree, table), frame)


def _error(classes: Sequence[object], guesses: np.ndarray, frame: pl.DataFrame) -> float:
    right = np.array(classes, dtype=object)[guesses] == np.array(frame[TARGET].to_list(), dtype=object)
    return float(100 * (1 - right.mean()))


def _told(learner: str, results: Sequence[Result], plain: float) -> list[str | Table | Picture]:
    """A table and a picture of the errors."""
    lines: dict[str, Points] = {
        f"kADET, {learner}": [(float(each.k), each.kadet) for each in results],
        "tree from a TDS release": [(float(each.k), each.tds) for each in results],
        f"plain {learner}": [(float(each.k), plain) for each in results],
    }
    title = f"Test error by k, {len(NAMES[learner])} attributes"
    drawn = line_chart(title, "k", "% wrong", lines, "{:,.0f}".format, scale="close")
    rows = [
        (
            f"{each.k:,}",
            each.root,
            f"{each.kadet:.2f}",
            f"{each.tds:.2f}",
            f"{each.tds - each.kadet:+.2f}",
            f"{each.exposed:.1f}",
            f"{each.spans:,}",
            f"{each.smallest:,}",
        )
        for each in results
    ]
    header = ("k", "root", "kADET, % wrong", "TDS, % wrong", "difference", "exposed, %", "spans", "smallest span")
    better = np.mean([each.tds - each.kadet for each in results])
    return [
        f"**{learner}**, {len(NAMES[learner])} attributes. A plain tree has {plain:.2f} % wrong; kADET is on average "
        f"{abs(better):.2f} points {'better' if better >= 0 else 'worse'} than TDS.",
        Table(header, rows, words=2),
        Picture(f"kadet_{learner.lower().replace('.', '')}", title, drawn),
    ]


def _exposed_picture(by_learner: Mapping[str, Sequence[Result]]) -> Picture:
    title = "People in spans of a single class, by k"
    lines = {learner: [(float(each.k), each.exposed) for each in results] for learner, results in by_learner.items()}
    return Picture("kadet_exposed", title, line_chart(title, "k", "% of people", lines, "{:,.0f}".format))


def _goals(rows: Rows, by_learner: Mapping[str, Sequence[Result]]) -> list[Goal]:
    """The checker's word on every tree, and on Adult the story of the paper's figure 4."""
    results = [each for learned in by_learner.values() for each in learned]
    verified = sum(each.verified and each.smallest >= each.k for each in results)
    goals = [
        Goal(
            "the independent checker passes every tree, and no span is smaller than k",
            f"{verified} of {len(results)}",
            verified == len(results),
        )
    ]
    by_k = {each.k: each for each in by_learner["ID3"]}
    if rows.groups == OURS and {BUMP, AFTER} <= by_k.keys():
        bump, after = by_k[BUMP], by_k[AFTER]
        goals.append(
            Goal(
                f"relationship is at the root for k = {BUMP}, groups of marital-status for k = {AFTER}, and the error "
                f"is larger at {BUMP}",
                f"{bump.root} with {bump.kadet:.2f} %, {after.root} with {after.kadet:.2f} %",
                (bump.root, after.root) == ("relationship", "marital-status (groups)") and bump.kadet > after.kadet,
            )
        )
    return goals


def _speed(rows: Rows, setting: Setting) -> list[str | Table | Goal]:
    """Medians of CPU seconds, in turns, after one round that does not count."""
    names = NAMES["C4.5"]
    table, schema = EncodedTable.of(encode(rows.train.select(*names, TARGET))), schema_of(rows, names)
    k = min(SPEED_K, rows.train.height // 10)
    ways: dict[str, Callable[[], object]] = {
        "plain C4.5": lambda: _plain("C4.5")(table, names),
        "all public": lambda: KAdet(k).induce(table, schema),
        "4 private": lambda: KAdet(k, PRIVATE).induce(table, schema),
    }
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(1 + setting.repetitions):
        for name, grow in ways.items():
            begun = process_time()
            grow()
            if turn:
                seconds[name].append(process_time() - begun)
                tell(f"{name}: {seconds[name][-1]:.2f} s CPU")
    induction = KAdet(k, PRIVATE).induce(table, schema)
    assert induction.model is not None
    return _speed_told(k, {name: median(each) for name, each in seconds.items()}, induction.model)


def _speed_told(k: int, seconds: Mapping[str, float], private: PublishedTree) -> list[str | Table | Goal]:
    plain = max(seconds["plain C4.5"], 1e-3)
    ratio = seconds["all public"] / plain
    return [
        f"**Speed**, {len(ATTRIBUTES)} attributes, k = {k}: CPU seconds of the induction alone, medians. With "
        f"{', '.join(PRIVATE)} private there are {private.spans:,} spans and {len(private.tree.leaves):,} leaves.",
        Table(("", "CPU s", "in plain trees"), [(name, f"{s:.2f}", f"{s / plain:.1f}") for name, s in seconds.items()]),
        Goal(
            f"with all attributes public, at most {MOST_TIMES_SLOWER:g} times the CPU seconds of a plain C4.5 tree",
            f"{ratio:.1f} times",
            ratio <= MOST_TIMES_SLOWER,
        ),
        Goal(
            f"with 4 private attributes no exponential surprise below {MANY_SPANS:,} spans",
            f"{private.spans:,} spans in {seconds['4 private']:.2f} s, {seconds['4 private'] / plain:.1f} plain trees",
            private.spans > MANY_SPANS or seconds["4 private"] < 100 * plain,
        ),
    ]
