"""kADET: grow a decision tree that is itself k-anonymous.

Friedman, Schuster, Wolff, "k-Anonymous Decision Tree Induction" (PKDD 2006). Some owners may not release a table, but a
model. An attacker knows your *public* attributes and the tree. The bins (a class in a leaf) that you may then be in,
whatever your *private* attributes are, are your *span*. The tree is grown so that every span is shared by at least k
people; a split that would make a span smaller is generalized along its hierarchy, or refused.

Deviations from the paper, besides its misprints: with gain ratio, a candidate below the average gain is held back until
the others have been refused; thresholds are round numbers; a public value that leads nobody to a node has no branch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from incrowd.errors import InputError, ParameterError, SchemaError, ValuesError
from incrowd.measures.entropy import entropy
from incrowd.models.induction.attributes import Attribute, Categories, Thresholds
from incrowd.models.induction.induction import Induction, SpanRequirement, about_class, required_of_spans
from incrowd.models.published_tree import filled
from incrowd.trees.growing import at_least
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.requirements.columns import RequirementSubject
from incrowd.vocabulary.schema import Schema

SCORES = ("gain_ratio", "gain")
FILLS = (None, "mode", "value")


@dataclass(frozen=True)
class KAdet:
    """kADET.

    Parameters
    ----------
    k
        Every span has at least this many people.
    private
        The attributes an attacker does not know. All quasi-identifiers that are not named here are public.
    class_private
        Whether an attacker does not know the class either.
    score
        ``"gain_ratio"``: as C4.5, with thresholds for numbers, dates and ordered categories. ``"gain"``: as ID3, which
        takes categories only.
    l
        Entropy l-diversity: the entropy of the classes in every span is at least ``log2 l``. Needs a private class.
    max_confidence
        No class has a larger share in any span. Needs a private class.
    prune
        Whether subtrees that promise no fewer errors become leaves; ``None``: with gain ratio, as C4.5 does, not with
        gain. Branches are never raised.
    fill
        Missing values are refused. ``"mode"``: the most frequent value, or the median, stands for them. ``"value"``:
        missing is a category of its own; numbers must be complete.
    bins
        Numbers are counted in at most this many bins of equal size, as in :class:`incrowd.trees.c45.C45`.
    require
        Further requirements on the class in every span: text such as ``"t=0.2, distinct-l=3"``, or requirements. They
        need a private class.

    Examples
    --------
    >>> import polars as pl
    >>> from incrowd.vocabulary.schema import Column, ColumnType, Role
    >>> married = np.array([0, 1, 1, 1, 0, 0], np.int32)
    >>> car = np.array([1, 1, 0, 0, 1, 0], np.int32)
    >>> risk = np.array([1, 1, 0, 0, 0, 0], np.int32)
    >>> table = EncodedTable.of([
    ...     EncodedColumn("married", ColumnType.CATEGORICAL, married, pl.Series(["no", "yes"])),
    ...     EncodedColumn("car", ColumnType.CATEGORICAL, car, pl.Series(["no", "yes"])),
    ...     EncodedColumn("risk", ColumnType.CATEGORICAL, risk, pl.Series(["bad", "good"])),
    ... ])
    >>> schema = Schema((Column("married"), Column("car"), Column("risk")))
    >>> schema = schema.with_roles(quasi_identifiers=["married", "car"], target="risk")
    >>> induction = KAdet(k=3, private=("car",), score="gain").induce(table, schema)
    >>> induction.model.spans, induction.model.smallest_span, induction.model.tree.attributes
    (2, 3, ('car', 'married'))
    """

    k: int
    private: tuple[str, ...] = ()
    class_private: bool = True
    score: str = "gain_ratio"
    l: float | None = None  # noqa: E741
    max_confidence: float | None = None
    prune: bool | None = None
    fill: str | None = None
    bins: int | None = 1024
    require: Any = ()

    name: ClassVar[str] = "kadet"

    def __post_init__(self) -> None:
        object.__setattr__(self, "require", required_of_spans(self.require))
        requirement = self.requirement
        object.__setattr__(self, "l", requirement.l)
        object.__setattr__(self, "max_confidence", requirement.max_confidence)
        object.__setattr__(self, "private", tuple(self.private))
        at_least("bins", self.bins, 2)
        if self.score not in SCORES:
            raise ParameterError(f"score must be one of {', '.join(SCORES)}.")
        if self.fill not in FILLS:
            raise ParameterError("fill must be None, 'mode' or 'value'.")
        if not self.class_private and requirement.on_class:
            raise ParameterError(
                "l, max_confidence and require are about a class that an attacker does not know. "
                "With a public class leave them out."
            )

    @property
    def requirement(self) -> SpanRequirement:
        """What every span keeps."""
        return SpanRequirement(self.k, self.l, self.max_confidence, self.require)

    def parameters(self) -> dict[str, Any]:
        """The parameters as plain data."""
        return {**vars(self), "private": list(self.private), "require": [str(part) for part in self.require]}

    def induce(self, table: EncodedTable, schema: Schema) -> Induction:
        """Grow the tree that predicts the target from the quasi-identifiers and the private attributes.

        Raises
        ------
        ValuesError
            If values are missing, unless ``fill`` says what to do with them.
        SchemaError
            If there is no target or no attribute, or an attribute cannot be used.
        """
        names, target = self._names(schema)
        about_class(self.require, target)
        if table.height == 0:
            raise InputError("The table has no rows; a tree needs at least one.")
        columns, fills = fill_columns([table[name] for name in names], table[target], self.fill, self._by_threshold)
        reason = self._impossible(table[target])
        if reason:
            return Induction(None, reason, (), ())
        attributes = [self._attribute(i, columns[name], schema) for i, name in enumerate(names)]
        return self._grow(attributes, EncodedTable({**columns, target: table[target]}, table.height), target, fills)

    def _names(self, schema: Schema) -> tuple[list[str], str]:
        """The attributes, in the order of the schema, and the target."""
        for name in self.private:
            schema[name]  # raises HeaderError, listing the columns there are
        names = [name for name in schema.names if name in {*schema.quasi_identifiers, *self.private}]
        if schema.target is None:
            raise SchemaError("A tree needs a target: the class it predicts. Name one with target=.")
        if schema.target in names or {*schema.identifiers} & {*names}:
            raise SchemaError("The target and identifiers cannot be private attributes of the tree. Leave them out.")
        if not names:
            raise SchemaError("A tree needs attributes to test. Name quasi-identifiers, or private attributes.")
        numbers = [name for name in names if schema[name].type.is_numeric]
        if self.score == "gain" and numbers:
            raise SchemaError(
                f"The score id3 takes categories only; {', '.join(map(repr, numbers))} are numbers. "
                "Leave them out, or use the score c45."
            )
        return names, schema.target

    def _by_threshold(self, column: EncodedColumn) -> bool:
        return column.type.has_order and self.score == "gain_ratio"

    def _attribute(self, number: int, column: EncodedColumn, schema: Schema) -> Attribute:
        declared = schema[column.name]
        if self._by_threshold(column):
            return Thresholds.of(number, column, declared, self.bins)
        return Categories.of(number, column, declared, column.name not in self.private)

    def _impossible(self, target: EncodedColumn) -> str:
        """Why not even a tree without tests keeps the requirement; empty if it does."""
        counts = target.counts[target.counts > 0]
        if not self.class_private and counts.min() < self.k:
            return f"A class of {target.name!r} has {counts.min()} rows, fewer than k={self.k}; a public class needs k."
        if counts.sum() < self.k:
            return f"The table has {counts.sum()} rows, fewer than k={self.k}."
        subject = RequirementSubject(target.name, counts, target.type.has_order)
        for part in self.require:
            part.check_possible(subject)
        if self.class_private and not self.requirement.holds(counts):
            return (
                "The classes of all rows together are too uneven, and no tree can do better: the most frequent class "
                f"has {counts.max() / counts.sum():.1%} of the rows, and l is {2 ** entropy(counts):.3f}."
            )
        return ""

    def _grow(
        self, attributes: list[Attribute], table: EncodedTable, target: str, fills: dict[str, str | int | float]
    ) -> Induction:
        from incrowd.models.induction.growing import Growth
        from incrowd.models.induction.publishing import kept_splits, publish
        from incrowd.models.induction.spans import InductionTable

        requirement = self.requirement
        public = [attribute.name not in self.private for attribute in attributes]
        training = InductionTable.of(attributes, public, table[target], self.class_private)
        growth = Growth(training, requirement, self.score == "gain_ratio").run()
        split = np.array([node.division is not None for node in growth.nodes])
        if self.prune or (self.prune is None and self.score == "gain_ratio"):
            split &= kept_splits(growth.nodes)
        model, spans = publish(growth, split, requirement, table, fills)
        return Induction(model, "", spans, tuple(growth.trace))


def fill_columns(
    columns: Iterable[EncodedColumn],
    target: EncodedColumn,
    fill: str | None,
    by_threshold: Callable[[EncodedColumn], bool],
) -> tuple[dict[str, EncodedColumn], dict[str, str | int | float]]:
    """The attributes without missing values, and what stands for them by attribute.

    ``"mode"``: the most frequent value of a category, the median of what is split by a threshold. ``"value"``: missing
    is a value of its own, which a threshold cannot have. A class is never made up: a missing one may only be a class
    of its own, by ``"value"``.

    Raises
    ------
    ValuesError
        If missing values remain; it names the columns and how many rows each lacks.
    """
    columns = list(columns)
    fills: dict[str, str | int | float] = {}
    for column in columns:
        if fill == "mode" and 0 < column.counts[-1] < len(column.codes):
            fills[column.name] = stand_in(column, by_threshold(column))
    done = {column.name: filled(column, fills.get(column.name)) for column in columns}
    left = [c for c in done.values() if c.counts[-1] and not (fill == "value" and not by_threshold(c))]
    if target.counts[-1] and fill != "value":
        left.append(target)
    if left:
        raise ValuesError(_refusal(left, target.name))
    return done, fills


def stand_in(column: EncodedColumn, middle: bool) -> str | int | float:
    """The most frequent value (the first of several), or the one in the middle of all."""
    counts = column.counts[:-1]
    code = int(np.searchsorted(np.cumsum(counts), counts.sum() / 2)) if middle else int(counts.argmax())
    value: str | int | float = column.numbers[code].item() if column.type.is_numeric else column.dictionary[code]
    return value


def _refusal(columns: list[EncodedColumn], target: str) -> str:
    missing = ", ".join(f"{column.name!r} ({int(column.counts[-1])} rows)" for column in columns)
    advice = "fill='mode' puts the most frequent value or the median there, fill='value' makes missing a category."
    if any(column.name == target for column in columns):
        advice += " A missing class can only be a class of its own (fill='value'); or leave these rows out."
    return f"Values are missing in {missing}. Leave these rows out, or choose how to fill them: {advice}"
