"""``incrowd release``: from a table to a verified release."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import typer

from incrowd.cli.options import takes
from incrowd.cli.shared import FileOrTable, Json, Select, Table, loading, place, print_json, progress, table_at
from incrowd.errors import ParameterError
from incrowd.tables.options import RELEASE, Book, Measuring, Outputs, Reading, ReleaseOptions, Run
from incrowd.vocabulary.option import options_of, part

if TYPE_CHECKING:
    from incrowd.report.outcome import Release

_WHY = (
    "Methods that serve learners look for groups of one class: whoever knows that a person is in such a group knows "
    "the class of that person."
)


@takes(RELEASE, needed=("to",))
def release(
    file: FileOrTable, *, table: Table = None, query: Select = None, json: Json = False, **options: Any
) -> None:
    """Release a table: every combination of quasi-identifier values is shared by at least k rows.

    The release is recounted from the written file, or from what the database gives back, by another engine before it
    appears. Its certificate is written beside it.
    """
    with loading():
        from incrowd.api import release as make

    where = options["to"] = place(options["to"], options["replace"])
    options["class_sensitive"] = class_sensitive(options)
    options["reading"] = part(Reading, options) or None
    if options["with_table"] is not None:
        options["with_table"] = table_at(options["with_table"])
    outputs = Outputs(**part(Outputs, options))
    with progress(json) as show:
        outcome = make(
            table_at(file, table, query),
            outputs=outputs,
            measuring=Measuring(**part(Measuring, options)),
            ledger=_book(part(Book, options)),
            run=Run(**part(Run, options)),
            progress=show,
            **part(ReleaseOptions, options),
        )
    _tell(outcome, _files(where, outputs), json)


def class_sensitive(options: dict[str, Any]) -> bool | None:
    """Whether the class itself is sensitive: the one question that has no default.

    The option answers it, the recipe, or the person at the terminal; without a target there is no question.
    """
    answer, target = options["class_sensitive"], options["target"]
    if answer is None and (options["recipe"] or options["preset"]):
        from incrowd.tables.recipe import recipe_of

        read = recipe_of({"recipe": options["recipe"], "preset": options["preset"]})
        answer, target = read.class_sensitive, target or read.target
    if answer is not None or target is None:
        return answer  # type: ignore[no-any-return]
    if sys.stdin.isatty() and sys.stderr.isatty():
        typer.echo(_WHY, err=True)
        return typer.confirm(f"Is the class {target!r} itself sensitive?", err=True)
    raise ParameterError(
        f"Is the class {target!r} itself sensitive? Use --class-sensitive yes or no. {_WHY} With yes, every group "
        "keeps a requirement on the class, by default t-equal=0.3; --require asks for another."
    )


def _book(values: dict[str, Any]) -> Book | None:
    if "folder" in values:
        return Book(**values)
    for one in options_of(Book):
        if values.get(one.name):
            raise ParameterError(f"{one.flags[0]} is about the releases in a ledger. Name it: --ledger FOLDER.")
    return None


def _files(release: Any, outputs: Outputs) -> dict[str, str]:
    """What was written, and where."""
    from incrowd.releases.job import Targets

    beside = Targets.at(release, outputs).certificate
    files = {"release": release, "certificate": beside, "report": outputs.report, "plan (private)": outputs.plan}
    return {what: str(path) for what, path in files.items() if path}


def _tell(outcome: Release, written: dict[str, str], json: bool) -> None:
    """The summary, or the same for machines."""
    if "groups" in outcome.certificate["output"] and outcome.path is not None:
        from incrowd.vocabulary.forms import groups_path

        written = {"release": written["release"], "groups": str(groups_path(outcome.path)), **written}
    if outcome.events is not None and outcome.events.path is not None:
        _tell(outcome.events, _files(outcome.events.path, Outputs(report=written.pop("report", None))), json)
    if json:
        from incrowd.report.unchanged_facts import headline_lines
        from incrowd.report.wording import grouped, little_use

        facts = outcome.report
        words = {"notices": grouped(facts.notices), "little_use": [*little_use(facts)]}
        words |= {"headlines": [*headline_lines(facts.unchanged)]}
        print_json({"files": written, "certificate": outcome.certificate, "seconds": facts.seconds, **words})
        return
    from rich.console import Console

    from incrowd.report.terminal import print_summary

    print_summary(outcome.report, Console(), written)
