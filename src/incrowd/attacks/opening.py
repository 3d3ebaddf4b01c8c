"""From files or frames to the scene of an attack."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from incrowd.attacks.scene import HiddenCells, Promised, Rows, Scene, again_of
from incrowd.errors import InputError, SchemaError
from incrowd.plan.plan_file import read_plan
from incrowd.plan.release_plan import ReleasePlan
from incrowd.report.outcome import Release
from incrowd.report.person_facts import certified_persons
from incrowd.tables.hierarchies.read import hierarchies_in, read_hierarchy
from incrowd.tables.options import Reading
from incrowd.tables.reading.draft import draft_schema
from incrowd.tables.reading.encode import encode
from incrowd.tables.reading.persons import in_order, owners_of
from incrowd.tables.reading.read import read, read_release
from incrowd.tables.reading.source import Source
from incrowd.tables.recipe import Recipe, beside_recipe
from incrowd.vocabulary.encoded_table import EncodedTable
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.persons import Persons
from incrowd.vocabulary.plain_data import read_plain_json
from incrowd.vocabulary.preferences import INDIFFERENT, Preferences
from incrowd.vocabulary.released_cell import Ints
from incrowd.vocabulary.requirement import KAnonymity, Requirement, with_subjects
from incrowd.vocabulary.requirements.closeness import TCloseness
from incrowd.vocabulary.requirements.words import asked_for, read_promises
from incrowd.vocabulary.schema import KEYED, NOT_RELEASED, Column, ColumnType, Role, Schema, unknown_column

CERTIFICATE = ".certificate.json"


@dataclass(frozen=True, eq=False)
class AttackRequest:
    """What the owner of a release gives the lab; only the release and the original are needed."""

    release: Any
    original: Any
    control: Any = None
    plan: ReleasePlan | str | Path | None = None
    certificate: Mapping[str, Any] | str | Path | None = None
    quasi_identifiers: Iterable[str] | None = None
    target: str | None = None
    sensitive: Iterable[str] | None = None
    requirement: str | Requirement | None = None
    method: Any = None
    parameters: Mapping[str, Any] | None = None
    form: str | None = None
    preferences: Preferences | None = None  # weights and limits; None: what plan or certificate say
    rarest: int | None = None
    hierarchies: Mapping[str, Hierarchy | str | Path] | str | Path | None = None
    population: Any = None
    earlier: Sequence[Any] = ()
    model: Mapping[str, Any] | str | Path | None = None
    cells: Sequence[tuple[int, str]] = ()
    hider: str | None = None
    reading: Reading | None = None
    recipe: Recipe | str | Path | None = None
    person: str | None = None
    person_ids: str | None = None
    missing_persons: str | None = None
    persons: Persons | None = None  # the same, where all is known of it
    origin: Rows | None = None  # the original row of each released row, where that is known
    seed: int | None = None

    @property
    def how(self) -> Reading:
        """How text files are read."""
        return self.reading or {}


def open_scene(request: AttackRequest) -> Scene:
    """Read everything and put it on the table."""
    plan, certificate = _plan(request), _certificate(request)
    request = _with_recipe(request, described=plan is not None or bool(certificate))
    source = read(request.original, **request.how)
    release, persons, owners = _frame(request.release, request), _persons(request, plan, certificate), None
    if persons is not None:
        persons = replace(persons, linked=persons.linked or persons.column in release.columns)
        source, owners = _with_owners(_in_order(source, persons, request), persons)
    schema = _schema(request, source, plan, certificate, persons)
    requirement = _requirement(request, plan, certificate)
    if requirement is not None:
        schema = with_subjects(requirement, schema)
        _check_distances(requirement, schema, certificate if plan is None else {})
    table, control = _encoded(source, schema, request, persons)
    secret = tuple(request.sensitive or schema.sensitive or ([schema.target] if schema.target else []))
    for name in secret:
        if name not in schema.untouched:
            raise SchemaError(f"Column {name!r} is not released as it is: it cannot be what must not be inferred.")
    return Scene(
        table=table,
        frame=source.frame,
        schema=schema,
        release=release,
        sensitive=secret,
        promised=Promised() if requirement is None else Promised.by(requirement, schema.target),
        again=None
        if persons is not None and persons.linked
        else again_of(request, plan, certificate, requirement, schema, persons),
        control=control,
        origin=request.origin,
        earlier=tuple(_frame(one, request) for one in request.earlier),
        model=_model(request.model),
        hidden=HiddenCells(tuple(request.cells), request.hider or "generic") if request.cells else None,
        persons=persons,
        owners=owners,
        seed=secrets.randbits(62) if request.seed is None else request.seed,
    )


def _persons(request: AttackRequest, plan: ReleasePlan | None, certificate: Mapping[str, Any]) -> Persons | None:
    """Whose rows they are: as requested, by the recipe, by the certificate, or by the plan; None if rows are persons.

    Whether recipients can follow persons is what the release shows.
    """
    if request.persons is not None:
        return request.persons
    recipe = request.recipe if isinstance(request.recipe, Recipe) else None
    stated = None if recipe is None else recipe.persons
    if stated is None and "persons" in certificate:
        stated = certified_persons(certificate["persons"])
    if stated is None and isinstance(request.release, Release):
        stated = request.release.report.persons
    if stated is None and plan is not None and plan.schema.person is not None:
        stated = Persons(plan.schema.person)
    if request.person is None and stated is None:
        return None
    column = request.person if stated is None or request.person is not None else stated.column
    assert column is not None
    stated = stated or Persons(column)
    ids, missing = request.person_ids or stated.ids, request.missing_persons or stated.missing
    return replace(stated, column=column, ids=ids, missing=missing)


def _in_order(source: Source, persons: Persons | None, request: AttackRequest) -> Source:
    """With dates that order the rows of a person as the release has them: as days since the first row."""
    if persons is None or persons.order is None or not {persons.order, persons.column} <= set(source.frame.columns):
        return source
    drafted = draft_schema(source)
    schema = request.recipe.schema(drafted, whole=False) if isinstance(request.recipe, Recipe) else drafted
    column = replace(schema[persons.order], role=Role.QUASI_IDENTIFIER)
    return in_order(source, Schema((column,)), persons)[0]


def _with_owners(source: Source, persons: Persons) -> tuple[Source, Ints]:
    """The rows whose person counts, with the person of each."""
    if persons.column not in source.frame.columns:
        raise SchemaError(unknown_column(persons.column, source.frame.columns))
    owners = owners_of(source, persons)
    kept = source if owners.kept is None else replace(source, frame=source.frame[owners.kept])
    return kept, owners.codes.astype(np.int64)


def _with_recipe(request: AttackRequest, *, described: bool) -> AttackRequest:
    """With what a recipe says; where plan or certificate describe the release, only what these do not tell.

    The recipe tells how the original is read. The release is read as it was written.
    """
    beside = {one.name: getattr(request, one.name) for one in fields(request)}

    def stated(recipe: Recipe) -> dict[str, Any]:
        facts = {"hierarchies": recipe.hierarchies, "population": recipe.population, "reading": recipe.reading}
        facts["preferences"] = None if recipe.preferences == INDIFFERENT else recipe.preferences
        if described:
            return facts
        alike = ("requirement", "method", "parameters", "target", "form", "rarest")
        made = {name: getattr(recipe, name) for name in alike}
        return facts | made | {"quasi_identifiers": recipe.known, "sensitive": recipe.named(Role.SENSITIVE)}

    options, recipe = beside_recipe(beside, stated)
    return request if recipe is None else replace(request, **options, recipe=recipe)


def _frame(release: Any, request: AttackRequest) -> pl.DataFrame:
    return read_release(release.table if isinstance(release, Release) else release, request.how.get("missing")).frame


def _plan(request: AttackRequest) -> ReleasePlan | None:
    if request.plan is None:
        return request.release.plan if isinstance(request.release, Release) else None
    return request.plan if isinstance(request.plan, ReleasePlan) else read_plan(request.plan)


def _certificate(request: AttackRequest) -> Mapping[str, Any]:
    """The certificate that is given, or lies beside the release; empty if there is none."""
    if isinstance(request.certificate, Mapping):
        return request.certificate
    path = None if request.certificate is None else Path(request.certificate)
    if path is None and isinstance(request.release, str | Path):
        beside = Path(f"{request.release}{CERTIFICATE}")
        path = beside if beside.is_file() else None
    content = {} if path is None else _json(path, "a certificate")
    if content and not _is_certificate(content):
        raise InputError("The certificate is damaged, or incrowd did not write it.")
    return content


def _is_certificate(data: Mapping[str, Any]) -> bool:
    """Whether it has the parts that are read here, each of its type."""
    match data:
        case {
            "incrowd_certificate": int(),
            "columns": list(columns),
            "requirement_recounted": list(promises),
            "method": {"name": str(), "parameters": dict()},
        }:
            used, limits = data.get("hierarchies", {}), data.get("limits", {})
            return (
                all(map(_is_column, columns))
                and all(isinstance(one, dict) and isinstance(one.get("promise"), str) for one in promises)
                and isinstance(used, dict | list)
                and all(isinstance(name, str) for name in used)
                and isinstance(limits, dict)
                and isinstance(limits.get("apart", {}), dict)
                and isinstance(data.get("reading", {"columns": {}}).get("columns"), dict)
            )
    return False


def _is_column(data: Any) -> bool:
    match data:
        case {"name": str(), "role": str(role), "type": str(kind)}:
            return role in list(Role) and kind in list(ColumnType)
    return False


def _model(model: Mapping[str, Any] | str | Path | None) -> Mapping[str, Any] | None:
    return model if model is None or isinstance(model, Mapping) else _json(Path(model), "a model")


def _json(path: Path, what: str) -> dict[str, Any]:
    try:
        parsed = read_plain_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path.name} cannot be read as {what} ({type(error).__name__}).") from None
    if not isinstance(parsed, dict):
        raise InputError(f"{path.name} is not {what}.")
    return parsed


def _schema(
    request: AttackRequest,
    source: Source,
    plan: ReleasePlan | None,
    certificate: Mapping[str, Any],
    persons: Persons | None,
) -> Schema:
    """What the columns of the original are: as requested, by the plan, by the certificate, by the draft."""
    if plan is not None:
        columns = plan.schema.columns
    elif certificate:
        draft = _stated(draft_schema(source), request)
        columns = tuple(_certified(each, draft) for each in certificate["columns"] if each["name"] in draft)
    else:
        columns = _stated(draft_schema(source, target=request.target), request).columns
        if request.quasi_identifiers is None:
            raise SchemaError(
                "What can an attacker know? Name the quasi-identifiers or a recipe, or keep the certificate beside the "
                "release."
            )
    # what a key made of a column cannot be compared with the original, nor a pseudonym
    gone_roles = (*KEYED, Role.PERSON)
    whose = None if persons is None else persons.column
    columns = tuple(
        replace(each, role=Role.DROP) if each.role in gone_roles or each.name == whose else each for each in columns
    )
    present = Schema(tuple(column for column in columns if column.name in source.frame.columns))
    gone = [column.name for column in columns if column.name not in present and column.role not in NOT_RELEASED]
    if gone:
        raise SchemaError(unknown_column(gone[0], source.frame.columns))
    target = request.target if request.target else present.target
    named = {*(request.quasi_identifiers or ()), *(request.sensitive or ())}
    schema = present.with_roles(
        quasi_identifiers=request.quasi_identifiers,
        sensitive=None if request.sensitive is None else [name for name in request.sensitive if name != target],
        target=request.target,
        identifiers=None if not named & set(present.identifiers) else set(present.identifiers) - named,
    )
    return _with_hierarchies(schema, request.hierarchies)


def _stated(draft: Schema, request: AttackRequest) -> Schema:
    """The draft with what the recipe says of its columns."""
    return request.recipe.schema(draft) if isinstance(request.recipe, Recipe) else draft


def _certified(entry: Mapping[str, Any], draft: Schema) -> Column:
    """A column as the certificate has it; the order of categories, which it does not tell, from the draft."""
    drafted, kind = draft[entry["name"]], ColumnType(entry["type"])
    order = drafted.order if kind is ColumnType.ORDERED else ()
    if kind is ColumnType.ORDERED and not order:
        kind = ColumnType.CATEGORICAL
    return Column(entry["name"], Role(entry["role"]), kind, order)


def _with_hierarchies(schema: Schema, hierarchies: Mapping[str, Hierarchy | str | Path] | str | Path | None) -> Schema:
    if hierarchies is None:
        return schema
    trees = hierarchies_in(hierarchies) if isinstance(hierarchies, str | Path) else hierarchies
    known = {
        name: tree if isinstance(tree, Hierarchy) else read_hierarchy(tree, name)
        for name, tree in trees.items()
        if name in schema
    }
    return Schema(
        tuple(replace(column, hierarchy=known.get(column.name, column.hierarchy)) for column in schema.columns)
    )


def _encoded(
    source: Source, schema: Schema, request: AttackRequest, persons: Persons | None
) -> tuple[EncodedTable, EncodedTable | None]:
    """The original and the control rows as codes, with the same dictionaries."""
    names = [*schema.quasi_identifiers, *schema.untouched]
    plain = Schema(tuple(replace(column, role=Role.OTHER) for column in schema.columns))
    if request.control is None:
        return encode(source, plain, names)[0], None
    rows = source.frame.height
    held_out = _in_order(read(request.control, **request.how), persons, request).frame
    for name in (*schema.quasi_identifiers, *([schema.target] if schema.target else []), *schema.sensitive):
        if name not in held_out.columns:
            raise SchemaError(f"The control rows: {unknown_column(name, held_out.columns)}")
    frames = [frame.select(name for name in names if name in frame.columns) for frame in (source.frame, held_out)]
    if any(frames[0].schema[name] != kind for name, kind in frames[1].schema.items()):
        frames = [frame.cast(pl.String) for frame in frames]
    both = encode(replace(source, frame=pl.concat(frames, how="diagonal")), plain, names)[0]
    order = pl.int_range(both.height, eager=True).to_numpy()
    return both.take(order[:rows]), both.take(order[rows:])


def _requirement(
    request: AttackRequest, plan: ReleasePlan | None, certificate: Mapping[str, Any]
) -> Requirement | None:
    """What was promised; None if nobody says."""
    if isinstance(request.requirement, str):
        return asked_for(request.requirement, KAnonymity(1))
    if request.requirement is not None or plan is not None:
        return request.requirement or (plan.requirement if plan else None)
    promises = [one["promise"] for one in certificate.get("requirement_recounted", ())]
    return read_promises(promises) if promises else None


def _check_distances(requirement: Requirement, schema: Schema, certificate: Mapping[str, Any]) -> None:
    """Raise if a distance was measured by an order or a hierarchy that the certificate does not tell."""
    ordered = {each["name"] for each in certificate.get("columns", ()) if each["type"] == ColumnType.ORDERED}
    by_tree: Iterable[str] = certificate.get("hierarchies", ())
    for part in requirement.on_columns:
        column = schema[part.on or str(schema.target)]
        if not isinstance(part, TCloseness) or part.distance == "equal":
            continue
        no_order = column.name in ordered and column.type is not ColumnType.ORDERED
        if no_order or (column.name in by_tree and column.hierarchy is None):
            raise SchemaError(
                f"How far the values of {column.name!r} lie apart is not in the certificate: give the plan, or the "
                "hierarchies."
            )
