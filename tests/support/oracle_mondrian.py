"""Mondrian and its class-aware form from the definition: plain recursion over rows, no codes, no arrays.

A dimension is a dict: ``name``; ``kind`` ("line" for numbers and orders, "values", "tree"); ``rank`` of each value (a
number is its own) and ``ends`` for a line; ``all`` values; ``tree`` for a hierarchy: nested dicts with ``leaves``
(functions that know their values) and ``children``.
"""

import math
from collections import Counter


def steps(x):
    return math.floor(float(x) * 2**30 + 0.5)


def entropy(labels):
    total = len(labels)
    return -sum(count / total * math.log2(count / total) for count in Counter(labels).values())


def width(dimension, values, node):
    if dimension["kind"] == "tree":
        return len(node["leaves"]) / len(dimension["tree"]["leaves"])
    if dimension["kind"] == "values":
        return len(set(values)) / len(dimension["all"])
    ranks = [dimension["rank"](value) for value in values]
    low, high = dimension["ends"]
    return (max(ranks) - min(ranks)) / (high - low)


def halves(dimension, members, value_of):
    """Every cut in two between neighbours: (rows of the first part, rows of the second)."""
    values = sorted({value_of[row] for row in members}, key=dimension["rank"])
    for i in range(1, len(values)):
        yield [r for r in members if value_of[r] in values[:i]], [r for r in members if value_of[r] in values[i:]]


def median_halves(dimension, members, value_of):
    ranks = sorted(dimension["rank"](value_of[row]) for row in members)
    median = ranks[(len(ranks) - 1) // 2]
    rank = {row: dimension["rank"](value_of[row]) for row in members}
    above = [r for r in members if rank[r] <= median], [r for r in members if rank[r] > median]
    below = [r for r in members if rank[r] < median], [r for r in members if rank[r] >= median]
    return above, below


def by_class_mix(members, value_of, labels, order):
    """A dimension whose line is the share of the second largest class."""
    common = Counter(labels[row] for row in members)
    ranked = sorted(common, key=lambda label: (-common[label], label))
    pivot = ranked[1] if len(ranked) > 1 else None  # all of one class: the share of any other is 0
    share = {}
    for value in {value_of[row] for row in members}:
        own = [labels[row] for row in members if value_of[row] == value]
        share[value] = (own.count(pivot) * 2**30) // len(own)
    return {"rank": lambda value: (share[value], order.index(value))}


def child_parts(node, members, value_of):
    for child in node["children"]:
        part = [row for row in members if any(leaf(value_of[row]) for leaf in child["leaves"])]
        if part:
            yield part, child


def candidates(rows, labels, dimensions, part, at, by_class, min_gain):
    """Every cut with its preference: (key, dimension, parts, nodes of the parts)."""
    for number, dimension in enumerate(dimensions):
        value_of = {row: rows[row][dimension["name"]] for row in part}
        known = [row for row in part if value_of[row] is not None]
        missing = [row for row in part if value_of[row] is None]
        node = at.get(number, dimension.get("tree"))
        if not known:
            continue
        if dimension["kind"] == "tree":
            below = list(child_parts(node, known, value_of)) if node["children"] else []
            found = [([p for p, _ in below], [child for _, child in below])] if below else []
        elif len({value_of[row] for row in known}) == 1:
            found = []
        elif not by_class:
            found = [(list(cut), [None, None]) for cut in median_halves(dimension, known, value_of)]
        else:
            line = dimension
            if dimension["kind"] == "values":
                line = by_class_mix(known, value_of, labels, dimension["all"])
            found = [(list(cut), [None, None]) for cut in halves(line, known, value_of)]
        wide = steps(width(dimension, [value_of[row] for row in known], node)) if found else 0
        for place, (parts, nodes) in enumerate(found):
            uneven = abs(len(parts[0]) - len(parts[1])) if nodes[0] is None else 0
            parts = parts + ([missing] if missing else [])
            nodes = nodes + ([node] if missing else [])
            first = place
            if by_class:
                left = sum(len(p) / len(part) * entropy([labels[row] for row in p]) for p in parts if p)
                first = steps(left)
                if entropy([labels[row] for row in part]) - left < min_gain - 1e-9:
                    continue
            yield (first, -wide, number, uneven, place), number, parts, nodes


def partition(rows, labels, dimensions, holds, by_class, min_gain=-1.0):
    """The final parts, as lists of row numbers."""
    final, waiting = [], [(list(range(len(rows))), {})]
    while waiting:
        part, at = waiting.pop()
        cuts = sorted(
            candidates(rows, labels, dimensions, part, at, by_class, min_gain), key=lambda candidate: candidate[0]
        )
        for _, number, parts, nodes in cuts:
            if all(p and holds([labels[row] for row in p]) for p in parts):
                waiting += [(p, {**at, number: node}) for p, node in zip(parts, nodes, strict=True)]
                break
        else:
            final.append(part)
    return final
