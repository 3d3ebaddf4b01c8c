"""A published tree for other eyes and programs: as text, as a drawing for a paper, and in PMML 4.4.

Groups go by their names, and counts stand only where the model shows them. PMML is read without incrowd (Data Mining
Group, TreeModel). A value that a test does not know, or a missing one, stops at the node, as in incrowd:
``noTrueChildStrategy`` is ``returnLastPrediction``, ``missingValueStrategy`` is ``lastPrediction``. A branch for
missing values comes first, since the other conditions would be unknown and stop the search.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from incrowd.drawing.drawing import Drawing
from incrowd.drawing.wording import plain, sentence
from incrowd.errors import OutputError
from incrowd.models.published_tree import PublishedAttribute, PublishedTree
from incrowd.trees.draw import class_name, draw_lines, draw_tree
from incrowd.trees.tree import Branch, Eq, Gt, In, Le, Missing, Node, Predicate, Tree
from incrowd.vocabulary.released_value import date_text
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
    made = [Element("Node", id=str(i), score=_class(model, label)) for i, label in enumerate(model.labels)]
    SubElement(made[0], "True")
    for element, node, counts in zip(made, model.tree.nodes, model.safe_counts, strict=True):
        if counts is not None:
            element.set("recordCount", str(sum(counts)))
            for place, count in enumerate(counts):
                SubElement(element, "ScoreDistribution", value=_class(model, place), recordCount=str(count))
        for branch in sorted(node.branches, key=lambda branch: not isinstance(branch.predicate, Missing)):
            made[branch.child].insert(0, _predicate(branch.predicate))
            element.append(made[branch.child])
    return made[0]


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
