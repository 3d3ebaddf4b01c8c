"""What the user asks for, as a small YAML file.

::

    columns:
      age:       {role: quasi-identifier, type: integer, hierarchy: age.txt}
      diagnosis: {role: target, type: categorical}
    drop: [name, remarks]
    private: [weight]
    pseudonyms: [patient_id]
    shift_dates: [admitted, discharged]
    shift_by: patient_id
    shift_days: 182
    person_ids: normalised
    missing_persons: together
    keep_link: yes
    known_rows: 2
    order: admitted
    k: 10
    method: kactus-plus
    parameters: {numeric: bins}
    weights: {age: 3}
    form: counts
    rarest: 3
    at_most: {postcode: 2}
    apart: {region: "north,west|south"}
    lose: 2%
    reading: {delimiter: ";", missing: ["NA"], decimal: comma, dates: dmy}
    repeats: [name]
    known_together:
      - {columns: [age, sex], k: 5}
    require: [entropy-l=1.5 on diagnosis, t=0.2 on income]
    class_sensitive: yes
    population: people.csv
    alone_at_most: 0
    preset: public

Hierarchies and the population are files beside the recipe. ``drop``, ``private``, ``pseudonyms`` and ``shift_dates``
are short for the roles drop, private, pseudonym and shifted; the key of the last two is named at each run. Columns that
are not named keep the role and type of the draft made from the data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field, replace
from pathlib import Path
from typing import Any

from incrowd.errors import HeaderError, ParameterError, SchemaError, guarded, named_option
from incrowd.tables.options import MethodOptions, Promise, ReleaseOptions, What, names_of, recipe_keys
from incrowd.tables.recipe_checks import (
    DEFAULT_METHOD,
    VERSION,
    Preset,
    check_keys,
    check_list,
    check_names,
    check_reading,
    check_version,
    choice,
    class_and_parameters,
    columns_of,
    linked_method,
    not_linked,
    read_preset,
    with_method_of_form,
    with_role,
)
from incrowd.vocabulary.column_rules import SHIFT_DAYS, KeyedColumns, Keying, check_days
from incrowd.vocabulary.forms import BY_CLASS, OF_FORM, REDRAW, check_form
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.naming import check_rarest
from incrowd.vocabulary.option import described_fields
from incrowd.vocabulary.persons import PersonOptions, Persons
from incrowd.vocabulary.preferences import Preferences
from incrowd.vocabulary.requirement import KAnonymity, KnownSet, KnownTogether, Together
from incrowd.vocabulary.schema import KEYED, NOT_RELEASED, STATED, Column, ColumnType, Role, Schema, unknown_column

_COLUMN_KEYS, _KNOWN_KEYS = ("role", "type", "order", "hierarchy"), ("columns", "k")
_AS_THEY_ARE = (
    *("k", "method", "parameters", "weights", "form", "redraw", "bins", "require"),
    *("class_sensitive", "purest", "population", "rarest", "alone_at_most", "at_most", "apart", "lose"),
    *("shift_by", "shift_days", "person_ids", "missing_persons", "known_rows", "order"),
)
_FLAGS = ("keep_link", "count_known", "counts_by_class", "joint_counts")

_ROLES = {
    "quasi_identifiers": Role.QUASI_IDENTIFIER,
    "target": Role.TARGET,
    "person": Role.PERSON,
    "identifiers": Role.IDENTIFIER,
    "drop": Role.DROP,
    "sensitive": Role.SENSITIVE,
    "private": Role.PRIVATE,
    "pseudonyms": Role.PSEUDONYM,
    "shift_dates": Role.SHIFTED,
}
"""The options that give columns a role."""


@described_fields(What, PersonOptions, Promise, KeyedColumns, MethodOptions)
@dataclass(frozen=True)
class Recipe:
    """What to release and how.

    Parameters
    ----------
    columns
        For each column that is named: role, type, order, hierarchy, all optional. A hierarchy is a ``Hierarchy`` or the
        path of its file. A column that ``require`` names is sensitive.
    {options}

    Examples
    --------
    >>> Recipe(k=5, columns={"age": {"role": "quasi-identifier"}}).requirement
    KAnonymity(k=5)
    """

    k: int = 10
    method: Any = DEFAULT_METHOD  # a name; a method as it is becomes its class, and its parameters those below
    parameters: Mapping[str, Any] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    form: str | None = None
    redraw: int = REDRAW
    bins: str = BY_CLASS
    counts_by_class: bool = False
    joint_counts: bool = False
    rarest: int | None = None
    at_most: Mapping[str, int] = field(default_factory=dict)
    apart: Mapping[str, Any] = field(default_factory=dict)
    lose: str | float | None = None
    columns: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    reading: Mapping[str, Any] = field(default_factory=dict)
    repeats: Sequence[str] = ()
    known_together: Sequence[Mapping[str, Any]] = ()
    require: Any = ()
    class_sensitive: bool | None = None
    purest: float | None = None
    population: Any = None
    alone_at_most: int | None = None
    preset: Preset | None = None
    shift_by: str | None = None
    shift_days: int | None = None
    person_ids: str | None = None
    missing_persons: str | None = None
    keep_link: bool = False
    known_rows: int | None = None
    count_known: bool = False
    order: str | None = None
    drop: InitVar[Sequence[str] | None] = None
    private: InitVar[Sequence[str] | None] = None
    pseudonyms: InitVar[Sequence[str] | None] = None
    shift_dates: InitVar[Sequence[str] | None] = None

    def __post_init__(self, *short: Sequence[str] | None) -> None:
        KAnonymity(self.k)
        if not isinstance(self.preset, Preset | None):
            raise ParameterError("A preset is named in a recipe's file, or beside it: release(…, preset='public').")
        alone = self.alone_at_most
        if alone is not None and (isinstance(alone, bool) or not isinstance(alone, int) or alone < 0):
            raise ParameterError("alone_at_most is a whole number of people, 0 or more.")
        if not isinstance(self.method, str | type):
            method, parameters = class_and_parameters(self.method, self.parameters)
            vars(self).update(method=method, parameters=parameters)
        check_form(**{name: getattr(self, name) for name in OF_FORM})
        if self.rarest is not None:
            check_rarest(self.rarest)
        check_keys(self.columns, None, "columns")
        for role, names in zip((Role.DROP, Role.PRIVATE, Role.PSEUDONYM, Role.SHIFTED), short, strict=True):
            check_names(names, str(role))
            object.__setattr__(self, "columns", with_role(self.columns, role, names or ()))
        for name, settings in self.columns.items():
            check_keys(settings, _COLUMN_KEYS, f"column {name!r}")
            check_list(settings.get("order"), f"column {name!r}: order")
            for key, kind in (("role", Role), ("type", ColumnType)):
                if key in settings:
                    choice(kind, settings[key], name)
            if not isinstance(settings.get("hierarchy"), str | Path | Hierarchy | None):
                raise ParameterError(f"Column {name!r}: hierarchy must be the name of a file.")
        check_keys(self.parameters, None, "parameters")
        check_reading(self.reading)
        check_names(self.repeats, "repeats")
        check_list(self.known_together, "known_together")
        for known in self.known_together:
            check_keys(known, _KNOWN_KEYS, "known_together")
            check_names(known.get("columns") or 0, "known_together: columns")
        if not isinstance(self.class_sensitive, bool | None):
            raise ParameterError("class_sensitive must be yes or no: may the class of a person be inferred?")
        if not isinstance(self.shift_by, str | None):
            raise ParameterError("shift_by is the name of a column, in quotes.")
        if self.shift_days is not None:
            check_days(self.shift_days)
        _ = self.requirement, self.preferences
        own, needed = linked_method(self.persons, self.method, self.parameters, DEFAULT_METHOD)
        vars(self).update(method=own, parameters=needed)

    @property
    def persons(self) -> Persons | None:
        """Whose rows they are; None if every row is a person."""
        linked = (self.keep_link, self.known_rows, self.count_known, self.order)
        if (column := next(iter(self.named(Role.PERSON)), None)) is not None:
            return Persons(column, self.person_ids, self.missing_persons or "refuse", *linked)
        if any(stated not in (None, False) for stated in (self.person_ids, self.missing_persons, *linked)):
            raise ParameterError(f"Whose rows are they? Name the column: {named_option(person='COLUMN')}.")
        return None

    def keying(self, key: Path) -> Keying:
        """The columns that a key makes; dates are shifted by the column of pseudonyms if no other is named."""
        pseudonyms, shifted = self.named(Role.PSEUDONYM), self.named(Role.SHIFTED)
        only = pseudonyms[0] if len(pseudonyms) == 1 else None
        days = SHIFT_DAYS if self.shift_days is None else self.shift_days
        return Keying(key, tuple(pseudonyms), tuple(shifted), self.shift_by or only, days)

    @property
    def preferences(self) -> Preferences:
        """What is rather kept, and what may be given up for it."""
        return Preferences(self.weights, self.at_most, self.lose, apart=self.apart)

    @property
    def requirement(self) -> KAnonymity | KnownTogether | Together:
        """The promise that is asked for."""
        if not (self.require or self.preset or self.class_sensitive or self.purest is not None):
            return self._size
        from incrowd.vocabulary.requirements.words import asked_for, with_class, with_purest

        requirement = self._with_sensitive(asked_for(self.require, self._size) if self.require else self._size)
        requirement = with_class(requirement, self.target) if self.class_sensitive else requirement
        return with_purest(requirement, self.purest, self.target)

    def _with_sensitive(
        self, requirement: KAnonymity | KnownTogether | Together
    ) -> KAnonymity | KnownTogether | Together:
        """What the preset requires of each sensitive column, unless something is required of it anyway."""
        if self.preset is None or self.preset.sensitive is None:
            return requirement
        from incrowd.vocabulary.requirements.words import parse_requirements

        parts = list(requirement.parts)
        named = {part.on for part in requirement.on_columns}
        for name, settings in self.columns.items():
            if settings.get("role") == Role.SENSITIVE and name not in named:
                quoted = name.replace('"', '""')
                parts += parse_requirements(f'{self.preset.sensitive} on "{quoted}"')
        return Together(tuple(parts)) if len(parts) > 1 else requirement

    @property
    def _size(self) -> KAnonymity | KnownTogether:
        if not self.known_together:
            return KAnonymity(self.k)
        return KnownTogether(
            tuple(KnownSet(tuple(known["columns"]), known.get("k", self.k)) for known in self.known_together)
        )

    @property
    def target(self) -> str | None:
        """The column that is named as target, if any."""
        return next(iter(self.named(Role.TARGET)), None)

    def named(self, *roles: Role) -> list[str]:
        """The columns that are named in these roles."""
        return [name for name, settings in self.columns.items() if settings.get("role") in roles]

    @property
    def known(self) -> list[str]:
        """The quasi-identifiers; where only sets that are known together are named, their columns."""
        return self.named(Role.QUASI_IDENTIFIER) or columns_of(self.known_together)

    @property
    def hierarchies(self) -> dict[str, Any]:
        """The hierarchies of columns."""
        return {
            name: tree for name, settings in self.columns.items() if (tree := settings.get("hierarchy")) is not None
        }

    def schema(self, draft: Schema, *, whole: bool = True) -> Schema:
        """The draft with everything the recipe says about its columns; it has them all, if it is of the whole table."""
        for name in (*self.columns, *self.repeats, *self.weights, *self.at_most, *self.apart):
            if whole and name not in draft:
                raise HeaderError(unknown_column(name, draft.names))
        return Schema(tuple(_with_settings(column, self.columns.get(column.name)) for column in draft.columns))


@guarded
def read_recipe(path: str | Path, preset: str | None = None) -> Recipe:
    """Read a recipe from YAML, on top of the preset that is named here or in it."""
    try:
        return parse_recipe(Path(path).read_text(encoding="utf-8"), path, preset)
    except (OSError, UnicodeDecodeError) as error:
        raise ParameterError(f"The recipe {Path(path).name} cannot be read ({type(error).__name__}).") from None


def parse_recipe(text: str, path: str | Path, preset: str | None = None) -> Recipe:
    """The recipe that a text says, which is or is to be in this file."""
    from incrowd.vocabulary.plain_data import read_plain_yaml

    data = read_plain_yaml(text, f"The recipe {Path(path).name}")
    if not isinstance(data, dict):
        raise ParameterError(f"The recipe {Path(path).name} is empty or not a list of settings.")
    check_version(data.pop("incrowd_recipe", VERSION), Path(path).name)
    check_keys(data, recipe_keys(), "the recipe")
    if isinstance(data.get("population"), str):
        data["population"] = Path(path).parent / data["population"]
    recipe = _on_preset(preset or data.pop("preset", None), data)
    return with_hierarchies(recipe, recipe.hierarchies, Path(path).parent)


def beside_recipe(
    options: Mapping[str, Any], stated: Callable[[Recipe], Mapping[str, Any]]
) -> tuple[dict[str, Any], Recipe | None]:
    """The options of a command with what a recipe states where they say nothing; and the recipe, if one is named.

    Roles that the options give replace those of the recipe, as for a release.

    Examples
    --------
    >>> recipe = Recipe(k=7, columns={"age": {"role": "quasi-identifier"}}, reading={"delimiter": ";"})
    >>> options = {"recipe": recipe, "k": 3, "reading": {"encoding": "latin-1"}}
    >>> beside_recipe(options, lambda recipe: {"k": recipe.k, "public": recipe.known, "reading": recipe.reading})[0]
    {'k': 3, 'public': ['age'], 'reading': {'delimiter': ';', 'encoding': 'latin-1'}}
    """
    own = {name: value for name, value in options.items() if name != "recipe" and value is not None}
    recipe = opened_recipe(options.get("recipe"))
    if recipe is None:
        return own, None
    if recipe.preset is not None and recipe.preset.kinds:
        raise ParameterError(
            f"The preset {recipe.preset.name} looks for kinds of columns, which only a release does. State the columns "
            "in a recipe without it."
        )
    roles = {name: names_of(own.get(name)) for name in ("target", "identifiers", "drop", "sensitive", "private")}
    recipe = with_roles(recipe, quasi_identifiers=names_of(own.get("quasi_identifiers", own.get("public"))), **roles)
    stated_facts = {name: value for name, value in stated(recipe).items() if value is not None}
    facts = {name: value for name, value in stated_facts.items() if value or not isinstance(value, list | tuple | dict)}
    if "reading" in facts:
        own["reading"] = {**facts["reading"], **own.get("reading", {})}
    return facts | own, recipe


def opened_recipe(recipe: Recipe | str | Path | None) -> Recipe | None:
    """The recipe, read if it is a file."""
    return read_recipe(recipe) if isinstance(recipe, str | Path) else recipe


def _on_preset(name: str | None, data: Mapping[str, Any]) -> Recipe:
    """What the data of a recipe say, on top of what a preset says."""
    stated = {key: value for key, value in data.items() if value is not None and key != "preset"}
    if name is not None:
        preset = read_preset(name)
        stated = {**preset.settings, **stated, "preset": preset}
    recipe = Recipe(**stated)
    return recipe if "method" in stated else with_method_of_form(recipe)


def recipe_of(options: ReleaseOptions) -> Recipe:
    """The recipe that is named, with what is said beside it."""
    start, preset = options.get("recipe"), options.get("preset")
    if isinstance(start, str | Path):
        recipe = read_recipe(start, preset)
    elif preset is not None and start is not None:
        raise ParameterError(
            "A Recipe object says everything by itself. Name the preset beside options or a recipe file."
        )
    else:
        recipe = start or _on_preset(preset, {})
    named: dict[str, Any] = {name: options.get(name) for name in _AS_THEY_ARE}
    named |= {name: options.get(name) or None for name in _FLAGS}  # a flag that is not set says nothing
    named["reading"] = {**recipe.reading, **(options.get("reading") or {})}
    named["repeats"] = names_of(options.get("repeats"))
    if (together := options.get("known_together")) is not None:
        named["known_together"] = [{"columns": names_of(columns), "k": rows} for columns, rows in together]
    if (person := options.get("person")) is not None:  # what is said of persons needs them
        named["columns"] = {**recipe.columns, person: {**recipe.columns.get(person, {}), "role": Role.PERSON}}
    recipe = replace(recipe, **{name: value for name, value in named.items() if value is not None})
    if options.get("method") == DEFAULT_METHOD != recipe.method:
        raise ParameterError(not_linked(DEFAULT_METHOD, recipe.method))
    if (hierarchies := options.get("hierarchies")) is not None:
        from incrowd.tables.hierarchies.read import hierarchies_in

        by_column = hierarchies_in(hierarchies) if isinstance(hierarchies, str | Path) else hierarchies
        recipe = with_hierarchies(recipe, by_column)
    roles: dict[str, list[str] | None] = {option: names_of(options.get(option)) for option in _ROLES}  # type: ignore[call-overload]
    if recipe.known_together and roles["quasi_identifiers"] is None:
        roles["quasi_identifiers"] = columns_of(recipe.known_together)
    recipe = with_roles(recipe, **roles)
    return with_method_of_form(recipe) if start is None and options.get("method") is None else recipe


def with_hierarchies(
    recipe: Recipe, hierarchies: Mapping[str, Hierarchy | str | Path], folder: Path = Path()
) -> Recipe:
    """The recipe with these hierarchies, read where a file is named; relative names are taken from the folder."""
    from incrowd.tables.hierarchies.read import read_hierarchy

    columns = {name: dict(settings) for name, settings in recipe.columns.items()}
    for name, hierarchy in hierarchies.items():
        tree = hierarchy if isinstance(hierarchy, Hierarchy) else read_hierarchy(folder / hierarchy, name)
        columns.setdefault(name, {})["hierarchy"] = replace(tree, name=name)
    return replace(recipe, columns=columns)


def with_roles(recipe: Recipe, **roles: list[str] | None) -> Recipe:
    """The recipe with roles given elsewhere (options, arguments); these replace its own of the same role.

    What the recipe leaves out stays out, and what a key makes stays so, unless the column is given another role:
    nothing is released by naming less. Keywords are the options for roles; each a list of columns or None.
    """
    by_role = {role: roles.get(option) for option, role in _ROLES.items()}
    columns = {name: dict(settings) for name, settings in recipe.columns.items()}
    for role, names in by_role.items():
        if names is None or role in (*NOT_RELEASED, *KEYED):
            continue
        for settings in columns.values():
            if settings.get("role") == role:
                settings["role"] = Role.OTHER
    taken: dict[str, Role] = {}
    for role, names in by_role.items():
        for name in names or ():
            if name in taken:
                both = f"both {taken[name]} and {role}" if taken[name] is not role else f"twice {role}"
                why = ", for what a key makes hides nobody in a crowd" if role in KEYED else ""
                raise SchemaError(f"Column {name!r} cannot be {both}{why}. Name it once.")
            taken[name] = role
            columns.setdefault(name, {})["role"] = role
    return replace(recipe, columns=columns)


def _with_settings(column: Column, settings: Mapping[str, Any] | None) -> Column:
    if not settings:
        return column
    changes: dict[str, Any] = {"reason": STATED}
    if "role" in settings:
        changes["role"] = choice(Role, settings["role"], column.name)
    if "type" in settings:
        changes["type"] = choice(ColumnType, settings["type"], column.name)
        changes["order"] = ()
    if "order" in settings:
        changes["order"] = tuple(str(value) for value in settings["order"])
    if isinstance(settings.get("hierarchy"), str | Path):
        from incrowd.tables.hierarchies.read import read_hierarchy

        changes["hierarchy"] = read_hierarchy(settings["hierarchy"], column.name)
    elif settings.get("hierarchy") is not None:
        changes["hierarchy"] = settings["hierarchy"]
    return replace(column, **changes)
