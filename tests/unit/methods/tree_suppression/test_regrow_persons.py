"""Regrowing by persons: every split that is proposed is kept, and none that persons allow is missing."""

from __future__ import annotations

import numpy as np
import pytest

from incrowd.methods.judging import Judge
from incrowd.methods.tree_suppression import regrow
from incrowd.plan.steps import GROUP, Place, Share
from incrowd.rows.memory.population import EmbeddedPopulation
from incrowd.testing.tables import any_case, fixed, owned, random_owners
from incrowd.trees.routing import route
from incrowd.trees.tree import Node, Tree
from incrowd.vocabulary.randomness import SeededRandomness
from incrowd.vocabulary.released_value import Suppressed
from incrowd.vocabulary.requirement import KAnonymity


def regrown(case, k):
    """The second placing step, the population before it, and the judge; all rows are one group before."""
    population = EmbeddedPopulation(case.table, case.schema, SeededRandomness(1), owners=case.owners)
    everybody = Tree((Node(None, (), (0,)),), "", (None,))
    population = population.place(Place(everybody, (Share(0, None, 0, len(case.rows)),)))
    judge = Judge.of(KAnonymity(k), population)
    forms = [[Suppressed()] * len(case.names)]
    step, _, _ = regrow.regrow_groups(population, forms, judge, [1.0] * len(case.names))
    return step, population, judge


@pytest.mark.parametrize("seed", range(60))
def test_nothing_that_is_proposed_is_taken_back(seed):
    rng = np.random.default_rng(seed)
    case = any_case(rng)
    case = owned(case, random_owners(rng, len(case.rows)))
    k = int(rng.integers(1, case.persons + 1))
    step, population, judge = regrown(case, k)
    proposed = regrow._propose(population, [[Suppressed()] * len(case.names)], judge, [1.0] * len(case.names))
    assert len(step.tree.nodes) == len(proposed.nodes)
    nodes = route(step.tree, population.sample())
    for node in np.unique(nodes):
        assert len(set(case.owners[nodes == node].tolist())) >= k


def test_a_split_that_rows_forbid_and_persons_allow_does_not_exist():
    """Four persons with a row on both sides: each side has four, though rows are only eight."""
    case = owned(fixed({"a": ["v", "w"] * 4}, ["x", "y"] * 4), [0, 0, 1, 1, 2, 2, 3, 3])
    step, population, _ = regrown(case, 4)
    assert len(np.unique(route(step.tree, population.sample()))) == 2
    assert step.tree.nodes[0].attribute == GROUP
    few = owned(fixed({"a": ["v", "w"] * 4}, ["x", "y"] * 4), [0, 0, 0, 1, 1, 1, 2, 3])
    step, population, _ = regrown(few, 4)
    assert len(np.unique(route(step.tree, population.sample()))) == 1
