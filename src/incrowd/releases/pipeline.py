"""The whole way on one screen: from a file or frame to a verified release."""

from __future__ import annotations

import functools
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from incrowd.errors import Notice, VerificationError
from incrowd.methods.catalog import MethodEntry, find_method, make_method
from incrowd.methods.fitting import fitted
from incrowd.methods.population import Population
from incrowd.methods.release_forms import formed, rare_kept_out, suited
from incrowd.plan.plan_file import write_plan
from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import Drop
from incrowd.releases.certified.consistency import check_issued, check_written
from incrowd.releases.issuing import issue
from incrowd.releases.job import Job, Targets
from incrowd.releases.ledger.page import JointRecount, opened_book, page_of
from incrowd.releases.measured import check_measurable, measure
from incrowd.releases.request import request_of
from incrowd.report.certificate import sha256_of
from incrowd.report.html import report_html
from incrowd.report.outcome import Release
from incrowd.report.unchanged_facts import refusal
from incrowd.rows.blocks.held import InBlocks
from incrowd.rows.choice import in_blocks
from incrowd.rows.held import Held
from incrowd.rows.hint import Hints
from incrowd.rows.memory.held import InMemory
from incrowd.tables.databases.reading import fetch_query, read_query
from incrowd.tables.databases.tables import Query
from incrowd.tables.databases.writing import published
from incrowd.tables.publishing.pair import write_pair
from incrowd.tables.publishing.piece_writer import write_pieces
from incrowd.tables.publishing.serialise import safe_name, write_table
from incrowd.tables.publishing.staging import Drafts, staged_together
from incrowd.tables.reading.frames import to_frame_like
from incrowd.tables.reading.read import read
from incrowd.tables.streams.stream import open_stream
from incrowd.verification.process import start, verdict_on
from incrowd.verification.request import Original, Request
from incrowd.verification.verdict import Verdict
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.forms import groups_path
from incrowd.vocabulary.randomness import (
    KeyedRandomness,
    Randomness,
    SeededRandomness,
    SystemRandomness,
    permutation,
)
from incrowd.vocabulary.requirements.together import check_columns, subject_names
from incrowd.vocabulary.resources import PROGRAM, Resources
from incrowd.vocabulary.schema import Role, Schema

SCRATCH, PRIVATE = "scratch", "private"
_DRAWS = (lambda source: source.words(8), lambda source: permutation(32, source))


def run_release(job: Job) -> Release:
    """Read, decide, apply, write, verify; publish only what the verification proves."""
    job.check()
    randomness = chance(job)
    make_method(job.recipe.method, dict(job.recipe.parameters))
    start()
    with opened_book(job) as book, _private_place(job) as (hidden, drafts):
        private = hidden.parent / PRIVATE
        private.mkdir(mode=0o700)
        held = understand(job, hidden.parent)
        check_measurable(job, held)
        notices = (*held.notices, *possible(job, held.schema, held.columns, held.rows), *notices_asked(job))
        page = page_of(job, book, held)
        held = held if page is None else page.held
        plan, population = decide(job, held, randomness if page is None else KeyedRandomness(page.key))
        large = isinstance(held, InBlocks)
        hints = Hints(private, None if page is None else page.order)
        with job.clock("applying"):
            pieces = hints.pieces(held.drafts(plan, population, randomness, typed=job.form.kind != "csv"))
            if job.pair:
                write_pair(pieces, hidden, job.form, plan.counted, randomness)
            else:
                write(job, pieces, hidden, whole=not large)
        with job.clock("verifying"):
            request = request_of(job, held, hints.save(), hidden, plan.rows_dropped)
            verdict = verify(job, request, private)
            beside = (
                None
                if page is None
                else page.together(plan, hidden, job.form, _rename(job), Original(None, hints.origin, held.rows))
            )
        with _on_the_server(job, hidden) as back:
            if back is not None:
                with job.clock("verifying"):
                    verdict = verify(job, replace(request, release=back, file=False), private)
            release = describe(job, held, notices, plan, verdict, hidden, beside)
            roles = {column.name: str(column.role) for column in request.columns}
            check_issued(release.certificate, verdict, job.recipe.requirement, roles, job.sign)
            write_beside(release, job.outputs, drafts)
            drafts.keep(hidden, *([groups_path(hidden)] if job.pair else []), digests=verdict.digests)
            if certificate := job.outputs.certificate:
                drafts.keep(drafts[certificate], digests=[check_written(release.certificate, drafts[certificate])])
            if beside is not None:
                beside.enter(hidden)
    return release


def chance(job: Job) -> Randomness:
    """Where chance comes from: the system, unless the user gave a seed; refuses chance that repeats itself."""
    if job.seed is not None:
        return SeededRandomness(job.seed)
    made = SystemRandomness()
    if any(np.array_equal(draw(SystemRandomness()), draw(SystemRandomness())) for draw in _DRAWS):
        raise VerificationError("The source of chance gives the same numbers twice. Nothing was released.")
    return made


