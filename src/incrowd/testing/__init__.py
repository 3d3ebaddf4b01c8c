"""Checks for whoever writes a method: what every method keeps, whatever the table and wherever its rows live.

::

    from incrowd.testing import check_method

    def test_my_method():
        check_method(MyMethod())

Each check raises an ``AssertionError`` that says what was broken. The program's own tests run the same functions, on
more tables. Nothing here needs pytest. The room may import everything but the faces of the program.
"""

from __future__ import annotations

import pickle
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from typing import Any, Protocol

import numpy as np
import polars as pl

from incrowd.errors import IncrowdError, PlanError, SchemaError
from incrowd.methods.catalog import MethodOrName, find_method, make_method
from incrowd.methods.method import Method, MethodTraits, Population
from incrowd.methods.release_forms import formed
from incrowd.plan.plan_file import plan_from_json, plan_to_json
from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import Drop, Place, Seat
from incrowd.rows.memory.held import Draft, EmbeddedEngine
from incrowd.testing.tables import (
    AWKWARD,
    SHARED,
    TARGET,
    BlockedEngine,
    Case,
    any_case,
    new_rows,
    owned,
    random_owners,
)
from incrowd.vocabulary.encoded_table import Codes, EncodedTable
from incrowd.vocabulary.forms import PAIR
from incrowd.vocabulary.preferences import INDIFFERENT
from incrowd.vocabulary.randomness import Randomness, SeededRandomness, SystemRandomness
from incrowd.vocabulary.released_value import render
from incrowd.vocabulary.requirement import KAnonymity
from incrowd.vocabulary.schema import Schema

__all__ = ["check_method"]


RANDOM = 20
"""Random tables beside the awkward ones: enough that a method that forgets a rare case meets it."""
BLOCK = 7  # rows of a block: small tables have several


class Engine(Protocol):
    """Where the rows of a small table live while a method is tried."""

    def population(
        self, table: EncodedTable, schema: Schema, randomness: Randomness, owners: Codes | None = None
    ) -> Population:
        """The rows, as algorithms know them; ``owners`` has the person of each, if rows are not persons."""

    def settle(self, plan: ReleasePlan, population: Population) -> ReleasePlan:
        """The plan with what only the rows tell."""

    def draft(self, plan: ReleasePlan, population: Population, source: pl.DataFrame, randomness: Randomness) -> Draft:
        """The released table."""

    def transform(self, plan: ReleasePlan, table: EncodedTable, source: pl.DataFrame) -> pl.DataFrame:
        """New rows, seen through the plan."""


ENGINES: dict[str, Engine] = {"in memory": EmbeddedEngine(), "in blocks": BlockedEngine(BLOCK)}


@dataclass(frozen=True, eq=False)
class Attempt:
    """A release of a small table by a method: what was decided and drafted."""

    case: Case
    k: int
    plan: ReleasePlan
    draft: Draft


def attempt(
    case: Case, k: int, engine: Engine, method: Method, *, seed: int | None, form: str | None = None
) -> Attempt:
    """Decide, settle and draft; by a seed, or by the chance of the system."""
    chance: Randomness = SystemRandomness() if seed is None else SeededRandomness(seed)
    requirement = KAnonymity(k)
    population = engine.population(case.table, case.schema, chance, case.owners)
    steps = (Drop(()), *method.decide(population, requirement, chance, INDIFFERENT))
    if form is not None:
        steps = formed(steps, form, population, requirement)
    described = tuple(method.parameters().items())
    plan = ReleasePlan(method.name, described, requirement, case.schema, len(case.rows), steps)
    plan = engine.settle(plan, population)
    return Attempt(case, k, plan, engine.draft(plan, population, case.frame, chance))


def expect(holds: object, words: str) -> None:
    """Raise unless it holds."""
    if not holds:
        raise AssertionError(words)


