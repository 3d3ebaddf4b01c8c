"""The whole way on one screen: from a file or frame to a verified release."""

from __future__ import annotations

import hashlib
import json
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from incrowd.algorithms.catalog import Entry, find_method, make_method
from incrowd.algorithms.fitting import fitted
from incrowd.engines.embedded.engine import EmbeddedEngine
from incrowd.engines.embedded.evidence import evidence
from incrowd.engines.engine import Draft, Engine
from incrowd.errors import Notice, OutputError, RequirementError, VerificationError
from incrowd.holdout import measure_accuracy
from incrowd.outcome import Release
from incrowd.people import people_asked, people_of
from incrowd.plan.plan_file import write_plan
from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import Drop
from incrowd.publishing.serialise import safe_name, write_table
from incrowd.publishing.staging import check_target, staged
from incrowd.reading.encode import encode
from incrowd.reading.frames import to_frame_like
from incrowd.reading.read import read
from incrowd.reading.source import Source
from incrowd.recipe import Recipe
from incrowd.report.certificate import certificate, hmac_of, owner_key, sha256_of
from incrowd.report.facts import facts_of
from incrowd.report.html import report_html
from incrowd.understanding import settle_schema
from incrowd.verification.asked import Asked, Original
from incrowd.verification.asked_further import further_asked
from incrowd.verification.faithfulness import verify_release
from incrowd.verification.verdict import Verdict
from incrowd.vocabulary.encoded_table import EncodedTable
from incrowd.vocabulary.file_form import FileForm
from incrowd.vocabulary.randomness import Randomness, SeededRandomness, SystemRandomness
from incrowd.vocabulary.requirement import Requirement
from incrowd.vocabulary.requirements.subjects import check_columns, subject_names, with_subjects
from incrowd.vocabulary.schema import ColumnType, Role, Schema

Progress = Callable[[str], None]
LITTLE = 0.1


@dataclass(frozen=True)
class Outputs:
    """Where the results go; ``None`` is not written. The certificate goes beside the release."""

    release: Path | None = None
    plan: Path | None = None
    report: Path | None = None
    responsible: str | None = None

    @property
    def certificate(self) -> Path | None:
        """``OUT.certificate.json`` for a release OUT."""
        return self.release and self.release.with_name(f"{self.release.name}.certificate.json")

    def check(self, *inputs: Path | None) -> None:
        """Refuse impossible targets before any work is done: every file has its own name, none is an input."""
        targets = [path for path in (self.release, self.plan, self.report, self.certificate) if path is not None]
        for path in targets:
            check_target(path, tuple(given for given in inputs if given is not None))
        if len({path.resolve() for path in targets}) < len(targets):
            raise OutputError("Release, certificate, plan and report need different file names.")


@dataclass(eq=False)
class Clock:
    """Tells the user which stage is running and remembers how long each took."""

    progress: Progress = lambda _stage: None
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        """Announce a stage and time the block."""
        self.progress(stage)
        begun = time.perf_counter()
        yield
        self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - begun


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

    @property
    def path(self) -> Path | None:
        """The input file, if it is one."""
        return Path(self.given) if isinstance(self.given, str | Path) else None

    @property
    def form(self) -> FileForm:
        """How the release is written; a release for this process goes through Parquet."""
        return FileForm.of(self.outputs.release) if self.outputs.release else FileForm("parquet")


@dataclass(frozen=True, eq=False)
class Understood:
    """The input, read and encoded."""

    source: Source
    schema: Schema
    table: EncodedTable
    notices: tuple[Notice, ...]
    people: EncodedTable | None = None


def run_release(job: Job) -> Release:
    """Read, decide, apply, write, verify; publish only what the verification proves."""
    job.outputs.check(job.path, job.recipe_path)
    randomness = SystemRandomness() if job.seed is None else SeededRandomness(job.seed)
    known = understand(job)
    plan, draft = decide(job, known, randomness)
    with _private_place(job) as hidden:
        with job.clock("writing"):
            write_table(draft.frame, hidden, job.form)
        draft = replace(draft, frame=draft.frame.clear())  # from here on only the written bytes count
        with job.clock("verifying"):
            verdict = verify(job, known, plan, draft, hidden)
        release = describe(job, known, plan, verdict, hidden)
        if job.outputs.certificate:
            job.outputs.certificate.unlink(missing_ok=True)  # an old certificate must not stand beside a new release
    _write_beside(release, job.outputs)
    return release


def understand(job: Job) -> Understood:
    """The table as integer codes, every column with its role and type."""
    make_method(job.recipe.method, dict(job.recipe.parameters))
    with job.clock("reading"):
        source = read(job.given, **job.recipe.reading)
    with job.clock("encoding"):
        schema, doubts = settle_schema(source, job.recipe)
        schema = with_subjects(job.recipe.requirement, schema)
        subjects = subject_names(job.recipe.requirement, schema.target)
        names = [*schema.quasi_identifiers, *dict.fromkeys([*([schema.target] if schema.target else []), *subjects])]
        table, notices = encode(source, schema, names)
    job.recipe.requirement.check_possible(table.height)
    job.recipe.requirement.sets(schema.quasi_identifiers)
    check_columns(job.recipe.requirement, table, schema)
    typed = [replace(c, type=table[c.name].type) if c.name in names else c for c in schema.columns]
    fits = _hierarchies(Schema(tuple(typed)), table, find_method(job.recipe.method), subjects)
    return Understood(
        source,
        Schema(tuple(typed)),
        table,
        (*source.notices, *doubts, *notices, *fits, *_asked(job)),
        people_of(job.recipe, Schema(tuple(typed))),
    )


