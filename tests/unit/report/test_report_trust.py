"""What the report says of promises, risk, attacks, losses and the decision."""

from __future__ import annotations

from typing import get_args

import polars as pl
import pytest
from test_report_certificate import ATTACKS, DIGEST, full
from test_report_html import HOSTILE, Page

from incrowd.api import release
from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import Group, Show
from incrowd.report.attack_facts import AttackFact, AttackFacts, Earlier, EarlierRelease, attacks_of
from incrowd.report.facts import NOTHING, promises_of
from incrowd.report.html import report_html
from incrowd.report.terminal import summary
from incrowd.report.utility_facts import Domain, certainty_penalty, loss_metric, utility_of
from incrowd.tables.reading.encode import encode
from incrowd.tables.reading.read import read
from incrowd.verification.joint import Figures, Joint
from incrowd.verification.verdict import ClassSizes
from incrowd.vocabulary.released_value import Interval, Shown, ShownMissing, Suppressed, ValueSet
from incrowd.vocabulary.requirement import Columnwise, KAnonymity, KnownSet, KnownTogether, OfPopulation, Together
from incrowd.vocabulary.requirements.closeness import BetaLikeness, ConfidenceCap, DeltaDisclosure, TCloseness
from incrowd.vocabulary.requirements.diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from incrowd.vocabulary.requirements.population import DeltaPresence, KMap
from incrowd.vocabulary.schema import STATED, Column, ColumnType, Role, Schema
from support.report_examples import example, schema


def said(facts, **options) -> str:
    return " ".join(Page(report_html(facts, **options)).text.split())


def test_what_was_not_measured_is_said_to_be_so() -> None:
    words = said(example())
    for one in ("Risk was not measured", "No attack was run", "loss of each attribute was not measured", "Not stated."):
        assert one in words
    assert "✓ no leak found" not in words


def test_risk_and_attacks_are_told_before_and_after() -> None:
    page = Page(report_html(full()))
    words = " ".join(page.text.split())
    for one in (
        "Who could be re-identified",
        "prosecutor",
        "journalist",
        "marketer",
        "Who is unique",
        "The three risks of WP216",
        "singling out before",
        "inference after: secret",
        "HIPAA Safe Harbor checklist",
        "1 of 3 attacks found a leak, 1 found none, 1 did not run.",
        "The plan is not known.",
        "✗ leak",
        "? not run",
        "Yes. Every group keeps",
        "1 release in the ledger, compared with this one person by person",
    ):
        assert one in words, one
    captions = page.inside("caption")
    assert all(captions)
    assert len(captions) == sum(tag == "table" for tag, _ in page.tags)


def test_an_attack_that_did_not_run_shows_no_number() -> None:
    only = attacks_of({"findings": [ATTACKS["findings"][2]]})
    source = report_html(example(attacks=only))
    row = source.split('<tr><th scope="row">minimality</th>')[1].split("</tr>")[0]
    assert row.count("not run") == 3
    assert not any(character.isdigit() for character in row)


def test_an_attack_that_nobody_asked_for_did_not_run() -> None:
    found = attacks_of(ATTACKS, asks={"row order": "Looks at the order.", "homogeneity": "Reads the only value."})
    assert [one.attack for one in found.after] == ["row order", "skewness", "minimality", "homogeneity"]
    assert found.to_json()["after"][-1] == {
        "attack": "homogeneity",
        "verdict": "not run",
        "reason": "It was not requested.",
    }
    assert "1 of 4 attacks found a leak, 1 found none, 2 did not run." in said(example(attacks=found))


def test_the_same_attack_before_stands_beside_it() -> None:
    after = AttackFacts((AttackFact("a", "leak", "", 0.25),), (AttackFact("a", "leak", "", 0.75),))
    row = report_html(example(attacks=after)).split('<tr><th scope="row">a</th>')[1].split("</tr>")[0]
    assert row.index("0.75") < row.index("0.25")


@pytest.mark.parametrize(
    ("number", "shown"), [(0.0, "0"), (7e-9, "&lt;0.001"), (-7e-9, "&gt;-0.001"), (0.04321, "0.0432")]
)
def test_small_figures_stay_readable(number: float, shown: str) -> None:
    facts = example(attacks=AttackFacts((AttackFact("a", "leak", "", number),)))
    assert f">{shown}</td>" in report_html(facts)


