"""The way to a release: data, who is a person, (columns,) promise, method and form. Each step edits the recipe."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Any

from starlette.responses import Response

from incrowd.desk.app import Visit, step_to_change
from incrowd.desk.forms import FilledForm, changed, declared, fields, read_form
from incrowd.desk.project import database_table
from incrowd.desk.recipes import recipe_text
from incrowd.desk.security import RequestError
from incrowd.drawing.markup import Html
from incrowd.drawing.svg import (
    LEFT,
    RIGHT,
    WIDTH,
    ChartBox,
    LegendEntry,
    chart,
    even_scale,
    level,
    line_entry,
    log_scale,
    marker,
    place_labels,
    plot,
    powers,
    words,
)
from incrowd.errors import IncrowdError
from incrowd.tables.databases.tables import is_database_file
from incrowd.tables.options import MethodOptions, Promise, Reading, What
from incrowd.vocabulary.persons import KNOWN_ROWS, WHOLE_HISTORIES, PersonOptions
from incrowd.vocabulary.schema import Role

READING = declared([Reading])
PEOPLE = declared([PersonOptions, What], without=("person",))
PEOPLE = [one for one in PEOPLE if one.name in PersonOptions.__annotations__ or one.name == "repeats"]
PROMISE = declared([What], names=("preset",)) + declared(
    [Promise], without=("k", "class_sensitive", "despite_unchanged")
)
SIZE = declared([Promise], names=("k", "class_sensitive"))
METHOD = declared([MethodOptions], without=("method",))
_WORKBOOKS, _OF_WORKBOOKS, _OF_TEXT = (".xlsx", ".xls"), ("sheet", "header_row"), ("delimiter", "encoding")
DEMOS = {"patients": (), "visits": ("--visits",)}


# data


async def home(visit: Visit) -> Response:
    """What there is to begin with."""
    tables = []
    for reference in visit.project.tables():
        path = visit.project.locate(reference)
        facts = {"reference": reference, "way": reference.partition("/")[2], "bytes": path.stat().st_size}
        tables.append({**facts, "recipe": visit.project.recipe_path(reference).is_file()})
    folders = [str(root) for root in visit.project.roots]
    return visit.render("home.html", table="", tables=tables, folders=folders, command=["inspect", "FILE"])


async def demo(visit: Visit) -> Response:
    """Make a table of people who do not exist."""
    name = visit.field("demo")
    if name not in DEMOS:
        raise RequestError(400, "There is no such demo.")
    folder = visit.project.place(f"demo-{name}").name
    words = ["demo", "--table-only", f"--folder={folder}", "--replace", *DEMOS[name]]
    return visit.start("demo", f"Make up {name}", words, table=f"0/{folder}/{name}.csv")


async def data(visit: Visit, written: FilledForm | None = None, error: str = "") -> Response:
    """How the table was read, and its first rows; of a database, which tables there are."""
    if is_database_file(visit.table) and not database_table(visit.table):
        tables = await visit.ask("tables") or {}
        names, command = tables.get("names"), ["inspect", f"{visit.project.word(visit.table)}?table=NAME"]
        return visit.render("tables.html", names=names, error=tables.get("message", ""), command=command)
    answer = await visit.facts()
    recipe, preview = visit.recipe(), None
    if answer is not None and "error" in answer:
        error, answer = error or answer["message"], None
    elif answer is not None:
        preview = await visit.ask("preview", reading=visit.reading(), cells=visit.field("cells") == "shown")
    useless = _OF_TEXT if visit.project.label(visit.table).lower().endswith(_WORKBOOKS) else _OF_WORKBOOKS
    return visit.render(
        "data.html",
        facts=answer,
        error=error,
        waiting=answer is None and not error,
        looking=answer is not None and preview is None,
        preview=preview if preview and "error" not in preview else None,
        shown=visit.field("cells") == "shown",
        fields=[one for one in fields(READING, recipe.get("reading") or {}, written) if one.name not in useless],
        command=["inspect", visit.project.word(visit.table), "--recipe", visit.project.recipe_word(visit.table)],
    )


async def save_data(visit: Visit) -> Response:
    """Read the table another way."""
    written = read_form(READING, visit.form)
    if written.errors:
        return await data(visit, written)
    reading = {name: value for name, value in written.values.items() if value is not None}
    recipe = visit.recipe()
    answer = await visit.ask("columns", reading=reading)
    if answer is not None and "error" in answer:
        return await data(visit, written, answer["message"])
    columns = recipe["columns"]
    if answer is not None:
        names = [row["name"] for row in answer["columns"]]
        drafts = {row["name"]: {"role": row["role"], "type": row["type"]} for row in answer["columns"]}
        columns = {name: columns.get(name) or drafts[name] for name in names} if set(names) != set(columns) else columns
    try:
        visit.save({**recipe, "reading": reading, "columns": columns})
    except IncrowdError as error:
        return await data(visit, written, str(error))
    return visit.to("data", table=visit.table)


async def address(visit: Visit) -> Response:
    """A table on a server."""
    return visit.to("data", table=visit.table)


# people


async def people(visit: Visit, written: FilledForm | None = None, error: str = "") -> Response:
    """Whose rows they are."""
    facts = await visit.facts()
    if facts is None or "error" in facts:
        return visit.waiting(facts)
    person = (visit.form.get("person") or [""])[-1] or next(iter(visit.named(Role.PERSON)), "")
    looked_at = visit.query.get("column") or person or next(iter(facts["persons"]), "")
    counts = await visit.ask("persons", reading=visit.reading(), column=looked_at) if looked_at else None
    names = [row["name"] for row in facts["columns"]]
    return visit.render(
        "people.html",
        facts=facts,
        error=error,
        person=person,
        column=looked_at,
        counts=counts,
        names=names,
        likely=facts["persons"],
        fields=fields(PEOPLE, visit.recipe(), written, {"order": names}),
        command=[
            *("release", visit.project.word(visit.table)),
            *(["--person", person] if person else []),
            *("--recipe", visit.project.recipe_word(visit.table), "--to", "OUT.csv"),
        ],
    )


async def save_people(visit: Visit) -> Response:
    """Say whose rows they are."""
    recipe, person = visit.recipe(), visit.field("person")
    written = read_form(PEOPLE, visit.form, {"order": list(recipe["columns"])})
    if person and person not in recipe["columns"]:
        raise RequestError(400, "There is no such column.")
    columns = {name: dict(one) for name, one in recipe["columns"].items()}
    for name, one in columns.items():
        if one.get("role") == Role.PERSON and name != person:
            one["role"] = str(Role.IDENTIFIER)
    if person:
        columns[person]["role"] = str(Role.PERSON)
    if not written.errors:
        try:
            visit.save(changed({**recipe, "columns": columns}, PEOPLE, written))
        except IncrowdError as error:
            return await people(visit, written, str(error))
        return visit.to("columns", table=visit.table)
    return await people(visit, written)


# promise


async def promise(visit: Visit, written: FilledForm | None = None, error: str = "") -> Response:
    """What is promised, and whether this table can keep it."""
    recipe = visit.recipe()
    target = next(iter(visit.named(Role.TARGET)), "")
    columns = visit.named(Role.SENSITIVE, Role.TARGET)
    person = next(iter(visit.named(Role.PERSON)), "")
    reach = await visit.ask("reach", reading=visit.reading(), columns=columns, person=person)
    return visit.render(
        "promise.html",
        error=error,
        target=target,
        k=(written.texts.get("k") if written else None) or recipe.get("k") or 10,
        k_error=written.errors.get("k", "") if written else "",
        sensitive=recipe.get("class_sensitive"),
        fields=fields(PROMISE, recipe, written, _promise_choices(visit)),
        columns=columns,
        reach=reach,
        **await checked(visit),
        command=plain_release(visit),
    )


async def save_promise(visit: Visit) -> Response:
    """Ask for it."""
    written = read_form([*SIZE, *PROMISE], visit.form, _promise_choices(visit))
    if written.errors:
        return await promise(visit, written)
    try:
        visit.save(changed(visit.recipe(), [*SIZE, *PROMISE], written))
    except IncrowdError as error:
        return await promise(visit, written, str(error))
    return visit.to("promise" if visit.field("stay") else "method", table=visit.table)


async def check_promise(visit: Visit) -> Response:
    """The same for the script of the page, while fields are filled in: nothing is kept."""
    written = read_form([*SIZE, *PROMISE], visit.form, _promise_choices(visit))
    if written.errors:
        name, message = next(iter(written.errors.items()))
        return visit.json({"error": "ParameterError", "message": f"{name.replace('_', ' ').capitalize()}: {message}"})
    answer = await checked(visit, changed(visit.recipe(), [*SIZE, *PROMISE], written))
    return visit.json(answer["check"] or {"waiting": True})


def _promise_choices(visit: Visit) -> dict[str, list[str]]:
    from incrowd.tables.recipe_checks import PRESETS

    return {"preset": [*PRESETS], "population": [visit.project.word(one) for one in visit.project.tables()]}


async def checked(visit: Visit, recipe: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Whether a release by the recipe is possible, and at which step it can be mended if not."""
    if not visit.named(Role.QUASI_IDENTIFIER):
        message = "No column is a quasi-identifier yet: what could somebody know of a person?"
        return {"check": {"error": "SchemaError", "message": message, "step": "columns"}}
    text = recipe_text(visit.recipe() if recipe is None else recipe)
    answer = await visit.ask("check", recipe=visit.project.recipe_word(visit.table), text=text)
    if answer is not None and "error" in answer:
        answer = {**answer, "step": step_to_change(answer["error"], answer["message"])}
    return {"check": answer}


