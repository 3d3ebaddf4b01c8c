"""Everything that is measured about one table, and about its release beside it; and the door to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import polars as pl

from incrowd.drawing.wording import counted as words
from incrowd.errors import HeaderError, Notice, ParameterError, SchemaError, guarded, named_option
from incrowd.risk.attackers import (
    Attacker,
    MeasuredRisk,
    checked,
    expected_journalist,
    inference,
    journalist,
    linkability,
    marketer,
    prosecutor,
    singling_out,
)
from incrowd.risk.classes import (
    Classes,
    Edges,
    NotMeasured,
    Special,
    Whole,
    classes_of,
    coded,
    edges_of,
    matched,
    special_uniques,
)
from incrowd.risk.options import RiskOptions
from incrowd.risk.safe_harbor import Item, people_by_zip3, safe_harbor
from incrowd.risk.uniques import Estimates, Sample, estimates_of
from incrowd.rows.one_machine import check_whole
from incrowd.tables.options import Reading, names_of
from incrowd.tables.reading.read import read, read_release
from incrowd.tables.reading.source import Source
from incrowd.tables.recipe import Recipe, beside_recipe
from incrowd.vocabulary.option import described, filled
from incrowd.vocabulary.persons import Persons
from incrowd.vocabulary.schema import Role, unknown_column


@dataclass(frozen=True, eq=False)
class Counted:
    """A table's classes, as a population sees them whose table is known: its people are counted, not estimated."""

    classes: Classes  # those of the table
    people: Whole  # for each of them the people of the population; at least its rows
    short: int  # rows of classes with fewer people than rows, where the rows were taken instead
    unmatched: int  # rows of classes that the population does not have at all; they are among those of ``short``
    uniques: int  # people who are alone in the population
    uniques_in_sample: int  # rows that are alone in the table and stand for such a person


def count_people(frame: pl.DataFrame, population: pl.DataFrame, names: Sequence[str]) -> Counted:
    """Count the population in the classes of the table."""
    classes, people, sizes = matched(frame, population, names)
    return Counted(
        classes,
        np.maximum(people, classes.sizes),
        int(classes.sizes[people < classes.sizes].sum()),
        int(classes.sizes[people == 0].sum()),
        int((sizes == 1).sum()),
        int(((people == 1) & (classes.sizes == 1)).sum()),
    )


def missing_in_population(counted: Counted | None) -> Iterator[Notice]:
    """A notice where the population table does not cover the table."""
    if counted is not None and counted.short:
        message = (
            f"{words(counted.short, 'row')} in classes with fewer people in the population table than rows here "
            f"({counted.unmatched:,} of them with none): counted with their rows. Is the table a sample of it?"
        )
        yield Notice("population-too-small", "", message)


NO_POPULATION = NotMeasured("the size of the population is not known; state how many persons it has")
TOO_FEW = NotMeasured("linking needs two quasi-identifiers at least")
NO_SECRET = NotMeasured("no sensitive column was named")
SEVERAL_ROWS = NotMeasured("persons have several rows, and the estimates are for one row of each")


@dataclass(frozen=True)
class RiskRequest:
    """What is to be measured; see :func:`incrowd.measure_risk`."""

    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    population: int | None = None
    thresholds: tuple[float, ...] = (0.05, 0.1, 0.2, 0.5)
    largest_special: int = 3
    reading: Mapping[str, Any] = field(default_factory=dict)
    persons: Persons | None = None

    def __post_init__(self) -> None:
        if self.persons is not None and self.persons.column in (*self.quasi_identifiers, *self.sensitive):
            raise SchemaError(
                f"Column {self.persons.column!r} says whose row it is: it cannot be quasi-identifier or sensitive, too."
            )
        if not self.quasi_identifiers:
            raise ParameterError("Name at least one quasi-identifier to measure by, or a recipe that does.")
        for names in (self.quasi_identifiers, self.sensitive):
            twice = next((name for name in names if names.count(name) > 1), None)
            if twice is not None:
                raise SchemaError(f"Column {twice!r} is named twice. Name it once.")
        both = next((name for name in self.sensitive if name in self.quasi_identifiers), None)
        if both is not None:
            raise SchemaError(f"Column {both!r} cannot be both quasi-identifier and sensitive. Choose one role.")
        checked(self.thresholds)