def decide(job: Job, known: Understood, randomness: Randomness) -> tuple[ReleasePlan, Draft]:
    """The plan, and the table it makes."""
    method = make_method(job.recipe.method, dict(job.recipe.parameters))
    with job.clock("deciding"):
        population = job.engine.population(known.table, known.schema, randomness)
        steps = method.decide(population, job.recipe.requirement, randomness)
        steps = fitted(steps, population, job.recipe.requirement, known.people)
        plan = ReleasePlan(
            method=method.name,
            parameters=tuple(method.parameters().items()),
            requirement=job.recipe.requirement,
            schema=known.schema,
            rows=known.table.height,
            steps=(Drop(known.schema.identifiers), *steps),
        )
        plan = job.engine.settle(plan, population)
    with job.clock("applying"):
        draft = job.engine.draft(plan, population, known.source.frame, randomness)
        if job.form.kind != "csv":
            draft = replace(draft, frame=_typed(draft.frame, plan))
    return plan, draft


def verify(job: Job, known: Understood, plan: ReleasePlan, draft: Draft, written: Path) -> Verdict:
    """The second opinion on the written bytes; raises unless everything holds."""
    rename = safe_name if job.form.kind == "csv" else str
    original = evidence(draft, known.source.frame, known.table, plan)
    original = original.rename_columns([rename(name) for name in original.column_names])
    claimed = {rename(name): ends for name, ends in draft.claims.items()}
    asked = _promised(job.recipe.requirement, known.schema.quasi_identifiers, plan, rename)
    further = further_asked(job.recipe.requirement, known.schema, known.table, known.source.frame, rename)
    asked = replace(asked, people=people_asked(job.recipe.requirement, plan, known.people, asked, rename))
    asked = replace(asked, further=further, may_lose=0 if further else asked.may_lose)
    verdict = verify_release(written, job.form, asked, Original(original, draft.origin, plan.rows, claimed))
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
        promises=[(said, columns(one.names), one.k) for said, one in zip(requirement.promises, known, strict=False)],
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


def describe(job: Job, known: Understood, plan: ReleasePlan, verdict: Verdict, written: Path) -> Release:
    """Facts and certificate of a verified release."""
    accuracy = None
    if job.accuracy:
        with job.clock("measuring accuracy"), suppress(RequirementError):  # two thirds of the rows may not keep it
            accuracy = measure_accuracy(known.source, known.schema, job.recipe, job.engine)
    facts = facts_of(
        plan,
        verdict,
        source=job.path.name if job.path else f"a {known.source.origin.form} table",
        output=job.outputs.release.name if job.outputs.release else None,
        notices=(*known.notices, *_little_shown(plan), *_not_measured(job, accuracy is None)),
        accuracy=accuracy,
        seconds=job.clock.seconds,
    )
    issued = certificate(
        facts,
        output_sha256=sha256_of(written) if job.outputs.release else None,
        recipe_sha256=_recipe_hash(job.recipe),
        input_hmac=hmac_of(job.path, owner_key()) if job.path else None,
        responsible=job.outputs.responsible,
    )
    issued["class_sensitive"] = {True: "yes", False: "no", None: "not said"}[job.recipe.class_sensitive]
    if job.outputs.release is None:
        frame = to_frame_like(pl.read_parquet(written), known.source.origin)
        return Release(plan, issued, facts, None, lambda: frame)
    path = job.outputs.release
    return Release(plan, issued, facts, path, lambda: _load(path))


@contextmanager
def _private_place(job: Job) -> Iterator[Path]:
    """Where the release is written first: beside its target, or in a folder that goes away."""
    if job.outputs.release:
        with staged(job.outputs.release) as hidden:
            yield hidden
    else:
        with tempfile.TemporaryDirectory(prefix="incrowd-") as folder:
            yield Path(folder) / "release.parquet"


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


def _typed(frame: pl.DataFrame, plan: ReleasePlan) -> pl.DataFrame:
    """Text columns that hold whole numbers, reals or truth values throughout, as such."""
    wanted = {ColumnType.INTEGER: pl.Int64, ColumnType.REAL: pl.Float64}
    changed = []
    for column in plan.written:
        to = wanted.get(plan.schema[column.source].type)
        if to is not None and frame.schema[column.name] == pl.String:
            typed = frame[column.name].cast(to, strict=False)
            if typed.null_count() == frame[column.name].null_count():
                changed.append(typed)
    return frame.with_columns(changed)


def _hierarchies(schema: Schema, table: EncodedTable, method: Entry, subjects: Sequence[str]) -> Iterator[Notice]:
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
        column.hierarchy.encode(table[column.name])
        yield from column.hierarchy.notices
        yield from column.hierarchy.unused(table[column.name])


def _asked(job: Job) -> Iterator[Notice]:
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


def _little_shown(plan: ReleasePlan) -> Iterator[Notice]:
    if plan.share_of_cells_shown < LITTLE:
        message = (
            f"less than {100 * LITTLE:.0f} % of the quasi-identifier cells show something. Try another method, "
            "hierarchies, fewer quasi-identifiers or a smaller k."
        )
        yield Notice("little-shown", plan.method, message)


def _not_measured(job: Job, unknown: bool) -> Iterator[Notice]:
    if job.accuracy and unknown:
        message = "not measured: the two thirds of the rows that would be released for it cannot keep the requirement."
        yield Notice("accuracy-not-measured", "accuracy", message)


def _recipe_hash(recipe: Recipe) -> str:
    text = json.dumps(asdict(recipe), sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()