def plain_release(visit: Visit) -> list[str]:
    """The command that releases the table by its recipe."""
    word, recipe = visit.project.word(visit.table), visit.project.recipe_word(visit.table)
    return ["release", word, "--recipe", recipe, "--to", "OUT.csv"]


# method and form


async def method(visit: Visit, written: FilledForm | None = None, error: str = "") -> Response:
    """Which method, and in which form groups are released."""
    from incrowd.methods.catalog import AUTO, LINKED, METHODS
    from incrowd.tables.recipe_checks import DEFAULT_METHOD

    recipe, has_target = visit.recipe(), bool(visit.named(Role.TARGET))
    followed = LINKED[KNOWN_ROWS if recipe.get("known_rows") else WHOLE_HISTORIES]
    entries = (
        [followed] if recipe.get("keep_link") else [*METHODS.values(), AUTO]
    )  # it follows from what may be followed
    possible = [entry.name for entry in entries if has_target or not entry.needs_target]
    usual = DEFAULT_METHOD if DEFAULT_METHOD in possible else possible[0]
    entries.sort(key=lambda entry: (entry.name != usual, entry is not AUTO))  # what most take comes first
    wished = (visit.field("method") if visit.form else "") or recipe.get("method")
    comparisons = [job for job in visit.jobs.all() if job.kind == "compare" and job.about.get("table") == visit.table]
    comparison = next((job for job in comparisons if job.answer), None)
    return visit.render(
        "method.html",
        error=error,
        entries=entries,
        chosen=wished if wished in possible else usual,
        default=usual,
        has_target=has_target,
        fields=fields(METHOD, recipe, written),
        comparison=comparison,
        compared=compared(comparison.answer.get("results", ())) if comparison else None,
        command=plain_release(visit),
    )


