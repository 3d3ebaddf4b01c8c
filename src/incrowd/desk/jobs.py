"""Jobs: commands of incrowd, each a process of its own, one at a time, in the order they were asked for.

A job is a folder in the private place of the project: what was asked, its stages, its answer, how it ended. A desk that
starts reads them again; one that has no end and no process is interrupted, and can be started again.

How long one still takes: a stage that tells how far it is goes on as it began. The others take what they took in the
last job of this kind, in proportion to the size of the table; before there was one, what they take by the usual method
on a table of this size.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import shutil
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from incrowd.desk.asking import KILL, signal_group, started
from incrowd.desk.project import Project, save_json
from incrowd.desk.security import RequestError
from incrowd.tables.publishing.staging import sweep_abandoned

MOST_WAITING = 20
_MOST_KEPT = 200  # jobs that are remembered
_BY_SIGNAL = 128  # and more: the exit status of what a signal ended
_UNWINDING = 0.8  # seconds until a job that was cancelled is killed: two in all, also where the machine is busy
WAITING, RUNNING, DONE = "waiting", "running", "done"
REFUSED, CANCELLED, INTERRUPTED = "refused", "cancelled", "interrupted"
LIVE = (WAITING, RUNNING)


@dataclass(frozen=True)
class DeskJob:
    """One job: its number, the command, what it is about, where its files are."""

    number: int
    folder: Path
    kind: str
    title: str
    words: tuple[str, ...]
    about: dict[str, Any]
    requested_at: float

    @property
    def stages(self) -> list[dict[str, Any]]:
        """The stages so far; none before it has begun."""
        process, end = _json(self.folder / "process.json"), (self.ending or {}).get("at", time.time())
        return stages_of(_lines(self.folder / "progress.jsonl"), process["begun"], end) if process else []

    @property
    def refusal(self) -> dict[str, Any] | None:
        """Why it was refused: the kind of error, and the message."""
        return next((line for line in reversed(_lines(self.folder / "progress.jsonl")) if "error" in line), None)

    @property
    def ending(self) -> dict[str, Any] | None:
        """How it ended, if it did."""
        ending: dict[str, Any] | None = _json(self.folder / "ended.json")
        return ending

    @property
    def answer(self) -> Any:
        """What the command answered, as data; None if it is none."""
        return _json(self.folder / "answer.json")

    @property
    def messages(self) -> str:
        """What the command said beside its answer."""
        with contextlib.suppress(OSError):
            return (self.folder / "messages.txt").read_text(encoding="utf-8", errors="replace")[-4000:].strip()
        return ""


class JobLine:
    """The jobs of a project, and the one that runs."""

    def __init__(self, project: Project) -> None:
        self.project, self.folder = project, project.private / "jobs"
        self._waiting: list[int] = []
        self._running: tuple[int, asyncio.subprocess.Process] | None = None
        self._worker: asyncio.Task[None] | None = None
        self._changes: asyncio.Lock = asyncio.Lock()

    @property
    def is_busy(self) -> bool:
        """Whether a job runs or waits."""
        return bool(self._waiting or self._running)

    def all(self) -> list[DeskJob]:
        """Every job that is remembered, the latest first."""
        numbers = sorted((int(one.name) for one in self.folder.iterdir() if one.name.isdecimal()), reverse=True)
        return [job for number in numbers if (job := self._read(number)) is not None]

    def find(self, number: str) -> DeskJob:
        """The job of a number."""
        job = self._read(int(number)) if number.isdecimal() and len(number) < 9 else None
        if job is None:
            raise RequestError(404, "There is no such job.")
        return job

    def state(self, job: DeskJob) -> str:
        """In one word how it stands."""
        if self._running and self._running[0] == job.number:
            return RUNNING
        if job.number in self._waiting:
            return WAITING
        ending = job.ending
        if ending is not None and ending.get("cancelled"):
            return CANCELLED
        if ending is None or not 0 <= ending["status"] < _BY_SIGNAL:
            return INTERRUPTED
        return DONE if ending["status"] == 0 or job.answer is not None else REFUSED

    def left(self, job: DeskJob) -> float | None:
        """About how many seconds a running job still takes; None if nothing tells it."""
        stages = job.stages
        if self.state(job) != RUNNING or not stages:
            return None
        alike = [one for one in self.all() if one.kind == job.kind and self.state(one) == DONE]
        table = job.about.get("table")
        last = next(iter([*(one for one in alike if one.about.get("table") == table), *alike]), None)
        earlier, before = (last.stages, last.about.get("bytes")) if last else ([], None)
        return seconds_left(stages, usual_seconds(job.kind, job.about.get("bytes"), earlier, before))

    def start(self, kind: str, title: str, words: Sequence[str], **about: Any) -> DeskJob:
        """Put a command in line."""
        if len(self._waiting) >= MOST_WAITING:
            raise RequestError(429, f"{MOST_WAITING} jobs wait already. Cancel some, or wait.")
        number = max((job.number for job in self.all()[:1]), default=0) + 1
        folder = self.folder / f"{number:04d}"
        folder.mkdir(mode=0o700)
        about |= {"bytes": self.project.size(str(about.get("table", "")))}
        facts = {"kind": kind, "title": title, "words": list(words), "about": about, "requested_at": time.time()}
        save_json(folder / "job.json", facts)
        self._forget()
        self._waiting.append(number)
        if self._worker is None or self._worker.done():
            self._worker = asyncio.get_running_loop().create_task(self._work())
        return self.find(str(number))

    def again(self, job: DeskJob) -> DeskJob:
        """The same command once more; what goes on where it stopped does so."""
        if self.state(job) in LIVE:
            raise RequestError(409, "This job has not ended yet.")
        return self.start(job.kind, job.title, job.words, **job.about)

    async def cancel(self, job: DeskJob) -> None:
        """End a job, in less than two seconds, whatever it does."""
        if job.number in self._waiting:
            self._waiting.remove(job.number)
            _end(job, 130, cancelled=True)
        elif self._running and self._running[0] == job.number:
            process = self._running[1]
            (job.folder / "cancelled").touch()
            signal_group(process, signal.SIGTERM)
            try:
                await asyncio.wait_for(process.wait(), _UNWINDING)
            except TimeoutError:
                signal_group(process, KILL)
                await process.wait()

    async def close(self) -> None:
        """End what runs; what waits is interrupted."""
        self._waiting.clear()
        if self._running:
            await self.cancel(self.find(str(self._running[0])))
        if self._worker is not None:
            await asyncio.wait([self._worker], timeout=5)

    async def _work(self) -> None:
        while self._waiting:
            job = self.find(str(self._waiting[0]))
            await self._run(job)

    async def _run(self, job: DeskJob) -> None:
        scratch = job.folder / "scratch"
        scratch.mkdir(mode=0o700, exist_ok=True)
        progress = job.folder / "progress.jsonl"
        with (job.folder / "answer.json").open("wb") as answer, (job.folder / "messages.txt").open("wb") as messages:
            words = ["incrowd.desk.child", str(job.folder), *job.words]
            outputs = answer.fileno(), messages.fileno()
            process = await started(self.project, words, scratch, *outputs, INCROWD_PROGRESS=str(progress))
        self._running = job.number, process
        self._waiting.remove(job.number)
        (job.folder / "process.json").write_text(json.dumps({"pid": process.pid, "begun": time.time()}))
        try:
            status = await process.wait()
        finally:
            signal_group(process, KILL)  # whoever of the group is left
            shutil.rmtree(scratch, ignore_errors=True)
            self._running = None
        if (job.folder / "cancelled").exists():
            _end(job, 130, cancelled=True)
        elif job.ending is None:
            _end(job, -abs(status))
        if status != 0:
            self._tidy(job)

    def _tidy(self, job: DeskJob) -> None:
        """Remove drafts of a job that was ended, and the folder that was made for it, if it is empty."""
        if place := job.about.get("folder"):
            folder = self.project.folder / place
            sweep_abandoned(folder)
            for empty in (*sorted(folder.glob("*/")), folder):
                with contextlib.suppress(OSError):
                    empty.rmdir()

    def _read(self, number: int) -> DeskJob | None:
        facts = _json(self.folder / f"{number:04d}" / "job.json")
        if facts is None:
            return None
        about = (facts["kind"], facts["title"], tuple(facts["words"]), facts["about"], facts["requested_at"])
        return DeskJob(number, self.folder / f"{number:04d}", *about)

    def _forget(self) -> None:
        for job in self.all()[_MOST_KEPT:]:
            if self.state(job) not in LIVE:
                shutil.rmtree(job.folder, ignore_errors=True)


def _end(job: DeskJob, status: int, **facts: Any) -> None:
    save_json(job.folder / "ended.json", {"status": status, **facts, "at": time.time()})


def _lines(path: Path) -> list[dict[str, Any]]:
    lines = []
    with contextlib.suppress(OSError):
        for text in path.read_text(encoding="utf-8", errors="replace").splitlines():
            with contextlib.suppress(ValueError):
                lines.append(json.loads(text))
    return lines


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None


STARTING = "starting"
_USUAL = {
    STARTING: (1.5, 0.0),
    "reading": (0.3, 0.2),
    "encoding": (0.2, 0.1),
    "deciding": (0.5, 4.5),
    "applying": (0.0, 0.1),
    "verifying": (1.5, 0.6),
    "measuring accuracy": (1.0, 0.5),
    "measuring risk": (1.0, 0.4),
}
"""Seconds of a release by the usual method, at least and for a megabyte: measured on Adult, on one core of a laptop."""
_MEGABYTE = 1_000_000
_BEYOND = 0.25  # a stage that takes longer than usual is believed to go on for so much of what it took


def stages_of(lines: Sequence[Mapping[str, Any]], begun: float, until: float) -> list[dict[str, Any]]:
    """Stages in their order: name, how far, the share that is done, seconds so far, and seconds left if it tells them.

    Examples
    --------
    >>> lines = [{"stage": "reading", "at": 1.0}, {"stage": "attacking: linkage (2 of 5)", "at": 3.0}]
    >>> [(one["name"], one["far"], one["share"], one["seconds"]) for one in stages_of(lines, 0.0, 4.0)]
    [('starting', '', None, 1.0), ('reading', '', None, 2.0), ('attacking', 'linkage (2 of 5)', 0.2, 1.0)]
    """
    stages: list[dict[str, Any]] = [{"name": STARTING, "begun": begun, "far": "", "share": None, "left": None}]
    for line in lines:
        if "stage" not in line:
            continue
        name, _, far = str(line["stage"]).partition(": ")
        share, left = _share(far or name), None
        if line.get("total"):
            name, far = "comparing", f"{line['done']} of {line['total']}"
            share, left = line["done"] / line["total"], line.get("left")
        elif not far and share is not None:
            name, far = "attacking", name
        if stages[-1]["name"] != name:
            stages.append({"name": name, "begun": line["at"]})
        stages[-1] |= {"far": far, "share": share, "left": left}
    ends = [*(one["begun"] for one in stages[1:]), until]
    return [{**one, "seconds": max(0.0, end - one["begun"])} for one, end in zip(stages, ends, strict=True)]


def _share(words: str) -> float | None:
    """How much of "12 of 40 rows" is done; of "name (3 of 5)" the third has only begun."""
    match = re.search(r"(\(?)(\d[\d,]*) of (\d[\d,]*)", words)
    if match is None:
        return None
    done, total = (int(one.replace(",", "")) for one in match.groups()[1:])
    return (done - bool(match[1])) / total if total else None


def usual_seconds(
    kind: str, size: int | None, earlier: Sequence[Mapping[str, Any]], before: int | None
) -> dict[str, float]:
    """What each stage is likely to take for a table of so many bytes, by an earlier job about ``before``."""
    if earlier:
        ratio = size / before if size and before else 1.0
        return {one["name"]: one["seconds"] * (1.0 if one["name"] == STARTING else ratio) for one in earlier}
    if kind != "release" or not size:
        return {}
    return {name: least + more * size / _MEGABYTE for name, (least, more) in _USUAL.items()}


def seconds_left(stages: Sequence[Mapping[str, Any]], usual: Mapping[str, float]) -> float | None:
    """How long a running job still takes; None if nothing tells it.

    Examples
    --------
    >>> stages = stages_of([{"stage": "reading: 25 of 100 rows", "at": 1.0}], 0.0, 3.0)
    >>> seconds_left(stages, {"reading": 4.0, "deciding": 10.0})
    16.0
    """
    now = stages[-1]
    if now["left"] is not None:
        own = float(now["left"])
    elif now["share"]:
        own = now["seconds"] * (1 - now["share"]) / now["share"]
    elif now["name"] in usual:
        own = max(usual[now["name"]] - now["seconds"], _BEYOND * now["seconds"])
    else:
        return None
    begun = {one["name"] for one in stages}
    return own + sum(seconds for name, seconds in usual.items() if name not in begun)


def time_words(seconds: float) -> str:
    """A time as people say it.

    Examples
    --------
    >>> time_words(3), time_words(38), time_words(150), time_words(8000)
    ('a few seconds', 'about 40 s', 'about 3 min', 'about 2 h')
    """
    if seconds < 5:
        return "a few seconds"
    if seconds < 90:
        return f"about {5 * -(-seconds // 5):.0f} s"
    return f"about {-(-seconds // 60):.0f} min" if seconds < 5400 else f"about {seconds / 3600:.0f} h"
