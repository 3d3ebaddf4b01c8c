"""Jobs of the desk: cancelled, killed, interrupted, and the same as the command line."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from incrowd.desk import project
from incrowd.desk.project import Project
from incrowd.plan.plan_file import read_plan
from support.waiting import PATIENCE, wait_until
from unit.desk.conftest import Browser

TABLE = "0/people.csv"
RECIPE = (
    "columns:\n  age: {role: quasi-identifier}\n  sex: {role: quasi-identifier}\n  ward: {role: private}\n"
    "  ill: {role: target}\nk: 4\nclass_sensitive: no\n"
)


def write_recipe(folder: Path) -> None:
    (folder / "people.csv.recipe.yaml").write_text(RECIPE, encoding="utf-8")


def is_alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except FileNotFoundError:
        return False


WATCHER = """
import os, sys

def tell(line):
    with open({log!r}, "a") as file:
        file.write(f"{{line}}\\n")

def hear(event, facts):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.sendmsg"):
        tell(f"{{event}} {{facts[1:] if event.startswith('socket.connect') else facts}}")

sys.addaudithook(hear)
tell("watched " + " ".join(sys.orig_argv))
"""


@pytest.fixture
def outbound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What every process of a test, and all that they start, asks of the network: a line for each."""
    place, log = tmp_path / "watcher", tmp_path / "outbound.txt"
    place.mkdir()
    (place / "sitecustomize.py").write_text(WATCHER.format(log=str(log)), encoding="utf-8")
    monkeypatch.syspath_prepend(place)
    monkeypatch.setenv("PYTHONPATH", str(place))
    return log


def asked_elsewhere(log: Path, *watched: str) -> list[str]:
    """Lines about other machines; these processes were among those that were watched."""
    lines = log.read_text(encoding="utf-8").splitlines()
    own = [line for line in lines if line.startswith("watched ")]
    assert all(any(word in line for line in own) for word in watched), own
    return [line for line in lines if line not in own and "127.0.0.1" not in line]


@pytest.mark.slow
def test_desk_and_command_line_make_the_same_plan(browser: Browser, folder: Path, outbound: Path) -> None:
    """And the job asks nothing of the network, nor does any process that it starts."""
    write_recipe(folder)
    page = browser.done(browser.post("/release", {"table": TABLE, "format": ".csv", "seed": "7"}))
    assert "See the result" in page
    words = ["release", "people.csv", "--recipe", "people.csv.recipe.yaml", "--to", "own.csv", "--plan", "own.json"]
    subprocess.run(
        [sys.executable, "-m", "incrowd", *words, "--seed", "7"], cwd=folder, check=True, capture_output=True
    )
    made = folder / "releases" / "people-1"
    assert read_plan(made / "private" / "plan.json") == read_plan(folder / "own.json")
    assert (made / "recipient" / "people.csv").read_bytes() == (folder / "own.csv").read_bytes()
    assert "data-again" not in browser.settled("/columns", table=TABLE)
    assert asked_elsewhere(outbound, "incrowd.desk.child", "incrowd.desk.facts") == []


