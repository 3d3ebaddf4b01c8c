"""The whole way of a model: from a table to a verified decision tree that may be published instead of it.

::

    read -> understand -> induce (kADET) -> write in a private place -> recount the written file -> publish

The checker reads the written JSON and the table and shares no code with the induction. What it cannot prove, or cannot
count, is not published.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from incrowd.errors import (
    Notice,
    OutputError,
    ParameterError,
    PlanError,
    RequirementError,
    VerificationError,
    guarded,
    named_option,
)
from incrowd.models.exports import plot_tree, to_pmml
from incrowd.models.kadet import KAdet
from incrowd.models.options import ModelOptions
from incrowd.models.published_tree import PublishedTree, model_data, write_model
from incrowd.report.certificate import hmac_of, owner_key
from incrowd.rows.one_machine import check_whole, input_file
from incrowd.tables.hierarchies.read import hierarchies_in
from incrowd.tables.options import names_of
from incrowd.tables.publishing.staging import check_targets, staged_files
from incrowd.tables.reading.draft import draft_schema
from incrowd.tables.reading.encode import encode
from incrowd.tables.reading.persons import owners_of
from incrowd.tables.reading.read import read
from incrowd.tables.reading.source import Origin, Source
from incrowd.tables.recipe import Recipe, beside_recipe, with_hierarchies, with_roles
from incrowd.tables.roles import settle_schema
from incrowd.verification.input_table import InputTable, encoded
from incrowd.verification.model_file import ModelFile, with_owners
from incrowd.verification.opening import connect
from incrowd.verification.owners import Numbers
from incrowd.verification.spans import MOST_VISITS, verify_spans
from incrowd.verification.verdict import Verdict
from incrowd.vocabulary.certificates import versions
from incrowd.vocabulary.encoded_table import EncodedTable, OwnedTable
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.option import described, filled
from incrowd.vocabulary.persons import Persons
from incrowd.vocabulary.resources import Clock
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema, unknown_column

_SCORES = {"c45": "gain_ratio", "id3": "gain"}
_VERSIONS = ("incrowd", "polars", "numpy", "numba")


@dataclass(frozen=True)
class ModelFiles:
    """Where a model goes; ``None`` is not written. The certificate goes beside the model."""

    model: Path | None = None
    plot: Path | None = None
    pmml: Path | None = None
    replace: bool = False

    @property
    def certificate(self) -> Path | None:
        """``OUT.certificate.json`` for a model OUT."""
        return self.model and self.model.with_name(f"{self.model.name}.certificate.json")

    def check(self, *inputs: Path | None) -> None:
        """Refuse impossible targets before any work is done: every file has its own name, none is an input."""
        if self.model and self.model.suffix.lower() != ".json":
            raise OutputError(f"{self.model.name}: a model is written as JSON. Give a name that ends in .json.")
        targets = (self.model, self.plot, self.pmml, self.certificate)
        check_targets("Model, certificate, drawing and PMML", targets, inputs, replace=self.replace)


@dataclass(frozen=True, eq=False)
class ModelJob:
    """One model to be made: from what, how, to where. The recipe names the target and the public columns."""

    table: Any
    recipe: Recipe
    method: KAdet
    files: ModelFiles = field(default_factory=ModelFiles)
    clock: Clock = field(default_factory=Clock)

    @property
    def path(self) -> Path | None:
        """The input file, if it is one."""
        return Path(self.table) if isinstance(self.table, str | Path) else None


@dataclass(frozen=True, eq=False)
class Published:
    """A verified model.

    Attributes
    ----------
    model
        The tree; may be published.
    certificate
        What was asked and recounted, as plain data; may be published with the model.
    verdict
        The outcome of the independent recount. It knows the number of rows and the size of every span: keep it.
    notices
        What was handled, and should be known.
    seconds
        How long each stage took.
    """

    model: PublishedTree
    certificate: dict[str, Any]
    verdict: Verdict
    notices: tuple[Notice, ...]
    seconds: Mapping[str, float]


@described(ModelOptions)
@guarded
def publish_model(
    table: Any, *, progress: Callable[[str], None] | None = None, **options: Unpack[ModelOptions]
) -> Published:
    """Grow a decision tree that is itself k-anonymous, recount it from the written file, and publish it.

    Parameters
    ----------
    table
        A path, or a pandas, polars or PyArrow table.
    {options}
    progress
        Called with the name of each stage as it begins.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [30, 41, 30, 41] * 5, "ill": ["no", "yes", "no", "yes"] * 5})
    >>> made = publish_model(people, target="ill", public=["age"], k=5)
    >>> made.model.spans, made.model.smallest_span, made.verdict.passed
    (2, 10, True)
    """
    stated, recipe = beside_recipe(options, _stated)
    request = filled(ModelOptions, stated)
    if request["target"] is None:
        target = named_option(target="COLUMN")
        raise ParameterError(f"Name the class to predict with {target}, or a recipe that does.")
    if request["score"] not in _SCORES:
        raise ParameterError(f"score must be one of {', '.join(_SCORES)}.")
    check_whole(request["memory"], table)
    known, hidden = names_of(request["public"]), names_of(request["private"])
    method = KAdet(
        private=tuple(hidden),
        class_private=not request["public_class"],
        score=_SCORES[request["score"]],
        **{name: request[name] for name in ("k", "l", "max_confidence", "prune", "fill", "bins", "require")},
    )
    recipe = Recipe(
        k=method.k,
        columns=recipe.columns if recipe else {},
        reading=dict(request["reading"] or {}),
        repeats=list(request["repeats"] or ()),
    )
    person = None if request["person"] is None else [request["person"]]
    recipe = with_roles(recipe, quasi_identifiers=known, target=[request["target"]], person=person)
    recipe = replace(recipe, person_ids=request["person_ids"], missing_persons=request["missing_persons"])
    recipe = with_hierarchies(recipe, _hierarchies(request["hierarchies"], [*known, *hidden]))
    model, plot, pmml = (None if (path := request[name]) is None else Path(path) for name in ("to", "plot", "pmml"))
    files = ModelFiles(model, plot, pmml, request["replace"])
    return run_model(ModelJob(table, recipe, method, files, Clock(progress) if progress else Clock()))


def _stated(recipe: Recipe) -> dict[str, Any]:
    """What a recipe says of a model: quasi-identifiers are public; of what is required, that of the class."""
    known, requirement = recipe.known, recipe.requirement
    return {
        "target": recipe.target,
        "public": known,
        "private": recipe.named(Role.PRIVATE),
        "k": max(one.k for one in requirement.sets(known)) if known else recipe.k,
        "require": [part for part in requirement.on_columns if part.on in (None, recipe.target)],
        "hierarchies": recipe.hierarchies,
        "repeats": recipe.repeats,
        "person": None if recipe.persons is None else recipe.persons.column,
        "person_ids": recipe.person_ids,
        "missing_persons": recipe.missing_persons,
        "reading": recipe.reading,
    }


def run_model(job: ModelJob) -> Published:
    """Read, induce, write, recount; publish only what the recount proves."""
    job.files.check(job.path)
    schema, table, notices, origin = understand(job)
    model = induce(job, table, schema)
    names = [*table.columns]
    files, beside = job.files, (job.files.plot, job.files.pmml)
    with staged_files(
        files.model, beside, certificate=files.certificate, replace=files.replace, otherwise="model.json"
    ) as (hidden, drafts):
        write_model(model, hidden)
        with job.clock("verifying"):
            text = hidden.read_text("utf-8")
            check_as_asked(job, schema, ModelFile.of(json.loads(text)))
            again, owners = read_again(job, schema, names, origin)
            verdict = verify_spans(json.loads(text), again, owners).proven("model")
        digest = hashlib.sha256(text.encode()).hexdigest()
        issued = certificate(job, model, verdict, digest)
        _write_beside(files, drafts, model, issued)
        drafts.keep(hidden, digests=[digest])
    return Published(model, issued, verdict, (*notices, *_of_one_leaf(model, job.method.k)), job.clock.seconds)


def _of_one_leaf(model: PublishedTree, k: int) -> Iterator[Notice]:
    """That a tree says the same of everybody, and what may help."""
    if model.tree.nodes[0].is_leaf:
        groups = f"groups of {k}{' persons' * model.of_persons}"
        yield Notice(
            "one-leaf",
            "",
            f"the tree has one leaf: no test parts the rows into {groups} that differ in the class. It predicts the "
            "most frequent class for everybody. Try a smaller k, or other public attributes.",
        )


def understand(job: ModelJob) -> tuple[Schema, EncodedTable, tuple[Notice, ...], Origin]:
    """The table as integer codes, every column with its role and type; columns that are not named are not used.

    Also what was noticed, and where the table came from.
    """
    with job.clock("reading"):
        source = read(job.table, **job.recipe.reading)
    with job.clock("encoding"):
        schema, doubts = settle_schema(source, _with_private(job, source))
        schema = Schema(tuple(map(_as_written, schema.columns)))
        names = [*schema.quasi_identifiers, *job.method.private, *([schema.target] if schema.target else [])]
        table, notices = encode(source, schema, names)
        if job.recipe.persons is not None:
            owners = owners_of(source, job.recipe.persons)
            table = table if owners.kept is None else table.take(owners.kept)
            table = OwnedTable(table.columns, table.height, owners.codes)
            notices = (*notices, *owners.notices)
    schema = schema.with_types(table.columns)
    remarks = [notice for notice in doubts if notice.code not in ("unnamed", "dropped")]
    return schema, table, (*source.notices, *remarks, *notices, *_notices(job, schema, table)), source.origin


def read_again(
    job: ModelJob, schema: Schema, names: Sequence[str], origin: Origin
) -> tuple[EncodedTable, Numbers | None]:
    """The table by the verification's own road, and whose rows they are: what the induction had is not believed."""
    typed = frozenset(name for name, column in job.recipe.columns.items() if "type" in column)
    with tempfile.TemporaryDirectory(prefix="incrowd-") as folder, connect() as connection:
        file = input_file(job.table, origin, Path(folder), "input", job.recipe.reading)
        input_table = InputTable.open(connection, file, Path(folder), typed)
        table = encoded(input_table, [schema[name] for name in names])
        return with_owners(table, input_table, job.recipe.persons)


