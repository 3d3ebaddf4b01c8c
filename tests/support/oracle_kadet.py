"""kADET a second way: spans by their definition, and the algorithm on plain lists."""

import math
from collections import Counter
from itertools import product

from incrowd.trees.tree import Eq, Gt, In, Le, Missing


def satisfies(value, predicate):
    match predicate:
        case Missing():
            return value is None
        case _ if value is None:
            return False
        case Eq():
            return value == predicate.value
        case In():
            return value in predicate.values
        case Le():
            return value <= predicate.threshold
        case Gt():
            return value > predicate.threshold


def rest(tree, row):
    """The node where a row rests."""
    number = 0
    while True:
        node = tree.nodes[number]
        ways = [b.child for b in node.branches if satisfies(row[node.attribute], b.predicate)]
        if not ways:
            return number
        (number,) = ways


def cells(tree, name):
    """One number in each cell between the thresholds of an attribute."""
    thresholds = sorted({b.predicate.threshold for n in tree.nodes if n.attribute == name for b in n.branches})
    return [*thresholds, thresholds[-1] + 1] if thresholds else [0]


def brute_spans(tree, rows, private, target, domains, class_private):
    """For each set of bins the rows that may be in just these, whatever their private attributes are."""
    used = [name for name in private if name in tree.attributes]
    values = [cells(tree, name) if domains[name] is None else domains[name] for name in used]
    found = {}
    for number, row in enumerate(rows):
        bins = set()
        for completion in product(*values):
            leaf = rest(tree, row | dict(zip(used, completion, strict=True)))
            bins |= {(leaf, label) for label in (tree.classes if class_private else [row[target]])}
        found.setdefault(frozenset(bins), []).append(number)
    return found


def keeps(labels, k, diversity, confidence):
    counts = Counter(labels).values()
    size = sum(counts)
    entropy = -sum(count / size * math.log2(count / size) for count in counts)
    return (
        size >= k
        and (diversity is None or entropy >= math.log2(diversity) - 1e-9)
        and (confidence is None or max(counts) <= confidence * size + 1e-9)
    )


def spread(labels):
    return len(labels) and -sum(c * math.log2(c / len(labels)) for c in Counter(labels).values())


class Id3:
    """The loop of section 3 of the specification, with its lists: leaves, and spans as (rows, leaves).

    ``levels`` holds for each attribute one dictionary for each level, from value to group.
    """

    def __init__(self, rows, labels, levels, private, class_private, k, diversity, confidence):
        self.rows, self.labels, self.levels = rows, labels, levels
        self.private, self.asked = private, (k, diversity, confidence)
        everyone = set(range(len(rows)))
        self.leaves = {"root": (everyone, frozenset(levels))}
        parts = [everyone] if class_private else [{r for r in everyone if labels[r] == c} for c in set(labels)]
        self.spans = [(part, {"root"}) for part in parts]
        self.queue, self.pushed, self.trace = [], 0, []
        self.offer("root")
        while self.queue:
            self.queue.sort()
            self.try_one(*self.queue.pop(0)[2:])

    def offer(self, node):
        for name in self.levels:
            if name in self.leaves[node][1]:
                self.push(node, name, 0)

    def push(self, node, name, level):
        members = self.leaves[node][0]
        groups = self.grouped(members, name, level)
        before = spread([self.labels[r] for r in members])
        after = sum(spread([self.labels[r] for r in group]) for group in groups.values())
        gain = (before - after) / max(1, len(members))
        if gain > 1e-12:
            self.queue.append((-round(gain, 12), self.pushed, node, name, level))
            self.pushed += 1

    def grouped(self, members, name, level):
        groups = {}
        for row in members:
            groups.setdefault(self.levels[name][level][self.rows[row][name]], set()).add(row)
        return groups

    def try_one(self, node, name, level):
        if node not in self.leaves:
            return
        over = [span for span in self.spans if node in span[1]]
        parts = [part for people, _ in over for part in self.grouped(people, name, level).values()]
        if name not in self.private and not all(keeps([self.labels[r] for r in p], *self.asked) for p in parts):
            self.trace.append((node, name, level, "breach"))
            if level + 1 < len(self.levels[name]):
                self.push(node, name, level + 1)
            return
        self.trace.append((node, name, level, "split"))
        self.split(node, name, level)

    def split(self, node, name, level):
        members, usable = self.leaves.pop(node)
        own = self.grouped(members, name, level)
        sons = {group: f"{node}/{name}={group}" for group in dict.fromkeys(self.levels[name][level].values())}
        for group, son in sons.items():
            self.leaves[son] = (own.get(group, set()), usable - {name})
        spans = []
        for people, leaves in self.spans:
            if node not in leaves:
                spans.append((people, leaves))
            elif name in self.private:
                spans.append((people, leaves - {node} | set(sons.values())))
            else:
                parts = self.grouped(people, name, level).items()
                spans += [(part, leaves - {node} | {sons[group]}) for group, part in parts]
        self.spans = spans
        for son in sons.values():
            self.offer(son)
