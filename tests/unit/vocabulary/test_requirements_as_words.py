"""Each word of a requirement, and each promise read back."""

from __future__ import annotations

import pytest

from incrowd.errors import ParameterError
from incrowd.vocabulary.requirement import KAnonymity, KnownSet, KnownTogether, Together
from incrowd.vocabulary.requirements.closeness import BetaLikeness, ConfidenceCap, DeltaDisclosure, TCloseness
from incrowd.vocabulary.requirements.diversity import (
    DistinctDiversity,
    EntropyDiversity,
    PowerBound,
    RecursiveDiversity,
)
from incrowd.vocabulary.requirements.population import DeltaPresence, KMap
from incrowd.vocabulary.requirements.words import asked_for, parse_requirements, read_promises, with_class

SETS = KnownTogether((KnownSet(("a", "b"), 3), KnownSet(("c",), 5)))


@pytest.mark.parametrize(
    ("said", "parts"),
    [
        ("k=10", [KAnonymity(10)]),
        ("k-map=5", [KMap(5)]),
        ("delta-presence=0.1..0.5", [DeltaPresence("0.1", "0.5")]),
        ("distinct-l=3 on a", [DistinctDiversity(3, "a")]),
        ("entropy-l=1.5", [EntropyDiversity("1.5")]),
        ("recursive-l=3 c=2.5 on a", [RecursiveDiversity("2.5", 3, "a")]),
        ("t=0.2 on pay", [TCloseness("0.2", "pay")]),
        ("t-equal=0.2", [TCloseness("0.2", None, "equal")]),
        ("t-ordered=0.2", [TCloseness("0.2", None, "ordered")]),
        ("t-hierarchical=0.2", [TCloseness("0.2", None, "hierarchical")]),
        ("alpha=0.5 on a b", [ConfidenceCap("0.5", "a b")]),
        ("beta=1", [BetaLikeness(1)]),
        ("enhanced-beta=1/3", [BetaLikeness("1/3", None, True)]),
        ("delta-disclosure=1", [DeltaDisclosure(1)]),
        ("K = 5 , T=0.1  on  x ,", [KAnonymity(5), TCloseness("0.1", "x")]),
        ('t=0.1 on "a ""b"", c", k=2 , , ', [TCloseness("0.1", 'a "b", c'), KAnonymity(2)]),
        ("recursive-l=3 c = 2", [RecursiveDiversity(2, 3)]),
    ],
)
def test_words(said, parts):
    assert list(parse_requirements(said)) == parts


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("k=x", "k must be a whole number of at least 1, as in k=3."),
        ("k-map=1.5", "k-map must be a whole number of at least 1, as in k-map=3."),
        ("k=5 on a", "k is about rows, not about a column. Leave out 'on'."),
        ("k-map=5 on a", "k-map is about rows"),
        ("l-diversity=2", "three kinds of l"),
        ("l=2", "three kinds of l"),
        ("nonsense=2", "There is no requirement 'nonsense'. Known: k, k-map, delta-presence, distinct-l,"),
        ("betta=2", "There is no requirement 'betta'. Did you mean 'beta'? Known:"),
        ("t-equals=2", "There is no requirement 't-equals'. Did you mean 't-equal'? Known:"),
        ("delta-p=2", "There is no requirement 'delta-p'. Did you mean 'delta-presence'? Known:"),
        ("recursive-l=3", "recursive-l, and only it, needs a c"),
        ("k=3 c=2", "recursive-l, and only it, needs a c"),
        ("delta-presence=0.5", "two bounds"),
        ("delta-presence=0.1.0.5", "two bounds"),
        ("k", "word=number"),
        ("k=5 t=0.1", "word=number"),
        (" , ", "No requirement is named"),
    ],
)
def test_words_that_are_refused(said, told):
    with pytest.raises(ParameterError) as refused:
        parse_requirements(said)
    assert told in str(refused.value)


def test_nothing_close_is_not_guessed():
    with pytest.raises(ParameterError) as refused:
        parse_requirements("zzz=2")
    assert "Did you mean" not in str(refused.value)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("t=0.1", Together((KAnonymity(5), TCloseness("0.1")))),
        ("k=7", KAnonymity(7)),
        (KMap(2), Together((KAnonymity(5), KMap(2)))),
        (KAnonymity(7), KAnonymity(7)),
        (SETS, SETS),
        ([], KAnonymity(5)),
        (["t=0.1, k-map=2", KMap(3)], Together((KAnonymity(5), TCloseness("0.1"), KMap(2), KMap(3)))),
        ([Together((SETS, KMap(2))), "t=0.1"], Together((SETS, KMap(2), TCloseness("0.1")))),
        (Together((KMap(2),)), Together((KAnonymity(1), KMap(2)))),
    ],
)
def test_what_is_asked_for(given, expected):
    assert asked_for(given, KAnonymity(5)) == expected


@pytest.mark.parametrize(
    "part",
    [
        KMap(4),
        DeltaPresence("0.1", "1/3"),
        DistinctDiversity(3),
        DistinctDiversity(3, "of the moon"),
        EntropyDiversity("1.5", "a, b"),
        RecursiveDiversity("2.5", 3, "a"),
        RecursiveDiversity("2.5", 3),
        TCloseness("0.2"),
        TCloseness("0.2", "pay (net)"),
        TCloseness("0.2", "pay", "equal"),
        TCloseness("0.2", None, "ordered"),
        TCloseness("0.2", "pay", "hierarchical"),
        ConfidenceCap("0.5"),
        ConfidenceCap("0.5", "pay"),
        PowerBound({2: 1}, "0.4"),
        PowerBound({2: 1, 5: "1/3"}, "0.4", "pay (net)"),
        BetaLikeness(2, "a"),
        BetaLikeness(2, None, True),
        DeltaDisclosure("1.5", "two\nlines"),
    ],
)
def test_a_promise_is_read_back(part):
    for size in (KAnonymity(6), SETS):
        whole = Together((size, part))
        assert read_promises(whole.promises) == whole


def test_promises_about_sizes_alone():
    assert read_promises(["6-anonymity"]) == KAnonymity(6)
    assert read_promises(SETS.promises) == SETS
    for said in ("good luck", "6-anonymity, nearly", "0.2-closeness"):
        with pytest.raises(ParameterError, match="words that this incrowd does not read"):
            read_promises([said])


CLASS = TCloseness("0.3", "ill", "equal")


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (KAnonymity(5), Together((KAnonymity(5), CLASS))),
        (SETS, Together((SETS, CLASS))),
        (Together((KAnonymity(5), KMap(2))), Together((KAnonymity(5), KMap(2), CLASS))),
        (Together((TCloseness(1, "pay"),)), Together((TCloseness(1, "pay"), CLASS))),
        (Together((TCloseness(1),)), Together((TCloseness(1),))),
        (
            Together((TCloseness(1, "ill"), TCloseness(1, "pay"))),
            Together((TCloseness(1, "ill"), TCloseness(1, "pay"))),
        ),
    ],
)
def test_a_class_that_must_not_be_inferred(asked, expected):
    assert with_class(asked, "ill") == expected
