"""The last step: a release is asked for, of one table or of two, and put in line."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from starlette.responses import Response

from incrowd.desk.app import Visit
from incrowd.desk.forms import FilledForm, command_words, declared, fields, read_form
from incrowd.desk.project import slug
from incrowd.desk.security import RequestError
from incrowd.desk.steps import checked, plain_release
from incrowd.errors import IncrowdError, ParameterError
from incrowd.tables.databases.tables import is_database_file
from incrowd.tables.options import Book, Measuring, Outputs, Promise, Run
from incrowd.vocabulary.column_rules import KeyedColumns
from incrowd.vocabulary.option import Declared
from incrowd.vocabulary.persons import SecondTable
from incrowd.vocabulary.schema import KEYED, Role

AT_RUN = [
    *declared([Outputs], names=("responsible", "sign", "share_hierarchies")),
    *declared([Measuring]),
    *declared([Promise], names=("despite_unchanged",)),
    *declared([Book], names=("other_people", "same_columns", "presence_known", "despite_earlier")),
    *declared([Run], names=("memory", "seed")),
]
SECOND = declared([SecondTable])
KEYS = declared([KeyedColumns], names=("key_file", "new_key"))
FORMATS = (".csv", ".parquet", ".arrow", ".jsonl", ".arff", ".xlsx", ".sav", ".dta")
LEDGER, SIGNING = "ledger", "keys/signing.pem"
_PEM = b"-----BEGIN PRIVATE KEY-----"
_MOST_SHOWN = 12  # columns that a sentence names


async def _second_tables(visit: Visit) -> dict[str, str]:
    """Tables whose columns somebody has decided on, by the words of commands: they may be released with this one."""
    tables = visit.project.tables()
    if is_database_file(visit.table):
        file = visit.table.partition("?table=")[0]
        there = await visit.desk.asker.ask("tables", file) or {}
        tables += [f"{file}?table={name}" for name in there.get("names", ())]
    others = [one for one in tables if one != visit.table and visit.project.recipe_path(one).is_file()]
    return {visit.project.word(one): one for one in others if not visit.project.proposed(one)}


async def _options(visit: Visit) -> tuple[list[Declared], dict[str, list[str]], dict[str, str]]:
    """What a release is asked for, what is offered for it, and the tables that may be released with this one."""
    others = await _second_tables(visit)
    offered = {
        "sign": signing_keys(visit),
        "key_file": _key_files(visit, to_sign=False),
        "with_table": list(others),
        "key_column": list(visit.recipe()["columns"]),
    }
    return [*AT_RUN, *(KEYS if visit.named(*KEYED) else []), *(SECOND if others else [])], offered, others


def _key_files(visit: Visit, *, to_sign: bool) -> list[str]:
    """Keys of the project, those to sign with or the others; that of the ledger is the ledger's alone."""
    files = [one for one in visit.project.files((".pem", ".key")) if not one.startswith(f"0/{LEDGER}/")]
    return [visit.project.word(one) for one in files if _is_to_sign(visit.project.locate(one)) is to_sign]


def _is_to_sign(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_PEM)) == _PEM
    except OSError:
        return False


def signing_keys(visit: Visit) -> list[str]:
    """Keys that certificates may be signed with: those that have a name, and those of the project."""
    from incrowd.report.signature import keys_folder

    return [*sorted(one.stem for one in keys_folder().glob("*.key")), *_key_files(visit, to_sign=True)]


async def release(visit: Visit, written: FilledForm | None = None, error: str = "") -> Response:
    """What will be done, in sentences, and the button."""
    recipe = visit.recipe()
    by_role = {str(role): visit.named(role) for role in Role if visit.named(role)}
    options, offered, _ = await _options(visit)
    return visit.render(
        "release.html",
        error=error,
        recipe=recipe,
        by_role=by_role,
        most=_MOST_SHOWN,
        proposed=visit.project.proposed(visit.table),
        needs_answer="target" in by_role and recipe.get("class_sensitive") is None,
        needs_target=_needs_target(recipe) and "target" not in by_role,
        linked=bool(recipe.get("keep_link")),
        formats=FORMATS,
        fields=fields(options, {"accuracy": bool(by_role.get("target"))}, written, offered),
        second={one.name for one in SECOND},
        has_key=bool(offered["sign"]),
        **await checked(visit),
        command=[*plain_release(visit), "--report", "REPORT.html", "--plan", "PLAN.json", "--ledger", LEDGER],
    )