def understand(job: Job, folder: Path) -> Held:
    """The table as integer codes, every column with its role and type: in memory, or in a scratch folder."""
    path = job.path if job.query is None else _fetched(job, job.query, folder)
    if path is None or job.pair or not _in_blocks(job, path):
        with job.clock("reading"):
            source = read(job.given if path is None else path, **job.recipe.reading)
        with job.clock("encoding"):
            return InMemory.of(source, job.recipe, job.engine)
    resources = Resources(job.memory, scratch=folder / SCRATCH, program=PROGRAM)
    (folder / SCRATCH).mkdir(mode=0o700, exist_ok=True)
    with job.clock("reading"):
        stream = open_stream(path, **job.recipe.reading, scratch=resources.scratch)
    with job.clock("encoding"):
        return InBlocks.of(stream, job.recipe, resources, job.clock.rows)


def _in_blocks(job: Job, path: Path) -> bool:
    """Whether the file is worked on in blocks; with a ledger, which refuses that, or by Blend only if it has to be."""
    together = job.ledger is not None or job.recipe.rarest is not None or find_method(job.recipe.method).together
    may = not together or path.is_dir() or job.memory is not None
    return may and in_blocks(path, job.form, job.memory, job.recipe.requirement)


def _fetched(job: Job, query: Query, folder: Path) -> Path:
    """The rows of a query, of one moment, as a file in the scratch folder."""
    (folder / SCRATCH).mkdir(mode=0o700)
    with job.clock("reading"):
        return fetch_query(query, folder / SCRATCH, lambda rows: job.clock.progress(f"reading: {rows:,} rows"))


def possible(job: Job, schema: Schema, columns: Mapping[str, EncodedColumn], rows: int) -> Iterator[Notice]:
    """Refuse what cannot be promised, or what the method cannot do with this table; tell what was handled."""
    job.recipe.requirement.check_possible(rows)
    job.recipe.requirement.sets(schema.quasi_identifiers)
    check_columns(job.recipe.requirement, columns, schema)
    subjects = subject_names(job.recipe.requirement, schema.target)
    yield from _hierarchies(schema, columns, find_method(job.recipe.method), subjects)


def decide(job: Job, held: Held, randomness: Randomness) -> tuple[ReleasePlan, Population]:
    """The plan, and the rows it was made for."""
    with job.clock("deciding"):
        population = held.population(randomness)
        people = held.people if isinstance(held, InMemory) else None
        plan = plan_of(job, held.schema, held.rows, population, randomness, people)
        return held.settle(plan, population), population


def plan_of(
    job: Job,
    schema: Schema,
    rows: int,
    population: Population,
    randomness: Randomness,
    people: EncodedTable | None = None,
) -> ReleasePlan:
    """What the method decides; means are not known yet. ``people`` are the population, if something is asked of it."""
    method = suited(make_method(job.recipe.method, dict(job.recipe.parameters)), job.recipe.form)
    steps = method.decide(population, job.recipe.requirement, randomness)
    steps = formed(steps, job.recipe.form, population, job.recipe.requirement)
    steps = fitted(steps, population, job.recipe.requirement, people)
    return ReleasePlan(
        method=method.name,
        parameters=tuple(method.parameters().items()),
        requirement=job.recipe.requirement,
        schema=schema,
        rows=rows,
        steps=(Drop(schema.identifiers), *steps, *rare_kept_out(job.recipe.rarest, job.recipe.requirement)),
    )


def write(job: Job, pieces: Iterator[Any], hidden: Path, *, whole: bool) -> None:
    """Write the release in its private place, whole or piece by piece."""
    if not whole:
        write_pieces(pieces, hidden, job.form)
        return
    for piece in pieces:
        write_table(pl.DataFrame(piece), hidden, job.form)


def verify(job: Job, request: Request, folder: Path) -> Verdict:
    """The second opinion on the written bytes, by another process; raises unless everything holds."""
    verdict = verdict_on(request, folder, functools.partial(job.clock.rows, "verifying"))
    if not verdict.passed:
        failed = "; ".join(f"{check.name}: {check.found}" for check in verdict.checks if not check.passed)
        raise VerificationError(f"The release failed its verification and was not published. {failed}.")
    refused = verdict.unchanged and refusal(
        verdict.unchanged, despite=job.despite_unchanged, alone_at_most=job.alone_at_most
    )
    if refused:
        raise VerificationError(refused)
    return verdict


