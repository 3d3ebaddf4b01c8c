"""What came out: jobs, the result of a release, its files, the history of all releases."""

from __future__ import annotations

import glob
import shlex
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.responses import FileResponse, HTMLResponse, Response

from incrowd.desk.app import Visit, step_to_change
from incrowd.desk.asking import Answer
from incrowd.desk.jobs import DONE, LIVE, DeskJob, time_words
from incrowd.desk.project import OURS
from incrowd.desk.releasing import LEDGER, SIGNING, signing_keys
from incrowd.desk.security import REPORT_CSP, RequestError
from incrowd.drawing.markup import Html, element, text, texts
from incrowd.drawing.page import bullets, head, page, pairs, section, standing, table
from incrowd.drawing.wording import Tone
from incrowd.errors import IncrowdError

_CERTIFICATE = ".certificate.json"


# jobs


async def job(visit: Visit) -> Response:
    """How a job stands; what came out, where it has ended."""
    one = visit.jobs.find(visit.field("number"))
    state = visit.jobs.state(one)
    refusal = one.refusal if state not in (DONE, *LIVE) else None
    step = step_to_change(refusal["error"], refusal["message"]) if refusal else ""
    return visit.render(
        "job.html",
        table=_table_of(visit, one),
        job=one,
        state=state,
        **_how_far(visit, one),
        refusal=refusal,
        step=step,
        answer=one.answer,
        code=(one.ending or {}).get("status"),
        next=_next(one, state),
        words=shlex.join(["incrowd", *one.words]),
    )


def _table_of(visit: Visit, one: DeskJob) -> str:
    """The table of a job, if it is still there."""
    reference = str(one.about.get("table", ""))
    try:
        visit.project.label(reference)
    except RequestError:
        return ""
    return reference


def _next(one: DeskJob, state: str) -> dict[str, str] | None:
    """Where to go when it is done."""
    about = one.about
    if state != DONE:
        return None
    if one.kind in ("release", "sign") or (one.kind == "keys" and about.get("certificate")):
        words = {"release": "See the result", "sign": "Back to the result", "keys": "Choose it to sign with"}[one.kind]
        return {"path": "result", "words": words, "query": urlencode({"file": about["certificate"]})}
    if one.kind == "demo":
        return {"path": "data", "words": "Begin with this table", "query": urlencode({"table": about["table"]})}
    if one.kind == "keys":
        return {"path": "release", "words": "Choose it to sign with", "query": urlencode({"table": about["table"]})}
    if one.kind == "hierarchy":
        keys = {key: about[key] for key in ("table", "column", "file")}
        return {"path": "hierarchy", "words": "Look at the hierarchy", "query": urlencode(keys)}
    return None


async def job_state(visit: Visit) -> Response:
    """The same for the script of the page."""
    one = visit.jobs.find(visit.field("number"))
    state = visit.jobs.state(one)
    return visit.json({"state": state, "live": state in LIVE, **_how_far(visit, one)})


def _how_far(visit: Visit, one: DeskJob) -> dict[str, Any]:
    """Its stages, the share of its time that is over, and what is left in words."""
    stages, left = one.stages, visit.jobs.left(one)
    if left is None:
        return {"stages": stages, "share": None, "left": ""}
    over = sum(stage["seconds"] for stage in stages)
    return {"stages": stages, "share": over / (over + left), "left": f"{time_words(left)} left"}


async def cancel(visit: Visit) -> Response:
    """End a job."""
    one = visit.jobs.find(visit.field("number"))
    await visit.jobs.cancel(one)
    return visit.to("job", number=str(one.number))


async def again(visit: Visit) -> Response:
    """Start an interrupted job again."""
    one = visit.jobs.find(visit.field("number"))
    if folder := one.about.get("folder"):
        visit.project.place(folder.partition("/")[0])
        for part in ("recipient", "private") if one.kind == "release" else ("",):
            (visit.project.folder / folder / part).mkdir(parents=True, exist_ok=True)
    return visit.to("job", number=str(visit.jobs.again(one).number))


