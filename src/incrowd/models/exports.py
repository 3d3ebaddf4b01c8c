"""A published tree for other eyes and programs: as text, a drawing for a paper, PMML 4.4, and an equivalent table.

Groups go by their names, and counts stand only where the model shows them. PMML is read without incrowd (Data Mining
Group, TreeModel). A value that a test does not know, or a missing one, stops at the node, as in incrowd:
``noTrueChildStrategy`` is ``returnLastPrediction``, ``missingValueStrategy`` is ``lastPrediction``. A branch for
missing values comes first, since the other conditions would be unknown and stop the search.

The table (the closing idea of Friedman, Schuster, Wolff, PKDD 2006): every row shows of its public attributes what its
span tells, all public tests on the ways to the leaves it may be in. Whoever may be in a leaf has passed the public
tests on its way, so this is true of every row, and the same for all rows of a span: at least k. And it is enough to
send the row to its leaf, so that the tree's patterns are all there. Private attributes are not known to an attacker, by
definition, so any treatment of them keeps the promise. Told is what the way to the row's own leaf tells, or nothing, or
the value itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.drawing.svg import Drawing
from incrowd.drawing.wording import plain, sentence
from incrowd.errors import OutputError, ParameterError, RequirementError
from incrowd.models.published_tree import PublishedAttribute, PublishedTree, filled
from incrowd.trees.draw import class_name, draw_lines, draw_tree
from incrowd.trees.routing import Ranges, code_ranges
from incrowd.trees.tree import Branch, Eq, Gt, In, Le, Missing, Node, Predicate, Tree
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable, OwnedTable
from incrowd.vocabulary.randomness import Randomness, SystemRandomness, fresh_frame, permutation
from incrowd.vocabulary.released_value import Category, Form, Interval, Shown, Suppressed, ValueSet, date_text, render
from incrowd.vocabulary.schema import ColumnType


class _Day(int):
    """A day number that is written as its date."""

    def __str__(self) -> str:
        return date_text(self)


def export_text(model: PublishedTree, *, max_depth: int | None = None) -> str:
    """Draw a published tree with lines; below it, what was promised.

    Nodes below ``max_depth`` are only counted.

    Examples
    --------
    >>> tree = Tree((Node(None, (), (0, 0)),), "ill", ("no", "yes"))
    >>> requirement = {"is": "k-anonymity of spans", "k": 2, "l": None, "max_confidence": None}
    >>> model = PublishedTree("ill", ("no", "yes"), True, (), tree, (1,), (None,), requirement, ((2, 3),), 5, 1)
    >>> print(export_text(model))
    yes  [no: 2, yes: 3]
    ill: every span has at least 2 rows; 1 span, of 5 rows
    """
    drawn = draw_lines(drawable(model), model.safe_counts, max_depth)
    return f"{drawn}\n{plain(model.target)}: {promise(model)}"


def plot_tree(model: PublishedTree, *, max_depth: int | None = None) -> Drawing:
    """Draw a published tree; the lines below it tell what was promised.

    Parameters
    ----------
    model
        Any published tree.
    max_depth
        Nodes below this depth are left out; the boxes above them end in an ellipsis.

    Examples
    --------
    >>> tree = Tree((Node(None, (), (0, 0)),), "ill", ("no", "yes"))
    >>> requirement = {"is": "k-anonymity of spans", "k": 2, "l": None, "max_confidence": None}
    >>> model = PublishedTree("ill", ("no", "yes"), True, (), tree, (1,), (None,), requirement, ((2, 3),), 5, 1)
    >>> plot_tree(model)
    Drawing of 'Decision tree for ill'
    """
    tree = drawable(model)
    deepest = max(tree.depths) if max_depth is None else max_depth
    drawn = {node.attribute for node, depth in zip(tree.nodes, tree.depths, strict=True) if depth <= deepest}
    notes = ["Bars: class shares, where counts may be shown."] if any(model.safe_counts) else []
    if drawn & {*model.private}:
        notes.append("Dashed: private attribute.")
    caption = [sentence(promise(model)), *([" ".join(notes)] if notes else [])]
    return draw_tree(tree, model.safe_counts, private=model.private, caption=caption, max_depth=max_depth)


def drawable(model: PublishedTree) -> Tree:
    """The tree for drawings: every node counts for its label, groups are values by their names, dates are dates."""
    dates = {attribute.name for attribute in model.attributes if attribute.type is ColumnType.DATE}
    nodes = []
    for node, label in zip(model.tree.nodes, model.labels, strict=True):
        branches = (
            Branch(_named(branch.predicate, model.groups[branch.child], dates), branch.child)
            for branch in node.branches
        )
        nodes.append(Node(node.attribute, tuple(branches), tuple(int(i == label) for i in range(len(model.classes)))))
    return replace(model.tree, nodes=tuple(nodes))


def promise(model: PublishedTree) -> str:
    """What every span keeps, in words."""
    requirement = model.requirement
    clauses = [f"every span has {'rows of ' * model.of_persons}at least {requirement['k']} {model.counted}"]
    if requirement.get("l") is not None:
        clauses.append(f"an entropy of classes of at least log2 {requirement['l']:g}")
    if requirement.get("max_confidence") is not None:
        clauses.append(f"no class with a share above {requirement['max_confidence']:g}")
    spans = "1 span, of" if model.spans == 1 else f"{model.spans:,} spans, the smallest of"
    return f"{', '.join(clauses)}; {spans} {model.smallest_span:,} {model.counted}"


def _named(predicate: Predicate, group: str | None, dates: set[str]) -> Predicate:
    if group is not None:
        return Eq(predicate.attribute, group)
    if isinstance(predicate, Le | Gt) and predicate.attribute in dates:
        return replace(predicate, threshold=_Day(predicate.threshold))
    return predicate


NAMESPACE = "http://www.dmg.org/PMML-4_4"
_NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_pmml(model: PublishedTree) -> str:
    """The model as a PMML 4.4 document.

    Numbers are ``double``, dates days since 1970-01-01 (``dateDaysSince[1970]``), everything else text.
    """
    used = [attribute for attribute in model.attributes if attribute.name in model.tree.attributes]
    root = Element("PMML", version="4.4", xmlns=NAMESPACE)
    header = SubElement(root, "Header", description=_description(model))
    SubElement(header, "Application", name="incrowd")
    fields = SubElement(root, "DataDictionary", numberOfFields=str(len(used) + 1))
    for attribute in used:
        kind, values = _types(attribute)
        SubElement(fields, "DataField", name=_sound(attribute.name), optype=kind, dataType=values)
    target = SubElement(fields, "DataField", name=_sound(model.target), optype="categorical", dataType="string")
    for value in model.classes:
        SubElement(target, "Value", value=_sound(class_name(value) if value is None else str(value)))
    root.append(_tree_model(model, used))
    indent(root)
    return tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _tree_model(model: PublishedTree, used: Iterable[PublishedAttribute]) -> Element:
    tree = Element(
        "TreeModel",
        functionName="classification",
        splitCharacteristic="multiSplit",
        missingValueStrategy="lastPrediction",
        noTrueChildStrategy="returnLastPrediction",
    )
    schema = SubElement(tree, "MiningSchema")
    for attribute in used:
        field = SubElement(schema, "MiningField", name=attribute.name, invalidValueTreatment="asIs")
        if attribute.fill is not None:
            field.set("missingValueReplacement", _sound(str(attribute.fill)))
            field.set("missingValueTreatment", "asValue")
    SubElement(schema, "MiningField", name=model.target, usageType="target")
    tree.append(_nodes(model))
    return tree


def _nodes(model: PublishedTree) -> Element:
    """The nodes, each inside its parent."""
    nodes = [Element("Node", id=str(i), score=_class(model, label)) for i, label in enumerate(model.labels)]
    SubElement(nodes[0], "True")
    for element, node, counts in zip(nodes, model.tree.nodes, model.safe_counts, strict=True):
        if counts is not None:
            element.set("recordCount", str(sum(counts)))
            for place, count in enumerate(counts):
                SubElement(element, "ScoreDistribution", value=_class(model, place), recordCount=str(count))
        for branch in sorted(node.branches, key=lambda branch: not isinstance(branch.predicate, Missing)):
            nodes[branch.child].insert(0, _predicate(branch.predicate))
            element.append(nodes[branch.child])
    return nodes[0]


def _class(model: PublishedTree, place: int) -> str:
    value = model.classes[place]
    return class_name(value) if value is None else str(value)


def _predicate(predicate: Predicate) -> Element:
    field = predicate.attribute
    match predicate:
        case Eq():
            return Element("SimplePredicate", field=field, operator="equal", value=_sound(str(predicate.value)))
        case In():
            element = Element("SimpleSetPredicate", field=field, booleanOperator="isIn")
            values = sorted(map(str, predicate.values))
            array = SubElement(element, "Array", n=str(len(values)), type="string")
            array.text = " ".join('"' + _sound(value).replace('"', '\\"') + '"' for value in values)
            return element
        case Le():
            return Element("SimplePredicate", field=field, operator="lessOrEqual", value=repr(predicate.threshold))
        case Gt():
            return Element("SimplePredicate", field=field, operator="greaterThan", value=repr(predicate.threshold))
        case Missing():
            return Element("SimplePredicate", field=field, operator="isMissing")


def _types(attribute: PublishedAttribute) -> tuple[str, str]:
    if attribute.type is ColumnType.DATE:
        return "continuous", "dateDaysSince[1970]"
    return ("continuous", "double") if attribute.type.is_numeric else ("categorical", "string")


def _description(model: PublishedTree) -> str:
    known = ", ".join(model.public) or "none"
    return _sound(
        f"Decision tree for {model.target}; every span has at least {model.requirement['k']} rows. Public: {known}."
    )


def _sound(text: str) -> str:
    """The text, if XML can hold it."""
    if _NOT_IN_XML.search(text):
        raise OutputError("A name or value in this model has a character that XML cannot hold. Publish it as JSON.")
    return text


PRIVATE = ("tested", "untouched", "left out")
_PERSON = "\x1fperson"  # begins with a letter that names do not have

Rows = npt.NDArray[np.intp]


def to_table(
    model: PublishedTree, table: EncodedTable, *, private: str = "tested", randomness: Randomness | None = None
) -> pl.DataFrame:
    """The training rows as the model tells them apart, shuffled; every public combination is shared by k rows.

    With a public class, every combination of public attributes and class is. A group of a hierarchy is shown by its
    name, a set of values joined by ``|``, an interval as ``(30, 40]``; nothing, and a missing value, is null. Where the
    model has a value that stands for missing ones, that is what is shown. Rows that the model was not grown on are
    refused where a combination has too few of them.

    Parameters
    ----------
    model
        A published tree.
    table
        The rows it was grown on: its attributes and the class. Where the model counts persons, an
        :class:`~incrowd.vocabulary.encoded_table.OwnedTable`, which says whose rows they are.
    private
        ``"tested"``: a private attribute shows what the tests on the way to the row's leaf tell. ``"untouched"``: its
        value. ``"left out"``: the column is not there.
    randomness
        Where the order comes from; the operating system if not given.
    """
    if private not in PRIVATE:
        raise ParameterError(f"private must be one of {', '.join(map(repr, PRIVATE))}.")
    columns = {a.name: filled(table[a.name], a.fill) for a in model.attributes}
    tests = _Walk(model, EncodedTable(columns, table.height)).tests
    shown = []
    for attribute in model.attributes:
        if attribute.public or private == "tested":
            shown.append(tests[attribute.name].render(attribute))
        elif private == "untouched":
            shown.append(_decoded(columns[attribute.name]))
    frame = pl.DataFrame([*shown, _decoded(table[model.target])])
    _check(frame, model, table)
    order = permutation(table.height, SystemRandomness() if randomness is None else randomness)
    return fresh_frame(frame[order])


@dataclass(eq=False)
class _PassedTests:
    """What is told about one attribute: for each row a number, and for each number the tests that were passed."""

    of_row: npt.NDArray[np.int64]
    passed: list[frozenset[tuple[Predicate, str | None]]] = field(default_factory=lambda: [frozenset()])

    def narrow(self, rows: Rows, test: tuple[Predicate, str | None]) -> None:
        """Some rows have passed one more test."""
        before, which = np.unique(self.of_row[rows], return_inverse=True)
        self.of_row[rows] = len(self.passed) + which
        self.passed += [self.passed[number] | {test} for number in before.tolist()]

    def render(self, attribute: PublishedAttribute) -> pl.Series:
        """The column as it is written."""
        used, which = np.unique(self.of_row, return_inverse=True)
        cells = [render(_form(self.passed[number], attribute), attribute.type) for number in used.tolist()]
        texts = pl.Series([None if cell is None else str(cell) for cell in cells], dtype=pl.String)
        return texts.gather(which).alias(attribute.name)


class _Walk:
    """All rows on their ways: at a public test each takes its own, at a private one all take all.

    What is told about a private attribute comes from the row's own way alone.
    """

    def __init__(self, model: PublishedTree, table: EncodedTable) -> None:
        self._model = model
        self.tests = {a.name: _PassedTests(np.zeros(table.height, np.int64)) for a in model.attributes}
        ranges = code_ranges(model.tree, table)
        everyone = np.arange(table.height)
        waiting: list[tuple[int, Rows, Rows]] = [(0, everyone, everyone)]
        while waiting:
            number, possible, own = waiting.pop()
            node = model.tree.nodes[number]
            if node.attribute in model.public:
                waiting += self._public(node, ranges.children(number, possible), possible, own)
            elif node.attribute is not None:
                waiting += self._private(node, number, ranges, possible, own)

    def _public(self, node: Node, to: npt.NDArray[np.int32], possible: Rows, own: Rows) -> list[tuple[int, Rows, Rows]]:
        ways = []
        for branch in node.branches:
            rows = possible[to == branch.child]
            if len(rows):
                self.tests[branch.predicate.attribute].narrow(
                    rows, (branch.predicate, self._model.groups[branch.child])
                )
                ways.append((branch.child, rows, np.intersect1d(own, rows, assume_unique=True)))
        return ways

    def _private(
        self, node: Node, number: int, ranges: Ranges, possible: Rows, own: Rows
    ) -> list[tuple[int, Rows, Rows]]:
        to = ranges.children(number, own)
        ways = []
        for branch in node.branches:
            rows = own[to == branch.child]
            self.tests[branch.predicate.attribute].narrow(rows, (branch.predicate, self._model.groups[branch.child]))
            ways.append((branch.child, possible, rows))
        return ways


def _form(passed: frozenset[tuple[Predicate, str | None]], attribute: PublishedAttribute) -> Form:
    """All tests of one attribute together."""
    if not passed or any(isinstance(test, Missing) for test, _ in passed):
        return Suppressed()
    if attribute.domain is None:
        lows = [test.threshold for test, _ in passed if isinstance(test, Gt)]
        highs = [test.threshold for test, _ in passed if isinstance(test, Le)]
        return Interval(max(lows, default=None), min(highs, default=None))
    allowed = frozenset.intersection(*(_values(test) for test, _ in passed))
    if len(allowed) == 1:
        return Shown(next(iter(allowed)))
    names = [group for test, group in passed if group is not None and _values(test) == allowed]
    if names:
        return Category(names[0])
    place = {value: i for i, value in enumerate(attribute.domain)}
    return ValueSet(tuple(sorted(allowed, key=lambda value: (place.get(str(value), len(place)), str(value)))))


def _values(test: Predicate) -> frozenset[str | int | float]:
    match test:
        case Eq():
            return frozenset({test.value})
        case In():
            return test.values
        case _:
            raise ParameterError(f"Column {test.attribute!r} is a category, but the tree compares it with a number.")


def _decoded(column: EncodedColumn) -> pl.Series:
    values = pl.concat([column.dictionary, column.dictionary.clear().extend_constant(None, 1)])
    return values.gather(column.codes.astype(np.int64)).alias(column.name)


def _check(frame: pl.DataFrame, model: PublishedTree, table: EncodedTable) -> None:
    """Count the combinations that an attacker knows; null is a value."""
    known = [*model.public, *([] if model.class_private else [model.target])]
    if not known:
        return
    alike = pl.len()
    if model.of_persons:
        if not isinstance(table, OwnedTable):
            raise ParameterError("The model counts persons. Give a table that says whose rows they are (OwnedTable).")
        frame = frame.with_columns(pl.Series(_PERSON, table.owners))
        alike = pl.col(_PERSON).n_unique()
    few = int((frame.select(alike.over(known)).to_series() < model.requirement["k"]).sum())
    if few:
        raise RequirementError(
            f"{few} rows share their public attributes with fewer than k={model.requirement['k']} "
            f"{model.counted}. Give the rows the model was grown on, all of them."
        )
