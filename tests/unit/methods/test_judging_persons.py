"""What a judge counts of persons with several rows, against the definitions; and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

import support.oracle_persons as oracle
from incrowd.errors import RequirementError
from incrowd.methods.judging import Judge, PersonEvidence, has_several_rows
from incrowd.rows.memory.population import EmbeddedPopulation
from incrowd.testing.tables import TARGET, any_case, fixed, owned, random_owners
from incrowd.trees.tree import Branch, Eq, Node, Tree
from incrowd.vocabulary.randomness import SeededRandomness
from incrowd.vocabulary.requirement import KAnonymity, Together
from incrowd.vocabulary.requirements.closeness import ConfidenceCap, TCloseness
from incrowd.vocabulary.requirements.diversity import DistinctDiversity


def population(case):
    return EmbeddedPopulation(case.table, case.schema, SeededRandomness(1), owners=case.owners)


def judge_of(case, *parts, k=1):
    return Judge.of(Together((KAnonymity(k), *parts)), population(case))


@pytest.mark.parametrize("seed", range(40))
def test_evidence_is_persons_bearers_and_main_values(seed):
    rng = np.random.default_rng(seed)
    case = any_case(rng)
    case = owned(case, random_owners(rng, len(case.rows)))
    judge = judge_of(case, TCloseness(1))
    if not judge.persons:
        return
    table = case.table
    parts = rng.integers(0, 3, len(case.rows))
    evidence = judge.tally(judge.of_rows(table, case.owners), parts, 3)
    values = [*table[TARGET].dictionary.to_list(), None]
    for part in range(3):
        rows = [oracle.Row(int(case.owners[r]), (), case.rows[r][TARGET]) for r in np.flatnonzero(parts == part)]
        bearers, main = oracle.bearers(rows), oracle.main_values(rows)
        counts = [len(oracle.persons(rows)), *(bearers[v] for v in values), *(main[v] for v in values)]
        assert evidence[part].tolist() == counts


def tree(case):
    """A branch for each value of the first attribute but the last one, whose rows stay at the root."""
    name, values = case.names[0], case.table[case.names[0]].values[:-1]
    branches = tuple(Branch(Eq(name, value), place) for place, value in enumerate(values, start=1))
    leaves = [Node(None, (), (0,))] * len(values)
    return Tree((Node(name if values else None, branches, (0,)), *leaves), "", (None,))


@pytest.mark.parametrize("further", [(), (DistinctDiversity(1),)], ids=["k alone", "more than k"])
@pytest.mark.parametrize("seed", range(20))
def test_the_evidence_of_a_union_is_counted_anew(seed, further):
    rng = np.random.default_rng(seed)
    case = any_case(rng)
    case = owned(case, random_owners(rng, len(case.rows)))
    judge = judge_of(case, *further)
    if not judge.persons:
        return
    made = tree(case)
    resting = judge.resting(population(case), made)
    assert isinstance(resting, PersonEvidence)
    whole = judge.whole(population(case))
    everything = list(range(len(made.nodes)))
    assert resting.of(everything)[0] == case.persons == whole[0]
    assert resting.rolled_up(made.parents)[0].tolist() == resting.of(everything).tolist()
    for node in everything[1:]:
        assert resting.rolled_up(made.parents)[node].tolist() == resting.of([node]).tolist()
    assert resting.rows.sum() == len(case.rows)


def test_one_row_each_is_judged_as_rows_are():
    case = owned(fixed({"a": ["v", "w", "v"]}, ["x", "y", "x"]), [2, 0, 1])
    assert not has_several_rows(population(case))
    judge = judge_of(case, ConfidenceCap("0.7"))
    assert not judge.persons
    assert judge.of_rows(case.table, case.owners).tolist() == judge.of_rows(case.table).tolist()


def test_too_few_persons_are_said_to_be_persons():
    case = owned(fixed({"a": ["v"] * 4}, ["x"] * 4), [0, 0, 1, 1])
    with pytest.raises(RequirementError, match=r"k=3 is impossible: the table has 2 persons. Choose k of at most 2"):
        Judge.of(KAnonymity(3), population(case))


def test_parts_might_keep_what_all_persons_together_do_not():
    """Everybody is ill once, in a row of its own: no part has more than half, all together have it all."""
    case = owned(fixed({"a": ["v", "w", "v", "w"]}, ["x", "x", "y", "y"]), [0, 1, 1, 0])
    with pytest.raises(RequirementError, match=r"impossible for all 2 persons .* Parts of the table might keep it"):
        judge_of(case, ConfidenceCap("0.5"))


def test_a_distance_that_does_not_fit_is_said_as_always():
    case = owned(fixed({"a": ["v", "w", "v", "w"]}, ["x", "x", "y", "y"]), [0, 1, 1, 0])
    with pytest.raises(RequirementError, match="needs values with an order"):
        judge_of(case, TCloseness("0.5", None, "ordered"))
