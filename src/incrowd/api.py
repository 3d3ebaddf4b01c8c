"""The functions most people need: inspect, release, explain, transform."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from incrowd.errors import HeaderError, SchemaError, guarded
from incrowd.plan.release_plan import ReleasePlan
from incrowd.releases.job import Events, Job, Targets
from incrowd.releases.pipeline import run_release
from incrowd.report.outcome import Release
from incrowd.rows.memory.held import EmbeddedEngine, check_for_others
from incrowd.tables.databases.tables import in_memory, query_of
from incrowd.tables.options import Book, Measuring, Outputs, Reading, ReleaseOptions, Run, names_of
from incrowd.tables.reading.draft import draft_schema
from incrowd.tables.reading.encode import encode
from incrowd.tables.reading.read import read
from incrowd.tables.reading.source import Source
from incrowd.tables.recipe import recipe_of
from incrowd.vocabulary.option import described
from incrowd.vocabulary.resources import Clock
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema, unknown_column

if TYPE_CHECKING:
    from incrowd.plan.explain import Explanation


@guarded
def show_new_rows(plan: ReleasePlan, source: Source) -> pl.DataFrame:
    """Each row as the plan shows rows like it, in the order given; identifiers are dropped, and what a key makes.

    Unseen categories, numbers out of range and missing values are allowed; the target need not be there. No promise
    is counted: the plan's promise is about the rows it was made for.
    """
    for name in plan.names:
        if name not in source.frame.columns:
            raise HeaderError(unknown_column(name, source.frame.columns))
    check_for_others(plan)
    _check_days(plan, source)
    known = [column for column in plan.schema.columns if column.name in source.frame.columns]
    table, _ = encode(source, Schema(tuple(_loosened(column) for column in known)), plan.names)
    return EmbeddedEngine().transform(plan, table, source.frame.drop(plan.schema.keyed, strict=False))


def _check_days(plan: ReleasePlan, source: Source) -> None:
    """Refuse dates where the plan has days since the first row of a person, who is not known here."""
    days = [name for name in plan.names if plan.schema[name].type is ColumnType.INTEGER]
    if plan.link is None or not days:
        return
    drafted = draft_schema(replace(source, frame=source.frame.select(days)))
    for name in days:
        if drafted[name].type is ColumnType.DATE:
            raise SchemaError(
                f"Column {name!r} has dates, and the plan shows whole days since the first row of a person. Reckon "
                "these for the new rows, and put them in the column."
            )


def _loosened(column: Column) -> Column:
    """New rows may hold fractions where the plan's held whole numbers; their class is of no concern."""
    kind = ColumnType.REAL if column.type is ColumnType.INTEGER else column.type
    return replace(column, type=kind, role=Role.OTHER if column.role is Role.TARGET else column.role)


__all__ = ["explain", "inspect", "release", "transform"]


@described(Reading)
@guarded
def inspect(table: Any, *, target: str | None = None, **reading: Unpack[Reading]) -> Schema:
    """A draft schema: what each column seems to be, and why.

    Parameters
    ----------
    table
        A path, or a pandas, polars, PyArrow or Spark table; a table of PostgreSQL, ``"postgresql:///clinic?table=patients"``.
    target
        The class column, if you know it.
    {options}

    Examples
    --------
    >>> import polars as pl
    >>> schema = inspect(pl.DataFrame({"age": [30, 41, 30], "ill": ["no", "yes", "no"]}), target="ill")
    >>> schema["ill"].role
    <Role.TARGET: 'target'>
    """
    return draft_schema(read(in_memory(table), **reading), target=target)


