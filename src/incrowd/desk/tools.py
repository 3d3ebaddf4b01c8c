"""Tools beside the way: verify any file, risk of any file, compare methods, publish a model, hide cells.

Each is a form made from declared options and a job that runs the command of the same name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from starlette.responses import Response

from incrowd.desk.app import Handler, Visit
from incrowd.desk.forms import FilledForm, command_words, declared, fields, read_form
from incrowd.desk.project import is_address, slug
from incrowd.desk.security import RequestError
from incrowd.hiding.options import HIDE
from incrowd.models.options import MODEL
from incrowd.releases.options import VERIFY
from incrowd.risk.options import RISK
from incrowd.vocabulary.option import Declared
from incrowd.vocabulary.schema import Role

_FROM_RECIPE = ("recipe", "hierarchies", "reading", "memory")
_OUTPUTS = ("to", "report", "plot", "pmml", "replace")


@dataclass(frozen=True)
class Tool:
    """A command as a page: what it is for, its options, whether it needs a recipe, what it writes and where."""

    name: str
    title: str
    about: str
    button: str
    options: tuple[Declared, ...]
    needs_recipe: bool = False
    folder: str = ""
    outputs: tuple[tuple[str, str], ...] = ()


def _options(groups: Mapping[str, tuple[type, ...]], *without: str) -> tuple[Declared, ...]:
    kinds = [kind for title, some in groups.items() if title != "Reading files" for kind in some]
    return tuple(declared(kinds, without=(*_FROM_RECIPE, *_OUTPUTS, *without)))


TOOLS = {
    one.name: one
    for one in (
        Tool(
            "verify",
            "Verify a file",
            "Recount what a release promises from the file itself. With a certificate beside it nothing needs to be "
            "said; otherwise say k and the columns, or take the recipe of a table.",
            "Verify",
            _options(VERIFY),
        ),
        Tool(
            "risk",
            "Risk of a file",
            "Who can be found in a table: counted on all rows. With a release of it, before and after.",
            "Measure",
            _options(RISK),
            folder="risk",
            outputs=(("report", "risk.html"),),
        ),
        Tool(
            "model",
            "Publish a model",
            "A decision tree instead of a table: whoever knows the public attributes cannot tell k people apart. It is "
            "recounted from its file before it appears. What the recipe says is taken from it.",
            "Publish the model",
            _options(MODEL, "target", "public", "private", "person", "person_ids", "missing_persons", "repeats"),
            needs_recipe=True,
            folder="models",
            outputs=(("to", "model.json"), ("plot", "model.svg"), ("pmml", "model.pmml")),
        ),
    )
}
HIDING = _options(HIDE, "predictors")
_LEARNERS = "c45,nb,logistic"


def _offered(visit: Visit) -> dict[str, list[str]]:
    """Files that options may name."""
    tables = [visit.project.word(one) for one in visit.project.tables()]
    certificates = [visit.project.word(one) for one in visit.project.files((".certificate.json",))]
    keys = [visit.project.word(one) for one in visit.project.files((".pem", ".pub"))]
    by_name = dict.fromkeys(("after", "population_table", "zip3", "population"), tables)
    return {**by_name, "certificate": certificates, "signed_by": keys}


def _choices(visit: Visit, tool: Tool) -> dict[str, list[str]]:
    """The files offered to those options of the tool that name one; risk's population is a number."""
    own = {name: files for name, files in _offered(visit).items() if any(one.name == name for one in tool.options)}
    return {name: files for name, files in own.items() if not (tool.name == "risk" and name == "population")}


def _has_certificate(visit: Visit, table: str) -> bool:
    """Whether a table lies beside its certificate."""
    path = None if not table or is_address(table) else visit.project.locate(table)
    return path is not None and path.with_name(f"{path.name}.certificate.json").is_file()


def _page(tool: Tool) -> tuple[Handler, Handler]:
    async def show(visit: Visit, written: FilledForm | None = None) -> Response:
        table = visit.table if visit.field("table") else ""
        has_recipe = bool(table) and visit.project.recipe_path(table).is_file()
        return visit.render(
            "tool.html",
            tool=tool,
            here_tool=tool.name,
            tables=visit.project.tables(),
            has_recipe=has_recipe,
            certified=tool.name == "verify" and _has_certificate(visit, table),
            fields=fields(tool.options, {}, written, _choices(visit, tool)),
            jobs=[one for one in visit.jobs.all()[:50] if one.kind == tool.name][:8],
            command=[
                tool.name,
                *(_of_table(visit, table) if has_recipe else [visit.project.word(table) if table else "FILE"]),
            ],
        )

    async def start(visit: Visit) -> Response:
        written = read_form(tool.options, visit.form, _choices(visit, tool))
        if written.errors:
            return await show(visit, written)
        words = [tool.name, visit.project.word(visit.table)]
        about = {"table": visit.table}
        if tool.needs_recipe or visit.field("recipe") == "yes":
            if not visit.project.recipe_path(visit.table).is_file():
                raise RequestError(409, "This table has no recipe yet. Choose it under Data first.")
            words.append(f"--recipe={visit.project.recipe_word(visit.table)}")
        words += command_words(tool.options, written.texts)
        if tool.folder:
            folder = about["folder"] = visit.project.new_folder(tool.folder, visit.table)
            words += [f"--{option}={folder}/{file}" for option, file in tool.outputs]
        title = f"{tool.title}: {visit.project.label(visit.table)}"
        return visit.start(tool.name, title, [*words, "--json"], **about)

    return show, start