def _needs_target(recipe: dict[str, Any]) -> bool:
    """Whether the method of the recipe can do nothing without a class."""
    from incrowd.methods.catalog import METHODS
    from incrowd.tables.recipe_checks import DEFAULT_METHOD

    entry = METHODS.get(recipe.get("method") or DEFAULT_METHOD)
    return entry is not None and entry.needs_target and not recipe.get("keep_link")


async def make_key(visit: Visit) -> Response:
    """Make a pair of keys to sign certificates with, in the project."""
    visit.project.place("keys")
    about = {"table": visit.table, "certificate": visit.field("file")}
    return visit.start("keys", "Make a key to sign with", ["keys", "make", SIGNING, "--json"], **about)


async def start_release(visit: Visit) -> Response:
    """Put the release in line."""
    options, offered, others = await _options(visit)
    written = read_form(options, visit.form, offered)
    ending = visit.field("format")
    if written.errors or visit.project.proposed(visit.table):
        return await release(visit, written)
    if ending not in FORMATS:
        raise RequestError(400, "There is no such format.")
    texts, recipe = dict(written.texts), visit.project.recipe_word(visit.table)
    if second := texts.get("with_table"):
        try:
            recipe = _recipe_of_both(visit, others[second], texts["key_column"])
        except IncrowdError as error:
            return await release(visit, written, str(error))
        texts |= {one.name: "" for one in declared([Measuring])}
    visit.project.place(LEDGER, make=False)
    folder = visit.project.new_folder("releases", visit.table)
    for part in ("recipient", "private"):
        (visit.project.folder / folder / part).mkdir(mode=0o700)
    to = f"{folder}/recipient/{slug(visit.project.label(visit.table).partition('.')[0])}{ending}"
    if texts.get("new_key") == "yes":
        visit.project.place("keys")
        texts["key_file"] = f"keys/{folder.rpartition('/')[2]}.key"
    words = ["release", visit.project.word(visit.table), f"--recipe={recipe}", f"--to={to}"]
    words += [f"--report={folder}/private/report.html"]
    words += [f"--plan={folder}/private/plan.json"] * (not second)  # two tables have a plan each
    words += [f"--ledger={LEDGER}"] * (visit.field("ledger") == "yes" and not second)
    words += [*command_words(options, texts), "--json"]
    about = {"table": visit.table, "folder": folder, "certificate": f"0/{to}.certificate.json", "begun": time.time()}
    return visit.start("release", f"Release {visit.project.label(visit.table)}", words, **about)


def _recipe_of_both(visit: Visit, other: str, key: str) -> str:
    """The recipe of two tables, made of theirs: what is promised is said by that of the first."""
    persons, events = visit.recipe(), visit.project.recipe(other) or {"columns": {}}
    if key not in events["columns"]:
        raise ParameterError("Choose under “Key column” the column of both tables that says whose row it is.")
    if (persons.get("reading") or {}) != (events.get("reading") or {}):
        raise ParameterError("Both tables must be read in the same way. Say so for each of them under “Data”.")
    columns = {**events["columns"], **persons["columns"], key: {"role": str(Role.PERSON)}}
    recipe = {name: value for name, value in persons.items() if name not in ("method", "parameters", "keep_link")}
    if any(one.get("role") == Role.TARGET for one in events["columns"].values()):
        recipe["class_sensitive"] = events.get("class_sensitive")
    name = "-with-".join(slug(visit.project.label(one).partition(".")[0]) for one in (visit.table, other))
    return visit.project.save_beside(f"{name}.recipe.yaml", {**recipe, "columns": columns, "keep_link": True})


PAGES = {("GET", "/release"): release, ("POST", "/release"): start_release, ("POST", "/key"): make_key}
