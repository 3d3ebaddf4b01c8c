"""The desk: how soon its first page is there, what it holds in memory, how fast a job is cancelled, what a kill leaves.

The server is started as a user starts it, and asked over its port. Kills come at random moments of a release or of an
upload; what is there after the next start is searched for half-written files and for a word that only the table has.
It is a program of its own, ``python -m bench.desk [--quick]``: its goals are seconds and bytes, not ratios.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from urllib.parse import urlencode

from bench.setting import Setting, tell
from experiments.pages import Goal, Section

_SECRET = "Quastenflosser"  # in a column that is not released: nothing the desk leaves may hold it
_TABLE, _PATIENCE = "0/people.csv", 600.0
_RECIPE = (
    "columns:\n  name: {role: drop}\n  age: {role: quasi-identifier}\n  sex: {role: quasi-identifier}\n"
    "  city: {role: quasi-identifier, type: categorical}\n  ill: {role: target}\nk: 5\nclass_sensitive: no\n"
)
_MEGABYTE = 1 << 20
_DRAFTS = ".incrowd"  # in the names of private folders beside a release that is being written


class DeskProcess:
    """A desk of its own process, and a visitor that has entered it."""

    def __init__(self, folder: Path) -> None:
        self.folder, begun = folder, time.perf_counter()
        command = [sys.executable, "-m", "incrowd", "desk", str(folder), "--no-browser"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self.process.stdout is not None
        address = self.process.stdout.readline().strip()
        self.host, _, self.way = address.removeprefix("http://").partition("/")
        self.cookie = ""
        answer, _ = self.ask("GET", f"/{self.way}")
        self.cookie = (answer.getheader("set-cookie") or "").partition(";")[0]
        _, self.home = self.ask("GET", "/")
        self.seconds = time.perf_counter() - begun
        ticks = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[11:13]
        self.cpu = sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
        self.csrf = _found(r'name="csrf" value="([^"]+)"', self.home)

    def ask(self, method: str, path: str, body: object = None, kind: str = "") -> tuple[http.client.HTTPResponse, str]:
        """One request, and the answer with its page."""
        connection = http.client.HTTPConnection(self.host, timeout=_PATIENCE)
        headers = {"cookie": self.cookie, "origin": f"http://{self.host}"} | ({"content-type": kind} if kind else {})
        connection.request(method, path, body, headers, encode_chunked=False)  # type: ignore[arg-type]
        answer = connection.getresponse()
        return answer, answer.read().decode("utf-8", "replace")

    def post(self, path: str, **fields: str) -> str:
        """A form that is sent; where the desk goes on to."""
        body = urlencode({"csrf": self.csrf, **fields})
        answer, page = self.ask("POST", path, body, "application/x-www-form-urlencoded")
        return answer.getheader("location") or page

    def upload(self, megabytes: int) -> int:
        """Send a table of this size piece by piece; the status of the answer."""
        begin = "--x\r\ncontent-disposition: form-data; name="
        head = f'{begin}"csrf"\r\n\r\n{self.csrf}\r\n{begin}"file"; filename="big.csv"\r\n\r\nname\n'.encode()
        piece = (f"{_SECRET} {_SECRET}\n" * (_MEGABYTE // (2 * len(_SECRET) + 2))).encode()
        end = b"\r\n--x--\r\n"
        connection = http.client.HTTPConnection(self.host, timeout=_PATIENCE)
        connection.putrequest("POST", "/upload")
        length = len(head) + megabytes * len(piece) + len(end)
        facts = {"cookie": self.cookie, "origin": f"http://{self.host}", "content-length": str(length)}
        for name, value in {**facts, "content-type": "multipart/form-data; boundary=x"}.items():
            connection.putheader(name, value)
        connection.endheaders(head)
        for _ in range(megabytes):
            connection.send(piece)
        connection.send(end)
        return connection.getresponse().status

    def memory(self, what: str) -> float:
        """Megabytes, as the system tells them: resident now (VmRSS), or at most (VmHWM)."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        return int(_found(rf"{what}:\s+(\d+) kB", status)) / 1024

    def end(self, number: int = signal.SIGTERM) -> None:
        """End it."""
        self.process.send_signal(number)
        self.process.communicate()