@dataclass(frozen=True)
class Uniques:
    """Rows, or persons, that are alone, in the table and in its population."""

    in_sample: int  # rows that are alone with their quasi-identifiers; persons with such a row, where persons count
    share: float  # of all rows, or persons
    counted: tuple[int, int] | None
    estimated: Estimates | NotMeasured  # where only its size is known

    def to_json(self) -> dict[str, object]:
        """The numbers."""
        data: dict[str, object] = {"in_sample": self.in_sample, "share": self.share}
        if self.counted is not None:
            data["in_population_table"] = {"uniques": self.counted[0], "of_them_unique_in_sample": self.counted[1]}
        return data | {"estimated_in_population": self.estimated.to_json()}


@dataclass(frozen=True)
class Risk:
    """The measured risk of a table.

    Parameters
    ----------
    source
        The name of the table.
    rows, quasi_identifiers
        What was measured.
    population
        How many persons the table is a sample of, if that is known.
    classes
        How many classes there are of each size: of rows, or of persons.
    prosecutor, journalist, marketer
        Three attackers.
    uniques, special, edges
        Rows that are alone; those that few columns already single out; ends of number lines.
    singling_out, linkability, inference
        The three risks of WP216; inference for each sensitive column.
    safe_harbor
        The eighteen identifiers.
    notices
        What should be known.
    after
        The same for the release, if there is one.
    persons
        How many persons the rows are of; None if every row is a person.
    exposed
        How many rows, or persons, there are by the size of their class, of a person the smallest.
    """

    source: str
    rows: int
    quasi_identifiers: tuple[str, ...]
    population: int | None
    classes: tuple[tuple[int, int], ...]
    prosecutor: Attacker
    journalist: Attacker | NotMeasured
    marketer: Attacker
    uniques: Uniques
    special: Special
    edges: Edges
    singling_out: MeasuredRisk
    linkability: MeasuredRisk | NotMeasured
    inference: tuple[MeasuredRisk, ...] | NotMeasured
    safe_harbor: tuple[Item, ...]
    notices: tuple[Notice, ...] = ()
    after: Risk | None = None
    persons: int | None = None
    exposed: tuple[tuple[int, int], ...] = ()

    @property
    def unit(self) -> str:
        """What is counted."""
        return "row" if self.persons is None else "person"

    def to_json(self) -> dict[str, object]:
        """Everything as plain data, without any cell value."""
        known = self.inference
        inferred = known.to_json() if isinstance(known, NotMeasured) else {one.column: one.to_json() for one in known}
        data: dict[str, object] = {
            "incrowd_risk": 1,
            "table": self.source,
            "rows": self.rows,
            **({} if self.persons is None else {"persons": self.persons}),
            "quasi_identifiers": list(self.quasi_identifiers),
            "population": self.population,
            "classes": {f"{size}": count for size, count in self.classes},
            "prosecutor": self.prosecutor.to_json(),
            "journalist": self.journalist.to_json(),
            "marketer": self.marketer.to_json(),
            "uniques": self.uniques.to_json(),
            "special_uniques": self.special.to_json(),
            "edges": self.edges.to_json(),
            "wp216": {
                "singling_out": self.singling_out.to_json(),
                "linkability": self.linkability.to_json(),
                "inference": inferred,
            },
            "safe_harbor": [item.to_json() for item in self.safe_harbor],
            "notices": [{"code": notice.code, "where": notice.where} for notice in self.notices],
        }
        return data if self.after is None else data | {"after": self.after.to_json()}

    def plot(self, kind: str = "curve", *, ax: Any = None) -> Any:
        """The ``"curve"`` of risk over the rows, or the rows by the ``"sizes"`` of their classes.

        Parameters
        ----------
        kind
            ``"curve"`` or ``"sizes"``.
        ax
            Axes of Matplotlib to draw on, which are given back.

        Returns
        -------
        Drawing
            Notebooks show it; ``.save("risk.svg")`` writes it.
        """
        from incrowd.risk.charts import risk_drawing

        drawing = risk_drawing(self, kind)
        return drawing if ax is None else drawing.on(ax)

    def _repr_html_(self) -> str:
        from incrowd.risk.charts import risk_html

        return risk_html(self, whole_page=False)

    def __str__(self) -> str:
        from incrowd.risk.telling import text_of

        return text_of(self)


