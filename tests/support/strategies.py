"""Random tables, trees and requests for the property tests."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from incrowd.testing.tables import KINDS, TARGET, RandomAttribute, random_case
from incrowd.testing.tables import Case as Case
from incrowd.trees.tree import Branch, Eq, Gt, In, Le, Missing, Node, Tree


@st.composite
def cases(draw, max_rows=40, max_columns=4, max_values=5):
    """Tables with missing values, ties, constant and all-missing columns."""
    height = draw(st.integers(1, max_rows))
    kind, size, missing = st.sampled_from(KINDS), st.integers(0, max_values), st.sampled_from([0.0, 0.0, 0.1, 0.5])
    attributes = draw(st.lists(st.builds(RandomAttribute, kind, size, missing), min_size=1, max_size=max_columns))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return random_case(rng, height, attributes, draw(st.integers(1, 3)), follows=draw(st.booleans()))


@st.composite
def trees(draw, case):
    """A tree over the case's attributes, not grown from the data: empty leaves, uncovered values, repeats."""
    nodes = [Node(None, (), (0,) * 4)]
    open_nodes = [0]
    for _ in range(draw(st.integers(0, 6))):
        number = open_nodes.pop(draw(st.integers(0, len(open_nodes) - 1)))
        name = draw(st.sampled_from(case.names))
        tests = draw(_tests(case.table[name]))
        children = range(len(nodes), len(nodes) + len(tests))
        nodes[number] = Node(name, tuple(Branch(t, c) for t, c in zip(tests, children, strict=True)), (0,) * 4)
        nodes += [Node(None, (), (0,) * 4)] * len(tests)
        open_nodes += children
        if not open_nodes:
            break
    return Tree(tuple(nodes), TARGET, ("x", "y", "z", None))


@st.composite
def _tests(draw, column):
    values = column.dictionary.to_list()
    tests = []
    if column.type.is_numeric and draw(st.booleans()):
        threshold = draw(st.sampled_from([*values, 0.5]))
        tests = [Le(column.name, threshold), Gt(column.name, threshold)]
    else:
        extra = [] if column.type.is_numeric else ["never"]
        left = draw(st.permutations([*values, *extra]))
        while left:
            size = draw(st.integers(1, len(left)))
            part, left = left[:size], left[size:]
            if draw(st.integers(0, 4)):
                tests.append(Eq(column.name, part[0]) if size == 1 else In(column.name, frozenset(part)))
    if draw(st.booleans()) or not tests:
        tests.append(Missing(column.name))
    return tests
