"""The definitions of the requirements once more, in fractions, value by value. Nothing of incrowd is used."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from math import gcd


def distinct(group, whole, least):
    return sum(count > 0 for count in group) >= least


def entropy(group, whole, base):
    """prod (n / c)^c >= l^n, in whole numbers; only proportions matter."""
    counts = [count for count in group if count]
    common = gcd(*counts)
    counts = [count // common for count in counts]
    n = sum(counts)
    left = Fraction(1)
    for count in counts:
        left *= Fraction(n, count) ** count
    return left >= base**n


def recursive(group, whole, c, first):
    largest = sorted(group, reverse=True)
    return largest[0] < c * sum(largest[first - 1 :])


def confidence(group, whole, alpha):
    return all(Fraction(count, sum(group)) <= alpha for count in group)


def power_sum(group, weights):
    """Of a polynomial in the share of a value, over the values."""
    return sum((weight * share**power for share in shares(group) for power, weight in weights), Fraction(0))


def shares(counts):
    return [Fraction(count, sum(counts)) for count in counts]


def equal_distance(group, whole):
    """What has to move: the sum of what is too much."""
    return sum((q - p for q, p in zip(shares(group), shares(whole), strict=True) if q > p), Fraction(0))


def ordered_distance(group, whole):
    """Earth is carried along the line of the values that occur; the way from the first to the last is 1."""
    pairs = [pair for pair in zip(group, whole, strict=True) if pair[1]]
    q, p = shares([pair[0] for pair in pairs]), shares([pair[1] for pair in pairs])
    if len(pairs) < 2:
        return Fraction(0)
    carried, work = Fraction(0), Fraction(0)
    for mine, theirs in zip(q[:-1], p[:-1], strict=True):
        carried += mine - theirs
        work += abs(carried)
    return work / (len(pairs) - 1)


def tree_distance(group, whole, paths, height):
    """Greedy transport: as much as possible within the lowest groups first. ``paths``: of each value, leaf to root."""
    left = [q - p for q, p in zip(shares(group), shares(whole), strict=True)]
    work = Fraction(0)
    for level in range(1, height + 1):
        nodes = {}
        for value, path in enumerate(paths):
            nodes.setdefault(path[level], []).append(value)
        for members in nodes.values():
            for giver in members:
                for taker in members:
                    if left[giver] > 0 > left[taker]:
                        moved = min(left[giver], -left[taker])
                        left[giver] -= moved
                        left[taker] += moved
                        work += moved * Fraction(level, height)
    assert not any(left)
    return work


def likeness(group, whole, beta):
    return all(q <= p or (q - p) / p <= beta for q, p in zip(shares(group), shares(whole), strict=True))


def disclosure(group, whole, delta):
    """2^-delta < q/p < 2^delta, both sides to the power of delta's denominator."""
    for q, p in zip(shares(group), shares(whole), strict=True):
        if not p:
            continue
        if not q:
            return False
        ratio = max(q / p, p / q)
        if not ratio**delta.denominator < Fraction(2) ** delta.numerator:
            return False
    return True


@cache
def natural_log(number):
    """Bounds of ln of a fraction above 1, fifty digits apart from each other."""
    with localcontext() as context:
        context.prec = 60
        found = Fraction((Decimal(number.numerator) / Decimal(number.denominator)).ln())
    return found - Fraction(1, 10**50), found + Fraction(1, 10**50)


def enhanced(group, whole, beta):
    for q, p in zip(shares(group), shares(whole), strict=True):
        if q > p:
            growth = (q - p) / p
            low, high = natural_log(1 / p)
            assert not low <= growth <= high
            if growth > beta or growth > high:
                return False
    return True