def test_hostile_words_of_attacks_stay_text() -> None:
    one = AttackFact(HOSTILE, "leak", HOSTILE, 0.5, unit=HOSTILE, asks=HOSTILE)
    facts = example(attacks=AttackFacts((one,)), responsible=HOSTILE, meanings=((HOSTILE, HOSTILE),))
    page = Page(report_html(facts, certificate={"output": {"sha256": HOSTILE}, "hierarchies": {HOSTILE: HOSTILE}}))
    assert "script" not in {tag for tag, _ in page.tags}
    assert page.text.count(HOSTILE) >= 9


def test_the_signature_is_for_these_bytes_and_what_is_open() -> None:
    issued = {"output": {"sha256": DIGEST}, "recipe_sha256": "1" * 64, "input_hmac_sha256": None, "hierarchies": {}}
    facts = example(responsible="Data office", earlier=Earlier((EarlierRelease("2" * 64, "2026-01-02"),)))
    words = said(facts, certificate=issued)
    assert words.count(DIGEST) == 2
    for one in ("1" * 64, "2" * 64, "Do not release", "Signature", "Data office", "No attack was run."):
        assert one in words
    assert "Table HMAC" not in words
    assert "Signature" not in said(facts, whole_page=False)


ONE = EarlierRelease(DIGEST, shared=40)


@pytest.mark.parametrize(
    ("earlier", "words", "open_point"),
    [
        (Earlier(), "The ledger has no earlier release.", ""),
        (
            Earlier((ONE,), Joint(5, 90, 40, Figures(0, 0, 0), Figures(5), 0), people=90, shared=40),
            "Compared with 1 earlier release by identifier: 40 of 90 people are in it. Together, no group of shared, "
            "new or left people became smaller than 5.",
            "",
        ),
        (
            Earlier((ONE,), people=90, shared=90, same_groups=True),
            "The groups are those of an earlier release: together the releases reveal no more than that one.",
            "",
        ),
        (
            Earlier((ONE,), Joint(5, 90, 40, Figures(9, 0, 1), Figures(2, 7, 1), 0), 90, 40, despite=True),
            "Together, groups became smaller than 5 for 9 shared and 1 left people, the smallest of 1. It was",
            "Together with earlier releases it reveals more than was promised.",
        ),
        (
            Earlier(not_counted=("entry 2, version 1",)),
            "Not counted: entry 2, version 1.",
            "Not every release in the ledger could be counted.",
        ),
        (
            Earlier((EarlierRelease(DIGEST),), vouched=({"entry": 4, "what": "other people", "by": "Ada"},)),
            "None of 1 earlier release was compared. Entry 4 is about other people, as stated by Ada.",
            "That 1 earlier release had other people was stated, not counted.",
        ),
    ],
)
def test_earlier_releases_are_told(earlier: Earlier, words: str, open_point: str) -> None:
    page = said(example(earlier=earlier))
    assert words in page
    decided = page.split("To be considered before signing:")[1]
    assert open_point in decided
    assert ("Together with earlier" in decided) == earlier.despite
    assert "not tracked" not in page


def test_the_summary_tells_what_was_looked_at() -> None:
    short = summary(example())
    assert not {"risk", "attacks", "earlier"} & {line.split()[0] for line in short.splitlines()}
    long = summary(full())
    assert "average re-identification risk" in long
    assert "1 of 3 attacks found a leak, 1 found none, 1 did not run." in long
    assert "Compared with 1 earlier release by identifier: 200 of 300 people are in it." in long


def test_nothing_open_is_not_invented() -> None:
    words = said(full()).split("To be considered before signing:")[1]
    assert "1 attack found a leak." in words
    assert "not measured" not in words
    assert "not tracked" not in words


@pytest.mark.parametrize(
    ("sensitive", "words"), [(True, "Yes."), (False, "No. A group may have one class only"), (None, "Not stated.")]
)
def test_the_question_about_the_class_is_answered(sensitive: bool | None, words: str) -> None:
    assert words in said(example(class_sensitive=sensitive))


def test_without_a_class_there_is_no_question() -> None:
    columns = tuple(column for column in example().schema.columns if column.role is not Role.TARGET)
    assert "There is no class." in said(example(schema=Schema(columns), class_sensitive=None))


PARTS = {
    KAnonymity(10): "at least 10 rows",
    KMap(5): "at least 5 people of the population",
    DeltaPresence("0.1", "0.6"): "between 0.1 and 0.6",
    DistinctDiversity(2, "a"): "at least 2 different values of a",
    EntropyDiversity("1.5", "b"): "as mixed as 1.5 equally frequent",
    RecursiveDiversity(3, 2, "c"): "fewer rows than 3 times",
    TCloseness("0.2"): "values of the class are spread as in the whole table, up to 0.2",
    TCloseness("0.3", "d", "ordered"): "up to 0.3, by the ordered distance",
    ConfidenceCap("0.5", "e"): "at most 0.5 of the rows",
    BetaLikeness(1, "f"): "at most 1 times the latter.",
    BetaLikeness(2, "f", True): "for frequent values by less",
    DeltaDisclosure(2, "g"): "below 2 to the power of 2",
}


