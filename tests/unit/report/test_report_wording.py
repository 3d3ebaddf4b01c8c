import shlex
import unicodedata
from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from hypothesis import example as example_of
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from incrowd.cli.options import names
from incrowd.drawing.wording import clipped, percent, plain
from incrowd.report.facts import Accuracy, AttributeFacts
from incrowd.report.html import report_html
from incrowd.report.terminal import print_summary, summary
from incrowd.report.wording import Standing, forms_in, little_use, shares_of, standing, statement
from incrowd.verification.verdict import Check, Verdict
from incrowd.vocabulary.persons import Persons
from incrowd.vocabulary.schema import Column, Role, Schema
from support.report_examples import SHARES, example, sizes, verdict

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


def test_a_release_that_serves_is_said_to_do_nothing_else() -> None:
    assert little_use(example()) == ()


OF_LITTLE_USE: dict[str, tuple[dict[str, Any], str]] = {
    "almost nothing is shown": ({"cells_shown": 0.049}, "it shows almost nothing, 4.9 % of the quasi-identifier cells"),
    "the class is lost": ({"groups": 1}, "all rows look alike, so nothing tells the classes of income apart"),
    "no better than the majority": (
        {"accuracy": Accuracy(0.85, 0.761, 0.76, 20_000, 10_000)},
        "a decision tree learns hardly more from it than the most frequent class (76.1 %, 76.0 % by majority)",
    ),
}


@pytest.mark.parametrize(("changes", "words"), OF_LITTLE_USE.values(), ids=OF_LITTLE_USE)
def test_a_release_of_little_use_keeps_its_promise_and_is_amber(changes: dict[str, Any], words: str) -> None:
    facts = example(**changes)
    assert standing(facts) is Standing.LITTLE_USE
    assert statement(facts) == statement(example())
    assert little_use(facts)[0] == f"of little use: {words}"
    assert f"of little use: {words}" in summary(facts)
    page = report_html(facts)
    assert 'class="standing poor"' in page
    assert 'class="standing good"' not in page
    console = Console(file=StringIO(), force_terminal=True, color_system="standard", width=200)
    print_summary(facts, console, {})
    assert f"\x1b[1;33m{statement(facts)}" in console.file.getvalue()  # type: ignore[attr-defined]


def test_why_it_is_of_little_use_and_what_to_try() -> None:
    facts = example(cells_shown=0.0, k=600, method="tdr", empty=("race",), accuracy=None)
    _, why, changes, command = little_use(facts)
    assert why.startswith("why: race is empty; k = 600 is large: it leaves")
    assert "8 quasi-identifiers are many: with two values each they make 256 combinations" in why
    dropped = "drop=['race'] in place of naming it as known"
    assert changes == f"try the same with {dropped}, or with k=300, or with method='kactus-plus'"
    assert command.endswith("incrowd compare census.csv --target income -q " + ",".join(SHARES) + " -k 600")


def test_a_table_without_signal_is_the_reason_itself() -> None:
    facts = example(accuracy=Accuracy(0.76, 0.76, 0.76, 20_000, 10_000))
    why = little_use(facts)[1]
    assert why.startswith("why: the table itself tells a decision tree hardly more")
    assert len(little_use(facts)) == 2  # no smaller k, no other method tells what the table does not
    empty = example(accuracy=facts.accuracy, cells_shown=0.0, k=10)
    assert "k=5" in little_use(empty)[2]


def test_a_sensitive_class_that_is_not_told_is_the_reason() -> None:
    facts = example(accuracy=Accuracy(0.86, 0.76, 0.76, 20_000, 10_000), class_sensitive=True)
    assert little_use(facts)[1].startswith("why: income is sensitive, so no group may tell much of it")
    assert "is sensitive" not in little_use(replace(facts, class_sensitive=False))[1]


def test_columns_to_drop_are_no_longer_quasi_identifiers() -> None:
    attributes = tuple(AttributeFacts(name, {"value": shown}) for name, shown in {"a": 0.0, "b": 0.0, "c": 0.1}.items())
    advice = little_use(example(cells_shown=0.03, attributes=attributes, accuracy=None))[-2]
    assert advice.startswith("try the same with drop=['a', 'b'] in place of naming them as known")


def test_a_comparison_counts_the_same_persons() -> None:
    left_out = Schema((*example().schema.columns, Column("cost, all", Role.DROP), Column("note", Role.DROP)))
    facts = example(cells_shown=0.0, method="mondrian", persons=Persons("id no", "normalised", "drop"), schema=left_out)
    *_, changes, command = little_use(facts)
    assert "method='kactus-plus'" in changes
    words = shlex.split(command.partition("incrowd compare ")[2])
    drop = words[words.index("--drop") + 1]
    assert names(drop) == ["cost, all", "note"]
    assert words[-6:] == ["--person", "id no", "--person-ids", "normalised", "--missing-persons", "drop"]
    plain_ids = little_use(replace(facts, persons=Persons("id")))[-1]
    assert plain_ids.endswith("--person id")


def test_where_persons_are_followed_no_other_method_is_advised() -> None:
    linked = Persons("id", linked=True)
    lines = little_use(example(cells_shown=0.0, k=10, method="whole-histories", persons=linked, accuracy=None))
    assert lines[-1].endswith("or with k=5")
    assert not any("compare" in line or "kactus" in line for line in lines)


def test_a_release_that_failed_is_not_amber() -> None:
    assert standing(example(verdict=FAILED, cells_shown=0.0)) is Standing.FAILED


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