def start_long(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A job that would run for an hour, and is deaf to requests to end."""
    from incrowd.desk import jobs

    stubborn = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('x', flush=True); "
    stubborn += "time.sleep(3600)"
    usual = jobs.asyncio.create_subprocess_exec

    async def started(*command: str, **facts: Any) -> Any:
        return await usual(sys.executable, "-c", stubborn, **facts)

    monkeypatch.setattr(jobs.asyncio, "create_subprocess_exec", started)
    answer = browser.post("/demo", {"demo": "patients"})
    job = browser.desk.jobs.all()[0]
    wait_until(lambda: browser.desk.jobs.state(job) == "running" and (job.folder / "answer.json").stat().st_size > 0)
    monkeypatch.setattr(jobs.asyncio, "create_subprocess_exec", usual)
    return answer, job, json.loads((job.folder / "process.json").read_text())["pid"]


def test_a_job_that_is_deaf_is_cancelled_and_the_next_one_runs(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, job, pid = start_long(browser, monkeypatch)
    second = browser.post("/demo", {"demo": "patients"})
    assert "Waits in line" in second.text
    page = browser.post("/job/cancel", {"number": str(job.number)}).text
    assert "Cancelled" in page
    assert not is_alive(pid)
    assert "Begin with this table" in browser.done(second)


def test_a_job_that_was_killed_is_interrupted_and_can_be_started_again(
    browser: Browser, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer, job, pid = start_long(browser, monkeypatch)
    os.kill(pid, signal.SIGKILL)
    page = browser.done(answer)
    assert "Interrupted. Nothing half-written is left." in page
    again = browser.post("/job/again", {"number": str(job.number)})
    assert "Begin with this table" in browser.done(again)
    assert (folder / "demo-patients" / "patients.csv").is_file()


@pytest.mark.slow
def test_a_comparison_that_was_killed_goes_on_where_it_stopped(browser: Browser, folder: Path) -> None:
    write_recipe(folder)
    fields = {"table": TABLE, "methods": "mondrian", "k": "5", "learners": "c45"}
    answer = browser.post("/compare", fields)
    job = browser.desk.jobs.all()[0]
    wait_until(lambda: any(1 < one["done"] < one["total"] for one in trials(job.folder)))
    os.killpg(json.loads((job.folder / "process.json").read_text())["pid"], signal.SIGKILL)
    assert "it goes on where it stopped" in browser.done(answer)
    done = max(one["done"] for one in trials(job.folder))
    page = browser.done(browser.post("/job/again", {"number": str(job.number)}))
    assert "Recommendation" in page
    later = browser.desk.jobs.all()[0]
    assert trials(later.folder)[0]["done"] >= done
    assert later.about["folder"] == job.about["folder"]


def trials(folder: Path) -> list[dict[str, Any]]:
    """How far a comparison was, line by line."""
    file = folder / "progress.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return [one for one in map(json.loads, lines) if one.get("total")]


def test_a_job_of_a_desk_that_died_reads_interrupted(folder: Path) -> None:
    from incrowd.desk.jobs import JobLine

    project = Project(folder)
    with project.opened():
        job = project.private / "jobs" / "0001"
        (job / "scratch").mkdir(parents=True)
        (job / "scratch" / "raw").write_text("secret", encoding="utf-8")
        facts = {"kind": "release", "title": "t", "words": [], "about": {}, "requested_at": 0}
        (job / "job.json").write_text(json.dumps(facts), encoding="utf-8")
        (project.private / "incoming" / "half").write_text("secret", encoding="utf-8")
        draft = folder / "releases" / "people-1" / "recipient" / ".people.csv.incrowd"
        draft.mkdir(parents=True)
        (draft / "people.csv").write_text("secret", encoding="utf-8")
    with project.opened():
        line = JobLine(project)
        assert [line.state(one) for one in line.all()] == ["interrupted"]
    left = [path for path in folder.rglob("*") if path.is_file() and "secret" in path.read_text(encoding="utf-8")]
    assert left == []


def test_a_job_that_outlives_its_desk_is_ended_by_the_next(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine it may need long to notice that its desk is gone; here it never does."""
    monkeypatch.setattr(project, "_ORPHANS", 0.2)
    job = folder / ".incrowd-desk" / "jobs" / "0001"
    job.mkdir(parents=True)
    code = "import sys, time, signal, pathlib; from incrowd.tables.publishing.staging import lock; "
    code += "signal.signal(signal.SIGTERM, signal.SIG_IGN); lock(pathlib.Path(sys.argv[1])); print('x', flush=True); "
    code += "time.sleep(3600)"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(job)], stdout=subprocess.PIPE, start_new_session=True
    ) as orphan:
        assert orphan.stdout is not None
        assert orphan.stdout.readline() == b"x\n"
        (job / "process.json").write_text(json.dumps({"pid": orphan.pid}), encoding="utf-8")
        with Project(folder).opened():
            assert orphan.wait() == -signal.SIGKILL


