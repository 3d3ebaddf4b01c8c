"""A decision tree that may be given away: tests, labels, and class counts only where they are safe to show.

What is left out on purpose: the number of training rows, the counts of inner nodes, and the counts of every leaf that
could single somebody out. From these, the hidden counts could be found by subtraction.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.errors import OutputError, PlanError
from incrowd.trees.tree import Branch, ClassValue, Node, Tree, check_tree, predicate_from_json, predicate_to_json
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.plain_data import read_plain_json
from incrowd.vocabulary.schema import ColumnType

VERSION = 1


@dataclass(frozen=True)
class PublishedAttribute:
    """An attribute the tree was allowed to test."""

    name: str
    public: bool  # whether an attacker may know it; private ones are varied over their domain
    type: ColumnType
    # Of a category: its hierarchy's or order's values, else the table's (of a public one those of k rows or persons).
    domain: tuple[str, ...] | None = None
    missing: bool = False  # whether missing is a value of the domain as well
    fill: str | int | float | None = None  # stands for a missing value, if any does


@dataclass(frozen=True)
class PublishedTree:
    """A tree whose spans all keep the requirement, with nothing in it that must stay in the house.

    Parameters
    ----------
    classes, class_private
        The class values, and whether an attacker does not know the class.
    attributes
        All attributes the induction could use, tested or not.
    tree
        The tests. A group of a hierarchy is an ``In`` branch. The nodes carry no counts (all 0): see ``safe_counts``.
    labels
        For each node the place of its class in ``classes``: the majority, that of the parent where there are no rows.
    groups
        For each node the name of the group that leads to it; ``None`` where that is a value or a threshold.
    requirement
        What every span keeps, as plain data.
    safe_counts
        Class counts of a leaf, or ``None``. A leaf shows them if its own rows keep the requirement; with a public
        class, if every class that occurs in it has at least k rows. Inner nodes and leaves without rows never do.
    smallest_span, spans
        Rows of the smallest span, or its persons, where these are counted; and the number of spans.

    Examples
    --------
    >>> tree = Tree((Node(None, (), (0, 0)),), "ill", ("no", "yes"))
    >>> requirement = {"is": "k-anonymity of spans", "k": 2}
    >>> model = PublishedTree("ill", ("no", "yes"), True, (), tree, (1,), (None,), requirement, ((2, 3),), 5, 1)
    >>> PublishedTree.from_json(model.to_json()) == model
    True
    >>> model.predict(EncodedTable({}, 2)).tolist()
    [1, 1]
    """

    target: str
    classes: tuple[ClassValue, ...]
    class_private: bool
    attributes: tuple[PublishedAttribute, ...]
    tree: Tree
    labels: tuple[int, ...]
    groups: tuple[str | None, ...]
    requirement: Mapping[str, Any]
    safe_counts: tuple[tuple[int, ...] | None, ...]
    smallest_span: int
    spans: int

    def __post_init__(self) -> None:
        check_tree(self.tree, [attribute.name for attribute in self.attributes])
        nodes = len(self.tree.nodes)
        sound = len(self.labels) == len(self.groups) == len(self.safe_counts) == nodes
        sound &= self.tree.target == self.target and self.tree.classes == self.classes
        sound &= all(0 <= label < len(self.classes) for label in self.labels)
        sound &= all(map(self._may_show, self.tree.nodes, self.safe_counts))
        sound &= not any(any(node.counts) for node in self.tree.nodes)
        if not sound:
            raise PlanError("The parts of this model do not fit together, or it shows counts that are not safe.")

    def _may_show(self, node: Node, counts: tuple[int, ...] | None) -> bool:
        """Whether the counts are those of a leaf with enough rows, or hidden."""
        if counts is None:
            return True
        least = sum(counts) if self.class_private else min((count for count in counts if count), default=0)
        return node.is_leaf and len(counts) == len(self.classes) and least >= max(1, self.requirement["k"])

    @property
    def of_persons(self) -> bool:
        """Whether persons are counted, who may have several rows."""
        return "of" in self.requirement

    @property
    def counted(self) -> str:
        """What a span has k of: rows, or persons."""
        return str(self.requirement.get("of", "rows"))

    @property
    def public(self) -> tuple[str, ...]:
        """The attributes an attacker may know."""
        return tuple(attribute.name for attribute in self.attributes if attribute.public)

    @property
    def private(self) -> tuple[str, ...]:
        """The attributes an attacker does not know."""
        return tuple(attribute.name for attribute in self.attributes if not attribute.public)

    def plot(self, *, max_depth: int | None = None, ax: Any = None) -> Any:
        """The tree as a drawing, with what was promised below it.

        Parameters
        ----------
        max_depth
            Nodes below this depth are left out; the boxes above them end in an ellipsis.
        ax
            Axes of Matplotlib to draw on, which are given back.

        Returns
        -------
        Drawing
            Notebooks show it; ``.save("tree.svg")`` writes it.
        """
        from incrowd.models.exports import plot_tree

        drawing = plot_tree(self, max_depth=max_depth)
        return drawing if ax is None else drawing.on(ax)

    def _repr_html_(self) -> str:
        return str(self.plot()._repr_html_())

    def leaf_of(self, table: EncodedTable) -> npt.NDArray[np.int32]:
        """The node where each row rests: a leaf, or the node whose test does not know the row's value."""
        from incrowd.trees.routing import route

        fills = {attribute.name: attribute.fill for attribute in self.attributes if attribute.fill is not None}
        used = [filled(table[name], fills.get(name)) for name in self.tree.attributes]
        return route(self.tree, EncodedTable({column.name: column for column in used}, table.height))

    def predict(self, table: EncodedTable) -> npt.NDArray[np.int64]:
        """The class of each row, as a place in ``classes``: the label of the node where it rests."""
        return np.array(self.labels, np.int64)[self.leaf_of(table)]

    def class_shares(self, table: EncodedTable, places: Sequence[int], width: int) -> npt.NDArray[np.float64]:
        """Class shares of each row's leaf where the model shows its counts, else 1 for its label.

        ``places`` are the columns of the classes, among ``width`` of them.
        """
        shares = np.zeros((len(self.labels), width))
        for node, (label, counts) in enumerate(zip(self.labels, self.safe_counts, strict=True)):
            if counts is None:
                shares[node, places[label]] = 1.0
            else:
                shares[node, places] = np.array(counts) / sum(counts)
        return shares[self.leaf_of(table)]

    def to_json(self) -> dict[str, Any]:
        """The model as plain data; :meth:`from_json` gives an equal model back."""
        rows = zip(self.tree.nodes, self.labels, self.groups, self.safe_counts, strict=True)
        return {
            "incrowd_model": VERSION,
            "target": self.target,
            "classes": list(self.classes),
            "class_private": self.class_private,
            "attributes": [_attribute_to_json(attribute) for attribute in self.attributes],
            "requirement": dict(self.requirement),
            "smallest_span": self.smallest_span,
            "spans": self.spans,
            "nodes": [_node_to_json(*row) for row in rows],
        }

    @classmethod
    def from_json(cls, data: Any) -> PublishedTree:
        """The model that :meth:`to_json` wrote; anything else is refused."""
        if not isinstance(data, dict) or data.get("incrowd_model") != VERSION:
            raise PlanError("This is not a model that this incrowd reads. Make it again, or update incrowd.")
        try:
            return _model_from_json(data)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise PlanError(f"Parts of this model are gone or malformed ({type(error).__name__}).") from None


