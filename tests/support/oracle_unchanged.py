"""Effective k and people alone by unchanged columns, from the definition: sets, Counters and loops over people.

A table is a dict: ``quasi`` and ``unchanged`` map a name to one value per person (None is missing), ``cells`` maps a
quasi-identifier to what each person's released cell is, ``allows`` a quasi-identifier and a cell to the values the cell
allows (None: all), ``roles`` an unchanged column to its role, ``k`` is what was asked.
"""

import math
from collections import Counter, defaultdict
from itertools import combinations


def rank(value):
    return (value is None, value)


def blocks(values, size):
    """For each person, the number of people with a smaller value over the size; missing is a block of its own."""
    counts = Counter(value for value in values if value is not None)
    below, place = 0, {None: "missing"}
    for value in sorted(counts):
        place[value] = below // size
        below += counts[value]
    return [place[value] for value in values]


def views(values):
    """An unchanged column as it is counted alone."""
    n = len(values)
    found = [values]
    if len(set(values)) > 64:
        found.append(blocks(values, max(120, math.ceil(n / 4096))))
    return found


def in_pairs(values):
    return blocks(values, math.ceil(len(values) / 32)) if len(set(values)) > 64 else values


def in_order(values):
    """Values as numbers in their order, and the smallest first."""
    order = {value: at for at, value in enumerate(sorted(set(values), key=rank))}
    return [order[value] for value in values]


def upper(e):
    return e + 3 + 2 * (math.isqrt(e - 1) + 1 if e else 0)


class Quasi:
    """A quasi-identifier as it is counted: own values, and the set that each cell allows."""

    def __init__(self, values, cells, allows):
        if len(set(values)) > 256:
            held = blocks(values, math.ceil(len(values) / 128))
            of = dict(zip(values, held, strict=True))
            held = [-1 if one == "missing" else one for one in held]
            of = {value: -1 if one == "missing" else one for value, one in of.items()}
            order = {one: (one == -1, one) for one in held}
        else:
            held, of = values, {value: value for value in values}
            order = {value: rank(value) for value in held}
        self.order = order
        self.values = held
        self.everything = frozenset(held)
        sets = {
            cell: self.everything if allowed is None else frozenset(of[value] for value in allowed if value in of)
            for cell, allowed in allows.items()
        }
        self.sets = [sets[cell] for cell in cells]
        self.cells = cells
        self.people = Counter(held)

    def number(self, some):
        return sum(self.people[value] for value in some)


def by_value(x_of, quasi, wheres, usable):
    """The set T for every x and S that meet; ``wheres`` has for each R a column, its people are those alike in it."""
    at, inside = defaultdict(Counter), [defaultdict(Counter) for _ in wheres]
    for person, (x, value) in enumerate(zip(x_of, quasi.values, strict=True)):
        at[x][value] += 1
        for where, column in zip(inside, wheres, strict=True):
            where[column[person]][value] += 1
    first = {}
    for person, x in enumerate(x_of):
        first.setdefault(x, person)
    found = {}
    for x, allowed in {(x, s) for x, s, use in zip(x_of, quasi.sets, usable, strict=True) if use}:
        counts = at[x]
        crowds = [where[column[first[x]]] for where, column in zip(inside, wheres, strict=True)]
        m = sum(counts[value] for value in allowed)
        order = sorted(allowed, key=lambda value: (-counts[value], quasi.order[value]))
        for length in range(1, len(order) + 1):
            inner, outer = order[:length], order[length:]
            e = sum(counts[value] for value in outer) + sum(counts[value] == 1 for value in inner)
            if all(
                20 * upper(e) * sum(crowd[value] for value in allowed) <= m * sum(crowd[value] for value in outer)
                for crowd in crowds
            ):
                found[x, allowed] = frozenset(inner)
                break
    return found


def most(counts, quasi):
    ranked = sorted(counts, key=lambda value: (-counts[value], quasi.order[value]))
    n1 = counts[ranked[0]]
    n2 = counts[ranked[1]] if len(ranked) > 1 else 0
    return ranked[0], n1, n1 if n1 - n2 >= 2 else 0


def errors(x_of, quasi):
    at = defaultdict(Counter)
    for x, value in zip(x_of, quasi.values, strict=True):
        at[x][value] += 1
    return len(x_of) - sum(max(counts.values()) for counts in at.values())


def by_function(x_of, quasi, members=()):
    n = len(x_of)
    at = defaultdict(Counter)
    for x, value in zip(x_of, quasi.values, strict=True):
        at[x][value] += 1
    shared = {x for x, counts in at.items() if sum(counts.values()) > 1}
    m = sum(sum(at[x].values()) for x in shared)
    e = m - sum(most(at[x], quasi)[2] for x in shared)
    b = bound = n - max(quasi.people.values())
    for member in members:
        b = min(b, errors(member, quasi))
    if 20 * (e + 1) * n > (m + 2) * b:
        return {}
    found = {}
    for x, counts in at.items():
        value, n1, hit = most(counts, quasi)
        total = sum(counts.values())
        if hit and 20 * (total - n1) * n <= total * bound:
            found[x] = frozenset([value])
    return found


def narrowed(quasi, given):
    """For each person, S cut with what the tests give; tests without the own value mislead and are left out."""
    found = list(quasi.sets)
    for x_of, values, functions, usable in given:
        for person, x in enumerate(x_of):
            for some in (values.get((x, quasi.sets[person])), functions.get(x)):
                if some is not None and usable[person] and quasi.values[person] in some:
                    found[person] = found[person] & some
    return found