@contextmanager
def told_where(where: str) -> Iterator[None]:
    """What is raised inside says where it was."""
    try:
        yield
    except AssertionError as broken:
        raise AssertionError(f"{where}: {broken}") from None
    except Exception as error:
        raise AssertionError(f"{where}: raised {type(error).__name__}: {error}") from error


def check_kept(trial: Attempt, traits: MethodTraits) -> None:
    """Check k, and the rows: each at most once, those left out within what may be lost, all else untouched.

    Where a person may have several rows, k persons share what they show, and no row is left out.
    """
    case, k, plan, frame = trial.case, trial.k, trial.plan, trial.draft.frame
    columns = [column.name for column in plan.written if column.source in case.names]
    origin = trial.draft.origin.tolist()
    owners = range(len(case.rows)) if case.owners is None else case.owners.tolist()
    classes: dict[tuple[Any, ...], set[int]] = {}
    for shown, row in zip(frame.select(columns).rows(), origin, strict=True):
        classes.setdefault(shown, set()).add(owners[row])
    smallest = min(map(len, classes.values()), default=k)
    unit = "rows" if case.owners is None else "persons"
    expect(smallest >= k, f"{smallest} {unit} share what they show, fewer than k")
    expect(len(origin) == len(set(origin)) == frame.height, "a row is released twice")
    lost = len(case.rows) - len(origin)
    expect(lost == plan.rows_dropped, "the plan does not say how many rows it leaves out")
    single = case.owners is None or case.persons == len(case.rows)  # each row a person
    allowed = k - 1 if traits.loses_rows and single else 0
    expect(lost <= allowed, f"{lost} rows are left out, more than its traits allow")
    expect(frame.columns == [column.name for column in plan.written], "the columns are not those of the plan")
    for name in case.names:
        _check_hidden(trial, name)
    released = frame[TARGET].to_list()
    expect(released == [case.rows[row][TARGET] for row in origin], "the class of a row has changed")


def _check_hidden(trial: Attempt, name: str) -> None:
    """As many cells show nothing as the plan says."""
    plan, cells = trial.plan, trial.draft.frame
    shown = hidden = 0
    for form, showing in zip(plan.forms(name), plan.rows_showing(name), strict=True):
        if render(form, trial.case.schema[name].type) is None:
            hidden += showing
        else:
            shown += showing
    expect(shown + hidden == cells.height, f"the plan does not say what every row shows of {name!r}")
    if name in plan.counted:
        expect((cells[name] == "*").sum() == hidden, f"other cells of {name!r} are hidden than the plan says")
    elif name not in plan.spread:
        expect(cells[name].null_count() == hidden, f"other cells of {name!r} are hidden than the plan says")


def check_repeated(
    case: Case, k: int, engine: Engine, method: Method, *, seed: int, again: AbstractContextManager[None] | None = None
) -> Attempt:
    """Check that k is kept, nothing that came in changes, and a seed gives the same release, also within ``again``."""
    traits, before, copy = find_method(method), _snapshot(case), replace(method)  # type: ignore[type-var]
    states = _global_chance()
    trial = attempt(case, k, engine, method, seed=seed)
    check_kept(trial, traits)
    expect(_snapshot(case) == before, "it changes the table that it is given")
    expect(method == copy, "it changes itself")
    expect(_global_chance() == states, "it draws from a global source of chance, not from the one it is given")
    with again or nullcontext():
        same = attempt(case, k, engine, method, seed=seed)
    expect(same.plan == trial.plan, "the same seed gives another plan")
    expect(same.draft.frame.equals(trial.draft.frame), "the same seed gives another release")
    expect(np.array_equal(same.draft.origin, trial.draft.origin), "the same seed deals rows otherwise")
    expect(plan_from_json(plan_to_json(trial.plan)) == trial.plan, "its plan is another one when read from a file")
    return trial


def _global_chance() -> bytes:
    """The state of the sources of chance that all modules share."""
    return pickle.dumps((random.getstate(), np.random.get_state()))