def induce(job: ModelJob, table: EncodedTable, schema: Schema) -> PublishedTree:
    """The tree, or a refusal that says why there is none."""
    with job.clock("inducing"):
        owners = table.owners if isinstance(table, OwnedTable) else None
        induction = job.method.induce(table, schema, owners)
    if induction.model is None:
        raise RequirementError(f"No tree is possible. {induction.reason} Choose a smaller k, or ask for less.")
    return induction.model


def check_as_asked(job: ModelJob, schema: Schema, written: ModelFile) -> None:
    """Raise unless the written model promises what the user asked for, and calls public what the user called so."""
    method = job.method
    of_persons = job.recipe.persons is not None
    promised = (written.target, written.k, written.l, written.cap, written.class_private, written.further)
    request = (schema.target, method.k, method.l, method.max_confidence, method.class_private, method.require)
    public = {name for name, attribute in written.attributes.items() if attribute.public}
    private = set(written.attributes) - public
    if (
        (*promised, written.persons) != (*request, of_persons)
        or not public <= set(schema.quasi_identifiers)
        or not private <= set(method.private)
    ):
        raise VerificationError("The written model promises something else than was requested. It was not published.")


def certificate(job: ModelJob, model: PublishedTree, verdict: Verdict, digest: str) -> dict[str, Any]:
    """What was asked and recounted; it holds no number of rows, from which hidden counts could be found."""
    return {
        "incrowd_model_certificate": 1,
        "statement": f"The model satisfies {verdict.checks[0].name}, recounted independently from the written file.",
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "output": {"file": job.files.model.name, "sha256": digest} if job.files.model else None,
        "input_hmac_sha256": hmac_of(job.path, owner_key()) if job.path else None,
        "versions": versions(_VERSIONS),
        "target": {"name": model.target, "private": model.class_private},
        "public": list(model.public),
        "private": list(model.private),
        "requirement_asked": dict(model.requirement),
        "method": {"name": job.method.name, "parameters": job.method.parameters()},
        "verification": {
            "passed": verdict.passed,
            "spans": verdict.sizes.classes,
            "smallest_span": model.smallest_span,
            "checks": [vars(check) for check in verdict.checks],
        },
        "attacks": "not run",
    }


