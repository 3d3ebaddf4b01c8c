"""How rows are split."""

from __future__ import annotations

import numpy as np
import pytest

from incrowd.comparisons.protocol import FiveByTwo, FixedSplit, KFold, parse_protocol
from incrowd.errors import ParameterError


@pytest.mark.parametrize(
    ("text", "repetitions", "protocol"),
    [
        ("5x2", None, FiveByTwo(5)),
        ("2X2", None, FiveByTwo(2)),
        ("5x2", 1, FiveByTwo(1)),
        ("10-fold", None, KFold(10)),
        ("3 fold", 4, KFold(3, repetitions=4)),
        ("holdout", 2, FixedSplit(repetitions=2)),
        ("first 30162", None, FixedSplit(train_first=30162)),
    ],
)
def test_a_protocol_has_a_short_text(text, repetitions, protocol):
    assert parse_protocol(text, repetitions) == protocol


@pytest.mark.parametrize("text", ["", "x2", "5x3", "ten-fold", "first", "first ten", "1-fold", "0x2", "first 0"])
def test_what_is_no_protocol_is_refused(text):
    with pytest.raises(ParameterError):
        parse_protocol(text)


@pytest.mark.parametrize("make", [lambda: KFold(1), lambda: KFold(2.0), lambda: FiveByTwo(True), lambda: FixedSplit(0)])
def test_impossible_protocols_cannot_exist(make):
    with pytest.raises(ParameterError):
        make()


def test_the_first_rows_cannot_be_drawn_anew():
    with pytest.raises(ParameterError, match="always the same"):
        FixedSplit(train_first=3, repetitions=2)


def test_too_few_rows_are_refused():
    with pytest.raises(ParameterError, match="3 rows cannot be dealt to 5 folds"):
        KFold(5).splits(np.zeros(3, np.int64), 1)
    with pytest.raises(ParameterError, match="leave none to test on"):
        FixedSplit(train_first=3).splits(np.zeros(3, np.int64), 1)


def test_unstratified_halves_differ_in_their_classes():
    classes = np.repeat([0, 1], [34, 11])
    halves = [int(classes[split.test].sum()) for split in FiveByTwo().splits(classes, 1)]
    assert len(set(halves)) > 2


def test_a_third_is_a_third():
    split = FixedSplit().splits(np.zeros(10, np.int64), 1)[0]
    assert (len(split.train), len(split.test)) == (7, 3)


def test_protocols_say_what_they_are():
    assert str(FiveByTwo()) == "5 repetitions of 2-fold cross-validation, not stratified"
    assert str(KFold()) == "10-fold cross-validation, stratified"
    assert str(KFold(3, False, 2)) == "2 repetitions of 3-fold cross-validation, not stratified"
    assert str(FixedSplit(0.25, stratified=True)) == "tested on 25 % of the rows, drawn at random, stratified"
    assert FixedSplit().words("persons") == "tested on 33 % of the persons, drawn at random"
    assert str(FixedSplit(train_first=9)) == "learned from the first 9 rows, tested on the others"
