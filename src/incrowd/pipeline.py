"""The whole way on one screen: from a file or frame to a verified release."""

from __future__ import annotations

import functools
import hashlib
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from incrowd.algorithms.catalog import Entry, find_method, make_method
from incrowd.algorithms.population import Population
from incrowd.clock import Clock
from incrowd.databases.address import is_address
from incrowd.databases.new_table import NewTable
from incrowd.databases.publishing import published
from incrowd.databases.query import Query, query_of
from incrowd.databases.reading import fetch_query, read_query
from incrowd.databases.writing import check_table
from incrowd.engines.embedded.engine import EmbeddedEngine
from incrowd.engines.engine import Engine
from incrowd.errors import Notice, OutputError, VerificationError
from incrowd.holding.blocks import InBlocks
from incrowd.holding.choice import in_blocks
from incrowd.holding.held import Held
from incrowd.holding.keeping import Kept
from incrowd.holding.memory import InMemory
from incrowd.holdout import LARGEST, measure_accuracy
from incrowd.outcome import Release
from incrowd.plan.plan_file import write_plan
from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import Drop
from incrowd.publishing.piece_writer import write_pieces
from incrowd.publishing.serialise import safe_name, write_table
from incrowd.publishing.staging import check_target, private_folder, staged
from incrowd.reading.frames import to_frame_like
from incrowd.reading.read import read
from incrowd.reading.streams.stream import open_stream
from incrowd.recipe import Recipe
from incrowd.report.certificate import certificate, hmac_of, owner_key, sha256_of
from incrowd.report.facts import facts_of
from incrowd.report.html import report_html
from incrowd.verification.asked import Asked, Original, Originals
from incrowd.verification.faithfulness import verify_release
from incrowd.verification.verdict import Verdict
from incrowd.vocabulary.file_form import FileForm
from incrowd.vocabulary.randomness import Randomness, SeededRandomness, SystemRandomness
from incrowd.vocabulary.requirement import Requirement
from incrowd.vocabulary.resources import Resources
from incrowd.vocabulary.schema import Role

LITTLE = 0.1
SCRATCH = "scratch"


@dataclass(frozen=True)
class Outputs:
    """Where the results go; ``None`` is not written. The release is a file or a table."""

    release: Path | None = None
    plan: Path | None = None
    report: Path | None = None
    responsible: str | None = None
    table: NewTable | None = None
    certified: Path | None = None

    @classmethod
    def at(cls, to: str | Path | NewTable | None, **others: Any) -> Outputs:
        """With the release at a path or an address."""
        table = NewTable.of(to) if isinstance(to, str) and is_address(to) else to if isinstance(to, NewTable) else None
        return cls(None if to is None or table else Path(to), table=table, **others)  # type: ignore[arg-type]

    @property
    def certificate(self) -> Path | None:
        """Where it is to go, or ``OUT.certificate.json`` beside a file OUT; for a table OUT in the current folder."""
        if self.certified is not None:
            return self.certified
        if self.table is not None:
            return Path(f"{self.table.file_name}.certificate.json")
        return self.release and self.release.with_name(f"{self.release.name}.certificate.json")

    @property
    def name(self) -> str | None:
        """What the release is called."""
        if self.table is not None:
            return str(self.table)
        return self.release.name if self.release else None

    def check(self, *inputs: Path | None, query: Query | None = None) -> None:
        """Refuse impossible targets before any work is done: every file has its own name, none is an input."""
        targets = [path for path in (self.release, self.plan, self.report, self.certificate) if path is not None]
        for path in targets:
            check_target(path, tuple(given for given in inputs if given is not None))
        if len({path.resolve() for path in targets}) < len(targets):
            raise OutputError("Release, certificate, plan and report need different file names.")
        if self.table is not None:
            check_table(self.table.address, replace=self.table.replace, source=query)