def given_back(quasi, some, allowed):
    return bool(some) and some != allowed and (len(some) == 1 or 2 * quasi.number(some) <= quasi.number(allowed))


def shown(quasi):
    return [len(allowed) == 1 for allowed in quasi.sets]


def single_tests(column, quasi):
    everybody, always = [0] * len(column), [True] * len(column)
    return [
        (view, by_value(view, quasi, [everybody], always), by_function(view, quasi), always) for view in views(column)
    ]


def pair_tests(first, second, usable, quasi):
    x_of = list(zip(first, second, strict=True))
    values = by_value(x_of, quasi, [[0] * len(x_of), first, second], usable)
    return [(x_of, values, by_function(x_of, quasi, (first, second)), usable)]


def count(table, without=()):
    """Cells given back, by what, and the smallest class with them."""
    names = [name for name in table["unchanged"] if name not in without]
    quasis = {
        name: Quasi(values, table["cells"][name], table["allows"][name]) for name, values in table["quasi"].items()
    }
    by, keys, hidden, cells = {}, [], 0, 0
    for at, (name, quasi) in enumerate(quasis.items()):
        hidden += sum(len(allowed) > 1 for allowed in quasi.sets)
        singles = {(one,): single_tests(table["unchanged"][one], quasi) for one in names}
        tests = [test for one in singles.values() for test in one]
        together = narrowed(quasi, tests)
        for one, given in singles.items():
            alone = narrowed(quasi, given)
            by[one, at] = sum(given_back(quasi, *both) for both in zip(alone, quasi.sets, strict=True))
        asked = [not given_back(quasi, *both) for both in zip(together, quasi.sets, strict=True)]
        pairs = {
            pair: pair_tests(*(in_pairs(table["unchanged"][one]) for one in pair), asked, quasi)  # type: ignore[call-arg]
            for pair in combinations(names, 2)
        }
        for other, theirs in quasis.items():
            if other != name:
                usable = [one and two for one, two in zip(asked, shown(theirs), strict=True)]
                for one in names:
                    pairs[one, other] = pair_tests(in_pairs(table["unchanged"][one]), theirs.values, usable, quasi)
        for pair, given in pairs.items():
            alone = narrowed(quasi, given)
            by[pair, at] = sum(given_back(quasi, *both) for both in zip(alone, quasi.sets, strict=True))
        together = narrowed(quasi, [*tests, *(test for given in pairs.values() for test in given)])
        restored = [given_back(quasi, *both) for both in zip(together, quasi.sets, strict=True)]
        cells += sum(restored)
        keys.append(
            [(cell, some if back else None) for cell, some, back in zip(quasi.cells, together, restored, strict=True)]
        )
    sizes = Counter(zip(*keys, strict=True))
    nominal = Counter(zip(*table["cells"].values(), strict=True))
    return {
        "nominal_k": min(nominal.values()),
        "effective_k": min(sizes.values()),
        "people_below_k": sum(size for size in sizes.values() if size < table["k"]),
        "hidden_cells": hidden,
        "restored_cells": cells,
        "restored_by": sorted(
            ([list(columns), list(quasis)[at], number] for (columns, at), number in by.items() if number),
            key=lambda entry: (-entry[2], entry[:2]),
        ),
    }


def advice(table):
    """Which columns to name or drop, and the effective k then."""
    out, left = [], count(table)
    while left["effective_k"] < table["k"]:
        telling = {one for columns, _, _ in left["restored_by"] for one in columns if one in table["unchanged"]}
        order = [one for one in table["unchanged"] if one in telling]
        tried = {one: count(table, (*out, one)) for one in order}
        best = max(order, key=lambda one: (tried[one]["effective_k"], -tried[one]["restored_cells"], -order.index(one)))
        out.append(best)
        left = tried[best]
    return out, left["effective_k"]


def alone_by(table, names):
    if not names:
        return int(len(next(iter(table["quasi"].values()))) == 1)
    counts = Counter(zip(*(table["unchanged"][name] for name in names), strict=True))
    return sum(number == 1 for number in counts.values())


def smallest_telling(table, names, best, everything):
    """The first of the best sets that reaches half; beyond three columns the one that adds most joins, in turn."""
    if not everything:
        return []
    for columns, number in best.values():
        if 2 * number >= everything:
            return columns
    chosen = columns
    while 2 * alone_by(table, chosen) < everything:
        grown = [[one for one in names if one in chosen or one == new] for new in names if new not in chosen]
        chosen = max(grown, key=lambda one: (alone_by(table, one), -grown.index(one)))
    return chosen


def alone(table):
    names = [name for name, role in table["roles"].items() if role != "target"]
    known = [name for name in names if table["roles"][name] != "private"]
    open_names = [name for name in names if table["roles"][name] not in ("private", "sensitive")]
    everything = alone_by(table, names)
    best = {}
    for size in (1, 2, 3):
        sets = list(combinations(names, size))
        if sets:
            chosen = max(sets, key=lambda one: (alone_by(table, one), -sets.index(one)))
            best[str(size)] = [list(chosen), alone_by(table, chosen)]
    telling = smallest_telling(table, names, best, everything)
    return {
        "without_class": everything,
        "with_class": alone_by(table, list(table["roles"])),
        "not_private": alone_by(table, known),
        "not_called_private": alone_by(table, open_names),
        "best": best,
        "smallest_telling_set": telling,
    }
