"""The whole way on one screen: from a file, a frame or a table of Spark to a verified release."""

from __future__ import annotations

import functools
import gc
import hmac
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from incrowd.errors import Notice, ParameterError, VerificationError
from incrowd.methods.catalog import MethodEntry, find_method, make_method
from incrowd.methods.limits import decide_within
from incrowd.methods.method import Method, Population
from incrowd.methods.release_forms import fitted, formed, rare_kept_out, suited
from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import Drop, Link, Step
from incrowd.releases.certified.consistency import check_issued, check_written
from incrowd.releases.issuing import describe, keyed_entries, notices_asked, notices_of_class
from incrowd.releases.job import Job, Targets, has_counts
from incrowd.releases.measured import check_measurable
from incrowd.releases.verification_request import request_of
from incrowd.report.certificate import owner_key
from incrowd.report.outcome import Release
from incrowd.report.unchanged_facts import refusal
from incrowd.rows.memory.held import InMemory
from incrowd.rows.one_machine import Destination, in_blocks
from incrowd.tables.publishing.staging import Drafts, staged_files
from incrowd.tables.reading.read import is_known, missing_markers, read
from incrowd.tables.reading.source import Source
from incrowd.tables.recipe import Recipe
from incrowd.verification.process import start
from incrowd.verification.request import Request
from incrowd.verification.verdict import Verdict
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.forms import groups_path
from incrowd.vocabulary.randomness import (
    KeyedRandomness,
    Randomness,
    SeededRandomness,
    SystemRandomness,
    permutation,
    seeded_key,
)
from incrowd.vocabulary.requirement import subject_names
from incrowd.vocabulary.resources import PROGRAM, Resources, give_back, looking_rarely
from incrowd.vocabulary.schema import Role, Schema

if TYPE_CHECKING:
    import polars as pl

    from incrowd.releases.ledger.page import Page
    from incrowd.rows.blocks.held import InBlocks
    from incrowd.rows.held import Held, Unverified
    from incrowd.tables.recipe_checks import PresetDeeds

SCRATCH = "scratch"
_OF_A_COUNT = 120
"""Bytes of memory that the verification takes for each cell that goes into counts, measured."""
MANY = 100_000  # rows
_DRAWS = (lambda source: source.words(8), lambda source: permutation(32, source))


def run_release(job: Job) -> Release:
    """Read, decide, apply, write, verify; publish only what the verification proves. Where rows live is not asked."""
    job.check()
    randomness = chance(job)
    make_method(job.recipe.method, dict(job.recipe.parameters))
    with looking_rarely(), _opened_book(job) as page_of, hold(job) as (job, held, drafts):
        check_measurable(job, held)
        give_back()
        notices = (*held.notices, *possible(job, held), *notices_asked(job, held.columns))
        page = page_of(job, held)
        held = held if page is None else page.held
        job = replace(job, counts_key=_counts_key(job, page))
        plan, population = decide(job, held, _choices(job, page) or randomness)
        if plan.by_class:
            notices = (*notices, *notices_of_class(plan, population))
        with job.clock("applying"):
            draft = held.write(plan, population, randomness)
        del population  # what it knows of rows would stay in memory while another process verifies
        if held.rows > MANY:
            gc.collect()  # populations refer to each other
        give_back()
        with job.clock("verifying"):
            joint = [one.names for one in plan.joint]
            request = request_of(job, held, draft, plan.rows_dropped, bins=plan.bins_counted, joint=joint)
            verdict = verify(job, request, draft)
            beside = None if page is None else page.together(plan, request)
        with _on_the_server(job, draft) as back:
            if back is not None:
                with job.clock("verifying"):
                    verdict = verify(job, replace(request, release=back, file=False), draft)
            release = describe(job, held, notices, plan, verdict, draft, beside)
            appear(job, release, request, verdict, draft, drafts)
            if beside is not None:
                beside.enter(request.release)
    return release


@contextmanager
def _opened_book(job: Job) -> Iterator[Callable[[Job, Held], Page | None]]:
    """What gives the page of the ledger that the rows are on, while the ledger is open; None where none is kept."""
    if job.ledger is None:
        yield lambda *_: None
        return
    from incrowd.releases.ledger.page import opened_book, page_of

    with opened_book(job) as book:
        yield lambda job, held: page_of(job, book, held)


