"""The worked examples for persons with several rows: brute force and the verification agree with every one of them."""

import json
from collections import Counter
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest

import incrowd
from incrowd.errors import IncrowdError
from incrowd.verification.class_sizes import recount_persons
from incrowd.verification.histories import person_pseudonym_checks
from incrowd.verification.requirements import Further, recount_requirements
from incrowd.vocabulary.requirements.closeness import BetaLikeness, ConfidenceCap, DeltaDisclosure, TCloseness
from incrowd.vocabulary.requirements.diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from incrowd.vocabulary.schema import ColumnType
from support import oracle_persons as oracle
from support.oracle_persons import Row
from support.owned_tables import Counted

GOLDEN = json.loads(Path(__file__).with_name("persons.json").read_text())
CASES = GOLDEN["cases"]


def of(*modes):
    return pytest.mark.parametrize(
        "case", [pytest.param(case, id=case["name"]) for case in CASES if case["mode"] in modes]
    )


def rows_of(case):
    """The rows of an example, with the value of s where it has that column."""
    at = {name: place for place, name in enumerate(case["columns"])}
    names = case["quasi_identifiers"]
    value = at.get("s")
    return [
        Row(row[at["person"]], tuple(row[at[name]] for name in names), None if value is None else row[value])
        for row in case["rows"]
    ]


def number(text):
    return Fraction(text) if isinstance(text, str) else text


def named(counts):
    return {str(value): count for value, count in counts.items()}


def test_there_are_thirty_five_examples():
    assert len(CASES) == 35


@of("unlinked")
def test_persons_are_counted_in_classes(case):
    rows, expect = rows_of(case), case["expect"]
    assert oracle.smallest(rows) == expect["smallest persons"]
    assert (oracle.smallest(rows) >= case["ask"]["k"]) is expect["k"]
    for one in expect.get("counts", ()):
        part = oracle.classes(rows)[tuple(one["class"])]
        assert len(part) == one["rows"]
        assert len(oracle.persons(part)) == one["persons"]
        assert named(oracle.bearers(part)) == one["bearers"]
        assert named(oracle.main_values(part)) == one["main"]
    if "largest share of rows" in expect:
        assert oracle.largest_share(rows) == Fraction(expect["largest share of rows"])


@of("unlinked", "linked")
def test_requirements_count_persons(case):
    rows = rows_of(case)
    for (word, _, *numbers), kept in case["expect"].get("requirements", ()):
        held = oracle.holds(rows, word, *map(number, numbers), linked=case["mode"] == "linked")
        assert held is kept, (word, numbers)


def test_distances_and_growth_of_facts():
    case = next(case for case in CASES if "distances" in case["expect"])
    rows, expect = rows_of(case), case["expect"]
    parts = {cells[0]: part for cells, part in oracle.classes(rows).items()}
    for words, wanted in expect["distances"].items():
        name, kind = words.split() if " " in words else (words, "equal")
        assert oracle.distance(parts.get(name, rows), rows, kind) == Fraction(wanted)
    own, whole = oracle.bearers(parts["x"]), oracle.bearers(rows)
    for value, wanted in expect["growth in x"].items():
        here = Fraction(own[value], len(oracle.persons(parts["x"])))
        assert here / Fraction(whole[value], len(oracle.persons(rows))) == Fraction(wanted)


@of("linked")
def test_histories_are_counted(case):
    rows, expect = rows_of(case), case["expect"]
    k = case["ask"]["k"]
    assert oracle.smallest(rows) == expect["unlinked k"]
    assert oracle.linked_k(rows) == expect["linked k"]
    assert (oracle.linked_k(rows) >= k) is expect["linked"]
    for m in (1, 2, 3):
        if f"k^{m}" in expect:
            assert oracle.known_rows_k(rows, m) == expect[f"k^{m}"]
            assert (oracle.known_rows_k(rows, m) >= k) is expect[f"holds k^{m}"]
    lengths = [len(history) for history in set(oracle.histories(rows).values())]
    for m, combinations in expect["combinations"].items():
        assert oracle.work(lengths, int(m)) == combinations


def test_pseudonyms_do_not_decide_who_is_counted():
    case = next(case for case in CASES if "by pseudonym" in case["expect"])
    renamed = [Row(row[0], tuple(row[2:])) for row in case["rows"]]
    assert oracle.linked_k(renamed) == case["expect"]["by pseudonym"]
    assert oracle.linked_k(rows_of(case)) == case["expect"]["linked k"]


def test_whoever_intersects_values_is_outside_the_promise():
    case = next(case for case in CASES if "left over" in case["expect"])
    rows = rows_of(case)
    values = {cells: set(oracle.bearers(part)) for cells, part in oracle.classes(rows).items()}
    for person, wanted in case["expect"]["left over"].items():
        own = [values[row.cells] for row in rows if row.person == person]
        assert sorted(set.intersection(*own)) == wanted


@of("two tables")
def test_two_tables_are_counted_together(case):
    static, events = ([Row(key, (cell,)) for key, cell in case[table]] for table in ("static", "events"))
    expect, k = case["expect"], case["ask"]["k"]
    strangers = oracle.unknown_keys(static, events)
    assert (not strangers) is expect["accepted"]
    if strangers:
        assert len(strangers) == expect["keys"]
        return
    assert len(oracle.persons(static)) == expect["persons"]
    assert len(oracle.persons(static) - oracle.persons(events)) == expect["without events"]
    assert oracle.joint_linked_k(static, events) == expect["linked k"]
    assert oracle.joint_known_rows_k(static, events, 1) == expect["k^1"]
    assert (oracle.joint_linked_k(static, events) >= k) is expect["linked"]
    assert (oracle.joint_known_rows_k(static, events, 1) >= k) is expect["holds k^1"]


