"""Plans on disk: what is read back equals what was written, and anything else is refused."""

from __future__ import annotations

import copy
import json
import os
import stat
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incrowd.errors import PlanError
from incrowd.plan.explain import explain
from incrowd.plan.plan_file import plan_from_json, plan_to_json, read_plan, write_plan
from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import (
    DROPPED,
    Bin,
    Drop,
    Group,
    Hide,
    Part,
    Place,
    Reasons,
    Recode,
    Recoding,
    Share,
    Show,
    Spread,
)
from incrowd.trees.tree import Branch, Eq, Gt, In, Le, Missing, Node, Tree
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.preferences import Preferences
from incrowd.vocabulary.released_value import (
    Category,
    Interval,
    Level,
    Mean,
    Midpoint,
    Shown,
    ShownMissing,
    Suppressed,
    ValueSet,
)
from incrowd.vocabulary.requirement import KAnonymity, KnownSet, KnownTogether
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema

AWKWARD = "a|b%c \"q\" 'é'\n<b>, 𝔘\t\\"


def make_plan(names=("age", AWKWARD), rows=12):
    """A plan with every step, every predicate and every form in it."""
    number, word = names
    root = Node(number, (Branch(Le(number, 30.5), 1), Branch(Gt(number, 30.5), 2), Branch(Missing(number), 3)), (9, 4))
    leaves = [Node(None, (), (3, 1)), Node(None, (), (1, 3)), Node(None, (), (5, 0))]
    tree = Tree((root, *leaves), "ill", ("no", None))
    more = Tree(
        (
            Node(word, (Branch(Eq(word, "x"), 1), Branch(In(word, frozenset(["y", AWKWARD])), 2)), (9, 4)),
            Node(None, (), (1, 1)),
            Node(None, (), (8, 3)),
        ),
        "ill",
        ("no", None),
    )
    columns = (
        Column("id", Role.IDENTIFIER, ColumnType.TEXT),
        Column(number, Role.QUASI_IDENTIFIER, ColumnType.INTEGER, reason="why ✓"),
        Column(word, Role.QUASI_IDENTIFIER, ColumnType.ORDERED, ("x", "y", AWKWARD)),
        Column("ill", Role.TARGET),
    )
    groups = (
        Group(4, (Mean(30.25), Shown("x"))),
        Group(4, (Interval(None, 2**60 + 1), ValueSet(("y", AWKWARD)))),
        Group(4, (Level(1, None, 0.1 + 0.2), ShownMissing())),
        Group(0, (Suppressed(), Suppressed())),
    )
    steps = (
        Drop(("id",)),
        Bin(((number, (1.5, 2, 1e300)),)),
        Place(tree, (Share(1, 0, 0, 3), Share(1, 1, 1, 1), Share(3, 0, DROPPED, 1))),
        Place(more, (Share(0, None, 0, 4), Share(1, None, 1, 4), Share(2, None, DROPPED, 1))),
        Show((number, word), groups),
    )
    return ReleasePlan("kactus", (("numeric", "mean"), ("n", 3)), KAnonymity(4), Schema(columns), rows + 1, steps)


@pytest.mark.parametrize("ending", ["json", "parquet", "anything"])
def test_a_plan_reads_back_equal(tmp_path, ending):
    plan = make_plan()
    path = tmp_path / f"plan.{ending}"
    write_plan(plan, path)
    assert read_plan(path) == plan
    assert read_plan(str(path)) == plan


@pytest.mark.parametrize("ending", ["json", "parquet"])
def test_weights_and_limits_read_back_equal(tmp_path, ending):
    limits = Preferences({"age": 3}, {"age": 1}, "2%", apart={AWKWARD: [["a", "b"], ["c"]], "age": "*"})
    plan = replace(make_plan(), preferences=limits)
    write_plan(plan, tmp_path / f"plan.{ending}")
    assert read_plan(tmp_path / f"plan.{ending}").preferences == limits


@pytest.mark.parametrize("limits", [{"weights": {"age": -1}}, {"lose": "much"}, {"wish": 1}, 3])
def test_weights_and_limits_that_are_none_are_refused(tmp_path, limits):
    (tmp_path / "plan.json").write_text(json.dumps({**plan_to_json(make_plan()), "limits": limits}))
    with pytest.raises(PlanError, match="not a plan"):
        read_plan(tmp_path / "plan.json")


whole = st.integers(-(2**63), 2**63 - 1)
numbers = st.none() | whole | st.floats(allow_nan=False)
texts = st.text(max_size=8).filter(lambda t: not any(0xD800 <= ord(c) < 0xE000 for c in t))
nothing = st.sampled_from([ShownMissing(), Suppressed()])


def shown(values):
    return st.builds(Shown, values) | st.lists(values, max_size=3).map(tuple).map(ValueSet) | nothing


