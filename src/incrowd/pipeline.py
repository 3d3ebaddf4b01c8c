"""The whole way on one screen: from a file or frame to a verified release."""

from __future__ import annotations

import functools
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from incrowd.algorithms.catalog import Entry, find_method, make_method
from incrowd.algorithms.fitting import fitted
from incrowd.algorithms.population import Population
from incrowd.algorithms.release_forms import formed, rare_kept_out, suited
from incrowd.databases.publishing import published
from incrowd.databases.query import Query
from incrowd.databases.reading import fetch_query, read_query
from incrowd.earlier import Recounted, opened_book, page_of
from incrowd.errors import Notice, VerificationError
from incrowd.holding.blocks import InBlocks
from incrowd.holding.choice import in_blocks
from incrowd.holding.held import Held
from incrowd.holding.keeping import Kept
from incrowd.holding.memory import InMemory
from incrowd.issuing import issue
from incrowd.job import Job, Outputs
from incrowd.measured import check_measurable, measure
from incrowd.outcome import Release
from incrowd.people import people_asked
from incrowd.plan.plan_file import write_plan
from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import Drop
from incrowd.publishing.pair import write_pair
from incrowd.publishing.piece_writer import write_pieces
from incrowd.publishing.serialise import safe_name, write_table
from incrowd.publishing.staging import private_folder, staged, staged_pair
from incrowd.reading.frames import to_frame_like
from incrowd.reading.read import read
from incrowd.reading.streams.stream import open_stream
from incrowd.report.certificate import sha256_of
from incrowd.report.html import report_html
from incrowd.verification.asked import Asked, Original, Originals
from incrowd.verification.asked_further import further_asked
from incrowd.verification.faithfulness import verify_release
from incrowd.verification.verdict import Verdict
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.randomness import KeyedRandomness, Randomness, SeededRandomness, SystemRandomness
from incrowd.vocabulary.release_form import groups_path
from incrowd.vocabulary.requirement import Requirement
from incrowd.vocabulary.requirements.subjects import check_columns, subject_names
from incrowd.vocabulary.resources import PROGRAM, Resources
from incrowd.vocabulary.schema import Role, Schema

SCRATCH = "scratch"


def run_release(job: Job) -> Release:
    """Read, decide, apply, write, verify; publish only what the verification proves."""
    job.check()
    randomness = SystemRandomness() if job.seed is None else SeededRandomness(job.seed)
    make_method(job.recipe.method, dict(job.recipe.parameters))
    with opened_book(job) as book, _private_place(job) as hidden:
        held = understand(job, hidden.parent)
        check_measurable(job, held)
        notices = (*held.notices, *possible(job, held.schema, held.columns, held.rows), *notices_asked(job))
        page = page_of(job, book, held)
        plan, population = decide(job, held, randomness if page is None else KeyedRandomness(page.key))
        large = isinstance(held, InBlocks)
        kept = Kept(_rename(job), hidden.parent / SCRATCH if large else None)
        with job.clock("applying"):
            pieces = kept.pieces(held.drafts(plan, population, randomness, typed=job.form.kind != "csv"))
            if job.pair:
                write_pair(pieces, hidden, job.form, plan.counted, randomness)
            else:
                write(job, pieces, hidden, whole=not large)
        with job.clock("verifying"):
            verdict = verify(job, held, plan, kept.originals, hidden)
            beside = None if page is None else page.together(plan, hidden, job.form, _rename(job), kept.originals)
        with _on_the_server(job, hidden) as back:
            if back is not None:
                with job.clock("verifying"):
                    verdict = verify(job, held, plan, kept.originals, back)
            release = describe(job, held, notices, plan, verdict, hidden, beside)
            if beside is not None:
                beside.enter(release.certificate["made"], hidden)
            if job.outputs.certificate:
                job.outputs.certificate.unlink(missing_ok=True)  # an old one must not stand beside a new release
    write_beside(release, job.outputs)
    return release


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
    together = job.ledger is not None or find_method(job.recipe.method).together
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


