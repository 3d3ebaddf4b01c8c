"""What may be written after --require, what is refused, and what the refusal offers instead."""

from fractions import Fraction

import numpy as np
import pytest

from incrowd.errors import HeaderError, ParameterError, RequirementError, SchemaError
from incrowd.tables.recipe import Recipe, read_recipe
from incrowd.vocabulary.requirement import (
    KAnonymity,
    KnownSet,
    KnownTogether,
    Together,
    requirement_from_json,
    with_subjects,
)
from incrowd.vocabulary.requirements.closeness import ConfidenceCap, TCloseness
from incrowd.vocabulary.requirements.columns import RequirementSubject, holds, text, written
from incrowd.vocabulary.requirements.diversity import (
    DistinctDiversity,
    EntropyDiversity,
    RecursiveDiversity,
    sign_of_logs,
)
from incrowd.vocabulary.requirements.population import DeltaPresence, KMap
from incrowd.vocabulary.requirements.words import WORDS, asked_for, parse_requirements
from incrowd.vocabulary.schema import Column, Role, Schema

EVERY = (
    "k=10, k-map=5, delta-presence=0.1..0.5, distinct-l=3 on a, entropy-l=1.5 on a, recursive-l=3 c=2 on a, t=0.2, "
    't-equal=0.2 on "pay, net", t-ordered=0.2 on b c, t-hierarchical=.25 on a, alpha=0.5 on a, beta=1 on a, '
    "enhanced-beta=1/3 on a, delta-disclosure=1 on a"
)


def test_every_word_is_understood_and_kept_in_files():
    parts = parse_requirements(EVERY)
    assert len(parts) == len(WORDS) == 14
    assert parts[3] == DistinctDiversity(3, "a")
    assert parts[5] == RecursiveDiversity(2, 3, "a")
    assert parts[7] == TCloseness(Fraction(1, 5), "pay, net", "equal")
    assert parts[8].on == "b c"
    whole = Together(parts)
    assert requirement_from_json(whole.to_json()) == whole
    assert len(set(whole.promises)) == 14


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("entropy=2 on a", "Did you mean 'entropy-l'?"),
        ("l=2 on a", "distinct-l, entropy-l and recursive-l"),
        ("t=1.2 on a", "t must be between 0 and 1"),
        ("t=-0.1 on a", "t must be between 0 and 1"),
        ("t=much on a", "t must be a number"),
        ("t=1/0 on a", "t must be a number"),
        ("t=0.1234567890123456789 on a", "at most 18"),
        ("entropy-l=0.5 on a", "at least 1"),
        ("distinct-l=2.5 on a", "whole number"),
        ("alpha=0 on a", "above 0 and at most 1"),
        ("beta=0 on a", "beta must be above 0"),
        ("delta-disclosure=0 on a", "must be above 0"),
        ("recursive-l=3 on a", "recursive-l=3 c=2"),
        ("recursive-l=3 c=0 on a", "above 0"),
        ("recursive-l=0 c=1 on a", "at least 1"),
        ("t=0.2 c=2 on a", "only it, needs a c"),
        ("k=5 on a", "about rows"),
        ("k=0", "k must be"),
        ("k-map=0", "at least 1"),
        ("k=5, k=6", "set twice"),
        ("delta-presence=0.5", "two bounds"),
        ("delta-presence=0.5..0.1", "two bounds"),
        ("t 0.2", "word=number"),
        ("t=0.2 of a", "word=number"),
        ("", "No requirement is named"),
    ],
)
def test_what_is_refused_says_what_to_write(said, told):
    with pytest.raises(ParameterError) as refused:
        Together(parse_requirements(said))
    assert told in str(refused.value)


def test_only_requirements_are_put_together():
    with pytest.raises(ParameterError, match="own requirements"):
        Together((KAnonymity(5), 7))
    with pytest.raises(ParameterError, match="one of equal, ordered, hierarchical"):
        TCloseness(0.1, "a", "euclidean")
    with pytest.raises(ParameterError, match="unknown to this incrowd"):
        requirement_from_json({"is": "all of", "parts": [{"is": "luck"}]})


@pytest.mark.parametrize(
    ("part", "counts", "told"),
    [
        (DistinctDiversity(4, "a"), [5, 3, 1], "at most 3"),
        (EntropyDiversity(3, "a"), [5, 3, 1], "at most 2.552"),
        (RecursiveDiversity(1, 2, "a"), [5, 3, 1], "above 1.25"),
        (RecursiveDiversity(1, 4, "a"), [5, 3, 1], "at most 3"),
        (ConfidenceCap(0.5, "a"), [5, 3, 1], "at least 0.5556"),
        (TCloseness(0.1, "a", "ordered"), [5, 3, 1], "t-equal"),
        (TCloseness(0.1, "a", "hierarchical"), [5, 3, 1], "t-equal"),
    ],
)
def test_what_is_impossible_says_what_is_possible(part, counts, told):
    with pytest.raises(RequirementError) as refused:
        part.check_possible(RequirementSubject("a", np.array([*counts, 0])))
    assert told in str(refused.value)