forms = {
    True: shown(whole | st.floats(allow_nan=False))
    | st.builds(Mean, st.none() | st.floats(allow_nan=False))
    | st.builds(Interval, numbers, numbers)
    | st.builds(Level, numbers, numbers, numbers),
    False: shown(texts),
}
fitting = [forms[make_plan().schema[name].type.is_numeric] for name in make_plan().names]


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(st.integers(0, 2**40), *fitting), max_size=4), st.sampled_from(["json", "parquet"]))
def test_any_forms_read_back_equal(tmp_path, drawn, ending):
    plan = make_plan()
    groups = tuple(Group(rows, (first, second)) for rows, first, second in drawn)
    steps = (plan.steps[0], plan.steps[1], Show(plan.names, groups))
    plan = replace(plan, steps=steps)
    path = tmp_path / f"plan.{ending}"
    write_plan(plan, path)
    again = read_plan(path)
    assert again == plan
    assert [type(form) for group in again.groups for form in group.forms] == [
        type(form) for group in plan.groups for form in group.forms
    ]


@pytest.mark.parametrize("ending", ["json", "parquet"])
def test_only_the_owner_may_read_a_plan(tmp_path, ending):
    path = tmp_path / f"plan.{ending}"
    before = os.umask(0)
    try:
        write_plan(make_plan(), path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        path.chmod(0o644)
        write_plan(make_plan(), path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    finally:
        os.umask(before)


MALFORMED = {
    "empty": b"",
    "not json": b"{",
    "not utf-8": b"\xff\xfe\x00{",
    "a list": b"[1, 2]",
    "a number": b"7",
    "an empty object": b"{}",
    "another version": b'{"incrowd_plan": 99}',
    "too deep": b"[" * 200_000,
    "a pickle": b"\x80\x04\x95\x0c\x00\x00\x00\x00\x00\x00\x00\x8c\x08builtins\x94.",
}


@pytest.mark.parametrize("data", MALFORMED.values(), ids=MALFORMED)
@pytest.mark.parametrize("ending", ["json", "parquet"])
def test_malformed_files_are_refused(tmp_path, data, ending):
    path = tmp_path / f"plan.{ending}"
    path.write_bytes(data)
    with pytest.raises(PlanError) as caught:
        read_plan(path)
    assert caught.value.exit_status == 2


def test_a_missing_file_a_folder_and_another_parquet_are_refused(tmp_path):
    import polars as pl

    with pytest.raises(PlanError, match=r"no file nowhere\.json"):
        read_plan(tmp_path / "nowhere.json")
    with pytest.raises(PlanError):
        read_plan(tmp_path)
    pl.DataFrame({"rows": [1]}).write_parquet(tmp_path / "other.parquet")
    with pytest.raises(PlanError):
        read_plan(tmp_path / "other.parquet")


def test_a_truncated_parquet_is_refused(tmp_path):
    path = tmp_path / "plan.parquet"
    write_plan(make_plan(), path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(PlanError):
        read_plan(path)


def places_in(data, at=()):
    """Every path into nested lists and dictionaries."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield (*at, key)
        yield from places_in(value, (*at, key))


ALL_PLACES = list(places_in(plan_to_json(make_plan())))


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(ALL_PLACES),
    st.sampled_from([None, -1, 10**9, 1.5, "SECRET", [], {}, True, [[1, 2]], {"is": "SECRET"}, "remove"]),
)
def test_a_damaged_plan_is_refused_or_can_be_explained(tmp_path, place, junk):
    data = copy.deepcopy(plan_to_json(make_plan()))
    inner = data
    for key in place[:-1]:
        inner = inner[key]
    if junk == "remove":
        del inner[place[-1]]
    else:
        inner[place[-1]] = junk
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    told = ""
    try:
        explain(read_plan(path))
    except PlanError as error:
        told = str(error)
    assert "SECRET" not in told


REFERENCES = {
    "a node that is not there": ("steps", 2, "shares", 0, 0, 99),
    "a class that is not there": ("steps", 2, "shares", 0, 1, 7),
    "a group that is not there": ("steps", 3, "shares", 0, 2, 4),
    "a group below dropped": ("steps", 3, "shares", 0, 2, -2),
    "a negative count": ("steps", 3, "shares", 0, 3, -1),
    "a fraction of a row": ("rows", 1.5),
    "a truth value for a count": ("steps", 4, "groups", 0, "rows", True),
    "an unknown column": ("steps", 4, "names", 0, "height"),
    "an unknown step": ("steps", 0, "is", "explode"),
    "an unknown form": ("steps", 4, "groups", 0, "forms", 0, {"is": "Guess"}),
    "an unknown requirement": ("requirement", {"is": "t-closeness"}),
    "k of 0": ("requirement", "k", 0),
    "an unknown role": ("columns", 0, "role", "boss"),
    "a column twice": ("columns", 0, "name", "age"),
    "a name that is a number": ("columns", 3, "name", 5),
    "cuts that descend": ("steps", 1, "cuts", "age", [2, 1]),
    "a form too few": ("steps", 4, "groups", 0, "forms", []),
}


@pytest.mark.parametrize("place", REFERENCES.values(), ids=REFERENCES)
def test_plans_that_contradict_themselves_are_refused(tmp_path, place):
    data = plan_to_json(make_plan())
    inner = data
    for key in place[:-2]:
        inner = inner[key]
    inner[place[-2]] = place[-1]
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(PlanError):
        read_plan(path)


def test_plain_data_is_plain():
    text = json.dumps(plan_to_json(make_plan()), allow_nan=False)
    assert plan_from_json(json.loads(text)) == make_plan()


def recoding_plan():
    jobs = Hierarchy.from_paths("job", [["cook", "craft", "*"], ["smith", "craft", "*"], ["nurse", "*"]])
    schema = Schema(
        (
            Column("age", Role.QUASI_IDENTIFIER, ColumnType.INTEGER),
            Column("job", Role.QUASI_IDENTIFIER, hierarchy=jobs),
            Column("born", Role.QUASI_IDENTIFIER, ColumnType.DATE),
        )
    )
    middle = Part(Interval(30, None), Midpoint(30, None, 45.5), 7)
    recode = Recode(
        (
            Recoding("age", (Part(Interval(None, 30), Level(None, 30, 21.5), 3), middle)),
            Recoding("job", (Part(("cook", "smith"), Category("craft"), 8), Part(("nurse",), Shown("nurse"), 1))),
            Recoding("born", (Part(Interval(0, 100), Interval(0, 100), 9),)),
        )
    )
    hide = Hide(("age", "job"), 5, ((0, 2), (1, 1)), False, 2)
    less = Hide(("age", "job"), 0, ((0, 0),), False, 1, ("job",))
    drop = Hide(("born",), 2, (), True, 2)
    table = (("age", "* 12", 0.25, None), ("job", "craft", 1, "infinite"))
    reasons = Reasons(
        "What was done", ("attribute", "refined", "gain", "D_N"), table, (("alpha", 0.125), ("k", (3, 4)))
    )
    known = KnownTogether((KnownSet(("age", "job"), 5), KnownSet(("born",), 2)))
    return ReleasePlan(
        "iack", (("strict", True),), known, schema, 14, (recode, hide, less, drop, Spread(("born",)), reasons)
    )


@pytest.mark.parametrize("name", ["plan.json", "plan.parquet"])
def test_a_plan_that_recodes_comes_back_whole(tmp_path, name):
    plan = recoding_plan()
    write_plan(plan, tmp_path / name)
    assert read_plan(tmp_path / name) == plan


def test_a_plan_that_recodes_counts_and_explains_itself():
    plan = recoding_plan()
    assert (plan.groups, plan.show, plan.rows_released, plan.rows_dropped) == ((), None, 12, 2)
    assert plan.rows_showing("job") == (8, 1, 3)
    assert plan.share_of_cells_shown == (10 + 9 + 9) / 42
    assert [column.name for column in plan.written] == ["age", "job", "born_low", "born_high"]
    told = explain(plan).splitlines()
    assert told[0] == (
        "iack keeps 5-anonymity of age, job; 2-anonymity of born by showing a value as the same part in every row; "
        "12 of 14 rows are released; 2 rows are left out."
    )
    assert "  age: 2 parts ((30, inf) as 45.5 7, (-inf, 30] as 21.5 3); 2 rows hidden" in told
    assert "  job: 2 parts (craft 8, nurse 1); 3 rows hidden" in told
    assert (
        "Combinations of age and job that fewer than 5 rows share are hidden, and 2 more combinations: 2 rows." in told
    )
    assert "In 1 combination of age and job, job is hidden: 1 row." in told
    assert "  attribute  refined  gain  D_N" in told
    assert "  age        * 12     0.25" in told
    assert "  alpha: 0.125" in told
    assert "hidden in every row" in explain(replace(plan, steps=(Recode((Recoding("age", ()),)),)))


@pytest.mark.parametrize(
    ("step", "change"),
    [
        (0, {"columns": {"nobody": []}}),
        (1, {"names": ["nobody"]}),
        (1, {"below": -1}),
        (1, {"also": [["x"]]}),
        (3, {"names": ["nobody"]}),
        (0, {"columns": {"age": [{"form": {"is": "Shown"}, "rows": 1, "values": [], "between": None}]}}),
    ],
)
def test_a_plan_that_was_tampered_with_is_refused(tmp_path, step, change):
    data = plan_to_json(recoding_plan())
    data["steps"][step] |= change
    (tmp_path / "plan.json").write_text(json.dumps(data))
    with pytest.raises(PlanError):
        read_plan(tmp_path / "plan.json")
