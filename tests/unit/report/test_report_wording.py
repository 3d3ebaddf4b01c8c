import unicodedata

import pytest
from hypothesis import example as example_of
from hypothesis import given
from hypothesis import strategies as st

from incrowd.drawing.wording import clipped, percent, plain
from incrowd.report.facts import AttributeFacts
from incrowd.report.wording import Standing, forms_in, shares_of, standing, statement
from incrowd.verification.verdict import Check, Verdict
from support.report_examples import example, sizes, verdict

FAILED = Verdict(sizes(), (Check("10-anonymity", False, "smallest class: 3 rows"), Check("rows", True, "all")))
OTHER_CHECKS_ONLY = Verdict(sizes(), (Check("columns", True, "10 columns, as asked"),))


def test_satisfied_is_said_as_recounted() -> None:
    assert standing(example()) is Standing.SATISFIED
    assert statement(example()) == "satisfies 10-anonymity, recounted independently from the written file"


def test_a_failed_check_is_never_satisfied() -> None:
    facts = example(verdict=FAILED)
    assert standing(facts) is Standing.FAILED
    assert "FAILED" in statement(facts)
    assert "1 of 2 checks" in statement(facts)
    assert "satisfies" not in statement(facts)


@pytest.mark.parametrize("silent", [Verdict(sizes()), OTHER_CHECKS_ONLY])
def test_silence_is_no_success(silent: Verdict) -> None:
    assert silent.passed
    assert standing(example(verdict=silent)) is Standing.NOT_RECOUNTED
    assert "satisfies" not in statement(example(verdict=silent))


def test_the_recount_of_another_requirement_does_not_count() -> None:
    assert standing(example(requirement="50-anonymity")) is Standing.NOT_RECOUNTED


@given(st.text(st.characters()))
def test_plain_text_is_one_printable_line(words: str) -> None:
    cleaned = plain(words)
    cleaned.encode("utf-8")
    assert not any(unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp") for letter in cleaned)
    assert not any(unicodedata.bidirectional(letter) in BIDIRECTIONAL_CONTROLS for letter in cleaned)
    assert plain(cleaned) == cleaned


BIDIRECTIONAL_CONTROLS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


@given(st.text(), st.integers(1, 30))
def test_clipped_words_fit(words: str, longest: int) -> None:
    assert len(clipped(words, longest)) <= longest


@example_of(9_999, 10_000)
@example_of(1, 10_000)
@given(st.integers(0, 10_000), st.integers(1, 10_000))
def test_percent_is_exact_at_its_ends(part: int, whole: int) -> None:
    part = min(part, whole)
    said = percent(part / whole)
    assert (said == "0 %") == (part == 0)
    assert (said == "100 %") == (part == whole)
    number = float(said.strip("<> %"))
    assert (number == 0, number == 100) == (part == 0, part == whole)
    assert abs(number - 100 * part / whole) <= 0.1


def test_a_hidden_share_is_never_negative() -> None:
    thirds = AttributeFacts("x", {"value": 0.7, "set": 0.2, "mean": 0.1 + 1e-16})
    assert shares_of(AttributeFacts("x", {"value": 1.0 + 1e-15}))["hidden"] == 0.0
    assert all(share >= 0 for share in shares_of(thirds).values())


def test_only_forms_that_occur_are_listed_and_always_hidden() -> None:
    facts = example(attributes=(AttributeFacts("a", {"set": 1.0}), AttributeFacts("b", {"value": 0.5, "mean": 0})))
    assert forms_in(facts) == ("value", "set", "hidden")
    assert forms_in(example(verdict=verdict(), attributes=())) == ("hidden",)