def _counts_key(job: Job, page: Page | None) -> bytes | None:
    """What fixes the draws of counts, so that asking again tells nothing more; None where none are drawn.

    That of the ledger; else the owner's, which is made at first use; for experiments it follows from the seed.
    """
    if not job.redraw:
        return None
    if job.seed is not None:
        return seeded_key(job.seed)
    return owner_key("counts.key") if page is None else page.counts_key


def _choices(job: Job, page: Page | None) -> Randomness | None:
    """Where a method's choices come from, if they must be the same again: groups that differ would be new draws."""
    if page is not None:
        return KeyedRandomness(page.key)
    if job.counts_key is None or job.seed is not None:
        return None
    return KeyedRandomness(hmac.digest(job.counts_key, b"incrowd groups", "sha256"))


def chance(job: Job) -> Randomness:
    """Where chance comes from: the system, unless the user gave a seed; refuses chance that repeats itself."""
    if job.seed is not None:
        return SeededRandomness(job.seed)
    randomness = SystemRandomness()
    if any(np.array_equal(draw(SystemRandomness()), draw(SystemRandomness())) for draw in _DRAWS):
        raise VerificationError("The source of chance gives the same numbers twice. Nothing was released.")
    return randomness


@contextmanager
def hold(job: Job) -> Iterator[tuple[Job, Held, Drafts]]:
    """The rows where they live, and where the files of the release are written first: in the end all appear, or none.

    The job comes back with what its preset says of their columns. Spark writes a folder of its own, which appears
    before the files beside it.
    """
    outputs = job.outputs
    release, beside = None if job.on_spark else outputs.release, (outputs.plan, outputs.report)
    groups = groups_path(release) if release is not None and job.pair else None
    with staged_files(
        release,
        beside,
        groups=groups,
        certificate=outputs.certificate,
        replace=outputs.replace,
        otherwise="release.parquet",
    ) as (place, drafts):
        job = replace(job, private=place.parent)
        if not job.on_spark:
            start()
            yield (*_on_one_machine(job, Destination(place, job.form, job.pair)), drafts)
            return
        from incrowd.rows.spark.held import hold_on_spark

        preset, master = _preset(job.recipe), job.run.master
        with hold_on_spark(job.table, job.recipe, job.clock, to=outputs.release, master=master, preset=preset) as held:
            yield replace(job, recipe=held.recipe), held, drafts


def _on_one_machine(job: Job, to: Destination) -> tuple[Job, Held]:
    """The table as integer codes: in memory, or in a scratch folder beside the release."""
    scratch = to.path.parent / SCRATCH
    path = _path(job, scratch)
    if path is None or not _in_blocks(job, path):
        with job.clock("reading"):
            source = read(job.table if path is None else path, **job.recipe.reading)
        with job.clock("encoding"):
            recipe, source = _settled(job.recipe, source)
            whole = InMemory.of(_keyed(job, source), recipe, to)
        return _with_method(replace(job, recipe=recipe), whole), whole
    resources = Resources(job.memory, scratch=scratch, program=PROGRAM)
    scratch.mkdir(mode=0o700, exist_ok=True)
    from incrowd.rows.blocks.held import InBlocks
    from incrowd.tables.streams.stream import open_stream

    with job.clock("reading"):
        stream = open_stream(path, **job.recipe.reading, scratch=scratch)
    with job.clock("encoding"):
        stream = stream.with_key(job.keying)
        held = InBlocks.of(stream, job.recipe, resources, job.clock.rows, to)
    return _with_method(job, held), held


def _with_method(job: Job, held: InMemory | InBlocks) -> Job:
    """The job with the method that is named, or that a comparison on the table chooses."""
    if not job.automatic:
        return job
    from incrowd.releases.automatic import with_method

    with job.clock("choosing the method"):
        return with_method(job, held)


def read_whole(job: Job, scratch: Path) -> Source:
    """The whole table as it is read into memory; what must be fetched or converted first goes to the scratch folder."""
    path = _path(job, scratch)
    with job.clock("reading"):
        return read(job.table if path is None else path, **job.recipe.reading)


def _path(job: Job, scratch: Path) -> Path | None:
    """The file to read, if it is not a frame: rows of a database, and what another package converts, are copied first.

    Copies lie in the scratch folder; the rows of a query are of one moment.
    """
    if job.query is not None:
        from incrowd.tables.databases.reading import fetch_query

        scratch.mkdir(mode=0o700)
        with job.clock("reading"):
            return fetch_query(job.query, scratch, lambda rows: job.clock.progress(f"reading: {rows:,} rows"))
    if job.path is None or not job.path.is_file() or is_known(job.path):
        return job.path
    from incrowd.tables.reading.read import convert, converter_of

    if (converter := converter_of(job.path)) is None:
        return job.path
    scratch.mkdir(mode=0o700)
    with job.clock("reading"):
        return convert(job.path, converter, scratch)