def describe(
    job: Job,
    held: Held,
    notices: tuple[Notice, ...],
    plan: ReleasePlan,
    verdict: Verdict,
    written: Path,
    beside: JointRecount | None = None,
) -> Release:
    """Facts and certificate of a verified release."""
    source = job.path.name if job.path else str(job.query or f"a {held.origin.form} table")
    written_as = "file" if job.outputs.table is None else "table"
    second = groups_path(written)
    measured = measure(job, held, plan, written, source)
    hashed = _verified_digest(job, verdict, written) if job.outputs.table is None else None
    facts, issued = issue(
        job,
        plan,
        verdict,
        (*notices, *measured.notices, *(beside.notices if beside else ())),
        held.columns,
        source=source,
        written=written_as,
        sha256=hashed if job.outputs.release else None,
        measured=measured,
        earlier=beside.facts if beside else None,
        groups={"file": second.name, "sha256": verdict.digests[1]} if job.pair and job.outputs.release else None,
    )
    if job.outputs.table is not None:
        place = job.outputs.table.address
        return Release(plan, issued, facts, None, lambda: read_query(Query.of(place)))
    if job.outputs.release is None:
        frame = to_frame_like(pl.read_parquet(written), held.origin)
        groups = to_frame_like(pl.read_parquet(groups_path(written)), held.origin) if job.pair else None
        return Release(plan, issued, facts, None, lambda: frame, lambda: groups)
    path = job.outputs.release
    return Release(
        plan, issued, facts, path, lambda: _load(path), lambda: _load(groups_path(path)) if job.pair else None
    )


def _verified_digest(job: Job, verdict: Verdict, written: Path) -> str:
    """The SHA-256 of the release, if its bytes are still those that were verified."""
    files = [written, groups_path(written)] if job.pair else [written]
    if tuple(map(sha256_of, files)) != verdict.digests:
        raise VerificationError("The written file changed after it was verified. Nothing was published.")
    return verdict.digests[0]


@contextmanager
def _private_place(job: Job) -> Iterator[tuple[Path, Drafts]]:
    """Where the release is written first, and for each file beside it where that is; in the end all appear, or none."""
    outputs, others = job.outputs, [path for path in (job.outputs.plan, job.outputs.report) if path is not None]
    if outputs.release is not None:
        groups = groups_path(outputs.release) if job.pair else None
        with staged_together(outputs.release, others, groups=groups, certificate=outputs.certificate) as drafts:
            yield drafts[outputs.release], drafts
    elif outputs.certificate is not None:
        with staged_together(outputs.certificate, others) as drafts:
            yield drafts[outputs.certificate].with_name("release.parquet"), drafts
    else:
        with staged_files(outputs) as drafts, tempfile.TemporaryDirectory(prefix="incrowd-") as temporary:
            yield Path(temporary) / "release.parquet", drafts


@contextmanager
def staged_files(outputs: Targets) -> Iterator[Drafts]:
    """Where certificate, plan and report are written first; in the end they appear, all or none."""
    files = [path for path in (outputs.certificate, outputs.plan, outputs.report) if path is not None]
    if not files:
        yield Drafts()
        return
    with staged_together(files[0], files[1:]) as drafts:
        yield drafts


@contextmanager
def _on_the_server(job: Job, hidden: Path) -> Iterator[Path | None]:
    """For a release that goes into a table: put it there, unseen, and give what the server then has."""
    if job.outputs.table is None:
        yield None
        return
    with ExitStack() as stack:
        with job.clock("copying to the database"):
            back = stack.enter_context(published(hidden, job.outputs.table))
        yield back


def write_beside(release: Release, outputs: Targets, drafts: Mapping[Path, Path]) -> None:
    """Certificate, plan and report, each in its private place."""
    if outputs.certificate:
        text = json.dumps(release.certificate, indent=2, ensure_ascii=False)
        drafts[outputs.certificate].write_text(text + "\n", encoding="utf-8")
    if outputs.report:
        page = report_html(release.report, certificate=release.certificate)
        drafts[outputs.report].write_text(page, encoding="utf-8")
    if outputs.plan:
        write_plan(release.plan, drafts[outputs.plan])


def _load(path: Path) -> pl.DataFrame:
    """A written release as a frame, without guessing at what its text means."""
    return read(path).frame


def _rename(job: Job) -> Callable[[str], str]:
    """From the name of a column to its name in the written file."""
    return safe_name if job.form.kind == "csv" else str


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


def notices_asked(job: Job) -> Iterator[Notice]:
    """What the user should know about what was asked for."""
    if job.recipe.requirement.smallest_group == 1:
        yield Notice("k-is-1", "k", "k=1 promises nothing: every row may be unique. Choose k of at least 5.")
    if job.recipe.class_sensitive is None and job.recipe.target is not None:
        message = "nobody said whether the class itself is sensitive. Groups of one class tell it: say class_sensitive."
        yield Notice("class-not-said", job.recipe.target, message)
    if job.recipe.parameters.get("boxes") == "extremes":
        message = "intervals end at numbers that somebody has, which helps to single people out. The default is splits."
        yield Notice("extremes", "boxes", message)
    if job.seed is not None:
        message = "a seed was given: who knows it and the program can undo the shuffling. For experiments only."
        yield Notice("seeded", "seed", message)