def write_model(model: PublishedTree, path: str | Path) -> None:
    """Write a model as ``.json``, whole or not at all; the file is meant to be read by anyone."""
    path = Path(path)
    if path.suffix.lower() != ".json":
        raise OutputError(f"{path.name}: a model is written as JSON. Give a name that ends in .json.")
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise OutputError(f"{path.name} is not a plain file. Choose another name.")
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        draft.write_text(json.dumps(model.to_json(), ensure_ascii=False, allow_nan=False, indent=1) + "\n", "utf-8")
        draft.replace(path)
    except OSError as error:
        raise OutputError(f"{path.name} cannot be written ({type(error).__name__}).") from None
    finally:
        draft.unlink(missing_ok=True)


def read_model(path: str | Path) -> PublishedTree:
    """Read a model that :func:`write_model` wrote."""
    return PublishedTree.from_json(model_data(Path(path), "a model that incrowd wrote"))


def model_data(path: Path, what: str) -> Any:
    """What the file of a model says; refused as not ``what`` it should be if it is no JSON."""
    try:
        return read_plain_json(path.read_text("utf-8"))
    except FileNotFoundError:
        raise PlanError(f"There is no file {path.name}.") from None
    except (OSError, ValueError, RecursionError) as error:
        raise PlanError(f"{path.name} is not {what} ({type(error).__name__}).") from None