async def save_method(visit: Visit) -> Response:
    """Choose it."""
    from incrowd.methods.catalog import AUTO, LINKED, METHODS

    written, name = read_form(METHOD, visit.form), visit.field("method")
    if not name:
        return await method(visit, written, "Choose a method.")
    if name not in (*METHODS, *LINKED, AUTO.name):
        raise RequestError(400, "There is no such method.")
    if written.errors:
        return await method(visit, written)
    try:
        visit.save(changed({**visit.recipe(), "method": name}, METHOD, written))
    except IncrowdError as error:
        return await method(visit, written, str(error))
    return visit.to("release", table=visit.table)


PAGES = {
    ("GET", "/"): home,
    ("POST", "/demo"): demo,
    ("GET", "/data"): data,
    ("POST", "/data"): save_data,
    ("POST", "/address"): address,
    ("GET", "/people"): people,
    ("POST", "/people"): save_people,
    ("GET", "/promise"): promise,
    ("POST", "/promise"): save_promise,
    ("POST", "/promise/check"): check_promise,
    ("GET", "/method"): method,
    ("POST", "/method"): save_method,
}


_MARK = 6  # half the room of a mark
_SPAN = 5  # points of accuracy that the axis has at least: smaller differences shall not look large
_UNPROTECTED = "unprotected"