# compare


def _methods(visit: Visit) -> list[str]:
    from incrowd.methods.catalog import METHODS

    has_target = bool(visit.named(Role.TARGET))
    return [one.name for one in METHODS.values() if has_target or not one.needs_target]


def _of_table(visit: Visit, table: str) -> list[str]:
    if not table:
        return ["FILE"]
    return [visit.project.word(table), "--recipe", visit.project.recipe_word(table)]


async def compare(visit: Visit, error: str = "") -> Response:
    """Which methods, which k; and the comparisons so far."""
    table = visit.table if visit.field("table") else ""
    jobs = [one for one in visit.jobs.all() if one.kind == "compare" and one.about.get("table") == table][:8]
    return visit.render(
        "compare.html",
        error=error,
        tables=visit.project.tables(),
        methods=_methods(visit) if table else [],
        chosen=visit.form.get("methods") or ["kactus-plus", "mondrian"],
        ks=visit.field("k") or "5,20",
        learners=visit.field("learners") or _LEARNERS,
        has_recipe=bool(table) and visit.project.recipe_path(table).is_file(),
        jobs=[{"job": one, "state": visit.jobs.state(one)} for one in jobs],
        command=["compare", *_of_table(visit, table), "-k", "5,20"],
    )


async def start_compare(visit: Visit) -> Response:
    """Compare on this table, as a job."""
    methods, ks, learners = visit.form.get("methods", []), visit.field("k"), visit.field("learners").strip()
    if not methods or any(one not in _methods(visit) for one in methods):
        return await compare(visit, "Choose one method at least.")
    if not all(one.strip().isdecimal() for one in ks.split(",")):
        return await compare(visit, "Write k as whole numbers with commas between: 5,20.")
    if not all(slug(one) == one.strip() for one in learners.split(",")):
        return await compare(visit, f"Name learners with commas between: {_LEARNERS}. See: incrowd learners.")
    folder = visit.project.new_folder("comparisons", visit.table)
    words = ["compare", visit.project.word(visit.table), f"--recipe={visit.project.recipe_word(visit.table)}"]
    words += [f"--methods={','.join(methods)}", "-k", ks.replace(" ", ""), f"--learners={learners}", f"--to={folder}"]
    about = {"table": visit.table, "folder": folder}
    return visit.start("compare", f"Compare on {visit.project.label(visit.table)}", [*words, "--json"], **about)


# hide cells


async def hide(visit: Visit, written: FilledForm | None = None, error: str = "") -> Response:
    """Find a row, choose cells."""
    table = visit.table if visit.field("table") else ""
    matches, searching = None, "column" in visit.query or "column" in visit.form
    names: Sequence[str] = []
    if table:
        facts = await visit.facts() or {}
        names = [row["name"] for row in facts.get("columns", ())]
        error = error or facts.get("message", "")
    if table and searching:
        matches = await visit.ask(
            "rows", reading=visit.reading(), column=visit.field("column"), text=visit.field("text")
        )
        error = error or (matches or {}).get("message", "")
        matches = matches if matches and "error" not in matches else None
    chosen = visit.form.get("cell") or ([one for one in visit.query.get("cells", "").split("\n") if one])
    return visit.render(
        "hide.html",
        searching=searching,
        tables=visit.project.tables(),
        matches=matches,
        names=names,
        column=visit.field("column"),
        text=visit.field("text"),
        chosen=chosen,
        error=error,
        fields=fields(HIDING, {}, written),
        command=["hide", visit.project.word(table) if table else "FILE", "--cell", "ROW:COLUMN", "--to", "OUT.csv"],
    )


async def start_hide(visit: Visit) -> Response:
    """See who can still guess the cells, or withhold them."""
    written = read_form(HIDING, visit.form)
    cells = [*visit.form.get("cell", []), *visit.field("more").splitlines()]
    cells = [one.strip() for one in cells if one.strip()]
    if written.errors or not cells:
        return await hide(visit, written, "" if cells else "Choose a cell first.")
    words = ["hide", visit.project.word(visit.table), *(f"--cell={one}" for one in dict.fromkeys(cells))]
    about: dict[str, object] = {"table": visit.table, "cells": cells}
    if visit.project.recipe_path(visit.table).is_file():
        words.append(f"--recipe={visit.project.recipe_word(visit.table)}")
    words += command_words(HIDING, written.texts)
    if visit.field("do") == "write":
        folder = about["folder"] = visit.project.new_folder("hidden", visit.table)
        ending = slug(visit.project.label(visit.table).partition(".")[0])
        words += [f"--to={folder}/{ending}.csv", f"--report={folder}/report.html"]
    else:
        words.append("--dry-run")
    return visit.start("hide", f"Hide cells of {visit.project.label(visit.table)}", [*words, "--json"], **about)


PAGES: dict[tuple[str, str], Handler] = {
    **{("GET", f"/{name}"): _page(tool)[0] for name, tool in TOOLS.items()},
    **{("POST", f"/{name}"): _page(tool)[1] for name, tool in TOOLS.items()},
    ("GET", "/compare"): compare,
    ("POST", "/compare"): start_compare,
    ("GET", "/hide"): hide,
    ("POST", "/hide"): start_hide,
}