def assess(
    table: Any,
    request: RiskRequest,
    *,
    population_table: Any = None,
    after: Any = None,
    zip3: Any = None,
    owners: tuple[Whole, Whole] | None = None,
) -> Risk:
    """Read the tables and measure them; ``owners`` are the persons of their rows, where these are known already."""
    if request.population is not None and population_table is not None:
        raise ParameterError("Give the size of the population or its table, not both: the table says its size.")
    reading = {name: value for name, value in request.reading.items() if value is not None}
    people = None if population_table is None else read(population_table, **reading).frame
    areas = None if zip3 is None else people_by_zip3(read(zip3).frame)
    source, known = read(table, **reading), owners[0] if owners else None
    if request.persons is not None and known is None:
        if people is not None or request.population is not None:
            raise ParameterError("Where persons have several rows, nothing is estimated of a population: leave it out.")
        source, known = _with_owners(source, request.persons)
    before = _measure(source, name_of(table), request, people, areas, known)
    if after is None:
        return before
    release, known = read_release(after, reading.get("missing")), owners[1] if owners else None
    if request.persons is not None and known is None:
        release, known = _followed(release, request.persons)
    spread = tuple(n for name in request.quasi_identifiers for n in released_as(name, release.frame.columns))
    wanted = replace(request, quasi_identifiers=spread)
    again = _measure(release, name_of(after), wanted, people, areas, known, released=True)
    return replace(before, after=again)


def _with_owners(source: Source, persons: Persons) -> tuple[Source, Whole]:
    """The rows whose person counts, with the person of each."""
    from incrowd.tables.reading.persons import owners_of

    if persons.column not in source.frame.columns:
        raise HeaderError(unknown_column(persons.column, source.frame.columns))
    owners = owners_of(source, persons)
    kept = source if owners.kept is None else replace(source, frame=source.frame[owners.kept])
    return replace(kept, notices=(*source.notices, *owners.notices)), owners.codes.astype(np.int64)


def _followed(release: Source, persons: Persons) -> tuple[Source, Whole]:
    """The persons of a release that recipients can follow; of another nobody can tell them."""
    if persons.column not in release.frame.columns:
        raise ParameterError(
            "The release does not say whose rows they are, so its persons cannot be counted from its file. They are "
            "when it is made: incrowd release with --risk."
        )
    return _with_owners(release, replace(persons, ids="exact", missing="refuse"))


def _measure(
    source: Source,
    called: str,
    request: RiskRequest,
    people: pl.DataFrame | None,
    areas: Mapping[str, int] | None,
    owners: Whole | None = None,
    *,
    released: bool = False,
) -> Risk:
    frame, names = source.frame, request.quasi_identifiers
    columns, secrets = coded(frame, names), coded(frame, request.sensitive) if request.sensitive else []
    owners = None if owners is None else np.unique(owners, return_inverse=True)[1].astype(np.int64)
    classes = classes_of(columns, owners)
    counted = None if people is None else count_people(frame, people, names)
    if counted is not None and released and counted.unmatched:
        counted = None
    size = request.population if people is None else max(people.height, frame.height)
    sample = None if size is None else Sample(classes.histogram, size)
    inferred = tuple(inference(classes, secret, name) for name, secret in zip(request.sensitive, secrets, strict=True))
    journalist, bound = _attackers(classes, counted, sample, request.thresholds, table_given=people is not None)
    sizes, units = np.unique(classes.exposed, return_counts=True)
    fraction = None if sample is None else sample.fraction
    return Risk(
        source=called,
        rows=frame.height,
        quasi_identifiers=names,
        population=size,
        classes=classes.histogram,
        prosecutor=prosecutor(classes, request.thresholds),
        journalist=journalist,
        marketer=bound,
        uniques=_uniques(classes, counted, sample),
        special=special_uniques(columns, names, request.largest_special, fraction, owners),
        edges=edges_of(frame, names),
        singling_out=singling_out(classes),
        linkability=linkability(columns, names, owners) or TOO_FEW,
        inference=inferred or NO_SECRET,
        safe_harbor=safe_harbor(frame, areas),
        notices=(*source.notices, *missing_in_population(counted)),
        persons=None if owners is None else len(classes.exposed),
        exposed=tuple(zip(sizes.tolist(), units.tolist(), strict=True)),
    )


