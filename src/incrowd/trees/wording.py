"""Conditions and classes in words, for drawings."""

from __future__ import annotations

from incrowd.trees.tree import ClassValue, Node, Tree
from incrowd.vocabulary.predicate import Eq, Gt, In, Le, Missing, Predicate

MOST_VALUES = 6


def visible(words: str) -> str:
    """Words without characters that steer a terminal, turn the text around or break XML.

    Examples
    --------
    >>> visible("a\\x1b[31mb")
    'a\ufffd[31mb'
    """
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in words)


def condition(predicate: Predicate) -> str:
    """A predicate without its attribute; long lists are cut short.

    Examples
    --------
    >>> condition(Le("age", 30)), condition(In("city", frozenset({"Bonn", "Ulm"})))
    ('<= 30', 'in {Bonn, Ulm}')
    """
    match predicate:
        case Eq():
            return f"= {visible(str(predicate.value))}"
        case In():
            values = sorted(visible(str(value)) for value in predicate.values)
            more = [f"… {len(values) - MOST_VALUES} more"] if len(values) > MOST_VALUES else []
            return f"in {{{', '.join(values[:MOST_VALUES] + more)}}}"
        case Le():
            return f"<= {predicate.threshold}"
        case Gt():
            return f"> {predicate.threshold}"
        case Missing():
            return "missing"


def class_name(value: ClassValue) -> str:
    """A class value in words."""
    return "(missing)" if value is None else visible(str(value))


def majority(tree: Tree, node: Node) -> str:
    """The most frequent class of a node, or a dash if it has no rows."""
    if not any(node.counts):
        return "–"
    return class_name(tree.classes[max(range(len(node.counts)), key=node.counts.__getitem__)])


def headline(tree: Tree, node: Node) -> str:
    """What a node tests, or the class it says."""
    return majority(tree, node) if node.attribute is None else visible(node.attribute)


def amount(count: float) -> str:
    """A count in words: whole, or with two decimals.

    Examples
    --------
    >>> amount(1234567), amount(0.5)
    ('1,234,567', '0.50')
    """
    return f"{count:,.0f}" if count == round(count) else f"{count:,.2f}"