@dataclass(frozen=True, eq=False)
class Job:
    """One release to be made: what, from what, to where, by what."""

    given: Any
    recipe: Recipe
    outputs: Outputs = field(default_factory=Outputs)
    engine: Engine = field(default_factory=EmbeddedEngine)
    recipe_path: Path | None = None
    seed: int | None = None
    accuracy: bool = False
    clock: Clock = field(default_factory=Clock)
    memory: int | None = None

    @property
    def path(self) -> Path | None:
        """The input file, if it is one."""
        return Path(self.given) if isinstance(self.given, str | Path) and self.query is None else None

    @property
    def query(self) -> Query | None:
        """What is read from a server, if it is on one."""
        return query_of(self.given)

    @property
    def form(self) -> FileForm:
        """How the release is written; a release for this process goes through Parquet."""
        return FileForm.of(self.outputs.release) if self.outputs.release else FileForm("parquet")


def run_release(job: Job) -> Release:
    """Read, decide, apply, write, verify; publish only what the verification proves."""
    job.outputs.check(job.path, job.recipe_path, query=job.query)
    randomness = SystemRandomness() if job.seed is None else SeededRandomness(job.seed)
    make_method(job.recipe.method, dict(job.recipe.parameters))
    with _private_place(job) as hidden:
        held = understand(job, hidden.parent)
        notices = (*held.notices, *_possible(job, held), *_asked(job))
        plan, population = decide(job, held, randomness)
        large = isinstance(held, InBlocks)
        kept = Kept(_rename(job), hidden.parent / SCRATCH if large else None)
        with job.clock("applying"):
            write(
                job,
                kept.pieces(held.drafts(plan, population, randomness, typed=job.form.kind != "csv")),
                hidden,
                whole=not large,
            )
        with job.clock("verifying"):
            verdict = verify(job, held, plan, kept.originals, hidden)
        with _on_the_server(job, hidden) as back:
            if back is not None:
                with job.clock("verifying"):
                    verdict = verify(job, held, plan, kept.originals, back)
            release = describe(job, held, notices, plan, verdict, hidden)
            if job.outputs.certificate:
                job.outputs.certificate.unlink(missing_ok=True)  # an old one must not stand beside a new release
    _write_beside(release, job.outputs)
    return release


def understand(job: Job, folder: Path) -> Held:
    """The table as integer codes, every column with its role and type: in memory, or in a scratch folder."""
    path = job.path if job.query is None else _fetched(job, job.query, folder)
    if path is None or not in_blocks(path, job.form, job.memory):
        with job.clock("reading"):
            source = read(job.given if path is None else path, **job.recipe.reading)
        with job.clock("encoding"):
            return InMemory.of(source, job.recipe, job.engine)
    resources = Resources(job.memory, scratch=folder / SCRATCH)
    (folder / SCRATCH).mkdir(mode=0o700, exist_ok=True)
    with job.clock("reading"):
        stream = open_stream(path, **job.recipe.reading, scratch=resources.scratch)
    with job.clock("encoding"):
        return InBlocks.of(stream, job.recipe, resources, job.clock.rows)


def _fetched(job: Job, query: Query, folder: Path) -> Path:
    """The rows of a query, of one moment, as a file in the scratch folder."""
    (folder / SCRATCH).mkdir(mode=0o700)
    with job.clock("reading"):
        return fetch_query(query, folder / SCRATCH, lambda rows: job.clock.progress(f"reading: {rows:,} rows"))


def _possible(job: Job, held: Held) -> Iterator[Notice]:
    """Refuse what cannot be promised, or what the method cannot do with this table."""
    job.recipe.requirement.check_possible(held.rows)
    job.recipe.requirement.sets(held.schema.quasi_identifiers)
    yield from _hierarchies(held, find_method(job.recipe.method))