def verify(job: Job, held: Held, plan: ReleasePlan, original: Original | Originals, written: Path) -> Verdict:
    """The second opinion on the written bytes; raises unless everything holds."""
    requirement, rename = job.recipe.requirement, _rename(job)
    asked = promised(requirement, held.schema.quasi_identifiers, plan, rename)
    if isinstance(held, InMemory):
        further = further_asked(requirement, held.schema, held.table, held.source.frame, rename)
        people = people_asked(requirement, plan, held.people, asked, rename)
        asked = replace(asked, people=people, further=further, may_lose=0 if further else asked.may_lose)
    resources = held.resources if isinstance(held, InBlocks) else None
    told = functools.partial(job.clock.rows, "verifying")
    groups = groups_path(written) if job.pair else None
    verdict = verify_release(written, job.form, asked, original, resources, told, groups)
    if not verdict.passed:
        failed = "; ".join(f"{check.name}: {check.found}" for check in verdict.checks if not check.passed)
        raise VerificationError(f"The release failed its verification and was not published. {failed}.")
    return verdict


def promised(
    requirement: Requirement, quasi_identifiers: Sequence[str], plan: ReleasePlan, rename: Callable[[str], str]
) -> Asked:
    """What the verification has to recount, in the names of the written file.

    What is promised, and about which columns, is what the user asked for, whatever the plan says of itself.
    """

    def columns(names: Iterable[str]) -> list[str]:
        return [rename(column.name) for name in names for column in plan.written if column.source == name]

    known = requirement.sets(quasi_identifiers)
    return Asked(
        promises=[(said, columns(one.names), one.k) for said, one in zip(requirement.promises, known, strict=False)],
        columns=[rename(column.name) for column in plan.written],
        quasi_identifiers=columns(quasi_identifiers),
        may_lose=sum(one.k - 1 for one in known) if find_method(plan.method).loses_rows else 0,
        shared_means=columns(plan.levelled),
        counts=columns(plan.counted),
        bounds=[(low, high) for name in plan.spread for low, high in [columns([name])]],
        hierarchies={
            rename(column.name): column.hierarchy
            for column in plan.schema.columns
            if column.name in quasi_identifiers and column.hierarchy is not None and column.name not in plan.spread
        },
    )


def describe(
    job: Job,
    held: Held,
    notices: tuple[Notice, ...],
    plan: ReleasePlan,
    verdict: Verdict,
    written: Path,
    beside: Recounted | None = None,
) -> Release:
    """Facts and certificate of a verified release."""
    source = job.path.name if job.path else str(job.query or f"a {held.origin.form} table")
    written_as = "file" if job.outputs.table is None else "table"
    hashed = sha256_of(written) if job.outputs.release else None
    second = groups_path(written)
    measured = measure(job, held, plan, written, source)
    facts, issued = issue(
        job,
        plan,
        verdict,
        (*notices, *measured.notices, *(beside.notices if beside else ())),
        held.columns,
        source=source,
        written=written_as,
        sha256=hashed,
        measured=measured,
        earlier=beside.facts if beside else None,
        groups={"file": second.name, "sha256": sha256_of(second)} if job.pair and hashed else None,
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


@contextmanager
def _private_place(job: Job) -> Iterator[Path]:
    """Where the release is written first: beside its target, or in a folder that goes away."""
    if job.outputs.release:
        target = job.outputs.release
        with staged_pair(target, groups_path(target)) if job.pair else staged(target) as hidden:
            yield hidden
    elif job.outputs.table and job.outputs.certificate:
        with private_folder(job.outputs.certificate) as folder:
            yield folder / "release.parquet"
    else:
        with tempfile.TemporaryDirectory(prefix="incrowd-") as temporary:
            yield Path(temporary) / "release.parquet"


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


def write_beside(release: Release, outputs: Outputs) -> None:
    """Certificate, plan and report, each complete or not at all."""
    if outputs.certificate:
        with staged(outputs.certificate) as hidden:
            text = json.dumps(release.certificate, indent=2, ensure_ascii=False)
            hidden.write_text(text + "\n", encoding="utf-8")
    if outputs.report:
        with staged(outputs.report) as hidden:
            hidden.write_text(report_html(release.report, certificate=release.certificate), encoding="utf-8")
    if outputs.plan:
        with staged(outputs.plan) as hidden:
            write_plan(release.plan, hidden)


def _load(path: Path) -> pl.DataFrame:
    """A written release as a frame, without guessing at what its text means."""
    return read(path).frame


def _rename(job: Job) -> Callable[[str], str]:
    """From the name of a column to its name in the written file."""
    return safe_name if job.form.kind == "csv" else str


def _hierarchies(
    schema: Schema, columns: Mapping[str, EncodedColumn], method: Entry, subjects: Sequence[str]
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