def _snapshot(case: Case) -> tuple[Any, ...]:
    """Everything an algorithm or engine could change in its input."""
    columns = case.table.columns.values()
    return (
        [(c.name, c.type, c.codes.tobytes(), c.dictionary.to_list()) for c in columns],
        case.frame.rows(),
        asdict(case.schema),
    )


def check_applied_again(trial: Attempt, engine: Engine, traits: MethodTraits) -> None:
    """Check that another draw deals other rows to the same groups, and the promise holds again.

    A plan that splits groups further knows the rows that one draw put into them. Dealt by another draw, its counts may
    not fit; then it is refused. So is a plan that does not keep which row is in which group.
    """
    case, chance = trial.case, SeededRandomness(2)
    read = plan_from_json(plan_to_json(trial.plan))
    population = engine.population(case.table, case.schema, chance, case.owners)
    try:
        settled = engine.settle(read, population)
    except PlanError as refused:
        if any(isinstance(step, Seat) for step in read.steps):
            expect("Release the table again" in str(refused), "its plan is refused in other words than those of seats")
            return
        allowed = "counts differ" in str(refused) and any(map(_rests_on_chance, read.places[:-1]))
        expect(allowed, "its plan cannot be applied to the table it was made for")
        return
    check_kept(Attempt(case, trial.k, settled, engine.draft(settled, population, case.frame, chance)), traits)
    same = [group.rows for group in settled.groups] == [group.rows for group in trial.plan.groups]
    expect(same, "its groups have other sizes when its plan is applied again")


def _rests_on_chance(place: Place) -> bool:
    """Whether rows of one cell are dealt to several groups."""
    return max(Counter(place.cell(share) for share in place.shares).values(), default=0) > 1


def check_new_rows(trial: Attempt, engine: Engine) -> None:
    """Check that new rows show only what is true of them."""
    case, plan = trial.case, trial.plan
    table, frame = new_rows(case)
    shown = engine.transform(plan, table, frame)
    expected = [column.name for column in plan.written if column.source in case.names]
    expect(shown.columns == expected and shown.height == frame.height, "new rows have other columns than the release")
    for name in case.names:
        for value, cell in zip(frame[name].to_list(), shown[name].to_list(), strict=True):
            expect(cell is None or value is not None, f"a new row shows something of {name!r} where it has nothing")
            expect(value != "never seen" or cell is None, f"a new row shows of {name!r} what it does not have")
            if isinstance(cell, str) and not cell.startswith("("):
                expect(str(value) in cell.split("|"), f"a new row shows of {name!r} what it does not have")


def check_description(method: Method) -> None:
    """Check that it is a frozen dataclass, and describes itself by its parameters."""
    expect(is_dataclass(method), "it is not a dataclass")
    entry, own = find_method(method), {field.name for field in fields(method)}  # type: ignore[arg-type]
    expect(type(method).__dataclass_params__.frozen, "it is not frozen")  # type: ignore[attr-defined]
    expect(set(method.parameters()) == own, "parameters() are not those of its fields")
    expect(entry.summary, "it has neither a summary in its traits nor a docstring")
    expect(not entry.numeric or "numeric" in own, "its traits have values of numeric, and it has no such parameter")
    usual = {field.name: getattr(method, field.name) for field in fields(method)}  # type: ignore[arg-type]
    expect(make_method(type(method), usual) == method, "made again of its parameters it is another one")


def check_target(method: Method) -> None:
    """Check that it needs a target if, and only if, its traits say so."""
    case = AWKWARD["skew"]
    schema = Schema(tuple(column for column in case.schema.columns if column.name != TARGET))
    table = EncodedTable.of(case.table[name] for name in case.names)
    population = EmbeddedEngine().population(table, schema, SeededRandomness(1))
    try:
        method.decide(population, KAnonymity(2), SeededRandomness(1), INDIFFERENT)
    except SchemaError:
        expect(find_method(method).needs_target, "it refuses a table without a target, and its traits say otherwise")
        return
    expect(not find_method(method).needs_target, "it decides without a target, and its traits say that it needs one")