def decide(job: Job, held: Held, randomness: Randomness) -> tuple[ReleasePlan, Population]:
    """The plan, and the rows it was made for."""
    method = make_method(job.recipe.method, dict(job.recipe.parameters))
    with job.clock("deciding"):
        population = held.population(randomness)
        steps = method.decide(population, job.recipe.requirement, randomness)
        plan = ReleasePlan(
            method=method.name,
            parameters=tuple(method.parameters().items()),
            requirement=job.recipe.requirement,
            schema=held.schema,
            rows=held.rows,
            steps=(Drop(held.schema.identifiers), *steps),
        )
        return held.settle(plan, population), population


def write(job: Job, pieces: Iterator[Any], hidden: Path, *, whole: bool) -> None:
    """Write the release in its private place, whole or piece by piece."""
    if not whole:
        write_pieces(pieces, hidden, job.form)
        return
    for piece in pieces:
        write_table(pl.DataFrame(piece), hidden, job.form)


def verify(job: Job, held: Held, plan: ReleasePlan, original: Original | Originals, written: Path) -> Verdict:
    """The second opinion on the written bytes; raises unless everything holds."""
    asked = _promised(job.recipe.requirement, held.schema.quasi_identifiers, plan, _rename(job))
    resources = held.resources if isinstance(held, InBlocks) else None
    told = functools.partial(job.clock.rows, "verifying")
    verdict = verify_release(written, job.form, asked, original, resources, told)
    if not verdict.passed:
        failed = "; ".join(f"{check.name}: {check.found}" for check in verdict.checks if not check.passed)
        raise VerificationError(f"The release failed its verification and was not published. {failed}.")
    return verdict


def _promised(
    requirement: Requirement, quasi_identifiers: Sequence[str], plan: ReleasePlan, rename: Callable[[str], str]
) -> Asked:
    """What the verification has to recount, in the names of the written file.

    What is promised, and about which columns, is what the user asked for, whatever the plan says of itself.
    """

    def columns(names: Iterable[str]) -> list[str]:
        return [rename(column.name) for name in names for column in plan.written if column.source == name]

    known = requirement.sets(quasi_identifiers)
    return Asked(
        promises=[(said, columns(one.names), one.k) for said, one in zip(requirement.promises, known, strict=True)],
        columns=[rename(column.name) for column in plan.written],
        quasi_identifiers=columns(quasi_identifiers),
        may_lose=sum(one.k - 1 for one in known) if find_method(plan.method).loses_rows else 0,
        shared_means=columns(plan.levelled),
        bounds=[(low, high) for name in plan.spread for low, high in [columns([name])]],
        hierarchies={
            rename(column.name): column.hierarchy
            for column in plan.schema.columns
            if column.name in quasi_identifiers and column.hierarchy is not None and column.name not in plan.spread
        },
    )


def describe(
    job: Job, held: Held, notices: tuple[Notice, ...], plan: ReleasePlan, verdict: Verdict, written: Path
) -> Release:
    """Facts and certificate of a verified release."""
    accuracy = None
    if job.accuracy:
        with job.clock("measuring accuracy"):
            accuracy = measure_accuracy(held.sample(LARGEST), held.schema, job.recipe, job.engine)
    facts = facts_of(
        plan,
        verdict,
        source=job.path.name if job.path else str(job.query or f"a {held.origin.form} table"),
        output=job.outputs.name,
        notices=(*notices, *_little_shown(plan)),
        accuracy=accuracy,
        written="file" if job.outputs.table is None else "table",
        seconds=job.clock.seconds,
    )
    issued = certificate(
        facts,
        output_sha256=sha256_of(written) if job.outputs.release else None,
        recipe_sha256=_recipe_hash(job.recipe),
        input_hmac=hmac_of(job.path, owner_key()) if job.path else None,
        responsible=job.outputs.responsible,
        table=_table_facts(job.outputs.table, plan),
    )
    if job.outputs.table is not None:
        place = job.outputs.table.address
        return Release(plan, issued, facts, None, lambda: read_query(Query.of(place)))
    if job.outputs.release is None:
        frame = to_frame_like(pl.read_parquet(written), held.origin)
        return Release(plan, issued, facts, None, lambda: frame)
    path = job.outputs.release
    return Release(plan, issued, facts, path, lambda: _load(path))