@dataclass(frozen=True, eq=False)
class ComparedMethod:
    """A method at one k: its average risk, and what each learner reaches."""

    method: str
    k: int
    risk: float
    accuracy: Mapping[str, float]


@dataclass(frozen=True)
class ComparedMethods:
    """All methods and k of a comparison, and what learners reach on the table itself."""

    releases: Sequence[ComparedMethod]
    unprotected: Mapping[str, float]

    @property
    def learners(self) -> list[str]:
        """Those of whom something is known, in their order."""
        return list(dict.fromkeys([*self.unprotected, *(name for one in self.releases for name in one.accuracy)]))

    @property
    def chart(self) -> Html | None:
        """Accuracy of the first learner against average risk; nothing if nothing was measured."""
        return _chart(self, self.learners[0]) if self.releases and self.learners else None


def compared(results: Iterable[Mapping[str, Any]]) -> ComparedMethods:
    """The means over all trials of a comparison.

    Examples
    --------
    >>> trial = {"method": "mondrian", "k": 5, "learner": "c45", "status": "done", "average_risk": 0.1}
    >>> compared([{**trial, "accuracy": 0.8}, {**trial, "accuracy": 0.9}]).releases[0].accuracy["c45"].__round__(2)
    0.85
    """
    cells: dict[tuple[str, int], dict[str, list[float]]] = {}
    risks: dict[tuple[str, int], list[float]] = {}
    for one in results:
        if isinstance(one.get("accuracy"), float) and isinstance(one.get("average_risk"), float):
            place = (str(one["method"]), int(one["k"]))
            cells.setdefault(place, {}).setdefault(str(one["learner"]), []).append(one["accuracy"])
            risks.setdefault(place, []).append(one["average_risk"])
    means = {place: {learner: fmean(values) for learner, values in own.items()} for place, own in cells.items()}
    releases = [ComparedMethod(*place, fmean(risks[place]), own) for place, own in means.items()]
    unprotected = next((one.accuracy for one in releases if one.method == _UNPROTECTED), {})
    known = [one for one in releases if one.method != _UNPROTECTED and one.risk > 0]
    return ComparedMethods(sorted(known, key=lambda one: (one.method, one.k)), unprotected)


def _chart(all_: ComparedMethods, learner: str) -> Html:
    releases = [one for one in all_.releases if learner in one.accuracy]
    methods = list(dict.fromkeys(one.method for one in releases))
    standard = [100 * all_.unprotected[learner]] if learner in all_.unprotected else []
    reached = [*standard, *(100 * one.accuracy[learner] for one in releases)]
    across = powers(log_scale([one.risk for one in releases], LEFT, WIDTH - RIGHT, 0.08))
    up, parts = plot(
        [
            *(line_entry(_UNPROTECTED, _UNPROTECTED) for _ in standard),
            *(LegendEntry(name, marker(place, (10, 0))) for place, name in enumerate(methods)),
        ],
        across,
        partial(even_scale, [*reached, max(reached) - _SPAN]),
        ("average re-identification risk", "accuracy, %"),
        _percent,
    )
    parts += [level(up, value, _UNPROTECTED) for value in standard]
    places = {one: (across(one.risk), up(100 * one.accuracy[learner])) for one in releases}
    for one, at in places.items():
        parts.append(marker(methods.index(one.method), at, tip=f"{one.method}, k={one.k}: {_words(one, learner)}"))
    room = ChartBox(LEFT, up.end - 8, WIDTH, up.start)
    taken = [ChartBox(x - _MARK, y - _MARK, x + _MARK, y + _MARK) for x, y in places.values()]
    taken += [ChartBox(LEFT, up(value) - 2, WIDTH - RIGHT, up(value) + 2) for value in standard]
    labels = [(f"k={one.k}", at) for one, at in places.items()]
    parts += [words(label, at) for label, at in place_labels(labels, taken, room)]
    description = "; ".join(f"{one.method} at k={one.k}: {_words(one, learner)}" for one in releases)
    return chart(f"Accuracy of {learner} against average risk. {description}", parts, up)


def _words(one: ComparedMethod, learner: str) -> str:
    return f"accuracy {100 * one.accuracy[learner]:.1f} %, average risk {_percent(one.risk)}"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