def _attackers(
    classes: Classes,
    counted: Counted | None,
    sample: Sample | None,
    thresholds: tuple[float, ...],
    *,
    table_given: bool,
) -> tuple[Attacker | NotMeasured, Attacker]:
    """Journalist and marketer, from the best that is known of the population."""
    if counted is not None:
        by_table = journalist(counted.classes, counted.people, thresholds)
        linked = float((counted.classes.sizes / counted.people).sum()) / classes.rows
        return by_table, marketer(linked, by_table.basis)
    if sample is not None and not table_given:
        estimated = expected_journalist(classes, sample.fraction, thresholds)
        return estimated, marketer(estimated.average, estimated.basis)
    right = float((classes.row_counts / classes.sizes).sum()) / classes.rows  # one of those in the class is drawn
    upper = marketer(right, "at most, as if the table were the whole population")
    if classes.owners is not None:
        return SEVERAL_ROWS, upper
    if table_given:
        return NotMeasured("the population table does not show what the release shows, so classes do not match"), upper
    return NO_POPULATION, upper


def _uniques(classes: Classes, counted: Counted | None, sample: Sample | None) -> Uniques:
    alone = int((classes.exposed == 1).sum())
    in_population = None if counted is None else (counted.uniques, counted.uniques_in_sample)
    unknown = NO_POPULATION if classes.owners is None else SEVERAL_ROWS
    estimated = unknown if sample is None or classes.owners is not None else estimates_of(sample)
    return Uniques(alone, alone / len(classes.exposed), in_population, estimated)


def released_as(name: str, columns: list[str]) -> tuple[str, ...]:
    """The columns of a release that show a quasi-identifier: its own, or its two bounds."""
    if name in columns:
        return (name,)
    bounds = (f"{name}_low", f"{name}_high")
    if all(bound in columns for bound in bounds):
        return bounds
    raise HeaderError(f"The release: {unknown_column(name, columns)}")


def name_of(table: Any) -> str:
    """How a table is called: its file's name, or its kind."""
    return Path(table).name if isinstance(table, str | Path) else f"a {type(table).__module__.split('.')[0]} table"


@described(RiskOptions)
@guarded
def measure_risk(table: Any, **options: Unpack[RiskOptions]) -> Risk:
    """Measure the risk of a table: re-identification, uniques, special uniques, Safe Harbor, the risks of WP216.

    Everything is counted on all rows; a missing value is a value. No cell value is in the result. A release is a table
    like any other: risk is that of the classes it shows, where a set, an interval or a suppressed cell is one value.

    With ``person``, persons are counted: whoever knows one row of a person picks one of the persons whose rows look
    alike, and a person is as exposed as its row with the fewest such persons. Whoever knows more rows of a person may
    find more.

    Parameters
    ----------
    table
        A file, or a pandas, polars or PyArrow table. Each person has one row, unless a column says whose row it is.
    {options}

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [30, 30, 41, None], "sex": ["f", "f", "m", "m"], "ill": ["y", "n", "y", "y"]})
    >>> risks = measure_risk(people, quasi_identifiers=["age", "sex"], sensitive=["ill"])
    >>> risks.prosecutor.maximum, risks.prosecutor.average, risks.uniques.in_sample
    (1.0, 0.75, 2)
    """
    stated, _ = beside_recipe(options, _stated)
    request = filled(RiskOptions, stated)
    beside = {name: request[name] for name in ("population_table", "after", "zip3")}
    check_whole(request["memory"], table, *beside.values())
    column, ids = request["person"], request["person_ids"]
    if column is None and (ids is not None or request["missing_persons"] is not None):
        raise ParameterError(f"Whose rows are they? Name the column: {named_option(person='COLUMN')}.")
    wanted = RiskRequest(
        persons=None if column is None else Persons(column, ids, request["missing_persons"] or "refuse"),
        quasi_identifiers=tuple(names_of(request["quasi_identifiers"])),
        sensitive=tuple(names_of(request["sensitive"])),
        thresholds=tuple(request["thresholds"]),
        reading=filled(Reading, stated),
        **{name: request[name] for name in ("population", "largest_special")},
    )
    return assess(table, wanted, **beside)


def _stated(recipe: Recipe) -> dict[str, Any]:
    """What a recipe says of a table whose risk is measured; a release of it is read as it was written."""
    known = {"quasi_identifiers": recipe.known, "sensitive": recipe.named(Role.SENSITIVE)}
    persons = next(iter(recipe.named(Role.PERSON)), None)
    spelled = {"person_ids": recipe.person_ids, "missing_persons": recipe.missing_persons} if persons else {}
    return {**known, "person": persons, **spelled, **recipe.reading}