def filled(column: EncodedColumn, value: str | int | float | None) -> EncodedColumn:
    """The column with a value in place of the missing ones; unchanged if there is no value or nothing is missing."""
    missing = column.codes == column.missing_code
    if value is None or not missing.any():
        return column
    values: Sequence[Any] = column.numbers.tolist() if column.type.is_numeric else column.dictionary.to_list()
    if value in values:
        codes = np.where(missing, np.int32(values.index(value)), column.codes)
        return replace(column, codes=codes)
    place = int(np.searchsorted(column.numbers, value)) if column.type.is_numeric else len(values)
    codes = np.where(missing, np.int32(place), column.codes + (column.codes >= place)).astype(np.int32)
    extra = pl.Series([value]).cast(column.dictionary.to_physical().dtype).cast(column.dictionary.dtype)
    return replace(
        column, codes=codes, dictionary=pl.concat([column.dictionary[:place], extra, column.dictionary[place:]])
    )


def _attribute_to_json(attribute: PublishedAttribute) -> dict[str, Any]:
    domain = None if attribute.domain is None else list(attribute.domain)
    return {**vars(attribute), "type": str(attribute.type), "domain": domain}


def _attribute_from_json(data: dict[str, Any]) -> PublishedAttribute:
    domain = None if data["domain"] is None else tuple(map(_text, data["domain"]))
    name, public, missing = _text(data["name"]), bool(data["public"]), bool(data["missing"])
    kind, fill = ColumnType(data["type"]), data["fill"]
    if fill is not None and (isinstance(fill, bool) or not isinstance(fill, int | float if kind.is_numeric else str)):
        raise TypeError
    return PublishedAttribute(name=name, public=public, type=kind, domain=domain, missing=missing, fill=fill)


def _node_to_json(node: Node, label: int, group: str | None, counts: tuple[int, ...] | None) -> dict[str, Any]:
    entry: dict[str, Any] = {"label": label}
    if group is not None:
        entry["group"] = group
    if node.is_leaf:
        return entry if counts is None else {**entry, "counts": list(counts)}
    branches = [{"if": predicate_to_json(branch.predicate), "go": branch.child} for branch in node.branches]
    return {**entry, "attribute": node.attribute, "branches": branches}


def _node_from_json(data: dict[str, Any], classes: int) -> Node:
    branches = tuple(Branch(predicate_from_json(each["if"]), _count(each["go"])) for each in data.get("branches", ()))
    return Node(_text(data["attribute"]) if branches else None, branches, (0,) * classes)


def _model_from_json(data: dict[str, Any]) -> PublishedTree:
    target, classes, nodes = _text(data["target"]), tuple(data["classes"]), data["nodes"]
    if not isinstance(data["requirement"], dict):
        raise TypeError
    _count(data["requirement"]["k"])
    return PublishedTree(
        target=target,
        classes=classes,
        class_private=bool(data["class_private"]),
        attributes=tuple(map(_attribute_from_json, data["attributes"])),
        tree=Tree(tuple(_node_from_json(node, len(classes)) for node in nodes), target, classes),
        labels=tuple(_count(node["label"]) for node in nodes),
        groups=tuple(_text(node["group"]) if "group" in node else None for node in nodes),
        requirement=dict(data["requirement"]),
        safe_counts=tuple(tuple(map(_count, node["counts"])) if "counts" in node else None for node in nodes),
        smallest_span=_count(data["smallest_span"]),
        spans=_count(data["spans"]),
    )


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise TypeError
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value
