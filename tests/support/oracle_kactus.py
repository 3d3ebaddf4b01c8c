"""kACTUS written a second way: on rows, recursively, with plain Python sets and dictionaries."""

import random
from fractions import Fraction

from incrowd.trees.tree import Eq, Gt, In, Le, Missing


def satisfies(row, test):
    value = row[test.attribute]
    match test:
        case Missing():
            return value is None
        case Eq():
            return value is not None and value == test.value
        case In():
            return value is not None and value in test.values
        case Le():
            return value is not None and value <= test.threshold
        case Gt():
            return value is not None and value > test.threshold


def kactus(tree, rows, k, reading, seed):
    """(groups as (path, row numbers), row numbers left, {node: (waiting, moved, released, residual)})."""
    rng = random.Random(seed)
    groups, trace = [], {}

    def residual(number, path, arrived):
        node = tree.nodes[number]
        if not node.branches:
            return arrived
        pools, stuck = [], list(arrived)
        for branch in node.branches:
            inside = [r for r in arrived if satisfies(rows[r], branch.predicate)]
            stuck = [r for r in stuck if r not in inside]
            extended = [*path, branch.predicate]
            pools.append((extended, residual(branch.child, extended, inside)))
        waiting = stuck + [r for _, pool in pools if len(pool) < k for r in pool]
        complying = [(p, pool) for p, pool in pools if len(pool) >= k]
        extra = []
        for i, (_, pool) in enumerate(complying):
            rng.shuffle(pool)
            extra += [(i, r) for r in pool[k:]]
        if reading == "recommended":
            required = k - len(waiting) if 0 < len(waiting) < k else 0
        else:
            required = len(extra) if len(waiting) >= k else k - len(waiting)
        moved = set(rng.sample(extra, required)) if len(extra) >= required else set()
        released = 0
        for i, (p, pool) in enumerate(complying):
            members = [r for r in pool if (i, r) not in moved]
            groups.append((p, members))
            released += len(members)
        result = waiting + [r for _, r in moved]
        trace[number] = (len(waiting), len(moved), released, len(result))
        return result

    left = residual(0, [], list(range(len(rows))))
    if len(left) >= k:
        groups.append(([], left))
        left = []
    return groups, left, trace


def cell(path, name, rows, members, numeric):
    """What a group shows for an attribute: ('value', v), ('mean', exact fraction), ('missing',) or ('hidden',)."""
    tests = [test for test in path if test.attribute == name]
    if any(isinstance(test, Missing) for test in tests):
        return ("missing",)
    sets = [{t.value} if isinstance(t, Eq) else set(t.values) for t in tests if isinstance(t, Eq | In)]
    if sets:
        possible = set.intersection(*sets)
        return ("value", possible.pop()) if len(possible) == 1 else ("hidden",)
    if not tests:
        return ("hidden",)
    if numeric == "interval":
        return ("interval",)
    return ("mean", sum(Fraction(rows[r][name]) for r in members) / len(members))