def _found(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    assert match is not None, pattern
    return match[1]


def measure(setting: Setting) -> Section:
    """All of it."""
    first, cpu, idle = _first_pages(2 if setting.quick else 9)
    tell(f"first page {first:.2f} s, {cpu:.2f} s of CPU, idle {idle:.0f} MB")
    megabytes = 64 if setting.quick else 2048
    most = _upload(megabytes)
    tell(f"upload: {most:.0f} MB at most")
    cancelled = _cancelled(2 if setting.quick else 12)
    tell(f"cancelled in {max(cancelled):.2f} s at most")
    kills = 3 if setting.quick else 50
    faults, moments = _kills(kills, random.Random(2026))
    goals = [
        Goal(
            "the first page 1.0 s after the command", f"median {first:.2f} s, {cpu:.2f} s of CPU", first <= 1.0, _busy()
        ),
        Goal("under 80 MB resident when idle", f"{idle:.0f} MB after a visit of six pages", idle < 80),
        Goal(f"an upload of {megabytes:,} MB with the server under 200 MB", f"{most:.0f} MB at most", most < 200),
        Goal(
            "a job is cancelled within 2 s",
            f"{len(cancelled)} releases at random moments: median {median(cancelled):.2f} s, {max(cancelled):.2f} s at "
            "most, until no process of it was left",
            max(cancelled) <= 2.0,
            _busy(),
        ),
        Goal(
            f"kill -9 at {kills} random moments leaves nothing half-written and nothing raw after the next start",
            f"{moments}; {len(faults)} faults{': ' + '; '.join(faults[:5]) if faults else ''}",
            not faults,
        ),
    ]
    return Section("The desk", goals)


def _busy() -> str:
    return f"The machine had a load of {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores."


@contextlib.contextmanager
def _project(rows: int) -> Iterator[Path]:
    """A folder with a table, a recipe, and a home of its own for all that commands keep."""
    draw = random.Random(7)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "project"
        folder.mkdir()
        lines = (
            f"{_SECRET} {row},{draw.randint(18, 90)},{draw.choice('fm')},{draw.randint(1, 400)},{draw.choice('yn')}\n"
            for row in range(rows)
        )
        (folder / "people.csv").write_text("name,age,sex,city,ill\n" + "".join(lines), encoding="utf-8")
        (folder / "people.csv.recipe.yaml").write_text(_RECIPE, encoding="utf-8")
        yield folder


def _first_pages(starts: int) -> tuple[float, float, float]:
    """Median seconds from the command to the first page, those of CPU, and the megabytes that an idle desk holds."""
    seconds, cpu, held = [], [], []
    with _project(2_000) as folder:
        for _ in range(starts):
            desk = DeskProcess(folder)
            seconds.append(desk.seconds)
            cpu.append(desk.cpu)
            for path in ("/history", "/verify", "/risk", f"/method?table={_TABLE}", f"/columns?table={_TABLE}", "/"):
                desk.ask("GET", path)
            held.append(desk.memory("VmRSS"))
            desk.end()
    return median(seconds), median(cpu), max(held)


def _upload(megabytes: int) -> float:
    with _project(2_000) as folder:
        desk = DeskProcess(folder)
        status = desk.upload(megabytes)
        most = desk.memory("VmHWM")
        desk.end()
        size = (folder / "tables" / "big.csv").stat().st_size
        assert (status, size >= 0.99 * megabytes * _MEGABYTE) == (303, True), (status, size)
    return most


def _release(desk: DeskProcess) -> tuple[str, Path]:
    """Start a release; its number and the folder of the job."""
    number = _found(r"number=(\d+)", desk.post("/release", table=_TABLE, format=".csv"))
    return number, desk.folder / ".incrowd-desk" / "jobs" / f"{int(number):04d}"


def _process(job: Path) -> int:
    """The process of a job that has begun."""
    while not (facts := _json(job / "process.json")):
        time.sleep(0.005)
    return int(facts["pid"])


def _json(path: Path) -> dict[str, int]:
    try:
        data: dict[str, int] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return data


def _lives(group: int) -> bool:
    """Whether a process of a group is left that still runs; one that has ended waits only for who started it."""
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, own = status.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[:3]
            if int(own) == group and state != "Z":
                return True
    return False


def _usual_seconds(desk: DeskProcess) -> float:
    """How long a release takes from its start to its end."""
    begun = time.perf_counter()
    _, job = _release(desk)
    while not (job / "ended.json").exists():
        time.sleep(0.02)
    return time.perf_counter() - begun


def _cancelled(times: int) -> list[float]:
    """Seconds from the click to the page that says so, when no process of the job is left."""
    draw, seconds = random.Random(3), []
    with _project(60_000) as folder:
        desk = DeskProcess(folder)
        usual = _usual_seconds(desk)
        for _ in range(times):
            number, job = _release(desk)
            group = _process(job)
            time.sleep(draw.uniform(0, 0.9 * usual))
            if (job / "ended.json").exists():
                continue
            begun = time.perf_counter()
            desk.post("/job/cancel", number=number)
            _, page = desk.ask("GET", f"/job?number={number}")
            while _lives(group):
                time.sleep(0.005)
            seconds.append(time.perf_counter() - begun)
            assert "Cancelled" in page or "See the result" in page, page
        desk.end()
    return seconds


def _kills(times: int, draw: random.Random) -> tuple[list[str], str]:
    """What was wrong after the next start, and how many kills came when."""
    faults: list[str] = []
    during: dict[str, int] = {}
    with _project(20_000) as folder:
        desk = DeskProcess(folder)
        usual = _usual_seconds(desk)
        for turn in range(times):
            what = _one_kill(desk, draw, usual, upload=turn % 5 == 4)
            desk = DeskProcess(folder)
            during[what] = during.get(what, 0) + 1
            faults += [f"kill {turn + 1} ({what}): {fault}" for fault in _left(desk)]
            tell(f"kill {turn + 1} of {times}: {what}; {len(faults)} faults so far")
        desk.end()
    return faults, ", ".join(f"{number} {what}" for what, number in sorted(during.items()))


def _one_kill(desk: DeskProcess, draw: random.Random, usual: float, *, upload: bool) -> str:
    """Kill the server, at times with the job, at a random moment; what it was at."""
    if upload:
        threading.Thread(target=_upload_quietly, args=(desk,), daemon=True).start()
        time.sleep(draw.uniform(0, 0.5))
        desk.end(signal.SIGKILL)
        return "during an upload"
    _, job = _release(desk)
    time.sleep(draw.uniform(0, usual))
    facts, with_job = _json(job / "process.json"), draw.random() < 0.5
    ended = (job / "ended.json").exists()
    if facts and with_job:
        with contextlib.suppress(OSError):
            os.killpg(facts["pid"], signal.SIGKILL)
    desk.end(signal.SIGKILL)
    return "after the release" if ended else "of server and job" if with_job else "of the server alone"


def _upload_quietly(desk: DeskProcess) -> None:
    with contextlib.suppress(OSError, http.client.HTTPException):
        desk.upload(400)


def _left(desk: DeskProcess) -> Iterator[str]:
    """What is half-written or raw in the folder of a desk that has just started."""
    folder = desk.folder
    shutil.rmtree(folder / "tables", ignore_errors=True)  # a whole upload is a table of the user's
    for path in folder.rglob("*"):
        if (_DRAFTS in path.name and path.name != ".incrowd-desk") or path.parent.name == "scratch":
            yield f"a draft is left: {path.name}"
        elif path.is_file() and path != folder / "people.csv" and _SECRET.encode() in path.read_bytes():
            yield f"{path.name} holds what is not released"
    for place in (folder / "releases").glob("*/recipient"):
        release = place / "people.csv"
        if sorted(one.name for one in place.iterdir()) not in ([], ["people.csv", "people.csv.certificate.json"]):
            yield "a release without its certificate, or the other way round"
        elif release.exists():
            words = [sys.executable, "-m", "incrowd", "verify", str(release)]
            if subprocess.run(words, check=False, capture_output=True).returncode:
                yield "a release that does not keep what it promises"
        shutil.rmtree(place.parent)
    newest = max((int(one.name) for one in (folder / ".incrowd-desk" / "jobs").iterdir()), default=0)
    _, page = desk.ask("GET", f"/job?number={newest}")
    if not any(words in page for words in ("Interrupted", "See the result", "Cancelled")):
        yield "the job does not say how it stands"


def main() -> int:
    """Measure and print; exit status 1 if a goal was missed."""
    parser = argparse.ArgumentParser(prog="python -m bench.desk", description="What the desk costs, and survives.")
    parser.add_argument("--quick", action="store_true", help="once and small: does everything run?")
    section = measure(Setting(quick=parser.parse_args().quick))
    print(section.text(pictures=False))
    return int(not all(goal.met for goal in section.goals))


if __name__ == "__main__":
    sys.exit(main())
