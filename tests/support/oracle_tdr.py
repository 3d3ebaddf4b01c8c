"""Top-down refinement written a second way: plain Python, everything recounted from the raw rows at every step.

An attribute's state is a list of blocks: sets of raw values that look alike. Nothing else is kept between steps.
"""

from collections import Counter
from dataclasses import dataclass
from math import log2

ALIKE = 1e-9


@dataclass(frozen=True)
class Move:
    """Replace a block of an attribute by others. ``key`` names the move, ``order`` breaks ties."""

    attribute: str
    key: object
    order: int
    block: frozenset
    into: tuple


@dataclass(frozen=True)
class Judged:
    move: Move
    gain: float
    loss: float
    score: float
    anonymity: tuple
    valid: bool


class Tree:
    """A taxonomy: a block is what a node covers, and the missing are a child of the root."""

    def __init__(self, children, leaf_of, number):
        self.children, self.leaf_of, self.number = children, leaf_of, number
        self.nodes = {}

    def start(self, values):
        self.values = values
        whole = frozenset(values)
        self.nodes = {whole: 0}
        return [whole]

    def _under(self, node):
        if node == "missing":
            return frozenset({None}) & frozenset(self.values)
        found = {v for v in self.values if v is not None and self.leaf_of(v) == node}
        for child in self.children.get(node, ()):
            found |= self._under(child)
        return frozenset(found)

    def moves(self, name, block):
        node = self.nodes[block]
        below = [*self.children.get(node, ()), *(["missing"] if node == 0 and self.children.get(0) else [])]
        covered = [(child, self._under(child)) for child in below]
        into = tuple(values for _, values in covered if values)
        if any(part != {None} for part in into):
            yield Move(name, self.number(node), node, block, into)

    def moved(self, move):
        """A block may be that of its only child: the deepest node reached is its node."""
        node = self.nodes[move.block]
        for child in [*self.children[node], "missing"]:
            values = self._under(child)
            if values in move.into:
                self.nodes[values] = child


class Line:
    """Ranges: cut where the gain is best, whatever that means for anonymity."""

    def __init__(self, rank):
        self.rank = rank

    def start(self, values):
        self.order = sorted((v for v in values if v is not None), key=self.rank)
        return [frozenset(values)]

    def cuts(self, block):
        known = sorted(block - {None}, key=self.rank)
        rest = (frozenset({None}),) if None in block else ()
        return [(frozenset(known[:i]), frozenset(known[i:]), *rest) for i in range(1, len(known))]

    def moves(self, name, block):
        if self.cuts(block):
            first = min((v for v in block if v is not None), key=self.rank)
            yield Move(name, self.order.index(first), self.order.index(first), block, ())

    def moved(self, move):
        pass


class Veil:
    """Hidden values, disclosed one by one."""

    def __init__(self, rank):
        self.rank = rank

    def start(self, values):
        self.hidden = frozenset(values)
        return [self.hidden]

    def moves(self, name, block):
        if block != self.hidden:
            return
        for value in sorted(block - {None}, key=self.rank):
            rest = block - {value}
            into = (frozenset({value}), rest) if rest else (frozenset({value}),)
            yield Move(name, value, self.rank(value), block, into)

    def moved(self, move):
        self.hidden = move.block - {move.key}


def entropy(labels):
    total = len(labels)
    return -sum(n / total * log2(n / total) for n in Counter(labels).values())


def tied(figures):
    """The places of the largest figures."""
    best = max(figures)
    return [i for i, figure in enumerate(figures) if figure >= best * (1 - ALIKE)]


class Oracle:
    """Run ``steps()`` and compare. ``owners`` has the person of each row; without it every row is one."""

    def __init__(self, rows, names, target, kinds, sets, score, average, owners=None):
        self.owners = range(len(rows)) if owners is None else owners
        self.several = owners is not None
        self.rows, self.names, self.target = rows, names, target
        self.kinds, self.sets, self.score, self.average = kinds, sets, score, average
        self.blocks = {name: kinds[name].start({row[name] for row in rows}) for name in names}
        self.refused = set()

    def gain(self, move):
        touched = [row for row in self.rows if row[move.attribute] in move.block]
        left = 0.0
        for part in move.into:
            inside = [row[self.target] for row in touched if row[move.attribute] in part]
            left += len(inside) / len(touched) * entropy(inside)
        gain = entropy([row[self.target] for row in touched]) - left
        return gain if gain >= 1e-12 else 0.0

    def masks(self, name, blocks):
        number = {value: i for i, block in enumerate(blocks) for value in block}
        return [number[row[name]] for row in self.rows]

    def anonymity(self, masked):
        return tuple(self.smallest([masked[name] for name in names]) for names, _ in self.sets)

    def smallest(self, columns):
        """Persons of the smallest group."""
        there = set(zip(zip(*columns, strict=True), self.owners, strict=True))
        return min(Counter(group for group, _ in there).values())

    def judge(self, move, masked):
        blocks = [block for block in self.blocks[move.attribute] if block != move.block] + list(move.into)
        before = self.anonymity(masked)
        after = self.anonymity({**masked, move.attribute: self.masks(move.attribute, blocks)})
        lost = [b - a for b, a, (names, _) in zip(before, after, self.sets, strict=True) if move.attribute in names]
        loss = sum(lost) / (len(lost) if self.average == "related" else len(self.sets))
        gain = self.gain(move)
        valid = all(a >= k for a, (_, k) in zip(after, self.sets, strict=True))
        return Judged(move, gain, loss, self.score(gain, loss), after, valid)

    def moves(self):
        for name in self.names:
            for block in self.blocks[name]:
                labels = {row[self.target] for row in self.rows if row[name] in block}
                if len(labels) > 1:
                    yield from map(self.chosen_cut, self.kinds[name].moves(name, block))

    def chosen_cut(self, move):
        if move.into:
            return move
        cuts = [
            Move(move.attribute, move.key, move.order, move.block, cut)
            for cut in self.kinds[move.attribute].cuts(move.block)
        ]
        return cuts[tied([self.gain(cut) for cut in cuts])[0]]

    def candidates(self):
        """Valid and of use; what was invalid once must stay so."""
        masked = {name: self.masks(name, self.blocks[name]) for name in self.names}
        found = []
        for move in self.moves():
            judged = self.judge(move, masked)
            if judged.valid:
                assert (move.attribute, move.key) not in self.refused
                found.append(judged)
            else:
                self.refused.add((move.attribute, move.key))
        return found

    def steps(self):
        while found := self.candidates():
            best = [found[i] for i in tied([judged.score for judged in found])]
            best = [best[i] for i in tied([judged.gain for judged in best])]
            chosen = min(best, key=lambda judged: (self.names.index(judged.move.attribute), judged.move.order))
            move = chosen.move
            touched = {
                (*(row[n] for n in self.names), owner if self.several else None)
                for row, owner in zip(self.rows, self.owners, strict=True)
                if row[move.attribute] in move.block
            }
            self.kinds[move.attribute].moved(move)
            self.blocks[move.attribute] = [b for b in self.blocks[move.attribute] if b != move.block] + list(move.into)
            yield chosen, len(touched)
