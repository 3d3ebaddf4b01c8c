"""What a published tree tells of people, besides its errors: who is certain to be of a class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from incrowd.algorithms.anonymous_induction.kadet import KAdet
from incrowd.lab.choices import KADET
from incrowd.lab.published import FILL
from incrowd.lab.releasing import without_unused
from incrowd.lab.reproduce.preparing import Prepared
from incrowd.lab.trial import Laboratory, Trial
from incrowd.models.published_tree import PublishedTree
from incrowd.vocabulary.predicate import In


@dataclass(frozen=True)
class Spans:
    """The tree at one k: what its root tests, how many spans it has, and the share of people in spans of one class."""

    k: int
    root: str
    spans: int
    exposed: float


def spans_of(laboratory: Laboratory, trial: Trial) -> Spans | None:
    """Grow the tree of a trial of kADET again, and look at its spans; None if there is no tree."""
    parts = laboratory.subject.parts(laboratory.splits[trial.repetition, trial.fold])
    schema = laboratory.subject.schema
    private = tuple(name for name in parts.inputs if name not in schema.quasi_identifiers)
    parameters: dict[str, Any] = {"fill": FILL, **dict(trial.choice.parameters)}
    train = without_unused(parts.train)
    found = KAdet(k=trial.k, private=private, **parameters).induce(train, schema)
    if found.model is None:
        return None
    classes = train[parts.target].codes
    exposed = sum(len(span.rows) for span in found.spans if len(np.unique(classes[span.rows])) == 1)
    return Spans(trial.k, root_of(found.model), found.model.spans, exposed / train.height)


def root_of(model: PublishedTree) -> str:
    """What the root tests, and whether by groups of values."""
    root = model.tree.nodes[0]
    grouped = any(isinstance(branch.predicate, In) for branch in root.branches)
    return f"{root.attribute or 'nothing'}{' (groups)' if grouped else ''}"


def look_at_trees(prepared: Prepared) -> dict[str, object]:
    """The trees of all trials of kADET, by part, and the share of the larger class among rows to learn from."""
    found: dict[str, object] = {}
    for case in prepared.cases:
        if case.choice.method != KADET:
            continue
        bench = prepared.bench(case.table)
        trials = [trial for trial in bench.trials if trial.choice == case.choice]
        trees = (spans_of(bench.laboratory, trial) for trial in trials)
        found[f"spans {case.part}"] = tuple(tree for tree in trees if tree is not None)
        first = next(iter(bench.laboratory.splits.values()))
        counts = bench.laboratory.subject.parts(first).train[bench.laboratory.subject.target].counts
        found["majority"] = float(counts.max() / counts.sum())
    return found