def test_what_is_offered_is_possible():
    counts = RequirementSubject("a", np.array([5, 3, 1, 0]))
    EntropyDiversity("2.552", "a").check_possible(counts)
    ConfidenceCap("0.5556", "a").check_possible(counts)
    RecursiveDiversity("1.2501", 2, "a").check_possible(counts)


def test_a_population_that_cannot_do():
    with pytest.raises(RequirementError, match="at most 4"):
        KMap(5).check_possible(3, 4)
    with pytest.raises(RequirementError, match=r"share of about 0\.75"):
        DeltaPresence(0, 0.5).check_possible(3, 4)


def test_k_is_kept_unless_it_is_named():
    sets = KnownTogether((KnownSet(("a",), 3),))
    assert asked_for([], KAnonymity(5)) == KAnonymity(5)
    assert asked_for("t=0.1", sets).size == sets
    assert asked_for(["k=7, t=0.1", EntropyDiversity(2, "a")], KAnonymity(5)).smallest_group == 7
    assert asked_for(Together((KAnonymity(4), KMap(2))), KAnonymity(5)).smallest_group == 4


@pytest.mark.parametrize("role", [Role.QUASI_IDENTIFIER, Role.IDENTIFIER])
def test_nothing_is_required_of_what_an_attacker_knows_or_nobody_gets(role):
    asked = Together(parse_requirements("t=0.2 on pay"))
    with pytest.raises(SchemaError, match="'pay' is"):
        with_subjects(asked, Schema((Column("pay", role),)))
    with pytest.raises(HeaderError, match="There is no column 'pay'"):
        with_subjects(asked, Schema((Column("wage"),)))
    with pytest.raises(SchemaError, match="there is none"):
        with_subjects(Together(parse_requirements("t=0.2")), Schema((Column("wage"),)))


def test_a_sensitive_class_is_protected_by_default():
    columns = {"ill": {"role": "target"}, "age": {"role": "quasi-identifier"}}
    plain, yes = Recipe(columns=columns), Recipe(columns=columns, class_sensitive=True)
    assert plain.requirement == KAnonymity(10)
    assert str(yes.requirement) == "10-anonymity; 0.3-closeness of ill (equal distance)"
    other = Recipe(columns=columns, class_sensitive=True, require="t=0.1 on pay")
    assert len(other.requirement.on_columns) == 2
    for said in ("entropy-l=1.5", "entropy-l=1.5 on ill"):
        assert len(Recipe(columns=columns, class_sensitive=True, require=said).requirement.on_columns) == 1
    with pytest.raises(ParameterError, match="yes or no"):
        Recipe(class_sensitive="maybe")


def test_a_recipe_requires(tmp_path):
    path = tmp_path / "recipe.yaml"
    path.write_text("k: 7\nclass_sensitive: no\npopulation: people.csv\nrequire:\n  - t=0.2 on pay\n  - k-map=5\n")
    recipe = read_recipe(path)
    assert str(recipe.requirement) == "7-anonymity; 0.2-closeness of pay; 5-map"
    assert recipe.class_sensitive is False
    assert recipe.population == tmp_path / "people.csv"
    path.write_text("require: entropi-l=2 on pay\n")
    with pytest.raises(ParameterError, match="entropy-l"):
        read_recipe(path)


def test_numbers_are_what_was_written():
    assert written(0.1, "t", "") == Fraction(1, 10)
    assert written(np.float64(0.25), "t", "") == Fraction(1, 4)
    assert [text(Fraction(n)) for n in ("0.05", "-1.5", "7", "1/3")] == ["0.05", "-1.5", "7", "1/3"]
    for wrong in (float("nan"), float("inf"), True, None, "0x10", "1_000"):
        with pytest.raises(ParameterError):
            written(wrong, "t", "t=0.2")


def test_logarithms_of_large_numbers_are_compared_exactly():
    large = 10**40
    assert sign_of_logs({large: 3}, {10: 120}) == 0
    assert sign_of_logs({large + 1: 3}, {10: 120}) == 1
    assert sign_of_logs({large - 1: 3}, {10: 120}) == -1
    assert holds(EntropyDiversity(2), [10**9 + 1, 10**9 + 1])
    assert not holds(EntropyDiversity(2), [10**9 + 1, 10**9])
