"""The application: a desk, what one visit of a page knows, and the table of all pages."""

from __future__ import annotations

import shlex
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jinja2 import ChainableUndefined, Environment, FileSystemLoader, select_autoescape
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from incrowd.desk.asking import Answer, Asker
from incrowd.desk.jobs import LIVE, JobLine
from incrowd.desk.project import Project, is_address, slug
from incrowd.desk.recipes import with_roles_at_columns
from incrowd.desk.security import Gate, Guard, RequestError, parse_form
from incrowd.drawing.markup import page_style
from incrowd.drawing.wording import percent
from incrowd.errors import IncrowdError
from incrowd.vocabulary.plain_data import read_plain_yaml
from incrowd.vocabulary.schema import Role

HERE = Path(__file__).parent
STEPS = {
    "data": "Data",
    "people": "Who is a person?",
    "columns": "Columns",
    "promise": "Promise",
    "method": "Method and form",
    "release": "Release",
}
TOOLS = {
    "verify": "Verify a file",
    "risk": "Risk of a file",
    "compare": "Compare methods",
    "model": "Publish a model",
    "hide": "Hide cells",
    "history": "History",
}
_STEP_OF = {
    "InputError": "data",
    "FileFormatError": "data",
    "EncodingError": "data",
    "ValuesError": "data",
    "HeaderError": "columns",
    "SchemaError": "columns",
    "ParameterError": "promise",
    "RequirementError": "promise",
    "VerificationError": "promise",
    "LedgerError": "release",
    "OutputError": "release",
    "MissingPackageError": "data",
}
"""Which step to change when an error of this kind refuses a release."""
Row = Mapping[str, Any]


