"""The functions most people need: inspect, release, verify, explain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.errors import ParameterError, guarded
from incrowd.plan.explain import explain as explain_plan
from incrowd.plan.plan_file import read_plan
from incrowd.plan.release_plan import ReleasePlan
from incrowd.releases.job import Job, Outputs
from incrowd.releases.new_rows import show_new_rows
from incrowd.releases.pipeline import run_release
from incrowd.releases.recount import recount
from incrowd.report.outcome import Release
from incrowd.tables.databases.tables import NewTable, in_memory, query_of
from incrowd.tables.hierarchies.read import hierarchies_in
from incrowd.tables.reading.draft import draft_schema
from incrowd.tables.reading.frames import to_frame_like
from incrowd.tables.reading.read import read
from incrowd.tables.recipe import Recipe, read_recipe, with_hierarchies, with_roles
from incrowd.verification.verdict import Verdict
from incrowd.vocabulary.clock import Clock
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.resources import bytes_of
from incrowd.vocabulary.schema import Schema

if TYPE_CHECKING:
    from incrowd.releases.certified.statements import CertificateVerdict


@guarded
def inspect(table: Any, *, target: str | None = None, **reading: Any) -> Schema:
    """A draft schema: what each column seems to be, and why.

    Parameters
    ----------
    table
        A path, or a pandas, polars, PyArrow or Spark table; a table of PostgreSQL, ``"postgresql:///clinic?table=patients"``.
    target
        The class column, if you know it.
    **reading
        delimiter, encoding, missing, for text files.

    Examples
    --------
    >>> import polars as pl
    >>> schema = inspect(pl.DataFrame({"age": [30, 41, 30], "ill": ["no", "yes", "no"]}), target="ill")
    >>> schema["ill"].role
    <Role.TARGET: 'target'>
    """
    return draft_schema(read(in_memory(table), **reading), target=target)


@guarded
def release(
    table: Any,
    *,
    quasi_identifiers: Iterable[str] | None = None,
    target: str | None = None,
    identifiers: Iterable[str] | None = None,
    sensitive: Iterable[str] | None = None,
    repeats: Iterable[str] | None = None,
    k: int | None = None,
    known_together: Iterable[tuple[Iterable[str], int]] | None = None,
    require: Any = None,
    class_sensitive: bool | None = None,
    population: Any = None,
    hierarchies: Mapping[str, Hierarchy | str | Path] | str | Path | None = None,
    method: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    form: str | None = None,
    rarest: int | None = None,
    reading: Mapping[str, Any] | None = None,
    recipe: Recipe | str | Path | None = None,
    to: str | Path | NewTable | None = None,
    certificate_to: str | Path | None = None,
    plan_to: str | Path | None = None,
    report_to: str | Path | None = None,
    responsible: str | None = None,
    accuracy: bool = False,
    risk: bool | None = None,
    attacks: bool | Iterable[str] = False,
    ledger: str | Path | None = None,
    despite_earlier: bool = False,
    sign: str | Path | None = None,
    despite_unchanged: bool = False,
    alone_at_most: int | None = None,
    ledger_key: str | Path | None = None,
    other_people: Iterable[int] = (),
    same_columns: Mapping[str, str] | None = None,
    presence_known: bool = False,
    seed: int | None = None,
    memory: int | str | None = None,
    engine: str | None = None,
    master: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> Release:
    """Release a table so that every combination of quasi-identifier values is shared by at least k rows.

    Parameters
    ----------
    table
        A path, or a pandas, polars or PyArrow table; a table of PostgreSQL, ``"postgresql:///clinic?table=patients"``,
        or a query of it, ``incrowd.tables.databases.Query.of("postgresql:///clinic", "SELECT …")``.
    quasi_identifiers
        The columns an attacker may know.
    target
        The class recipients will learn.
    identifiers
        Columns to drop.
    sensitive
        Columns that must not be inferred; released unchanged. What must be kept of them is said by ``require``.
    repeats
        Identifiers that may repeat since they do not number persons; any other that repeats is refused.
    k
        The smallest group of rows that may look alike; 10 if neither you nor the recipe say.
    known_together
        Sets of columns an attacker knows together, each with its own k, such as ``[(["age", "sex"], 5)]``. They are the
        quasi-identifiers then, and k is not needed.
    require
        What is required beside k: text such as ``"entropy-l=1.5 on diagnosis, t=0.2 on income"``, requirements, or a
        list of both. Every group of rows that look alike keeps all of it, or an error says what would be possible.
    class_sensitive
        Whether the target itself must not be inferred: then every group keeps at least t-closeness of it. Nobody but
        you can know; if you do not say, a notice does.
    population
        A table of the people the rows are from, with the quasi-identifiers: for ``k-map`` and ``delta-presence``.
    hierarchies
        Hierarchies of quasi-identifiers, by column: ``Hierarchy`` objects or files; or a folder with a file for each
        column.
    method, parameters
        A method of the catalog (``incrowd methods`` lists them) and its parameters.
    form
        In which form groups are released: ``"strict"`` (plain values), ``"counts"`` (all values of a group with their
        counts) or ``"pair"`` (counts as a table of their own, beside that of the rows); else the method's own.
    rarest
        No cell of a quasi-identifier names a value, a bin or a group of values that fewer people of the table have.
    reading
        How to read a text file: delimiter, encoding, missing.
    recipe
        A recipe or the path of one; the arguments above replace what it says.
    to, certificate_to, plan_to, report_to
        Files to write: the release, its certificate (beside it if you do not say), the private plan, the HTML report.
        The release may also go into a new table, ``"postgresql:///clinic?table=release"``.
    responsible
        Who answers for the release; stands in the certificate.
    accuracy
        Measure what a decision tree learns before and after, on held-out rows.
    risk
        Measure risk before and after, as :func:`measure_risk` does; if you do not say, only where a report is written.
    attacks
        Attack the release and the table itself, as :func:`attack_release` does: all attacks, or those you name.
    ledger
        A private folder with the book of earlier releases. It knows people: the same request for the same people gets
        the same groups again; a release that tells, together with earlier ones, more than was promised is refused.
    despite_earlier
        Publish it anyway; the certificate then says what they tell together.
    sign
        A private key, of ``incrowd keys make``: its name or its file. The certificate is signed with it.
    despite_unchanged
        Publish even if columns that are released unchanged give back what is hidden, so that fewer than k look alike;
        the certificate then says so. Without it such a release is refused.
    alone_at_most
        Refuse if more people than this are alone with their unchanged columns; any number if you do not say.
    ledger_key
        The file with the key of the ledger, where it is not kept in the book itself.
    other_people
        Numbers of entries of the ledger that are about other people, as you vouch.
    same_columns
        What columns of this table were called in earlier ones, such as ``{"age_years": "age"}``.
    presence_known
        Whether outsiders may know who joined or left since earlier releases; then those are kept in company too.
    seed
        For experiments only: makes the draw repeatable, and so the shuffling undoable.
    memory
        How much memory the run may use, such as ``"4GB"``. Large files are worked on in blocks anyway.
    engine
        ``"spark"`` to read a path or a table of Spark's catalog with Spark; a Spark frame needs no engine named.
    master
        Where Spark runs if no session is active, such as ``"local[2]"`` or ``"yarn"``.
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
    asked = read_recipe(recipe) if isinstance(recipe, str | Path) else recipe or Recipe()
    said: dict[str, Any] = {"k": k, "method": method, "parameters": parameters, "form": form, "reading": reading}
    said |= {"require": require, "class_sensitive": class_sensitive, "population": population}
    said |= {"rarest": rarest, "repeats": _names(repeats)}
    if known_together is not None:
        said["known_together"] = [{"columns": _names(columns), "k": rows} for columns, rows in known_together]
    asked = replace(asked, **{name: value for name, value in said.items() if value is not None})
    if hierarchies is not None:
        asked = with_hierarchies(asked, _hierarchies(hierarchies))
    roles = {"identifiers": _names(identifiers), "sensitive": _names(sensitive), "target": _names(target)}
    asked = with_roles(asked, quasi_identifiers=_quasi_identifiers(asked, _names(quasi_identifiers)), **roles)
    written = {"plan": _path(plan_to), "report": _path(report_to), "certified": _path(certificate_to)}
    outputs = Outputs.at(to, **written, responsible=responsible)
    run: dict[str, Any] = {"seed": seed, "memory": None if memory is None else bytes_of(memory)}
    run |= {"recipe_path": Path(recipe) if isinstance(recipe, str | Path) else None, "engine": engine, "master": master}
    given = query_of(table) or table  # an address is not kept as text
    job = Job(given, asked, outputs, clock=Clock(progress) if progress else Clock(), **run)
    measured: dict[str, Any] = {"accuracy": accuracy, "risk": risk, "attacks": _attacks(attacks)}
    book: dict[str, Any] = {"ledger": _path(ledger), "ledger_key": _path(ledger_key)}
    book |= {"despite_earlier": despite_earlier, "presence_known": presence_known}
    book |= {"other_people": tuple(other_people), "same_columns": tuple((same_columns or {}).items())}
    beside: dict[str, Any] = {
        "despite_unchanged": despite_unchanged,
        "alone_at_most": alone_at_most,
        "sign": _path(sign),
    }
    return run_release(replace(job, **measured, **book, **beside))


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
    names, sets = _names(quasi_identifiers) or [], [(_names(columns) or [], rows) for columns, rows in known_together]
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
        missing=_names(missing),
        memory=memory,
    )