# the result of a release


def _certificate(visit: Visit) -> tuple[Path, Path, dict[str, Any]]:
    """The file of a certificate, that of its release, and what it says."""
    path = visit.project.locate(visit.field("file"))
    data = visit.project.json_in(path) if path.name.endswith(_CERTIFICATE) else None
    if data is None or "incrowd_certificate" not in data:
        raise RequestError(404, "This is not the certificate of a release.")
    return path, path.with_name(path.name.removesuffix(_CERTIFICATE)), data


async def result(visit: Visit) -> Response:
    """Verdict, effective k, risk and accuracy before and after, what was hidden where, files."""
    path, release, certificate = _certificate(visit)
    private = path.parent.parent / "private"
    releases = (one for one in visit.jobs.all() if one.kind == "release")
    made = [one for one in releases if one.about.get("certificate") == visit.field("file")]
    table_ = _table_of(visit, made[0]) if made else ""
    stem = release.name.partition(".")[0]
    beside = release.parent.glob(f"{glob.escape(stem)}.*") if path.parent.name == "recipient" else ()  # groups, events
    give = [*dict.fromkeys([release, path, *sorted(beside)])]
    give += [_public_key(visit)] * (_signer(certificate) == _own_key(visit) != "")
    keep = [private / "report.html", private / "plan.json", private / "attacks.html"]
    plan = private / "plan.json"
    known = list(certificate.get("attributes") or {})
    groups: Answer | None = {}
    explained: Answer | None = {}
    if release.is_file() and known:
        reference = visit.project.reference(release)
        groups = await visit.desk.asker.ask("groups", reference, known=known)
    if plan.is_file():
        reference = visit.project.reference(plan)
        explained = await visit.desk.asker.ask("explain", reference, file=visit.project.word(reference))
    answer = (made[0].answer if made else None) or {}
    return visit.render(
        "result.html",
        table=table_,
        notices=answer.get("notices") or [],
        headlines=answer.get("headlines") or [],
        shortcomings=[one for one in answer.get("little_use") or () if "incrowd compare" not in one],
        certificate=certificate,
        file=visit.field("file"),
        name=release.name,
        give=[_file(visit, one) for one in give if one.is_file()],
        keep=[_file(visit, one) for one in keep if one.is_file()],
        folder=path.parent.parent.name if path.parent.name == "recipient" else path.parent.name,
        attributes=_attributes(certificate),
        groups=groups,
        explained=None if explained is None else explained.get("lines") or [],
        keys=signing_keys(visit),
        words=shlex.join(["incrowd", *made[0].words]) if made else "",
        command=["verify", visit.project.word(visit.project.reference(release))] if release.is_file() else [],
    )


def _public_key(visit: Visit) -> Path:
    return visit.project.folder / f"{SIGNING}.pub"


def _own_key(visit: Visit) -> str:
    """What the key that was made at the desk is called in certificates; nothing, if there is none."""
    from incrowd.report.signature import public_key

    try:
        return public_key(_public_key(visit)).id
    except IncrowdError:
        return ""


def _signer(certificate: dict[str, Any]) -> str:
    """What the key that signed is called; nothing, if none did. A certificate may be a stranger's."""
    signature = certificate.get("signature")
    return str(signature.get("key_id", "")) if isinstance(signature, dict) else ""


async def sign(visit: Visit) -> Response:
    """Sign the certificate of a release, as a job that recounts it first."""
    _, release, _ = _certificate(visit)
    key = visit.field("key")
    if key not in signing_keys(visit):
        raise RequestError(400, "Choose a key to sign with. There is none? Make one under “Before you sign”.")
    words = ["keys", "sign", "--json", "--", key, visit.project.word(visit.project.reference(release))]
    about = {"table": visit.table if visit.field("table") else "", "certificate": visit.field("file")}
    return visit.start("sign", f"Sign {release.name}", words, **about)