@of("population")
def test_persons_of_a_population_are_counted(case):
    rows = [Row(person, (frozenset(cell),)) for person, cell in case["rows"]]
    counts = oracle.population_counts(rows, [Row(person, (cell,)) for person, cell in case["population"]])
    assert [list(one) for one in counts] == case["expect"]["counts"]
    assert min(outside for _, outside in counts) == case["expect"]["k-map"]
    shares = [Fraction(here, outside) for here, outside in counts]
    assert [min(shares), max(shares)] == [Fraction(share) for share in case["expect"]["presence"]]


@of("algorithm")
def test_whole_histories_lose_what_is_said(case):
    expect = case["expect"]
    released = [Row(person, (tuple(home), tuple(ward))) for _, person, home, ward in expect["released"]]
    assert oracle.linked_k(released) == expect["linked k"]
    given = [row[1] for row in case["rows"]]
    lost = oracle.losses(given, [row.person for row in released])
    assert lost == (expect["lost"]["rows"], expect["lost"]["persons"])


@of("levels")
def test_numbers_of_rows_are_those_of_k_persons(case):
    expect = case["expect"]
    before = case["rows_of_persons"]
    assert min(Counter(expect["kept"]).values()) >= case["ask"]["k"]
    assert sum(before) - sum(expect["kept"]) == expect["lost"]
    assert all(kept <= had for kept, had in zip(expect["kept"], before, strict=True))


# The same examples, by the queries of the verification.

REQUIREMENTS = {
    "alpha": ConfidenceCap,
    "beta": BetaLikeness,
    "enhanced-beta": lambda beta: BetaLikeness(beta, enhanced=True),
    "delta-disclosure": DeltaDisclosure,
    "distinct-l": DistinctDiversity,
    "entropy-l": EntropyDiversity,
    "recursive-l": RecursiveDiversity,
    "t-equal": lambda t: TCloseness(t, distance="equal"),
    "t-ordered": lambda t: TCloseness(t, distance="ordered"),
}


def verified(case, **said):
    """The persons that the verification counts as fewest, the largest share of one, and whether k holds."""
    rows = rows_of(case)
    with Counted(rows, **said) as table:
        promises = [("k", table.quasi, case["ask"]["k"])]
        sizes, [check] = recount_persons(table.connection, table.names, promises, table.owners)
    return sizes.persons.smallest, sizes.persons.largest_share, check.passed


@of("unlinked")
def test_the_verification_counts_persons(case):
    smallest, share, kept = verified(case)
    assert (smallest, kept) == (case["expect"]["smallest persons"], case["expect"]["k"])
    if "largest share of rows" in case["expect"]:
        assert share == float(Fraction(case["expect"]["largest share of rows"]))


@of("linked")
def test_the_verification_counts_histories(case):
    expect = case["expect"]
    assert verified(case)[0] == expect["unlinked k"]
    smallest, _, kept = verified(case, linked=True)
    assert (smallest, kept) == (expect["linked k"], expect["linked"])
    for m in (1, 2, 3):
        if f"k^{m}" in expect:
            smallest, _, kept = verified(case, linked=True, known_rows=m)
            assert (smallest, kept) == (expect[f"k^{m}"], expect[f"holds k^{m}"])


@of("unlinked", "linked")
def test_the_verification_counts_requirements(case):
    rows = rows_of(case)
    whole = all(isinstance(row.value, int) for row in rows)
    with Counted(rows, linked=case["mode"] == "linked") as table:
        for (word, _, *numbers), kept in case["expect"].get("requirements", ()):
            kind = ColumnType.INTEGER if whole else ColumnType.ORDERED
            order = () if whole else tuple(sorted({row.value for row in rows}))
            further = Further(REQUIREMENTS[word](*numbers), "s", kind, order=order)
            [check] = recount_requirements(table.connection, table.names, [table.quasi], [further], table.owners)
            assert check.passed is kept, (word, numbers, check)


def test_the_verification_sees_two_pseudonyms_of_one_person():
    case = next(case for case in CASES if "by pseudonym" in case["expect"])
    rows = [Row(person, (cell,), f"p{pseudonym:0>32}") for pseudonym, person, cell in case["rows"]]
    with Counted(rows, linked=True) as table:
        checks = {check.name: check for check in person_pseudonym_checks(table.connection, "s", 1, table.owners)}
    assert checks["s pseudonyms"].passed
    assert checks["s one to one"].passed is case["expect"]["one to one"]


@of("input")
def test_bad_input_gets_what_the_example_says(case):
    frame = pl.DataFrame(case["rows"], schema=case["columns"], orient="row").with_columns(q=pl.lit("x"))
    expect, k = case["expect"], case["ask"]["k"]

    def persons(**options):
        made = incrowd.release(frame, quasi_identifiers=["q"], person="person", k=k, method="mondrian", **options)
        return made.verdict.sizes.persons.persons

    if expect["accepted"]:
        assert persons() == expect["persons"] == expect["rows"] == frame.height
        return
    with pytest.raises(IncrowdError) as refused:
        persons()
    message = str(refused.value)
    match expect["reason"]:
        case "missing person":
            assert message.startswith(f"{expect['rows']} row")
        case "persons differ by spelling only":
            assert "2 persons" in message
            counted = [persons(person_ids=ids) for ids in ("exact", "normalised")]
            assert counted == [expect["exact"], expect["merged"]]
        case _:
            assert f"the table has {expect['persons']} persons" in message
