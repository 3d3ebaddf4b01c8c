"""The trees that kADET publishes, grown again to look at their spans."""

from __future__ import annotations

from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np

from incrowd.comparisons.releasing import FILL, without_unused
from incrowd.comparisons.trial import Laboratory, Trial
from incrowd.models.induction import Induction
from incrowd.models.kadet import KAdet
from incrowd.models.published_tree import PublishedTree
from incrowd.trees.tree import In
from incrowd.vocabulary.encoded_table import Codes


@dataclass(frozen=True)
class Spans:
    """The tree at one k: what its root tests, how many spans it has, and the share of people in spans of one class.

    ``seconds``: of CPU, to grow it.
    """

    k: int
    root: str
    spans: int
    exposed: float
    seconds: float = 0.0


def grown(laboratory: Laboratory, trial: Trial) -> tuple[Induction, Codes]:
    """The tree of a trial of kADET with its spans, and the class of each row it was learned from."""
    parts = laboratory.subject.parts(laboratory.splits[trial.repetition, trial.fold])
    schema = laboratory.subject.schema
    private = tuple(name for name in parts.inputs if name not in schema.quasi_identifiers)
    parameters: dict[str, Any] = {"fill": FILL, **dict(trial.choice.parameters)}
    train = without_unused(parts.train)
    return KAdet(k=trial.k, private=private, **parameters).induce(train, schema), train[parts.target].codes


def spans_of(laboratory: Laboratory, trial: Trial) -> Spans | None:
    """The spans of the tree of a trial of kADET; None if there is none. It is grown twice; the faster counts."""
    spent = []
    for _ in range(2):
        begun = process_time()
        tree, classes = grown(laboratory, trial)
        spent.append(process_time() - begun)
    if tree.model is None:
        return None
    exposed = sum(len(span.rows) for span in tree.spans if len(np.unique(classes[span.rows])) == 1)
    return Spans(trial.k, root_of(tree.model), tree.model.spans, exposed / len(classes), min(spent))


def root_of(model: PublishedTree) -> str:
    """What the root tests, and whether by groups of values."""
    root = model.tree.nodes[0]
    grouped = any(isinstance(branch.predicate, In) for branch in root.branches)
    return f"{root.attribute or 'nothing'}{' (groups)' if grouped else ''}"
