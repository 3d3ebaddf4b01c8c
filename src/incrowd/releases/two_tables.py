"""The way of two tables, persons and their events: both are released under the same pseudonyms, or none is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from incrowd.drawing.wording import counted
from incrowd.errors import HeaderError, Notice, OutputError, ParameterError, SchemaError, named_option, option_name
from incrowd.methods.catalog import make_method
from incrowd.methods.histories.two_tables import check_sized, decide_both, required_of
from incrowd.methods.release_forms import rare_kept_out
from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import Seat, Step
from incrowd.releases.issuing import describe, notices_asked
from incrowd.releases.job import Events, Job, Targets
from incrowd.releases.pipeline import SCRATCH, appear, chance, possible, read_whole, released_columns, verify
from incrowd.releases.verification_request import request_of
from incrowd.rows.memory.drafting import pseudonyms_of
from incrowd.rows.memory.held import InMemory
from incrowd.rows.one_machine import PRIVATE, Destination, check_whole
from incrowd.tables.databases.tables import query_of
from incrowd.tables.options import Measuring
from incrowd.tables.publishing.staging import Drafts, check_target, staged_files
from incrowd.tables.reading.convert import as_text
from incrowd.tables.reading.persons import owners_of
from incrowd.tables.reading.source import Source
from incrowd.tables.recipe import Recipe
from incrowd.tables.roles import check_known
from incrowd.verification.process import start
from incrowd.vocabulary.encoded_table import Codes
from incrowd.vocabulary.forms import events_path
from incrowd.vocabulary.requirement import subject_names
from incrowd.vocabulary.schema import unknown_column

if TYPE_CHECKING:
    from incrowd.report.outcome import Release
    from incrowd.verification.request import Request

_EVENTS = "events"  # the private folder of the second table, and its name where it has none


def run_two_tables(job: Job) -> Release:
    """Read both, decide on both, write both, verify each and both together; both appear, or none."""
    _check(job)
    randomness = chance(job)
    method = make_method(job.recipe.method, dict(job.recipe.parameters))
    with _held(job) as (jobs, held, orphans, drafts):
        notices = [(*one.notices, *possible(each, one)) for each, one in zip(jobs, held, strict=True)]
        with job.clock("deciding"):
            populations = [one.population(randomness) for one in held]
            steps = decide_both(method, populations[0], populations[1], job.recipe.requirement, randomness)
            plans = [
                one.settle(_plan(each, one, own, lost), population)
                for each, one, own, lost, population in zip(jobs, held, steps, (0, orphans), populations, strict=True)
            ]
        with job.clock("applying"):
            written = [
                one.write(plan, population, randomness)
                for one, plan, population in zip(held, plans, populations, strict=True)
            ]
        with job.clock("verifying"):
            folders = [draft.hint.origin.parent for draft in written]
            requests = [
                request_of(each, one, draft, plan.rows_dropped - lost, folder)
                for each, one, draft, plan, lost, folder in zip(
                    jobs, held, written, plans, (0, orphans), folders, strict=True
                )
            ]
            requests = _together_asked(job, *requests)
            verdicts = [
                verify(each, request, draft) for each, request, draft in zip(jobs, requests, written, strict=True)
            ]
        verdicts[0] = replace(verdicts[0], unchanged=verdicts[1].beside)  # counted with both tables
        beside = (*notices_asked(job),)
        tables = [
            describe(each, one, (*known, *beside), plan, verdict, draft)
            for each, one, known, plan, verdict, draft in zip(
                jobs, held, notices, plans, verdicts, written, strict=True
            )
        ]
        for each, release, request, verdict, draft in zip(jobs, tables, requests, verdicts, written, strict=True):
            appear(each, release, request, verdict, draft, drafts)
    return replace(tables[0], events=tables[1])


def _together_asked(job: Job, persons: Request, events: Request) -> list[Request]:
    """What the verification is told of both tables, each knowing of the other what it must."""
    assert job.events is not None
    if job.events.orphans == "keep":
        persons = replace(persons, persons_of=events.input)
    promise = job.recipe.requirement
    return [persons, replace(events, static=persons, together=promise, orphans=job.events.orphans)]


def _check(job: Job) -> None:
    """Refuse what two tables do not have, before any work is done."""
    assert job.events is not None
    outputs, recipe = job.outputs, job.recipe
    if outputs.table is not None:
        raise OutputError("Two tables cannot appear in a database at once. Write files.")
    job.check()
    check_sized(recipe.requirement)
    if outputs.plan is not None:
        raise OutputError("Two tables have a plan each, and no file holds both. Leave the plan out.")
    if job.measuring.accuracy or job.measuring.risk or job.measuring.attacks:
        raise ParameterError("Accuracy, risk and attacks are measured on one table. Leave them out.")
    if recipe.preset is not None and recipe.preset.kinds:
        raise ParameterError(f"{recipe.preset.name} looks for kinds of columns in one table. Name no preset.")
    if recipe.missing_persons not in (None, "refuse"):
        option = option_name("missing_persons", "--missing-persons")
        raise ParameterError(f"{option} is about one table. Of two, every row has its key: leave out those without.")
    if job.keying is not None:
        raise ParameterError("Two tables have fresh pseudonyms, and no columns that a key makes. Leave these out.")
    events = _targets(job, job.events)
    for path in (events.release, events.certificate):
        if path is not None:
            check_target(path, replace=outputs.replace)


def _targets(job: Job, events: Events) -> Targets:
    """Where the second table goes: beside the first, named after what was read."""
    query = query_of(events.table)
    name = _EVENTS
    if query is not None:
        name = getattr(getattr(query.address, "table", None), "name", None) or _EVENTS
    elif isinstance(events.table, str | Path):
        name = Path(events.table).name.partition(".")[0]
    name = re.sub(r"[^\w-]", "_", name)  # a table of a database may be called anything
    release = job.outputs.release and events_path(job.outputs.release, name)
    return Targets(release=release, report=job.outputs.report, replace=job.outputs.replace)


@contextmanager
def _held(job: Job) -> Iterator[tuple[tuple[Job, Job], tuple[InMemory, InMemory], int, Drafts]]:
    """Both tables in memory, the persons of both known by the same numbers; how many events are of nobody there; and
    where their files are written.
    """
    assert job.events is not None
    first, second = job.outputs, _targets(job, job.events)
    with staged_files(
        first.release,
        (second.certificate, second.report),
        groups=second.release,
        certificate=first.certificate,
        replace=first.replace,
        otherwise="release.parquet",
    ) as (place, drafts):
        check_whole(job.memory, job.table, job.events.table)
        start()
        folder = place.parent / _EVENTS
        folder.mkdir(mode=0o700)
        persons = read_whole(job, place.parent / SCRATCH)
        events = read_whole(replace(job, table=job.events.table), folder / SCRATCH)
        recipes = _split(job.recipe, persons.frame.columns, events.frame.columns)
        check_known(persons, recipes[0], "the first table")
        check_known(events, recipes[1], "the second table")
        measuring = Measuring(risk=False)  # neither table alone shows what both tell together
        jobs = (
            replace(job, recipe=recipes[0], outputs=replace(first, report=None), measuring=measuring),
            replace(job, recipe=recipes[1], outputs=second, table=job.events.table, measuring=measuring),
        )
        to = drafts[second.release] if second.release else folder / place.name
        places = Destination(place, job.form), Destination(to, job.form, private=f"{_EVENTS}-{PRIVATE}")
        with job.clock("encoding"):
            numbers = _numbers(job.recipe, persons, events)
            if job.events.orphans == "keep" and len(places_of_orphans := _orphans(*numbers)):
                persons = _with_rows_of(persons, events, job.recipe, places_of_orphans)
                numbers = _numbers(job.recipe, persons, events)
            held = (InMemory.of(persons, recipes[0], places[0]), InMemory.of(events, recipes[1], places[1]))
            both = _together(job, held, *numbers)
        yield jobs, both, events.frame.height - both[1].rows, drafts


def _split(recipe: Recipe, *headers: list[str]) -> tuple[Recipe, Recipe]:
    """What the recipe says of each table; a column that it names is in one of them, the key in both."""
    assert recipe.persons is not None
    key = recipe.persons.column
    for header, which in zip(headers, ("first", "second"), strict=True):
        if key not in header:
            raise HeaderError(f"In the {which} table: {unknown_column(key, header)}")
    subjects = subject_names(recipe.requirement, recipe.target)
    for name in (*recipe.columns, *subjects, *recipe.repeats, *([recipe.order] if recipe.order else [])):
        tables = sum(name in header for header in headers)
        if not tables:
            raise HeaderError(unknown_column(name, dict.fromkeys([*headers[0], *headers[1]])))
        if tables > 1 and name != key:
            raise SchemaError(f"Both tables have a column {name!r}. Rename it in one of them, so that it can be named.")
    if recipe.order is not None and recipe.order not in headers[1]:
        raise SchemaError(f"Events are put in order, and {recipe.order!r} is not in the second table.")
    sides = [
        replace(
            recipe,
            columns={name: settings for name, settings in recipe.columns.items() if name in header},
            repeats=[name for name in recipe.repeats if name in header],
            order=recipe.order if recipe.order in header else None,
            require=[required_of(recipe.requirement, header, recipe.target)],
            class_sensitive=recipe.class_sensitive if recipe.target in header else None,
        )
        for header in headers
    ]
    return sides[0], sides[1]


def _together(job: Job, held: tuple[InMemory, InMemory], own: Codes, of_events: Codes) -> tuple[InMemory, InMemory]:
    """Both tables with persons numbered as they stand in the first, and with the same pseudonyms."""
    persons, events = held
    assert job.recipe.persons is not None
    assert job.events is not None
    place = np.full(int(max(own.max(initial=-1), of_events.max(initial=-1))) + 1, -1, np.int32)
    place[own] = np.arange(len(own))
    owners, notices = place[of_events], events.notices
    if orphans := int((owners < 0).sum()):
        keys = len(np.unique(of_events[owners < 0]))
        known = f"{counted(orphans, 'event')} of {counted(keys, 'person')} whom the first table does not have"
        if job.events.orphans == "refuse":
            verb = "is" if orphans == 1 else "are"
            raise SchemaError(
                f"There {verb} {known}. Add them there; or leave them out: {named_option(orphans='drop')}; or keep "
                f"them, with a row without values there: {named_option(orphans='keep')}."
            )
        kept = np.flatnonzero(owners >= 0)
        events, owners = events.reordered(kept), owners[kept]
        notices = (*notices, Notice("orphans", job.recipe.persons.column, f"{known}: left out."))
    pseudonyms = pseudonyms_of(len(own), chance(job))
    own_notices = tuple(notice for notice in persons.notices if notice.code != "one-row-each")
    everybody = np.arange(len(own), dtype=np.int32)
    return (
        replace(persons, owners=everybody, pseudonyms=pseudonyms, notices=own_notices),
        replace(events, owners=owners, pseudonyms=pseudonyms, notices=notices),
    )


def _orphans(own: Codes, of_events: Codes) -> Codes:
    """The first event of each person whom the first table does not have, in the order of the events."""
    strange = np.flatnonzero(~np.isin(of_events, own))
    return np.sort(strange[np.unique(of_events[strange], return_index=True)[1]])


def _with_rows_of(persons: Source, events: Source, recipe: Recipe, rows: Codes) -> Source:
    """The first table with a row for the person of each of these events, without values but for the key."""
    assert recipe.persons is not None
    key = recipe.persons.column
    try:
        keys = events.frame[key].gather(rows).cast(persons.frame[key].dtype, strict=True)
    except pl.exceptions.PolarsError:
        raise SchemaError(
            f"The keys of events of nobody known are no {persons.frame[key].dtype}, as {key!r} is in the first table. "
            "Add them there, or leave them out."
        ) from None
    known = f"{counted(len(rows), 'person')} of the second table {'has' if len(rows) == 1 else 'have'} no row here"
    notice = Notice("orphans", key, f"{known}: each gets one without values.")
    frame = pl.concat([persons.frame, pl.DataFrame({key: keys})], how="diagonal")
    finer = persons.finer
    if finer is not None:
        finer = pl.concat([finer, pl.DataFrame({name: [None] * len(rows) for name in finer.columns}, finer.schema)])
    return replace(persons, frame=frame, finer=finer, notices=(*persons.notices, notice))


def _numbers(recipe: Recipe, *sources: Source) -> tuple[Codes, Codes]:
    """The person of each row of both tables as a number; refuses keys that are missing, and persons that are twice."""
    assert recipe.persons is not None
    persons = recipe.persons
    columns = [as_text(source.frame[persons.column]).cast(pl.String) for source in sources]
    for column, what in zip(columns, ("row of the first table has", "event has"), strict=True):
        if missing := column.null_count():
            one, verb = what.rsplit(" ", 1)
            raise SchemaError(
                f"{missing:,} {one if missing == 1 else one.replace('row', 'rows').replace('event', 'events')} "
                f"{verb if missing == 1 else 'have'} no {persons.column!r}. Fill it in."
            )
    joined = Source(pl.DataFrame({persons.column: pl.concat(columns)}), sources[0].origin)
    codes = owners_of(joined, persons).codes
    first = len(columns[0])
    if twice := first - len(np.unique(codes[:first])):
        raise SchemaError(
            f"The first table has one row for each person, and {counted(twice, 'row')} of it repeat a "
            f"{persons.column!r}. Keep one row for each, or name it as the second table."
        )
    return codes[:first], codes[first:]


def _plan(job: Job, held: InMemory, steps: tuple[Step, ...], lost: int) -> ReleasePlan:
    """The plan of one of the tables, of which so many rows were lost before: they are left out, too."""
    recipe, schema = job.recipe, held.schema
    method = make_method(recipe.method, dict(recipe.parameters))
    first = released_columns(recipe, schema)
    last = rare_kept_out(recipe.rarest, recipe.requirement)
    parameters = tuple(method.parameters().items())
    steps = tuple(replace(one, left_out=one.left_out + lost) if isinstance(one, Seat) else one for one in steps)
    return ReleasePlan(method.name, parameters, recipe.requirement, schema, held.rows + lost, (*first, *steps, *last))
