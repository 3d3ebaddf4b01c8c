"""IACk and IACc written a second way: on rows, with plain Python dictionaries."""

import math
from collections import Counter

from incrowd.vocabulary.released_value import Interval


def entropy(values):
    counts = Counter(values)
    total = sum(counts.values())
    return sum(count / total * math.log2(total / count) for count in counts.values())


def information(values, labels):
    """I_N as H(A) + H(C) - H(A, C) over H(A)."""
    if len(set(values)) < 2:
        return 0.0
    joint = entropy(list(zip(values, labels, strict=True)))
    return (entropy(values) + entropy(labels) - joint) / entropy(values)


def divergence(before, after):
    """D(A'||A'') from the values before and, None for suppressed, after."""
    old, new = Counter(before), Counter(after)
    total = 0.0
    for value, count in old.items():
        if not new[value]:
            return math.inf
        total += count / len(before) * math.log2(count / new[value])
    return total


def part_position(value, parts):
    """The position of the part a value belongs to; one past the last for none."""
    for position, part in enumerate(parts):
        if value is None:
            break
        if isinstance(part.members, Interval):
            low, high = part.members.low, part.members.high
            if (low is None or value > low) and (high is None or value <= high):
                return position
        elif value in part.members:
            return position
    return len(parts)


def views(rows, recode):
    """For each row the part of each attribute."""
    return [{column.name: part_position(row[column.name], column.parts) for column in recode.columns} for row in rows]


class Hidden:
    """What each row shows, hidden cells and rows left out; hidden until every set has k, in turn.

    ``owners`` has the person of each row; without it every row is one.
    """

    def __init__(self, rows, nothing, sets, raised, method, owners=None, labels=None):
        strict, on_small = method.strict, method.on_small
        self.generalizes, self.labels = getattr(method, "on_rare", "hide") == "generalize", labels
        self.owners = range(len(rows)) if owners is None else owners
        self.shown = [dict(row) for row in rows]
        self.hidden = [set() for _ in rows]
        self.gone = set()
        self.nothing = nothing
        self.raised, self.strict, self.on_small = raised, strict, on_small
        self.e_min = 0
        quiet, turn = 0, 0
        while quiet < len(sets):
            names, k = sets[turn % len(sets)]
            quiet = 1 if self.step(names, k) else quiet + 1
            turn += 1

    def classes(self, names):
        found = {}
        for number, row in enumerate(self.shown):
            if number not in self.gone:
                found.setdefault(tuple(row[name] for name in names), []).append(number)
        return found

    def size(self, numbers):
        """Persons of some rows."""
        return len({self.owners[number] for number in numbers})

    def step(self, names, k):
        classes = self.classes(names)
        blank = tuple(self.nothing[name] for name in names)
        rare = [codes for codes, members in classes.items() if codes != blank and self.size(members) < k + self.raised]
        self.e_min = max([self.e_min, *(self.size(classes[codes]) for codes in rare)])
        together = self.size(number for codes in [*rare, blank] for number in classes.get(codes, ()))
        if self.strict and 0 < together < k:
            if self.on_small == "drop":
                self.gone |= {number for codes in [*rare, blank] for number in classes.get(codes, ())}
                return True
            left = [(self.size(members), codes) for codes, members in classes.items() if codes not in [*rare, blank]]
            rare += [codes for _, codes in sorted(left)[:1]]
        if self.generalizes and rare:
            together = [number for codes in {*rare, blank} for number in classes.get(codes, ())]
            self.share(together, list(names), k + self.raised, [])
            return True
        for number in (number for codes in rare for number in classes[codes]):
            self.hidden[number] |= set(names)
            self.shown[number] |= {name: self.nothing[name] for name in names}
        return bool(rare)

    def share(self, group, names, k, before):
        """Rows of a group show what they have in common: part it by the best attribute, then each part by the others.

        ``before``: what the group shows already.
        """
        ways = []
        for place, name in enumerate(names):
            parts = {}
            for number in group:
                parts.setdefault(self.shown[number][name], []).append(number)
            rest = parts.pop(self.nothing[name], [])
            for value in [value for value, members in parts.items() if self.size(members) < k]:
                rest += parts.pop(value)
            while rest and parts and self.size(rest) < k and (self.strict or before):
                rest += parts.pop(min(parts, key=lambda value: (self.size(parts[value]), value)))
            if parts:
                spread = [self.bits(members) for members in (rest, *parts.values())]
                gain = round(self.bits(group) - sum(spread), 9)
                ways.append((-gain, len(rest), place, rest, parts))
        if not ways:
            for number in group:
                self.hidden[number] |= {name for name in names if self.shown[number][name] != self.nothing[name]}
                self.shown[number] |= {name: self.nothing[name] for name in names}
            return
        _, _, place, rest, parts = min(ways, key=lambda way: way[:3])
        name, others = names[place], names[:place] + names[place + 1 :]
        for number in rest:
            if self.shown[number][name] != self.nothing[name]:
                self.hidden[number].add(name)
                self.shown[number][name] = self.nothing[name]
        for members in parts.values():
            self.share(members, others, k, [*before, name])
        if rest:
            self.share(rest, others, k, before)

    def bits(self, numbers):
        return len(numbers) * entropy([self.labels[number] for number in numbers]) if numbers else 0.0

    def smallest(self, names):
        blank = tuple(self.nothing[name] for name in names)
        return min(
            (self.size(members) for codes, members in self.classes(names).items() if codes != blank), default=None
        )


def changes(rows, labels, state, names):
    """For each attribute: H(A'), H(C), change of I_N, D."""
    found = {}
    for name in names:
        before = [row[name] for row in rows]
        kept = [n for n in range(len(rows)) if n not in state.gone and name not in state.hidden[n]]
        after = information([before[n] for n in kept], [labels[n] for n in kept])
        change = abs(after - information(before, labels))
        found[name] = (entropy(before), entropy(labels), change, divergence(before, [before[n] for n in kept]))
    return found


def per(part, whole):
    return part / whole if whole > 1e-12 else (math.inf if part > 1e-12 else 0.0)


def exceeds(found, rows, delta_d, delta_c, scale):
    """Whether a threshold is exceeded, written with the scales of the paper where they are finite."""
    for spread, classes, change, distance in found.values():
        if scale == "absolute":
            d, c = per(distance, spread), change
        elif spread > 1e-12:
            room = (math.log2(rows) - spread) / spread
            d, c = per(distance / spread, room), per(change, classes / spread)
        else:
            d, c = per(distance, math.log2(rows)), 0.0
        if d > delta_d + 1e-9 or c > delta_c + 1e-9:
            return True
    return False