def check_on_tables(method: Method, tables: dict[str, Case], seed: int) -> None:
    """Check everything about small tables on each of them, wherever their rows live."""
    traits = find_method(method)
    for name, case in tables.items():
        most = case.persons
        for where, engine in ENGINES.items():
            for k in sorted({1, 2, 7, most // 2 + 1, most} & set(range(1, most + 1))):
                with told_where(f"{method.name}, on the table {name!r}, {where}, k={k}"):
                    attempted = check_repeated(case, k, engine, method, seed=seed)
                    check_applied_again(attempted, engine, traits)
                    check_new_rows(attempted, engine)
            with told_where(f"{method.name}, on the table {name!r}, {where}, by the chance of the system"):
                check_kept(attempt(case, min(2, most), engine, method, seed=None), traits)


def check_whole_way(method: MethodOrName) -> None:
    """Check a release of a small table in each form, which the verification recounts; and what must be refused."""
    from incrowd.api import release

    rng, rows = np.random.default_rng(5), 120
    people = pl.DataFrame(
        {
            "age": rng.integers(18, 90, rows),
            "weight": [None if i % 17 == 0 else float(w) for i, w in enumerate(rng.normal(70, 9, rows).round(1))],
            "job": [
                None if i % 13 == 0 else str(j) for i, j in enumerate(rng.choice(["cook", "it's|%", "cleric"], rows))
            ],
            "ill": rng.choice(["y", "n"], rows),
        }
    )
    entry = find_method(method)
    options: dict[str, Any] = {"quasi_identifiers": ["age", "weight", "job"], "target": "ill", "method": method}
    for form in entry.forms:
        if form != PAIR:
            with told_where(f"{entry.name}, released as {form}"):
                released = release(people, k=5, form=form, **options)
                expect(released.verdict.sizes.smallest >= 5, "a class is smaller than k")
                expect(type(released.table) is pl.DataFrame, "another kind of table comes back")
    with told_where(f"{entry.name}, with t-closeness of the class"):
        release(people, k=5, require="t=0.3", **options)
    with told_where(f"{entry.name}, with persons who have several rows"):
        visits = people.with_columns(who=pl.Series([f"p{number}" for number in rng.integers(0, 40, rows)]))
        for further in (None, "alpha=0.95"):
            released = release(visits, k=5, require=further, person="who", **options)
            expect("who" not in released.table.columns, "the person column is released")
    with told_where(f"{entry.name}, with more people to a group than there are"):
        try:
            release(people, k=rows + 1, **options)
        except IncrowdError:
            return
        expect(False, "it releases what is impossible")


def check_method(method: MethodOrName, *, tables: int = RANDOM, seed: int = 1) -> None:
    """Check that a method keeps what incrowd expects of every method.

    It decides on invented tables, awkward and random ones, some in which a person has several rows, in memory and in
    blocks, and is then released and verified the whole way. It takes seconds.

    Parameters
    ----------
    method
        The method: as an object, as its class, or by its name.
    tables
        How many random tables it is tried on beside the awkward ones.
    seed
        Of the random tables.

    Raises
    ------
    AssertionError
        If something is not kept: what, and on which table. It quotes no value.

    Examples
    --------
    >>> from incrowd.testing import check_method
    >>> check_method("infogain-mondrian", tables=0)
    """
    trial = make_method(method, {})
    with told_where(trial.name):
        check_description(trial)
        check_target(trial)
    rng = np.random.default_rng(seed)
    random_tables = {f"random {number}": any_case(rng) for number in range(1, tables + 1)}
    for name, case in [*random_tables.items()][::2]:
        random_tables[f"{name} of persons"] = owned(case, random_owners(rng, len(case.rows)))
    check_on_tables(trial, AWKWARD | SHARED | random_tables, seed)
    check_whole_way(method)
