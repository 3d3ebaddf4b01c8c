"""Verify a release, or recount any table: a file as it lies on disk, or a data frame.

Only what DuckDB cannot read itself (data frames, Excel, text that is not UTF-8) or what needs an option to be read is
read first; what is large of it, in pieces. For requirements beyond k the columns they are about are read to know their
type: numbers have an order, texts have none.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from incrowd.errors import FileFormatError, HeaderError, ParameterError, UndeterminedError, guarded
from incrowd.releases.options import VerifyOptions
from incrowd.tables.databases.tables import on_disk
from incrowd.tables.hierarchies.read import hierarchies_in
from incrowd.tables.options import Reading, names_of
from incrowd.tables.recipe import Recipe, beside_recipe
from incrowd.verification.class_sizes import Promises, verify_arrow, verify_table
from incrowd.verification.delimited import UNREADABLE, line_end, unpacked
from incrowd.verification.opening import connect, open_file
from incrowd.verification.population import People
from incrowd.verification.requirements import Further, necessary_of_rows
from incrowd.verification.verdict import Check, Verdict
from incrowd.vocabulary.forms import FileForm
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.option import described, filled, part
from incrowd.vocabulary.requirement import KAnonymity, KnownSet, KnownTogether, Requirement, subject_names
from incrowd.vocabulary.requirements.words import asked_for
from incrowd.vocabulary.resources import Resources, bytes_of
from incrowd.vocabulary.schema import NOT_RELEASED, Column, Role, Schema, unknown_column

if TYPE_CHECKING:
    from incrowd.releases.certified.statements import CertificateVerdict


@described(VerifyOptions)
@guarded
def verify(table: Any, **options: Unpack[VerifyOptions]) -> Verdict | CertificateVerdict:
    """Hold a release next to its certificate, or recount any table: does every combination have at least k rows?

    With nothing but the file of a release, its certificate is found beside it (or named as ``certificate``), and all
    that it states is recounted from the file: hash, columns, rows, groups, every promise, and what the cells show. With
    ``signed_by``, a public key, the certificate must be signed by its owner.

    Otherwise say what a table must keep: ``k`` and the ``quasi_identifiers``; or ``known_together``, sets of columns
    each with its own k. ``require`` asks for more, as in :func:`release`: every requirement names its column,
    ``"k=10, entropy-l=1.5 on diagnosis"``. k-map and delta-presence need the ``population``, and the ``hierarchies``
    whose groups the table shows.

    With a ``recipe``, the table must keep what it asks for, and have none of the columns that it leaves out. How the
    recipe reads a table is not about its release, which is read as it was written.

    The recount is DuckDB's, on the file's own bytes, with all detection switched off; its number of rows is confirmed
    another way. A missing value is a value. Tables that DuckDB cannot read itself (data frames, Excel, text in other
    encodings) are read by incrowd and handed over. With ``memory``, such as ``"4GB"``, what does not fit goes to a
    private folder that is removed afterwards.

    Parameters
    ----------
    table
        A path, or a pandas, polars or PyArrow table; a table of PostgreSQL.
    {options}

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
    >>> from incrowd.api import release
    >>> made = release(people, quasi_identifiers=["age"], target="ill", k=5)
    >>> verify(made.table, certificate=made.certificate).passed
    True
    """
    stated, recipe = beside_recipe(options, _stated)
    request, reading = filled(VerifyOptions, stated), filled(Reading, options)
    names, hierarchies = names_of(request["quasi_identifiers"] or ()), request["hierarchies"]
    sets = [(names_of(columns), rows) for columns, rows in request["known_together"] or ()]
    known = hierarchies_in(hierarchies) if isinstance(hierarchies, str | Path) else hierarchies
    certificate, signed_by, memory = request["certificate"], request["signed_by"], request["memory"]
    wanted = recipe is not None or request["k"] is not None or bool(names or sets or request["require"])
    if (missing := reading["missing"]) is not None:
        reading["missing"] = names_of(missing)
    if not wanted or certificate is not None or signed_by is not None:
        from incrowd.releases.certified.checking import check_release

        if wanted or request["population"] is not None or any(reading.values()):
            raise ParameterError(
                "A certificate states what is kept and how the file is read: leave out everything else."
            )
        return check_release(table, certificate, signed_by=signed_by, hierarchies=known, memory=memory)
    limit = None if memory is None else bytes_of(memory)
    requirement, names = _requirement(request["k"], list(dict.fromkeys(names)), sets, request["require"])
    promises = [
        (text, one.names, one.k) for text, one in zip(requirement.promises, requirement.sets(names), strict=False)
    ]
    with on_disk(table) as path:
        further = _further(path, requirement, names, known or {}, reading, recipe)
        if recipe is not None and recipe.persons is not None:
            further = necessary_of_rows(further)
        about_people = reading if recipe is None else {**recipe.reading, **part(Reading, options)}
        people = _people(request["population"], requirement, names, known or {}, about_people)
        verdict = _recount(path, promises, further, people, reading, limit, recipe)
    return verdict if recipe is None or recipe.persons is None else _of_rows(verdict, [one[0] for one in promises])


def _of_rows(verdict: Verdict, promises: Collection[str]) -> Verdict:
    """What rows fail, persons fail, too; raises where they do not, for a release does not say who the persons are."""
    if verdict.passed:
        raise UndeterminedError(
            "Every combination has enough rows, which is necessary; whether they are of enough persons cannot be told "
            "from a release, which does not say whose rows they are, or only by pseudonyms. What was counted when it "
            "was made stands in its certificate."
        )
    checks = (
        replace(check, finding=f"{check.finding}; of how many persons cannot be told")
        if check.name in promises
        else check
        for check in verdict.checks
    )
    return replace(verdict, checks=tuple(checks))


def _stated(recipe: Recipe) -> dict[str, Any]:
    """What a recipe asks of a release."""
    requirement, size = recipe.requirement, recipe.requirement.parts[0]
    on_columns = [replace(part, on=part.on or recipe.target) for part in requirement.on_columns]
    return {
        "k": size.k if isinstance(size, KAnonymity) else None,
        "quasi_identifiers": recipe.known,
        "known_together": [(one.names, one.k) for one in size.known] if isinstance(size, KnownTogether) else (),
        "require": [*on_columns, *requirement.on_population],
        "population": recipe.population,
        "hierarchies": recipe.hierarchies,
    }


def _left_out(names: Sequence[str], recipe: Recipe | None) -> tuple[Check, ...]:
    """Whether a release has none of the columns that a recipe leaves out, and the pseudonyms where it keeps a link."""
    if recipe is None:
        return ()
    whose = None if recipe.persons is None else recipe.persons.column
    linked = recipe.persons is not None and recipe.persons.linked
    dropped = [name for name in recipe.named(*NOT_RELEASED) if not (linked and name == whose)]
    there = [name for name in names if name in dropped]
    faults = [f"{', '.join(there)} should have been left out"] if there else []
    if linked and whose not in names:
        faults.append(f"{whose} should be there, with pseudonyms")
    if whose in there:
        faults.append(f"pseudonyms of {whose} are released only if the recipe says keep_link: true")
    summary = [f"{len(dropped)} left out, as the recipe says"] if dropped else []
    words = faults or summary
    return (Check("columns", not faults, "; ".join(words)),) if words else ()


def _recount(
    table: Any,
    promises: Promises,
    further: Sequence[Further],
    people: People | None,
    reading: dict[str, Any],
    memory: int | None,
    recipe: Recipe | None,
) -> Verdict:
    from incrowd.tables.reading.read import kind_named, missing_markers, read, read_release

    markers = missing_markers(reading["missing"])
    if isinstance(table, str | Path):
        path = Path(table)
        form = None if _needs_reader(reading) else _own_form(path, reading["delimiter"], reading["encoding"])
        if form is not None or _is_large(path, memory):
            with tempfile.TemporaryDirectory(prefix="incrowd-") as scratch:
                resources = Resources(memory, scratch=Path(scratch))
                if form is None:
                    path, form = _copied(path, reading, resources), FileForm("parquet")
                verdict = verify_table(path, form, promises, further, resources, people, markers)
                with connect() as connection:
                    names = open_file(connection, path, form, "header").names
                return replace(verdict, checks=(*verdict.checks, *_left_out(names, recipe)))
    is_workbook = isinstance(table, str | Path) and kind_named(Path(table)) == "Excel"
    frame = (read_release if is_workbook and not reading["coarsen"] else read)(table, **reading).frame
    verdict = verify_arrow(frame.to_arrow(), promises, further, people, markers)
    return replace(verdict, checks=(*verdict.checks, *_left_out(frame.columns, recipe)))


def _is_large(path: Path, memory: int | None) -> bool:
    from incrowd.rows.one_machine import in_blocks

    return in_blocks(path, FileForm("parquet"), memory)


def _copied(path: Path, reading: dict[str, Any], resources: Resources) -> Path:
    """A large table that DuckDB cannot read itself, as a Parquet file in the scratch folder."""
    import polars as pl

    from incrowd.rows.blocks.held import block_rows
    from incrowd.tables.publishing.serialise import write_pieces
    from incrowd.tables.streams.stream import open_stream

    assert resources.scratch is not None
    stream = open_stream(path, **reading, scratch=resources.scratch)
    frames = stream.frames(block_rows(resources, len(stream.columns)))
    copy = resources.scratch / "copy.parquet"
    write_pieces((f.to_arrow(compat_level=pl.CompatLevel.oldest()) for f in frames), copy, FileForm("parquet"))
    return copy


def _further(
    table: Any,
    requirement: Requirement,
    names: Sequence[str],
    hierarchies: Mapping[str, Hierarchy],
    reading: Mapping[str, Any],
    recipe: Recipe | None,
) -> tuple[Further, ...]:
    """What is required of columns, with how their values are told apart."""
    if not requirement.on_columns:
        return ()
    from incrowd.tables.reading.draft import draft_schema
    from incrowd.tables.reading.read import read

    subjects = subject_names(requirement, None)
    for name in subjects:
        if name in names:
            raise ParameterError(f"{name!r} is a quasi-identifier: nothing can be required of it. Leave it out of one.")
    source = read(table, **reading)
    drafted = draft_schema(source)
    schema = drafted if recipe is None else recipe.schema(drafted, whole=False)
    for name in subjects:
        if name not in schema:
            raise HeaderError(unknown_column(name, schema.names))
    known = [(part, schema[str(part.on)]) for part in requirement.on_columns]
    missing = source.origin.missing
    return tuple(Further(part, c.name, c.type, c.order, hierarchies.get(c.name), missing) for part, c in known)


def _people(
    population: Any,
    requirement: Requirement,
    names: Sequence[str],
    hierarchies: Mapping[str, Hierarchy],
    reading: Mapping[str, Any],
) -> People | None:
    """What is required of a population, with its people; what their columns are is drafted from the population."""
    if not requirement.on_population:
        return None
    from incrowd.tables.reading.draft import draft_schema
    from incrowd.tables.reading.read import read, read_population

    if len(requirement.sets(names)) > 1:
        raise ParameterError("k-map and delta-presence cannot be combined with sets of columns known together.")
    source = None if population is None else read(population, **reading)
    drafted = Schema(()) if source is None else draft_schema(source)
    columns = (
        replace(drafted[name] if name in drafted else Column(name), role=Role.QUASI_IDENTIFIER, hierarchy=None)
        for name in names
    )
    people = read_population(None if source is None else source.frame, requirement, Schema(tuple(columns)))
    assert people is not None
    return People(people, {name: name for name in names}, requirement.on_population, hierarchies)


def _requirement(
    k: int | None, names: list[str], known_together: Iterable[tuple[Iterable[str], int]], require: Any
) -> tuple[Requirement, list[str]]:
    """The requirement, and the columns whose combinations are counted."""
    known = tuple(KnownSet(tuple(columns), rows) for columns, rows in known_together)
    if known:
        together = KnownTogether(known)
        return asked_for(require, together) if require else together, list(together.names)
    if k is None and not require:
        raise ParameterError(
            "State how many rows must look alike: a whole number k, or sets of columns known together."
        )
    if not names:
        raise ParameterError("Name at least one quasi-identifier to count by.")
    size = KAnonymity(1 if k is None else k)
    return asked_for(require, size) if require else size, names


def _needs_reader(reading: Mapping[str, Any]) -> bool:
    """Whether something is said of a text file that DuckDB would not heed."""
    settings = [reading.get(name) for name in ("names", "decimal", "dates", "coarsen")]
    return reading.get("header") is False or any(value is not None for value in settings)


def _own_form(path: Path, delimiter: str | None, encoding: str | None) -> FileForm | None:
    """The form in which DuckDB can read the file itself; None if it cannot."""
    from incrowd.tables.reading.read import check_file

    if path.is_dir():
        from incrowd.tables.reading.columnar import open_parquet

        open_parquet(path)
        return FileForm("parquet")
    kind, compression = check_file(path)
    if kind in ("Parquet", "Arrow"):
        return FileForm(kind.lower())
    if kind == "JSON Lines":
        return FileForm("jsonl", compression=compression)
    if kind == "ARFF":
        return FileForm("arff", missing="?") if _is_utf8(path, None, encoding) else None
    if kind != "delimited text" or not _is_utf8(path, compression, encoding):
        return None
    return FileForm("csv", _delimiter(path, compression, delimiter), compression)


def _is_utf8(path: Path, compression: str | None, declared: str | None) -> bool:
    from incrowd.tables.reading.layout import sniff_encoding

    return sniff_encoding(_head(path, compression, 4), declared) == "utf-8"


def _delimiter(path: Path, compression: str | None, declared: str | None) -> str:
    """The delimiter that was named, or the one of the first lines."""
    from incrowd.tables.reading.layout import SAMPLE_BYTES, check_delimiter, sniff_delimiter

    head = _head(path, compression, SAMPLE_BYTES)
    delimiter = declared or sniff_delimiter(head.decode("utf-8", "replace"), line_end(head).decode())
    return check_delimiter(delimiter)


def _head(path: Path, compression: str | None, size: int) -> bytes:
    try:
        with unpacked(path, compression) as stream:
            return stream.read(size)
    except UNREADABLE as error:
        raise FileFormatError(f"{path.name} cannot be unpacked ({type(error).__name__}).") from None
