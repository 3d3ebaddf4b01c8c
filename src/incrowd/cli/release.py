"""``incrowd release``: from a table to a verified release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd.cli.class_sensitive import ClassSensitive, answered
from incrowd.cli.given import Certificate, FileOrTable, Replace, Select, Table, To, given, place
from incrowd.cli.shared import (
    Delimiter,
    Encoding,
    Json,
    KnownTogether,
    MissingMarks,
    QuasiIdentifiers,
    Require,
    known_sets,
    names,
    print_json,
    progress,
    reading_options,
    whole,
)
from incrowd.errors import ParameterError

if TYPE_CHECKING:
    from incrowd.report.outcome import Release

Hierarchies = Annotated[
    list[str] | None, typer.Option("--hierarchy", help="A column and the file of its hierarchy: age=age.txt")
]
Settings = Annotated[list[str] | None, typer.Option("--set", help="A parameter of the method: --set numeric=mean")]
Repeats = Annotated[str | None, typer.Option(help="Identifiers that may repeat, as they do not number persons: a,b")]
Population = Annotated[
    Path | None, typer.Option(help="A table of the people the rows are from, for k-map and delta-presence.")
]
Form = Annotated[str | None, typer.Option(help="How groups are released: strict (plain values), counts, pair.")]
Rarest = Annotated[
    int | None,
    typer.Option(
        metavar="N", help="No cell names a value that fewer than N people of the table have, alone or in a set."
    ),
]
Risk = Annotated[
    bool | None,
    typer.Option("--risk/--no-risk", help="Measure risk before and after; done anyway where a report is written."),
]
LedgerFolder = Annotated[
    Path | None,
    typer.Option(
        "--ledger", help="A private folder: the book of earlier releases, so that together they tell no more than one."
    ),
]
DespiteEarlier = Annotated[
    bool,
    typer.Option(
        "--despite-earlier", help="Publish even if earlier releases and this one tell more together than was promised."
    ),
]
DespiteUnchanged = Annotated[
    bool,
    typer.Option(
        "--despite-unchanged", help="Publish even if unchanged columns give back so much that fewer than k look alike."
    ),
]
AloneAtMost = Annotated[
    str | None, typer.Option(help="Refuse if more people than this are alone by their unchanged columns.")
]
LedgerKey = Annotated[
    Path | None, typer.Option("--ledger-key", help="The file with the ledger's key, where it is kept elsewhere.")
]
OtherPeople = Annotated[
    list[int] | None,
    typer.Option("--other-people", help="Number of a release in the ledger that has other people; may be repeated."),
]
SameColumn = Annotated[
    list[str] | None,
    typer.Option("--same-column", help="What a column was called before: age_years=age; may be repeated."),
]
PresenceKnown = Annotated[
    bool,
    typer.Option("--presence-known", help="Outsiders may know who joined or left: keep those in company too."),
]
Engine = Annotated[str | None, typer.Option(help="spark: a path or a table that Spark knows is read by Spark.")]
Sign = Annotated[
    Path | None, typer.Option(help="Sign the certificate with this private key: its name or file (incrowd keys).")
]
_AS_THEY_ARE = (
    *("target", "require", "population", "method", "recipe", "seed", "form", "rarest", "memory", "engine", "master"),
    *("accuracy", "risk", "attacks", "responsible", "sign"),
    *("ledger", "ledger_key", "presence_known", "despite_earlier", "despite_unchanged"),
)


def release(
    file: FileOrTable,
    to: To,
    table: Table = None,
    query: Select = None,
    replace: Replace = False,
    quasi_identifiers: QuasiIdentifiers = None,
    target: Annotated[str | None, typer.Option(help="The class recipients will learn.")] = None,
    k: Annotated[str | None, typer.Option("-k", help="Smallest group that may look alike; 10 if not given.")] = None,
    known_together: KnownTogether = None,
    require: Require = None,
    class_sensitive: ClassSensitive = None,
    population: Population = None,
    hierarchy: Hierarchies = None,
    hierarchies: Annotated[Path | None, typer.Option(help="A folder with a hierarchy file for each column.")] = None,
    method: Annotated[str | None, typer.Option(help="See: incrowd methods.")] = None,
    set_: Settings = None,
    form: Form = None,
    rarest: Rarest = None,
    identifiers: Annotated[str | None, typer.Option(help="Columns to drop: a,b")] = None,
    repeats: Repeats = None,
    sensitive: Annotated[str | None, typer.Option(help="Columns that must not be inferred: a,b")] = None,
    recipe: Annotated[Path | None, typer.Option(help="A recipe; options given here replace what it says.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write the HTML report there.")] = None,
    certificate: Certificate = None,
    plan: Annotated[Path | None, typer.Option(help="Write the plan there (.json, .parquet). Keep it private.")] = None,
    accuracy: Annotated[bool, typer.Option("--accuracy", help="Measure accuracy before and after.")] = False,
    risk: Risk = None,
    attacks: Annotated[bool, typer.Option("--attacks", help="Attack the release and the table itself.")] = False,
    ledger: LedgerFolder = None,
    despite_earlier: DespiteEarlier = False,
    despite_unchanged: DespiteUnchanged = False,
    alone_at_most: AloneAtMost = None,
    ledger_key: LedgerKey = None,
    other_people: OtherPeople = None,
    same_column: SameColumn = None,
    presence_known: PresenceKnown = False,
    responsible: Annotated[str | None, typer.Option(help="Who answers for the release.")] = None,
    sign: Sign = None,
    seed: Annotated[int | None, typer.Option(help="For experiments only: a repeatable draw.")] = None,
    memory: Annotated[str | None, typer.Option(help="How much memory may be used, such as 4GB.")] = None,
    engine: Engine = None,
    master: Annotated[str | None, typer.Option(help="Where Spark runs: local[2], yarn, k8s://…")] = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    missing: MissingMarks = None,
    json: Json = False,
) -> None:
    """Release a table: every combination of quasi-identifier values is shared by at least k rows.

    The release is recounted from the written file, or from what the database gives back, by another engine before it
    appears. Its certificate is written beside it.
    """
    options = dict(locals())
    from incrowd.api import release as make

    where = place(to, replace)
    asked: Any = {name: options[name] for name in _AS_THEY_ARE}
    asked |= {name: names(options[name]) for name in ("quasi_identifiers", "identifiers", "sensitive", "repeats")}
    asked |= {"class_sensitive": answered(class_sensitive, target, recipe), "alone_at_most": at_most(alone_at_most)}
    asked |= {"other_people": other_people or (), "same_columns": _renamed(same_column)}
    asked |= {"certificate_to": certificate, "plan_to": plan, "report_to": report}
    with progress(json) as show:
        made = make(
            given(file, table, query),
            k=None if k is None else whole(k),
            known_together=known_sets(known_together) or None,
            hierarchies=_hierarchies(hierarchies, hierarchy),
            parameters=parameters(set_),
            reading=reading_options(delimiter, encoding, missing) or None,
            to=where,
            progress=show,
            **asked,
        )
    _tell(made, _files(where, certificate, report, plan), json)


def at_most(people: str | None) -> int | None:
    """A number of people, 0 or more."""
    if people is None:
        return None
    if not people.isascii() or not people.isdigit():
        raise ParameterError("--alone-at-most is a whole number of people, 0 or more.")
    return int(people)


def _files(release: Any, certificate: Path | None, report: Path | None, plan: Path | None) -> dict[str, str]:
    """What was written, and where."""
    from incrowd.releases.job import Outputs

    beside = Outputs.at(release, certified=certificate).certificate
    files = {"release": release, "certificate": beside, "report": report, "plan (private)": plan}
    return {what: str(path) for what, path in files.items() if path}


def _tell(made: Release, written: dict[str, str], json: bool) -> None:
    """The summary, or the same for machines."""
    if "groups" in made.certificate["output"] and made.path is not None:
        from incrowd.vocabulary.forms import groups_path

        written = {"release": written["release"], "groups": str(groups_path(made.path)), **written}
    if json:
        print_json({"files": written, "certificate": made.certificate, "seconds": made.report.seconds})
        return
    from rich.console import Console

    from incrowd.report.terminal import print_summary

    print_summary(made.report, Console(), written)


def parameters(settings: list[str] | None) -> dict[str, object] | None:
    """``name=value`` settings as parameters; values are read as YAML (numbers, true, text)."""
    if not settings:
        return None
    from incrowd.vocabulary.plain_data import read_plain_yaml

    parsed = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise ParameterError("A parameter is set as name=value, for instance --set numeric=mean.")
        parsed[name.strip()] = read_plain_yaml(value, f"--set {name.strip()}")
    return parsed


def _renamed(settings: list[str] | None) -> dict[str, str]:
    """New and old name of columns."""
    parted = [setting.partition("=") for setting in settings or ()]
    if not all(new.strip() and old.strip() for new, _, old in parted):
        raise ParameterError("Write the new and the old name of a column, for instance --same-column age_years=age.")
    return {new.strip(): old.strip() for new, _, old in parted}


def _hierarchies(folder: Path | None, single: list[str] | None) -> dict[str, Any] | None:
    """The hierarchies of the folder and those named one by one, which come first."""
    from incrowd.tables.hierarchies.read import hierarchies_in

    found: dict[str, Any] = {} if folder is None else dict(hierarchies_in(folder))
    for setting in single or ():
        column, equals, file = setting.partition("=")
        if not equals:
            raise ParameterError("A hierarchy is given as column=file, for instance --hierarchy age=age.txt.")
        found[column.strip()] = file.strip()
    return found or None