def _settled(recipe: Recipe, source: Source) -> tuple[Recipe, Source]:
    """The recipe with what its preset says of the columns of a table, and the table as it is read by it."""
    if recipe.preset is None or not recipe.preset.kinds:
        return recipe, source
    from incrowd.releases.kinds import with_kinds

    return with_kinds(recipe, recipe.preset, source)


def _preset(recipe: Recipe) -> Callable[[pl.DataFrame], PresetDeeds] | None:
    """What the preset of a recipe says of the columns of a frame, if it looks at them."""
    if recipe.preset is None or not recipe.preset.kinds:
        return None
    from incrowd.releases.kinds import deeds_of

    return functools.partial(deeds_of, recipe, recipe.preset, missing_markers(recipe.reading.get("missing")))


def _keyed(job: Job, source: Source) -> Source:
    """The table with the columns that a key makes."""
    if (keying := job.keying) is None:
        return source
    from incrowd.tables.reading.keyed import keyed

    return keyed(source, keying)


def _in_blocks(job: Job, path: Path) -> bool:
    """Whether the file is worked on in blocks; by Blend only if it has to be, never where all rows are looked at."""
    whole, times = job.looked_at_whole
    may = whole or path.is_dir() or job.memory is not None or not find_method(job.recipe.method).together
    return bool(may) and in_blocks(path, job.form, job.memory, whole, times)


def possible(job: Job, held: Held) -> Iterator[Notice]:
    """Refuse what cannot be promised, or what the method cannot do with this table; tell what was handled.

    Where persons may have several rows, whoever decides counts them, and refuses by that.
    """
    requirement, schema = job.recipe.requirement, held.schema
    if has_counts(job.recipe):
        need = _OF_A_COUNT * held.rows * len(schema.quasi_identifiers)
        Resources(job.memory, program=PROGRAM).check_fits(need, 1.0, "To recount counts of all rows")
    requirement.sets(schema.quasi_identifiers)
    job.recipe.preferences.check_columns(schema)
    if job.recipe.persons is None:
        requirement.check_possible(held.rows)
        if requirement.on_columns:
            from incrowd.vocabulary.requirements.columns import check_columns

            check_columns(requirement, held.columns, schema)
    subjects = subject_names(requirement, schema.target)
    yield from _hierarchies(schema, held.columns, find_method(job.recipe.method), subjects)


def decide(job: Job, held: Held, randomness: Randomness) -> tuple[ReleasePlan, Population]:
    """The plan, and the rows it was made for."""
    with job.clock("deciding"):
        population = held.population(randomness)
        plan = held.settle(plan_of(job, held, population, randomness), population)
        give_back()
        return plan, population


def plan_of(job: Job, held: Held, population: Population, randomness: Randomness) -> ReleasePlan:
    """What the method decides; means are not known yet."""
    recipe, schema = job.recipe, held.schema
    method = suited(make_method(recipe.method, dict(recipe.parameters)), recipe.form)
    described = tuple(method.parameters().items())  # before it has seen a row: the certificate states them
    steps = decided_steps(method, recipe, population, randomness, job.counts_key)
    steps = fitted(steps, population, recipe.requirement, held.people)
    return ReleasePlan(
        method=method.name,
        parameters=described,
        requirement=recipe.requirement,
        schema=schema,
        rows=held.rows,
        steps=(*released_columns(recipe, schema), *steps, *rare_kept_out(recipe.rarest, recipe.requirement)),
        preferences=recipe.preferences,
    )


def decided_steps(
    method: Method, recipe: Recipe, population: Population, randomness: Randomness, key: bytes | None
) -> tuple[Step, ...]:
    """What a method decides, in the form that is asked for; ``key`` fixes the draws of counts."""
    return formed(
        decide_within(method, population, recipe.requirement, randomness, recipe.preferences),
        recipe.form,
        population,
        recipe.requirement,
        redraw=recipe.redraw if has_counts(recipe) else 0,
        key=key,
        bins=recipe.bins,
        by_class=recipe.counts_by_class,
        joint=recipe.joint_counts and (recipe.rarest or 1),
    )