def _file(visit: Visit, path: Path) -> dict[str, Any]:
    facts = {"name": path.name, "reference": visit.project.reference(path), "bytes": path.stat().st_size}
    return {**facts, "page": path.suffix == ".html"}


def _attributes(certificate: dict[str, Any]) -> list[dict[str, Any]]:
    """Of each quasi-identifier the shares of cells that are values, sets, intervals, hidden."""
    kinds = {
        "single": "value",
        "set": "set",
        "interval": "interval",
        "mean": "mean",
        "count": "counts",
        "empty": "hidden",
    }
    shown = []
    for name, cells in (certificate.get("attributes") or {}).items():
        total = sum(cells.values()) or 1
        parts = [{"kind": kinds.get(kind, kind), "share": count / total} for kind, count in cells.items()]
        parts.sort(key=lambda part: list(kinds.values()).index(part["kind"]) if part["kind"] in kinds.values() else 9)
        offsets = [100 * sum(one["share"] for one in parts[:place]) for place in range(len(parts))]
        drawn = [{**part, "x": x, "width": 100 * part["share"]} for part, x in zip(parts, offsets, strict=True)]
        shown.append({"name": name, "parts": drawn, "hidden": cells.get("empty", 0) / total})
    return sorted(shown, key=lambda one: -one["hidden"])


async def attack(visit: Visit) -> Response:
    """Attack the release, as a job."""
    path, release, _ = _certificate(visit)
    private = path.parent.parent / "private"
    if path.parent.name != "recipient" or not private.is_dir():
        raise RequestError(409, "Only a release that this desk made can be attacked here. Use incrowd attack.")
    words = ["attack", visit.project.word(visit.project.reference(release))]
    words += [f"--original={visit.project.word(visit.table)}", f"--recipe={visit.project.recipe_word(visit.table)}"]
    report = visit.project.word(visit.project.reference(private / "report.html")).replace("report.html", "attacks.html")
    words += [f"--report={report}", "--replace", "--json"]
    words += [f"--plan={report.replace('attacks.html', 'plan.json')}"] if (private / "plan.json").is_file() else []
    return visit.start("attack", f"Attack {release.name}", words, table=visit.table, file=visit.field("file"))


# files


def _given_out(visit: Visit) -> Path:
    path = visit.project.locate(visit.field("file"))
    allowed = [visit.project.folder / one for one in OURS]  # everything else stays where it is
    if not (path == _public_key(visit) or any(path.is_relative_to(one) for one in allowed)):
        raise RequestError(403, "The desk gives out only what it made.")
    return path


async def download(visit: Visit) -> Response:
    """A file that the desk made."""
    path = _given_out(visit)
    return FileResponse(path, media_type="application/octet-stream", filename=path.name)


async def report(visit: Visit) -> Response:
    """A report: a page of its own in which nothing runs."""
    path = _given_out(visit)
    if path.suffix != ".html" or path.stat().st_size > 64 << 20:
        raise RequestError(404, "There is no such page.")
    headers = {"content-security-policy": REPORT_CSP, "x-frame-options": "SAMEORIGIN"}
    return HTMLResponse(path.read_text(encoding="utf-8"), headers=headers)


async def drawing(visit: Visit) -> Response:
    """A drawing that the desk made, for an image in which nothing runs."""
    path = _given_out(visit)
    if path.suffix != ".svg":
        raise RequestError(404, "There is no such drawing.")
    headers = {"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"}
    return Response(path.read_bytes(), media_type="image/svg+xml", headers=headers)


async def recipient_page(visit: Visit) -> Response:
    """The page that goes with a release: what it is, what it promises, how to use and to check it."""
    _, release, certificate = _certificate(visit)
    headers = {"content-disposition": 'attachment; filename="you-received-a-release.html"'}
    return HTMLResponse(
        received_page(release.name, certificate), headers={**headers, "content-security-policy": REPORT_CSP}
    )


