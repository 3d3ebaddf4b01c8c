"""The functions most people need: inspect, release, verify, explain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from incrowd.errors import ParameterError, guarded
from incrowd.plan.explain import explain as explain_plan
from incrowd.plan.plan_file import read_plan
from incrowd.plan.release_plan import ReleasePlan
from incrowd.releases.job import Job, Targets
from incrowd.releases.new_rows import show_new_rows
from incrowd.releases.pipeline import run_release
from incrowd.releases.recount import recount
from incrowd.report.outcome import Release
from incrowd.tables.databases.tables import in_memory, query_of
from incrowd.tables.hierarchies.read import hierarchies_in
from incrowd.tables.options import Book, Measuring, Outputs, Reading, ReleaseOptions, Run
from incrowd.tables.reading.draft import draft_schema
from incrowd.tables.reading.frames import is_spark_frame, to_frame_like
from incrowd.tables.reading.read import read
from incrowd.tables.recipe import asked_recipe, names_of
from incrowd.verification.verdict import Verdict
from incrowd.vocabulary.clock import Clock
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.option import described
from incrowd.vocabulary.schema import Schema

if TYPE_CHECKING:
    from incrowd.releases.certified.statements import CertificateVerdict


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


@described(ReleaseOptions)
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
    job = Job(
        query_of(table) or table,  # an address is not kept as text
        asked_recipe(options),
        Targets.at(options.get("to"), outputs),
        recipe_path=Path(recipe) if isinstance(recipe, str | Path) else None,
        clock=Clock(progress) if progress else Clock(),
        responsible=outputs.responsible,
        sign=None if sign is None else Path(sign),
        measuring=_named_attacks(measuring or Measuring()),
        ledger=Book(ledger) if isinstance(ledger, str | Path) else ledger,
        run=run or Run(),
        despite_unchanged=options.get("despite_unchanged", False),
        alone_at_most=options.get("alone_at_most"),
    )
    if job.run.engine is None and not is_spark_frame(job.given):
        return run_release(job)
    from incrowd.releases.clusters import run_cluster_release

    return run_cluster_release(job)


def _named_attacks(measuring: Measuring) -> Measuring:
    """With names that are known to be names of attacks before any work is done."""
    from incrowd.attacks.catalog import find_attacks

    if isinstance(measuring.attacks, bool):
        return measuring
    return replace(measuring, attacks=tuple(attack.name for attack in find_attacks(names_of(measuring.attacks))))


@guarded
def verify(
    table: Any,
    *,
    k: int | None = None,
    quasi_identifiers: Iterable[str] = (),
    known_together: Iterable[tuple[Iterable[str], int]] = (),
    require: Any = None,
    population: Any = None,
    hierarchies: Mapping[str, Hierarchy] | str | Path | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    missing: Iterable[str] | None = None,
    memory: int | str | None = None,
    certificate: Mapping[str, Any] | str | Path | None = None,
    signed_by: str | Path | None = None,
) -> Verdict | CertificateVerdict:
    """Hold a release next to its certificate, or recount any table: does every combination have at least k rows?

    With nothing but the file of a release, its certificate is found beside it (or named as ``certificate``), and all
    that it states is recounted from the file: hash, columns, rows, groups, every promise, and what the cells show. With
    ``signed_by``, a public key, the certificate must be signed by its owner.

    Otherwise say what a table must keep: ``k`` and the ``quasi_identifiers``; or ``known_together``, sets of columns
    each with its own k. ``require`` asks for more, as in :func:`release`: every requirement names its column,
    ``"k=10, entropy-l=1.5 on diagnosis"``. k-map and delta-presence need the ``population``, and the ``hierarchies``
    whose groups the table shows.

    The recount is DuckDB's, on the file's own bytes, with all detection switched off; its number of rows is confirmed
    another way. A missing value is a value. Tables that DuckDB cannot read itself (data frames, Excel, text in other
    encodings) are read by incrowd and handed over. With ``memory``, such as ``"4GB"``, what does not fit goes to a
    private folder that is removed afterwards.

    Returns
    -------
    Verdict or CertificateVerdict
        Both have ``passed``, ``to_json()`` and a text of one line for each thing that was checked.

    Examples
    --------
    >>> import polars as pl
    >>> print(verify(pl.DataFrame({"age": [30, 30, None]}), k=2, quasi_identifiers=["age"]))
    FAILED  2-anonymity: smallest of 2 classes: 1 rows; 1 rows are in 1 classes below 2
    >>> people = pl.DataFrame({"age": [30, 41] * 10, "ill": ["no", "yes"] * 10})
    >>> made = release(people, quasi_identifiers=["age"], target="ill", k=5)
    >>> verify(made.table, certificate=made.certificate).passed
    True
    """
    names, sets = (
        names_of(quasi_identifiers) or [],
        [(names_of(columns) or [], rows) for columns, rows in known_together],
    )
    known = hierarchies_in(hierarchies) if isinstance(hierarchies, str | Path) else hierarchies
    if certificate is not None or signed_by is not None or not (k is not None or names or sets or require):
        from incrowd.releases.certified.checking import check_release

        if k is not None or names or sets or require or population is not None or delimiter or encoding or missing:
            raise ParameterError("A certificate says itself what is kept and how the file is read: say nothing else.")
        return check_release(table, certificate, signed_by=signed_by, hierarchies=known, memory=memory)
    return recount(
        table,
        k=k,
        quasi_identifiers=names,
        known_together=sets,
        require=require,
        population=population,
        hierarchies=known,
        delimiter=delimiter,
        encoding=encoding,
        missing=names_of(missing),
        memory=memory,
    )


@guarded
def explain(plan: ReleasePlan | str | Path, *, groups: int = 10) -> str:
    """A plan, or the file of one, in sentences."""
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
    found = plan if isinstance(plan, ReleasePlan) else read_plan(plan)
    source = read(in_memory(table), **reading)
    return to_frame_like(show_new_rows(found, source), source.origin)