@guarded
def explain(plan: ReleasePlan | str | Path, *, groups: int = 10) -> str:
    """A plan, or the file of one, in sentences."""
    return explain_plan(plan if isinstance(plan, ReleasePlan) else read_plan(plan), groups)


@guarded
def transform(plan: ReleasePlan | str | Path, table: Any, **reading: Any) -> Any:
    """New rows as a plan shows rows like them, in the kind of frame that came in (polars for files).

    Unseen categories, numbers out of range and missing values are allowed. No promise is counted on new rows.

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


def _quasi_identifiers(recipe: Recipe, given: list[str] | None) -> list[str] | None:
    """Those that are named; with sets of columns that are known together, those of the sets."""
    if recipe.known_together and given is None:
        return list(dict.fromkeys(name for known in recipe.known_together for name in known["columns"]))
    return given


def _hierarchies(
    given: Mapping[str, Hierarchy | str | Path] | str | Path,
) -> Mapping[str, Hierarchy | str | Path]:
    return hierarchies_in(given) if isinstance(given, str | Path) else given


def _attacks(names: bool | Iterable[str]) -> bool | tuple[str, ...]:
    """All, none, or names that are known to be names of attacks before any work is done."""
    from incrowd.attacks.catalog import find_attacks

    if isinstance(names, bool):
        return names
    return tuple(attack.name for attack in find_attacks(_names(names)))


def _path(path: str | Path | None) -> Path | None:
    return None if path is None else Path(path)


def _names(names: Iterable[str] | None) -> list[str] | None:
    return None if names is None else [names] if isinstance(names, str) else list(names)