def released_columns(recipe: Recipe, schema: Schema) -> tuple[Step, ...]:
    """Which columns are not released, and which has pseudonyms of persons."""
    if recipe.persons is None or not recipe.persons.linked:
        return (Drop(schema.dropped),)
    person = recipe.persons.column
    return Drop(tuple(name for name in schema.dropped if name != person)), Link(person)


def verify(job: Job, request: Request, draft: Unverified) -> Verdict:
    """The second opinion on the written bytes; raises unless everything holds."""
    verdict = draft.verify(request, functools.partial(job.clock.rows, "verifying")).proven("release")
    counted = verdict.unchanged
    if counted is None and job.recipe.alone_at_most is not None:
        raise ParameterError("In so large a table it is not counted who is alone by unchanged columns. Set no bound.")
    despite, most = job.despite_unchanged, job.recipe.alone_at_most
    for one in (counted, verdict.beside):
        if one and (refused := refusal(one, despite=despite, alone_at_most=most)):
            raise VerificationError(refused)
    return verdict


@contextmanager
def _on_the_server(job: Job, draft: Unverified) -> Iterator[Path | None]:
    """For a release that goes into a table: put it there, unseen, and give what the server then has."""
    if job.outputs.table is None:
        yield None
        return
    from incrowd.tables.databases.writing import published

    with ExitStack() as stack:
        with job.clock("copying to the database"):
            back = stack.enter_context(published(draft.files[0], job.outputs.table))
        yield back


def appear(job: Job, release: Release, request: Request, verdict: Verdict, draft: Unverified, drafts: Drafts) -> None:
    """Certificate, plan and report in their private places, looked at once more; nothing may change from here on."""
    check_issued(
        release.certificate,
        verdict,
        job.recipe.requirement,
        {column.name: str(column.role) for column in request.columns},
        job.sign,
        keyed=keyed_entries(job),
        persons=job.recipe.persons,
    )
    write_beside(release, job.outputs, drafts)
    _check_secret(job, release, drafts)
    drafts.keep(*draft.files, digests=verdict.digests)
    if certificate := job.outputs.certificate:
        drafts.keep(drafts[certificate], digests=[check_written(release.certificate, drafts[certificate])])


def write_beside(release: Release, outputs: Targets, drafts: Mapping[Path, Path]) -> None:
    """Certificate, plan and report, each in its private place."""
    if outputs.certificate:
        text = json.dumps(release.certificate, indent=2, ensure_ascii=False)
        drafts[outputs.certificate].write_text(text + "\n", encoding="utf-8")
    if outputs.report:
        from incrowd.report.html import report_html

        page = report_html(release.report, certificate=release.certificate)
        drafts[outputs.report].write_text(page, encoding="utf-8")
    if outputs.plan:
        from incrowd.plan.plan_file import write_plan

        write_plan(release.plan, drafts[outputs.plan])


def _check_secret(job: Job, release: Release, drafts: Mapping[Path, Path]) -> None:
    """Refuse if certificate, plan or report hold the key of pseudonyms and shifted dates, or that of drawn counts."""
    if job.keying is None and job.counts_key is None:
        return
    from incrowd.tables.reading.keyed import check_absent, read_key

    written = (job.outputs.certificate, job.outputs.plan, job.outputs.report)
    contents = [drafts[path].read_bytes() for path in written if path is not None]
    for key in (job.counts_key, None if job.keying is None else read_key(job.keying.key)):
        if key is not None:
            check_absent(key, [json.dumps(release.certificate).encode(), *contents])


def _hierarchies(
    schema: Schema, columns: Mapping[str, EncodedColumn], method: MethodEntry, subjects: Sequence[str]
) -> Iterator[Notice]:
    """Refuse a hierarchy that does not cover its column; tell what was handled, and what is not used."""
    for column in schema.columns:
        if column.hierarchy is None:
            continue
        if column.name in subjects:
            continue
        if column.role is not Role.QUASI_IDENTIFIER or not method.generalizes:
            reason = f"{method.name} uses none" if column.role is Role.QUASI_IDENTIFIER else "it is no quasi-identifier"
            yield Notice("hierarchy-not-used", column.name, f"its hierarchy is not used: {reason}.")
            continue
        column.hierarchy.encode(columns[column.name])
        yield from column.hierarchy.notices
        yield from column.hierarchy.unused(columns[column.name])
