"""The step of the columns: what each one is, who is alone with what is known of them, and their hierarchies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starlette.responses import Response

from incrowd.desk.app import Visit
from incrowd.desk.forms import changed, command_words, declared, fields, read_form
from incrowd.desk.project import HIERARCHIES, slug
from incrowd.desk.security import RequestError
from incrowd.desk.steps import READING
from incrowd.errors import IncrowdError
from incrowd.vocabulary.column_rules import KeyedColumns
from incrowd.vocabulary.schema import KEYED, ColumnType, Role

KEYING = declared([KeyedColumns], names=("shift_by", "shift_days"))


async def columns(visit: Visit, error: str = "") -> Response:
    """What each column is, and how many people are alone with what is known of them."""
    facts = await visit.facts()
    if facts is None or "error" in facts:
        return visit.waiting(facts)
    recipe = visit.recipe()
    rows = []
    for place, row in enumerate(facts["columns"]):
        own = {**recipe["columns"].get(row["name"], {}), **_written_column(visit, place)}
        rows.append({**row, "draft": row["role"], **own, "place": place, "hierarchy": own.get("hierarchy", "")})
    known = [row["name"] for row in rows if row["role"] == Role.QUASI_IDENTIFIER]
    alone = await _alone(visit, known, next((row["name"] for row in rows if row["role"] == Role.PERSON), ""))
    return visit.render(
        "columns.html",
        facts=facts,
        rows=rows,
        alone=alone,
        error=error,
        known=known,
        roles=list(Role),
        types=list(ColumnType),
        keyed=[row["name"] for row in rows if row["role"] in KEYED],
        fields=fields(KEYING, recipe, None, {"shift_by": [row["name"] for row in rows]}),
        command=["risk", visit.project.word(visit.table), "--recipe", visit.project.recipe_word(visit.table)],
    )


def _written_column(visit: Visit, place: int) -> dict[str, Any]:
    """What the form says of a column."""
    settings: dict[str, Any] = {}
    for key, known in (("role", Role), ("type", ColumnType)):
        text = visit.field(f"{key}:{place}") if visit.form else ""
        if text in list(known):
            settings[key] = text
    if visit.form and visit.field(f"order:{place}").strip():
        settings["order"] = [one.strip() for one in visit.field(f"order:{place}").split(",") if one.strip()]
    return settings


async def _alone(visit: Visit, known: Sequence[str], person: str) -> dict[str, Any] | None:
    if not known:
        return None
    k = visit.recipe().get("k") or 10
    answer = await visit.ask("alone", reading=visit.reading(), known=sorted(known), person=person, k=k)
    if answer is None:
        return {"waiting": True}
    return {**answer, "k": k}


async def count_alone(visit: Visit) -> Response:
    """The same for the script of the page, while roles are chosen."""
    facts = await visit.facts()
    if facts is None or "error" in facts:
        return visit.json(facts or {"waiting": True})
    columns = {row["name"]: _written_column(visit, place) for place, row in enumerate(facts["columns"])}
    roles = {name: one.get("role") for name, one in columns.items()}
    known = [name for name, role in roles.items() if role == Role.QUASI_IDENTIFIER]
    person = next((name for name, role in roles.items() if role == Role.PERSON), "")
    return visit.json(await _alone(visit, known, person))


async def save_columns(visit: Visit) -> Response:
    """Decide what the columns are."""
    facts, recipe = await visit.facts(), visit.recipe()
    if facts is None or "error" in facts:
        return visit.waiting(facts)
    decided = {}
    for place, row in enumerate(facts["columns"]):
        own = {**recipe["columns"].get(row["name"], {"role": row["role"], "type": row["type"]})}
        own |= _written_column(visit, place)
        if own.get("type") != ColumnType.ORDERED:
            own.pop("order", None)
        decided[row["name"]] = own
    written = read_form(KEYING, visit.form, {"shift_by": list(decided)})
    roles = [one.get("role") for one in decided.values()]
    for role in (Role.TARGET, Role.PERSON):
        if roles.count(role) > 1:
            return await columns(visit, f"Only one column can be the {role}. Choose one.")
    try:
        visit.save(changed({**recipe, "columns": decided}, KEYING, written), decided=True)
    except IncrowdError as error:
        return await columns(visit, str(error))
    return visit.to("columns" if visit.field("stay") else "promise", table=visit.table)


# hierarchies


async def hierarchy(visit: Visit, error: str = "") -> Response:
    """The hierarchy of a column: drafted, uploaded or chosen, level by level."""
    recipe, column = visit.recipe(), visit.field("column")
    if column not in recipe["columns"]:
        raise RequestError(404, "There is no such column.")
    files = [one for one in visit.project.files(HIERARCHIES) if one.startswith("0/hierarchies/")]
    current = recipe["columns"][column].get("hierarchy", "")
    looked_at = visit.field("file") or (f"0/{current}" if current else "")
    levels = None
    if looked_at:
        word = visit.project.word(looked_at)
        levels = await visit.desk.asker.ask("hierarchy", looked_at, file=word)
        if levels and "error" in levels:
            error, levels = levels["message"], None
    return visit.render(
        "hierarchy.html",
        column=column,
        files=files,
        current=current,
        looked_at=looked_at,
        levels=levels,
        error=error,
        command=["hierarchy", "draft", visit.project.word(visit.table), f"--column={column}", "--to=HIERARCHY.txt"],
    )


async def draft_hierarchy(visit: Visit) -> Response:
    """Let a hierarchy be drafted."""
    column = visit.field("column")
    place = list(visit.recipe()["columns"]).index(column)
    visit.project.place("hierarchies")
    file = f"hierarchies/{slug(visit.project.label(visit.table))}-{slug(column)}-{place}.txt"
    reading = visit.reading()
    words = ["hierarchy", "draft", visit.project.word(visit.table), f"--column={column}", f"--to={file}", "--replace"]
    words += command_words(READING, {one.name: one.text for one in fields(READING, reading)})
    about = {"table": visit.table, "column": column, "file": f"0/{file}"}
    return visit.start("hierarchy", f"Draft a hierarchy of {column}", [*words, "--json"], **about)


async def save_hierarchy(visit: Visit) -> Response:
    """Give a column its hierarchy, or take it away."""
    recipe, column, file = visit.recipe(), visit.field("column"), visit.field("file")
    own = {name: dict(one) for name, one in recipe["columns"].items()}
    if column not in own:
        raise RequestError(404, "There is no such column.")
    own[column].pop("hierarchy", None)
    if file:
        own[column]["hierarchy"] = visit.project.word(file)
    try:
        visit.save({**recipe, "columns": own})
    except IncrowdError as error:
        return await hierarchy(visit, str(error))
    return visit.to("columns", table=visit.table)


PAGES = {
    ("GET", "/columns"): columns,
    ("POST", "/columns"): save_columns,
    ("POST", "/alone"): count_alone,
    ("GET", "/hierarchy"): hierarchy,
    ("POST", "/hierarchy"): save_hierarchy,
    ("POST", "/hierarchy/draft"): draft_hierarchy,
}