def verify_model(
    path: str | Path,
    table: Any,
    *,
    persons: Persons | None = None,
    most_visits: int = MOST_VISITS,
    **reading: Any,
) -> Verdict:
    """Recount the file of a model, anybody's, against the table it was grown on.

    Columns are read with the types that the model names. ``persons``: whose rows they are, where the model promises
    something to persons. ``reading``: delimiter, encoding, missing.
    """
    data = model_data(Path(path), "the file of a model")
    model = ModelFile.of(data)
    source = read(table, **reading)
    names = [*model.tested, model.target]
    for name in names:
        if name not in source.frame.columns:
            raise PlanError(f"The model does not fit the table. {unknown_column(name, source.frame.columns)}")
    drafted = draft_schema(source, target=model.target)
    columns = [*_columns_of(model), _as_written(drafted[model.target])]
    encoded, _ = encode(source, Schema(tuple(columns)), names)
    if persons is None:
        return verify_spans(data, encoded, most_visits=most_visits)
    owners = owners_of(source, persons)
    encoded = encoded if owners.kept is None else encoded.take(owners.kept)
    return verify_spans(data, encoded, owners.codes.astype(np.int64), most_visits=most_visits)


def _columns_of(model: ModelFile) -> Iterator[Column]:
    """The tested attributes as the model types them."""
    for name in model.tested:
        attribute = model.attributes[name]
        kind = ColumnType(attribute.kind)
        yield Column(name, Role.OTHER, kind, (attribute.domain or ()) if kind is ColumnType.ORDERED else ())