def received_page(name: str, certificate: dict[str, Any]) -> str:
    """The page for whoever receives a release, made from its certificate alone."""
    rows = [
        texts(column["name"], column["role"], "as it was" if column["role"] != "quasi-identifier" else "transformed")
        for column in certificate.get("released_columns", ())
    ]
    released = certificate.get("rows", {}).get("released")
    commands = [
        ("Check it", f"incrowd verify {shlex.quote(name)}"),
        ("Draw plain rows from it", f"incrowd decode {shlex.quote(name)} --deals 5"),
    ]
    facts = {
        "File": text(name),
        "SHA-256": text(str(certificate.get("output", {}).get("sha256", ""))),
        "Rows": text(f"{released:,}" if isinstance(released, int) else "not stated"),
        "Made": text(str(certificate.get("made", ""))),
        "Responsible": text(str(certificate.get("responsible") or "not stated")),
    }
    if key := _signer(certificate):
        facts["Signed by the key"] = text(key)
        commands.insert(1, ("Check who signed it", f"incrowd verify {shlex.quote(name)} --signed-by THEIR-KEY.pub"))
    parts: list[Html] = [
        head("You received a release", f"{name}, with its certificate {name}{_CERTIFICATE}"),
        standing(str(certificate.get("statement", "")), Tone.GOOD),
        section("What it is", "facts", pairs(facts)),
        section("Its columns", "columns", table("", texts("column", "role", "cells"), rows)),
        section(
            "What to do with it",
            "use",
            bullets(element("span", text(f"{what}: "), element("code", text(words))) for what, words in commands),
        ),
        section(
            "What is asked of you",
            "duty",
            bullets(
                [
                    text("Do not try to find out who the people are, and do not join it with tables about people."),
                    text("Keep release and certificate together: the certificate says how cells are to be read."),
                ]
            ),
        ),
    ]
    return page("You received a release", *parts)


# history


async def history(visit: Visit) -> Response:
    """All releases in the folder, whoever made them; the ledger; the jobs."""
    releases: list[dict[str, Any]] = []
    for reference in visit.project.files((_CERTIFICATE,)):
        data = visit.project.json_in(visit.project.locate(reference))
        if data is not None and "incrowd_certificate" in data:
            releases.append({"reference": reference, "certificate": data})
    releases.sort(key=lambda one: str(one["certificate"].get("made")), reverse=True)
    folder = visit.project.place(LEDGER, make=False)
    book: Answer | None = {}
    if folder.is_dir():
        stamp = sorted((one.name, one.stat().st_mtime_ns) for one in folder.iterdir())
        book = await visit.desk.asker.ask("ledger", folder=LEDGER, stamp=stamp)
    jobs = [{"job": one, "state": visit.jobs.state(one)} for one in visit.jobs.all()[:50]]
    return visit.render("history.html", releases=releases, book=book, jobs=jobs, command=["ledger", "list", LEDGER])


async def withdraw(visit: Visit) -> Response:
    """Say that a release never went out."""
    number = visit.field("number")
    if not number.isdecimal() or len(number) > 9:
        raise RequestError(400, "There is no such release.")
    visit.project.place(LEDGER, make=False)
    return visit.start("ledger", f"Withdraw release {number}", ["ledger", "withdraw", LEDGER, number])


PAGES = {
    ("GET", "/job"): job,
    ("GET", "/job/state"): job_state,
    ("POST", "/job/cancel"): cancel,
    ("POST", "/job/again"): again,
    ("GET", "/result"): result,
    ("POST", "/attack"): attack,
    ("POST", "/sign"): sign,
    ("GET", "/download"): download,
    ("GET", "/report"): report,
    ("GET", "/drawing"): drawing,
    ("GET", "/recipient"): recipient_page,
    ("GET", "/history"): history,
    ("POST", "/withdraw"): withdraw,
}