@described(ReleaseOptions, outputs=Outputs, measuring=Measuring, ledger=Book, run=Run)
@guarded
def release(
    table: Any,
    *,
    outputs: Outputs | None = None,
    measuring: Measuring | None = None,
    ledger: Book | str | Path | None = None,
    run: Run | None = None,
    progress: Callable[[str], None] | None = None,
    **options: Unpack[ReleaseOptions],
) -> Release:
    """Release a table so that every combination of quasi-identifier values is shared by at least k rows.

    Parameters
    ----------
    table
        A path, or a pandas, polars or PyArrow table; a table of PostgreSQL, ``"postgresql:///clinic?table=patients"``,
        or a query of it, ``incrowd.tables.databases.Query.of("postgresql:///clinic", "SELECT …")``.
    {options}
    outputs
        What is written beside the release: certificate, report, plan.
    measuring
        What is measured: accuracy, risk, attacks.
    ledger
        The private folder of earlier releases, or a :class:`Book`: the folder, and what you say of them.
    run
        Where and with what it is made: memory, Spark, a seed.
    progress
        Called with the name of each stage as it begins, and with how far it is.

    Returns
    -------
    Release
        ``.table`` (the kind of frame that came in), ``.plan``, ``.certificate``, ``.report``.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [30, 41, 30, 41] * 5, "ill": ["no", "yes", "no", "yes"] * 5})
    >>> made = release(people, quasi_identifiers=["age"], target="ill", k=5)
    >>> made.table.height, made.verdict.sizes.smallest >= 5
    (20, True)
    """
    outputs, recipe, sign = outputs or Outputs(), options.get("recipe"), (outputs or Outputs()).sign
    key_file, events = options.get("key_file"), Events.of(options)
    if events is not None:
        options = {**options, "person": options["key_column"], "keep_link": True}
    job = Job(
        query_of(table) or table,  # an address is not kept as text
        recipe_of(options),
        Targets.at(options.get("to"), outputs),
        recipe_path=Path(recipe) if isinstance(recipe, str | Path) else None,
        clock=Clock(progress) if progress else Clock(),
        responsible=outputs.responsible,
        sign=None if sign is None else Path(sign),
        share_hierarchies=outputs.share_hierarchies,
        measuring=_named_attacks(measuring or Measuring()),
        ledger=Book(ledger) if isinstance(ledger, str | Path) else ledger,
        run=run or Run(),
        despite_unchanged=options.get("despite_unchanged", False),
        key_file=None if key_file is None else Path(key_file),
        new_key=options.get("new_key", False),
        events=events,
    )
    if events is None:
        return run_release(job)
    from incrowd.releases.two_tables import run_two_tables

    return run_two_tables(job)


def _named_attacks(measuring: Measuring) -> Measuring:
    """With attacks that are known to exist before any work is done."""
    if isinstance(measuring.attacks, bool):
        return measuring
    from incrowd.attacks.catalog import find_attacks

    return replace(measuring, attacks=find_attacks(names_of(measuring.attacks)))


@guarded
def explain(plan: ReleasePlan | str | Path, *, groups: int = 10) -> Explanation:
    """A plan, or the file of one, in sentences: text, which notebooks show with its lists and tables."""
    from incrowd.plan.explain import explain as explain_plan
    from incrowd.plan.plan_file import read_plan

    return explain_plan(plan if isinstance(plan, ReleasePlan) else read_plan(plan), groups)


@described(Reading)
@guarded
def transform(plan: ReleasePlan | str | Path, table: Any, **reading: Unpack[Reading]) -> Any:
    """New rows as a plan shows rows like them, in the kind of frame that came in (polars for files).

    Unseen categories, numbers out of range and missing values are allowed. No promise is counted on new rows.

    Parameters
    ----------
    plan, table
        The plan, or its file, and the rows: a path or a frame.
    {options}

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [30, 41] * 10, "ill": ["no", "yes"] * 10})
    >>> plan = release(people, quasi_identifiers=["age"], target="ill", k=5).plan
    >>> transform(plan, pl.DataFrame({"age": [29, 55]}))["age"].to_list()
    ['(-inf, 40]', '(40, inf)']
    """
    from incrowd.plan.plan_file import read_plan
    from incrowd.tables.reading.frames import to_frame_like

    chosen = plan if isinstance(plan, ReleasePlan) else read_plan(plan)
    source = read(in_memory(table), **reading)
    return to_frame_like(show_new_rows(chosen, source), source.origin)