def _as_written(column: Column) -> Column:
    """Truth values as categories: recipients of a model have them as they are written, ``Yes`` for instance."""
    return replace(column, type=ColumnType.CATEGORICAL) if column.type is ColumnType.BOOLEAN else column


def _with_private(job: ModelJob, source: Source) -> Recipe:
    """The recipe with the private columns named: they are used, but nobody outside knows them."""
    columns = {name: dict(entry) for name, entry in job.recipe.columns.items()}
    for name in job.method.private:
        if name not in source.frame.columns:
            raise ParameterError(f"private: {unknown_column(name, source.frame.columns)}")
        if columns.get(name, {}).get("role", Role.PRIVATE) != Role.PRIVATE:
            raise ParameterError(f"Column {name!r} cannot be private as well as public or the target. Name it once.")
        columns.setdefault(name, {})["role"] = Role.PRIVATE
    return replace(job.recipe, columns=columns)


def _notices(job: ModelJob, schema: Schema, table: EncodedTable) -> Iterator[Notice]:
    """What the user should know about what was asked for."""
    if job.method.k == 1:
        yield Notice("k-is-1", "k", "k=1 promises nothing: a span may be that of one person. Choose k of at least 5.")
    for column in schema.columns:
        if column.hierarchy is None:
            continue
        thresholds = column.type.has_order and job.method.score == "gain_ratio"
        if column.name not in (*schema.quasi_identifiers, *job.method.private) or thresholds:
            why = "it is split by thresholds" if thresholds else "the tree may not test it"
            yield Notice("hierarchy-not-used", column.name, f"its hierarchy is not used: {why}.")
            continue
        column.hierarchy.encode(table[column.name])
        yield from column.hierarchy.notices
        yield from column.hierarchy.unused(table[column.name])


def _write_beside(files: ModelFiles, drafts: Mapping[Path, Path], model: PublishedTree, issued: dict[str, Any]) -> None:
    """Certificate, drawing and PMML, those that are asked for."""
    if files.certificate:
        text = json.dumps(issued, indent=2, ensure_ascii=False) + "\n"
        drafts[files.certificate].write_text(text, encoding="utf-8")
    if files.plot:
        drafts[files.plot].write_text(plot_tree(model).svg, encoding="utf-8")
    if files.pmml:
        drafts[files.pmml].write_text(to_pmml(model), encoding="utf-8")


def _hierarchies(
    hierarchies: Mapping[str, Hierarchy | str | Path] | str | Path | None, used: Sequence[str]
) -> Mapping[str, Hierarchy | str | Path]:
    """Those that are given; of a folder those of the attributes."""
    if isinstance(hierarchies, str | Path):
        return {name: hierarchy for name, hierarchy in hierarchies_in(hierarchies).items() if name in used}
    return hierarchies or {}
