"""Adversaries of cell hiding, written a second way: on rows of text, from the definitions, nothing kept.

A row is a dict; ``?`` is a hidden cell. A taxonomy is a dict from each label to its parent; ``?`` is the root.
"""

from fractions import Fraction
from itertools import product
from math import log2

HIDDEN = "?"


def ancestors(label, taxonomy):
    """The label itself and everything above it."""
    found = [label]
    while found[-1] != HIDDEN:
        found.append(taxonomy[found[-1]])
    return found


def leaves(taxonomy, below=HIDDEN):
    inner = set(taxonomy.values())
    return [label for label in taxonomy if label not in inner and below in ancestors(label, taxonomy)]


def shared_out(cells, taxonomy, top=HIDDEN):
    """Estimated cells of every label at or below the top: groups shared out by what their children hold."""
    inside = [cell for cell in cells if top in ancestors(cell, taxonomy)]

    def held(label):
        return sum(label in ancestors(cell, taxonomy) for cell in inside)

    found = {top: Fraction(len(inside))}
    waiting = [top]
    while waiting:
        parent = waiting.pop()
        children = [label for label, above in taxonomy.items() if above == parent]
        total = sum(map(held, children))
        for child in children:
            share = Fraction(held(child), total) if total else Fraction(1, len(children))
            found[child] = found[parent] * share
            waiting.append(child)
    return found


def bayes_scores(rows, at, target, predictors, taxonomies, unknown="counted"):
    """Scores of all candidates for one row, learnt from the others."""
    shown = rows[at][target]
    others = [row for place, row in enumerate(rows) if place != at]
    scores = {}
    for value in leaves(taxonomies[target], shown):
        of_class = [row for row in others if row[target] == value]
        if unknown == "shared":
            under = [row[target] for row in others if shown in ancestors(row[target], taxonomies[target])]
            size, total = shared_out(under, taxonomies[target], shown)[value], len(under)
        else:
            size, total = Fraction(len(of_class)), sum(row[target] != HIDDEN for row in others)
        score = size / total if total else Fraction(0)
        for name in predictors:
            if name == target or rows[at][name] == HIDDEN:
                continue
            cells = [row[name] for row in of_class]
            mine = rows[at][name]
            if unknown == "shared":
                support, whole = shared_out(cells, taxonomies[name])[mine], size
            else:
                support = cells.count(mine)
                whole = sum(cell != HIDDEN for cell in cells) if unknown == "ignored" else len(cells)
            score *= Fraction(support) / whole if whole else 0
        scores[value] = score
    return scores


def bayes_says(scores):
    top = max(scores.values(), default=0)
    first = [value for value, score in scores.items() if score == top]
    return first[0] if len(first) == 1 else None


def entropy(labels):
    shares = [labels.count(label) / len(labels) for label in set(labels)]
    return -sum(share * log2(share) for share in shares)


def grow(rows, target, names, taxonomies):
    """An ID3 tree: (population, label, attribute, branches by label)."""
    classes = [row[target] for row in rows]
    order = leaves(taxonomies[target])
    label = max(order, key=lambda value: (classes.count(value), -order.index(value))) if rows else None
    chosen, highest = None, 0.0
    for name in names if len(set(classes)) > 1 else ():
        known = [row for row in rows if row[name] != HIDDEN]
        if not known:
            continue
        left = sum(
            entropy([row[target] for row in known if row[name] == cell]) * sum(row[name] == cell for row in known)
            for cell in {row[name] for row in known}
        ) / len(known)
        gain = len(known) / len(rows) * (entropy([row[target] for row in known]) - left)
        if gain > highest + 1e-9:
            chosen, highest = name, gain
    if chosen is None:
        return len(rows), label, None, {}
    cells = [row[chosen] for row in rows]
    seen = [cell for cell in taxonomies[chosen] if cell in cells and cell != HIDDEN]
    common = max(seen, key=lambda cell: (cells.count(cell), -seen.index(cell)))
    rest = [name for name in names if name != chosen]
    parts = {
        cell: [row for row in rows if row[chosen] in ([cell, HIDDEN] if cell == common else [cell])] for cell in seen
    }
    return len(rows), label, chosen, {cell: grow(part, target, rest, taxonomies) for cell, part in parts.items()}


def walk(tree, row, taxonomies):
    _, label, name, branches = tree
    if name is None:
        return label
    shown = row[name]
    hits = [
        child
        for cell, child in branches.items()
        if shown in ancestors(cell, taxonomies[name]) or cell in ancestors(shown, taxonomies[name])
    ] or list(branches.values())
    return walk(max(hits, key=lambda child: child[0]), row, taxonomies)


def id3_tree(rows, at, target, predictors, taxonomies):
    values = set(leaves(taxonomies[target], rows[at][target]))
    training = [row for place, row in enumerate(rows) if place != at and row[target] in values]
    return grow(training, target, [name for name in predictors if name != target], taxonomies)


def id3_says(rows, at, target, predictors, taxonomies):
    return walk(id3_tree(rows, at, target, predictors, taxonomies), rows[at], taxonomies)


def every_raise(row, names, taxonomies, blank_only):
    """All rows that show each named cell as it is or as something above it (or blank)."""
    options = []
    for name in names:
        ways = ancestors(row[name], taxonomies[name])
        options.append([ways[0], HIDDEN] if blank_only and row[name] != HIDDEN else ways)
    for combination in product(*options):
        yield {**row, **dict(zip(names, combination, strict=True))}
