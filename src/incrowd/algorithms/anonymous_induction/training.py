"""The table as the induction sees it: attributes that can be split, as codes, and the class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from incrowd.algorithms.anonymous_induction.attributes import Attribute
from incrowd.algorithms.anonymous_induction.kernel import Inputs, xlogx_table
from incrowd.trees.bins import exact_bins
from incrowd.trees.classes import occurring_classes
from incrowd.trees.tree import ClassValue
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.requirements.subject import Subject


@dataclass(frozen=True, eq=False)
class Training:
    """Attributes and classes, by number, and the same as arrays for the kernel."""

    attributes: tuple[Attribute, ...]
    target: str
    classes: tuple[ClassValue, ...]
    class_private: bool
    inputs: Inputs
    ordered: bool = False

    @classmethod
    def of(
        cls, attributes: Sequence[Attribute], public: Sequence[bool], target: EncodedColumn, class_private: bool
    ) -> Training:
        """Put the arrays together."""
        classes = occurring_classes(target)
        labels = exact_bins(target.counts).of_code[target.codes].astype(np.int32)
        inputs = _inputs(attributes, public, labels, len(classes))
        return cls(tuple(attributes), target.name, classes, class_private, inputs, target.type.has_order)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.inputs.labels)

    @cached_property
    def subject(self) -> Subject:
        """The classes of all rows."""
        counts = np.bincount(self.inputs.labels, minlength=len(self.classes))
        return Subject(self.target, counts.astype(np.int64), self.ordered)

    @property
    def shared(self) -> bool:
        """Whether a span can cover several leaves, so that a split elsewhere may shrink it."""
        return not bool(self.inputs.public.all())

    @cached_property
    def xlogx(self) -> npt.NDArray[np.float64]:
        """``x log2 x`` of small whole numbers."""
        return xlogx_table(self.rows)


def _inputs(
    attributes: Sequence[Attribute], public: Sequence[bool], labels: npt.NDArray[np.int32], classes: int
) -> Inputs:
    width = np.array([attribute.width for attribute in attributes], np.int64)
    threshold = np.array([attribute.threshold for attribute in attributes], np.bool_)
    levels = np.array([len(attribute.levels) for attribute in attributes], np.int64)
    parts = np.zeros((len(attributes), max(1, levels.max(initial=1))), np.int64)
    for a, attribute in enumerate(attributes):
        parts[a, : levels[a]] = [len(division.parts) for division in attribute.levels]
    groups = [division.part_of for attribute in attributes for division in attribute.levels]
    slots = np.where(threshold, width, levels)
    codes = [attribute.codes.astype(np.int32) for attribute in attributes]
    return Inputs(
        np.stack(codes) if codes else np.empty((0, len(labels)), np.int32),
        labels,
        classes,
        width,
        threshold,
        np.array(public, np.bool_),
        levels,
        parts,
        np.concatenate([*groups, np.empty(0, np.int32)]).astype(np.int32),
        np.cumsum(width * levels) - width * levels,
        np.append(np.cumsum(slots) - slots, slots.sum()),
    )