class Desk:
    """All that pages share: the project, the gate, the jobs, and who asks about tables."""

    def __init__(self, project: Project, gate: Gate) -> None:
        self.project, self.gate = project, gate
        self.jobs, self.asker = JobLine(project), Asker(project)
        self.last_visit = time.monotonic()
        self.pages = Environment(
            loader=FileSystemLoader(HERE / "templates"),
            autoescape=select_autoescape(default=True),
            undefined=ChainableUndefined,  # files of other versions may lack what a page shows
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self.pages.filters["number"] = lambda value: f"{value:,}" if isinstance(value, int | float) else ""
        self.pages.filters["percent"] = lambda share: percent(share) if isinstance(share, int | float) else "?"

    def awake(self) -> None:
        """Somebody was here."""
        self.last_visit = time.monotonic()

    async def close(self) -> None:
        """End everything that runs."""
        await self.jobs.close()
        await self.asker.close()


class Visit:
    """One request for a page: the address, the form, and what belongs to the table it is about."""

    def __init__(self, desk: Desk, query: Mapping[str, str], form: Mapping[str, list[str]]) -> None:
        self.desk, self.query, self.form = desk, query, form
        self.project, self.jobs = desk.project, desk.jobs

    def field(self, name: str) -> str:
        """What the form says, or the address."""
        return self.form[name][-1] if name in self.form else self.query.get(name, "")

    @property
    def table(self) -> str:
        """The table that the page is about; refused if there is none of that name."""
        reference = self.field("table")
        if is_address(reference):
            if "password" in reference.lower() or len(reference) > 500 or not reference.isprintable():
                raise RequestError(400, "An address has no password. See the documentation of databases.")
            return reference
        self.project.locate(reference)
        return reference

    def ask(self, what: str, **facts: Any) -> Awaitable[Answer | None]:
        """A fact about the table, as the recipe says it is read."""
        return self.desk.asker.ask(what, self.table, **facts)

    def reading(self) -> dict[str, Any]:
        """How the table is read."""
        return dict((self.project.recipe(self.table) or {}).get("reading") or {})

    async def facts(self) -> Answer | None:
        """What each column seems to be; a table without a recipe gets the draft that comes with it."""
        answer = await self.ask("columns", reading=self.reading())
        if answer is not None and "error" not in answer:
            recipe = self.project.recipe(self.table)
            if recipe is None or not recipe["columns"]:
                draft = with_roles_at_columns(read_plain_yaml(answer["recipe"], "The draft"))
                draft = {key: draft[key] for key in ("columns", "reading") if key in draft}  # the rest is to be decided
                settings = {**draft, **{k: v for k, v in (recipe or {}).items() if v}}
                self.project.save_recipe(self.table, settings, proposed=True)
                self.desk.asker.remember(answer, "columns", self.table, reading=self.reading())
        return answer

    def waiting(self, facts: Answer | None) -> Response:
        """The page while facts are looked for; if they are not to be had, the step that says why."""
        return self.render("wait.html") if facts is None else self.to("data", table=self.table)

    def recipe(self) -> dict[str, Any]:
        """What the recipe says; nothing yet, if there is none."""
        return self.project.recipe(self.table) or {"columns": {}}

    def named(self, *roles: str) -> list[str]:
        """The columns in these roles."""
        return [name for name, one in self.recipe()["columns"].items() if one.get("role") in roles]

    def save(self, recipe: Mapping[str, Any], *, decided: bool = False) -> None:
        """Write the recipe of the table; roles stay proposals until somebody has decided on them."""
        proposed = not decided and self.project.proposed(self.table)
        self.project.save_recipe(self.table, recipe, proposed=proposed)

    def render(self, template: str, *, status: int = 200, command: Sequence[str] = (), **context: Any) -> Response:
        """The page."""
        table = context.pop("table", self.field("table"))
        live = [job for job in self.jobs.all()[:30] if self.jobs.state(job) in LIVE]
        text = self.desk.pages.get_template(template).render(
            steps=STEPS,
            tools=TOOLS,
            done=self._done(table) if table else {},
            table=table,
            label=self.project.label(table) if table else "",
            here=template.removesuffix(".html"),
            csrf=self.desk.gate.csrf,
            project=self.project.folder.name,
            command=shlex.join(["incrowd", *command]) if command else "",
            live=live,
            query=urlencode({"table": table}) if table else "",
            **context,
        )
        return HTMLResponse(text, status)

    def to(self, path: str, **query: str) -> Response:
        """On to another page."""
        return RedirectResponse(f"/{path}?{urlencode(query)}" if query else f"/{path}", 303)

    def start(self, kind: str, title: str, words: Sequence[str], **about: Any) -> Response:
        """Put a command in line, and on to the page of its job."""
        return self.to("job", number=str(self.jobs.start(kind, title, words, **about).number))

    def json(self, data: Any) -> Response:
        """An answer for the script of a page."""
        return JSONResponse(data)

    def _done(self, table: str) -> dict[str, bool]:
        """Which steps have been settled, as the files tell it."""
        try:
            recipe = self.project.recipe(table) or {"columns": {}}
        except IncrowdError:
            return {}
        roles = [one.get("role") for one in recipe["columns"].values()]
        decided = Role.QUASI_IDENTIFIER in roles and not self.project.proposed(table)
        answered = Role.TARGET not in roles or recipe.get("class_sensitive") is not None
        stem = slug(self.project.label(table).partition(".")[0])
        made = (self.project.folder / "releases").glob(f"{stem}-[0-9]*/recipient/*.certificate.json")
        return {
            "data": bool(recipe["columns"]),
            "people": decided,
            "columns": decided,
            "promise": decided and answered and bool(recipe.get("k")),
            "method": bool(recipe.get("method")),
            "release": decided and any(made),
        }


def step_to_change(error: str, message: str = "") -> str:
    """The step at which an error can be mended."""
    if error == "SchemaError" and ("person" in message.lower() or "repeats" in message):
        return "people"
    if error == "VerificationError" and message.startswith("Not published"):  # unchanged columns tell too much
        return "columns"
    if error == "ParameterError" and ("method" in message or "form" in message):
        return "method"
    return _STEP_OF.get(error, "release")


Handler = Callable[[Visit], Awaitable[Response]]


def _get(desk: Desk, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        return await handler(Visit(desk, dict(request.query_params), {}))

    return answer


def _post(desk: Desk, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    """Every change goes through here: the form must be one of ours."""

    async def answer(request: Request) -> Response:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/x-www-form-urlencoded":
            raise RequestError(415, "This is not a form of the desk.")
        form = parse_form(await request.body(), desk.gate)
        return await handler(Visit(desk, dict(request.query_params), form))

    return answer


def make_app(desk: Desk) -> Guard:
    """The application with all its pages, behind the gate."""
    from incrowd.desk import columns, releasing, results, steps, tools
    from incrowd.desk.uploads import upload

    routes = [Route("/static/{name}", _static, methods=["GET"]), Route("/upload", upload(desk), methods=["POST"])]
    pages: dict[tuple[str, str], Handler] = {}
    for part in (steps, columns, releasing, results, tools):
        pages.update(part.PAGES)
    for (method, path), handler in pages.items():
        wrap = _post if method == "POST" else _get
        routes.append(Route(path, wrap(desk, handler), methods=[method]))

    async def refused(_request: Request, error: Exception) -> Response:
        words, status = _in_words(error)
        return Visit(desk, {}, {}).render("error.html", status=status, message=words, table="")

    handlers: dict[Any, Any] = dict.fromkeys((RequestError, IncrowdError, HTTPException, Exception), refused)
    return Guard(Starlette(routes=routes, exception_handlers=handlers), desk.gate, desk.awake)


def _in_words(error: Exception) -> tuple[str, int]:
    if isinstance(error, RequestError):
        return error.words, error.status
    if isinstance(error, IncrowdError):
        return str(error), 422
    if isinstance(error, HTTPException):
        return "There is no such page.", error.status_code
    return "The desk has a fault, and nothing was changed. Please report it.", 500


_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
_STATIC = {"desk.css", "desk.js", "icon.svg"}


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name == "kit.css":
        return Response(page_style(), media_type=_TYPES[".css"])
    if name not in _STATIC:
        raise RequestError(404, "There is no such page.")
    return Response((HERE / "static" / name).read_bytes(), media_type=_TYPES[Path(name).suffix])