def test_every_requirement_is_told_in_words() -> None:
    asked = Together(tuple(PARTS))
    told = promises_of(asked)
    assert tuple(promise for promise, _ in told) == asked.promises
    words = dict(told)
    assert {type(part) for part in PARTS} >= {KAnonymity, *get_args(Columnwise), *get_args(OfPopulation)}
    for part, one in PARTS.items():
        assert one in words[str(part)]
        assert words[str(part)].endswith(".")


def test_sets_that_are_known_together_are_told_one_by_one() -> None:
    asked = KnownTogether((KnownSet(("age", "sex"), 4), KnownSet(("job",), 7)))
    words = [words for _, words in promises_of(asked)]
    assert words[0] == "Whoever knows age, sex of a person finds at least 4 rows that look alike."
    assert promises_of(KAnonymity(1)) == (("1-anonymity", NOTHING),)


def test_losses_of_a_plan_are_counted_cell_by_cell() -> None:
    frame = pl.DataFrame({"age": [20, 30, 40, 50, 60], "sex": ["f", "f", "m", "m", None]})
    schema = Schema((Column("age", Role.QUASI_IDENTIFIER, ColumnType.INTEGER), Column("sex", Role.QUASI_IDENTIFIER)))
    groups = (Group(2, (Interval(None, 30), Shown("f"))), Group(2, (Suppressed(), ValueSet(("f", "m")))))
    plan = ReleasePlan("kactus", (), KAnonymity(2), schema, 5, (Show(("age", "sex"), groups),))
    table, _ = encode(read(frame), schema, ["age", "sex"])
    found = utility_of(plan, table, ClassSizes(4, 2, 2, ((2, 2),)))
    age, sex = found.attributes
    assert (age.hidden, sex.hidden, found.hidden, found.cells) == (3, 1, 4, 10)
    assert age.loss == pytest.approx((2 * 1 / 4 + 3 * 1) / 5)
    assert age.penalty == pytest.approx((2 * 2 / 5 + 3 * 1) / 5)
    assert sex.loss == pytest.approx((2 * 0 + 2 * 1 / 2 + 1) / 5)
    assert sex.penalty == pytest.approx((2 * 0 + 2 * 2 / 3 + 1) / 5)
    assert found.discernibility == 2 * 4 + 1 * 5
    assert found.average_group == 1.0


@pytest.mark.parametrize("method", ["kactus", "kactus-plus", "tdr", "iack", "mondrian"])
def test_losses_agree_with_the_written_cells(method: str) -> None:
    """A second way: from the cells of the release, parsed, and the distinct values of the table."""
    frame = pl.DataFrame(
        {
            "age": [20 + 7 * i % 41 for i in range(90)],
            "job": [None if i % 11 == 0 else "abc"[i * i % 3] for i in range(90)],
            "ill": ["yn"[i % 2] for i in range(90)],
        }
    )
    made = release(frame, quasi_identifiers=["age", "job"], target="ill", k=5, method=method, class_sensitive=False)
    table, _ = encode(read(frame), made.plan.schema, ["age", "job"])
    found = {one.name: one for one in utility_of(made.plan, table, made.verdict.sizes).attributes}
    for name in ("age", "job"):
        size = Domain(table[name]).size
        cells = [(_stands_for(cell, frame[name].unique().to_list(), size), 1) for cell in made.table[name].to_list()]
        cells.append((size, frame.height - made.table.height))
        assert not any(isinstance(form, ShownMissing) for form in made.plan.forms(name))  # else a null may say more
        assert found[name].loss == pytest.approx(loss_metric(cells, size))
        assert found[name].penalty == pytest.approx(certainty_penalty(cells, size))


def _stands_for(cell: object, values: list[object], size: int) -> int:
    if cell is None:
        return size
    text = str(cell)
    if text.startswith("("):
        low, high = (float(end) for end in text[1:-1].split(","))
        return sum(value is not None and low < float(str(value)) <= high for value in values)
    return len(text.split("|"))


def test_columns_that_the_user_stated_are_named_in_one_sentence():
    page = report_html(example())
    names = [column.name for column in schema().columns if column.reason == STATED]
    assert f"Stated by you: {', '.join(names)}." in page
    assert page.lower().count(STATED) == 1
