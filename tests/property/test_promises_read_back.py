"""Whatever is promised in words is read back as what was required."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.errors import ParameterError
from incrowd.vocabulary.requirement import KAnonymity, KnownSet, KnownTogether, Together
from incrowd.vocabulary.requirements.closeness import BetaLikeness, ConfidenceCap, DeltaDisclosure, TCloseness
from incrowd.vocabulary.requirements.diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from incrowd.vocabulary.requirements.population import DeltaPresence, KMap
from incrowd.vocabulary.requirements.words import read_promises

NAMES = st.sampled_from(["pay", "pay, net", "of at most 3", "10-anonymity", "a-closeness of b", "Größe; cm", "class"])
ON = st.one_of(st.none(), NAMES)
WHOLE = st.integers(1, 40)
SHARE = st.fractions(0, 1, max_denominator=1000)
POSITIVE = st.fractions(Fraction(1, 100), 9, max_denominator=1000)
PARTS = st.one_of(
    WHOLE.map(KMap),
    st.tuples(SHARE, SHARE).map(lambda both: DeltaPresence(min(both), max(both))),
    st.builds(DistinctDiversity, WHOLE, ON),
    st.builds(EntropyDiversity, POSITIVE.map(lambda base: base + 1), ON),
    st.builds(RecursiveDiversity, POSITIVE, WHOLE, ON),
    st.builds(TCloseness, SHARE, ON, st.sampled_from([None, "equal", "ordered", "hierarchical"])),
    st.builds(ConfidenceCap, SHARE.filter(bool), ON),
    st.builds(BetaLikeness, POSITIVE, ON, st.booleans()),
    st.builds(DeltaDisclosure, POSITIVE, ON),
)
SIZES = st.one_of(
    WHOLE.map(KAnonymity),
    st.lists(
        st.builds(KnownSet, st.lists(st.sampled_from("abcde"), min_size=1, unique=True).map(tuple), WHOLE),
        min_size=1,
        max_size=3,
    ).map(lambda sets: KnownTogether(tuple(sets))),
)


@given(SIZES, st.lists(PARTS, max_size=4, unique=True))
def test_what_was_required_comes_back(size, parts):
    asked = Together((size, *parts)) if parts else size
    assert read_promises(asked.promises) == asked


@pytest.mark.parametrize("said", ["anonymity", "k-anonymity", "0.2-closeness", "entropy x-diversity of pay", ""])
def test_other_words_are_refused(said):
    with pytest.raises(ParameterError, match="does not read"):
        read_promises([said])