class Process:
    """A desk as it is started by a user, in a process of its own."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-m", "incrowd", "desk", str(folder), "--no-browser"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        assert self.address.startswith("http://127.0.0.1:"), self.process.communicate()

    def client(self) -> Any:
        import httpx2

        base, _, _ = self.address.partition("/enter")
        client = httpx2.Client(base_url=base, follow_redirects=True, timeout=60)
        assert client.get(self.address).status_code == 200
        return client

    def end(self, number: int = signal.SIGTERM) -> None:
        self.process.send_signal(number)
        self.process.communicate()


def csrf_of(client: Any) -> str:
    match = re.search(r'name="csrf" value="([^"]+)"', client.get("/").text)
    assert match is not None
    return match[1]


def release(client: Any) -> None:
    fields = {"csrf": csrf_of(client), "table": TABLE, "format": ".csv"}
    headers = {"origin": str(client.base_url).rstrip("/")}
    assert client.post("/release", data=fields, headers=headers).status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_killed_at_any_moment_nothing_half_written_is_left(folder: Path, seed: int) -> None:
    """Server and job are killed; what is there after the next start is complete, and no draft of it is left."""
    write_recipe(folder)
    chance, stages = random.Random(seed), ("reading", "deciding", "verifying", "measuring")
    desk = Process(folder)
    release(desk.client())
    progress = folder / ".incrowd-desk" / "jobs" / "0001" / "progress.jsonl"
    moment = chance.choice(stages)
    wait_until(
        lambda: progress.is_file() and (moment in progress.read_text() or (progress.parent / "ended.json").exists())
    )
    process = json.loads((progress.parent / "process.json").read_text())["pid"]
    desk.end(signal.SIGKILL)
    if chance.random() < 0.5:
        os.kill(process, signal.SIGKILL) if is_alive(process) else None
    wait_until(lambda: not is_alive(process))
    later = Process(folder)
    page = later.client().get("/job?number=1").text
    later.end()
    assert "Interrupted" in page or "See the result" in page
    assert not [path for path in folder.rglob("*.incrowd*") if path.name != ".incrowd-desk"]
    assert not list((folder / ".incrowd-desk" / "jobs" / "0001").glob("scratch/*"))
    made = folder / "releases" / "people-1" / "recipient"
    files = {path.name for path in made.iterdir()} if made.exists() else set()
    if files:
        checked = subprocess.run(
            [sys.executable, "-m", "incrowd", "verify", str(made / "people.csv")], check=False, capture_output=True
        )
        assert checked.returncode == 0


def test_one_desk_for_a_folder_and_a_second_start_opens_it_again(folder: Path, outbound: Path) -> None:
    first = Process(folder)
    old = first.client()
    second = Process(folder)
    assert second.process.wait() == 0
    second.process.communicate()
    assert second.address.partition("token")[0] == first.address.partition("token")[0]
    assert second.client().get("/").status_code == 200
    assert old.get("/").status_code == 200
    first.end()
    assert asked_elsewhere(outbound, "incrowd desk") == []


def test_the_idle_server_has_loaded_nothing_heavy_and_is_small(folder: Path) -> None:
    code = (
        "import sys, incrowd.desk.server, incrowd.desk.columns, incrowd.desk.tools, incrowd.desk.results, "
        "incrowd.tables.recipe, incrowd.methods.catalog; print(*sys.modules)"
    )
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    heavy = {"polars", "sklearn", "numba", "scipy", "duckdb", "pyarrow", "pandas", "adbc_driver_postgresql"}
    assert heavy.isdisjoint(name.partition(".")[0] for name in modules)
    desk = Process(folder)
    client = desk.client()
    for path in ("/", "/history", f"/promise?table={TABLE}", "/verify"):
        assert client.get(path).status_code == 200
    status = Path(f"/proc/{desk.process.pid}/status").read_text(encoding="utf-8")
    desk.end()
    resident = int(re.search(r"VmRSS:\s+(\d+) kB", status)[1])  # type: ignore[index]
    assert resident < 80_000


def test_a_desk_that_nobody_visits_ends(folder: Path) -> None:
    code = "import sys, pathlib; from incrowd.desk.server import serve\n"
    code += f"serve(pathlib.Path({str(folder)!r}), (), idle=0.2, browser=False)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Nobody was here for a while" in done.stderr
    assert not (folder / ".incrowd-desk" / "desk.json").exists()


def is_closed(slow: socket.socket) -> bool:
    """Whether one letter more is no longer taken."""
    try:
        slow.sendall(b"G")
    except ConnectionError:
        return True
    return False


def test_a_connection_that_says_nothing_is_closed(folder: Path) -> None:
    code = "import sys, pathlib; from incrowd.desk import server\nserver.PATIENCE = 1.0\n"
    code += f"server.serve(pathlib.Path({str(folder)!r}), (), browser=False)"
    desk = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert desk.stdout is not None
    port = int(re.split(r"[:/]", desk.stdout.readline())[4])
    whole = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"
    for begun in (b"", b"GET / HT", whole[:-2]):
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as slow:
            slow.sendall(begun)
            assert slow.recv(100) == b""
    for first in (b"", whole):  # drop by drop: each comes soon, the request never; also where one was answered before
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as slow:
            slow.sendall(first)
            assert slow.recv(1000).count(b"HTTP/1.1 421") == 1 if first else True
            wait_until(lambda slow=slow: is_closed(slow))  # type: ignore[misc]
    desk.terminate()
    desk.communicate()


def test_a_large_upload_is_streamed(folder: Path) -> None:
    desk = Process(folder)
    client = desk.client()
    csrf, base = csrf_of(client), str(client.base_url).rstrip("/")
    begin = "--x\r\ncontent-disposition: form-data; name="
    head = f'{begin}"csrf"\r\n\r\n{csrf}\r\n{begin}"file"; filename="big.csv"\r\n\r\na,b\n'
    rows, pieces = b"1,2\n" * (1 << 18), 128

    def body() -> Any:
        yield head.encode()
        for _ in range(pieces):
            yield rows
        yield b"\r\n--x--\r\n"

    headers = {"origin": base, "content-type": "multipart/form-data; boundary=x"}
    client.follow_redirects = False
    assert client.post("/upload", content=body(), headers=headers).status_code == 303
    status = Path(f"/proc/{desk.process.pid}/status").read_text(encoding="utf-8")
    desk.end()
    assert (folder / "tables" / "big.csv").stat().st_size == 4 + len(rows) * pieces
    assert int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) < 120_000  # type: ignore[index]