@contextmanager
def _private_place(job: Job) -> Iterator[Path]:
    """Where the release is written first: beside its target, or in a folder that goes away."""
    if job.outputs.release:
        with staged(job.outputs.release) as hidden:
            yield hidden
    elif job.outputs.table and job.outputs.certificate:
        with private_folder(job.outputs.certificate) as folder:
            yield folder / "release.parquet"
    else:
        with tempfile.TemporaryDirectory(prefix="incrowd-") as temporary:
            yield Path(temporary) / "release.parquet"


def _on_the_server(job: Job, hidden: Path) -> AbstractContextManager[Path | None]:
    """For a release that goes into a table: put it there, unseen, and give what the server then has."""
    return nullcontext() if job.outputs.table is None else published(hidden, job.outputs.table)


def _table_facts(table: NewTable | None, plan: ReleasePlan) -> dict[str, Any] | None:
    """What the certificate says of a table, which has no bytes to be hashed."""
    if table is None:
        return None
    columns = [column.name for column in plan.written]
    return {"database": table.address.database, "table": str(table.name), "columns": columns}


def _write_beside(release: Release, outputs: Outputs) -> None:
    """Certificate, plan and report, each complete or not at all."""
    if outputs.certificate:
        with staged(outputs.certificate) as hidden:
            text = json.dumps(release.certificate, indent=2, ensure_ascii=False)
            hidden.write_text(text + "\n", encoding="utf-8")
    if outputs.report:
        with staged(outputs.report) as hidden:
            hidden.write_text(report_html(release.report), encoding="utf-8")
    if outputs.plan:
        with staged(outputs.plan) as hidden:
            write_plan(release.plan, hidden)


def _load(path: Path) -> pl.DataFrame:
    """A written release as a frame, without guessing at what its text means."""
    return read(path).frame


def _rename(job: Job) -> Callable[[str], str]:
    """From the name of a column to its name in the written file."""
    return safe_name if job.form.kind == "csv" else str


def _hierarchies(held: Held, method: Entry) -> Iterator[Notice]:
    """Refuse a hierarchy that does not cover its column; tell what was handled, and what is not used."""
    for column in held.schema.columns:
        if column.hierarchy is None:
            continue
        if column.role is not Role.QUASI_IDENTIFIER or not method.generalizes:
            reason = f"{method.name} uses none" if column.role is Role.QUASI_IDENTIFIER else "it is no quasi-identifier"
            yield Notice("hierarchy-not-used", column.name, f"its hierarchy is not used: {reason}.")
            continue
        column.hierarchy.encode(held.columns[column.name])
        yield from column.hierarchy.notices
        yield from column.hierarchy.unused(held.columns[column.name])


def _asked(job: Job) -> Iterator[Notice]:
    """What the user should know about what was asked for."""
    if job.recipe.requirement.smallest_group == 1:
        yield Notice("k-is-1", "k", "k=1 promises nothing: every row may be unique. Choose k of at least 5.")
    if job.recipe.parameters.get("boxes") == "extremes":
        message = "intervals end at numbers that somebody has, which helps to single people out. The default is splits."
        yield Notice("extremes", "boxes", message)
    if job.seed is not None:
        message = "a seed was given: who knows it and the program can undo the shuffling. For experiments only."
        yield Notice("seeded", "seed", message)


def _little_shown(plan: ReleasePlan) -> Iterator[Notice]:
    if plan.share_of_cells_shown < LITTLE:
        message = (
            f"less than {100 * LITTLE:.0f} % of the quasi-identifier cells show something. Try another method, "
            "hierarchies, fewer quasi-identifiers or a smaller k."
        )
        yield Notice("little-shown", plan.method, message)


def _recipe_hash(recipe: Recipe) -> str:
    text = json.dumps(asdict(recipe), sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()
