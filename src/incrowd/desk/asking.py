"""Asks facts of a table, each of a process of its own; answers without cells are kept in the project.

How such a process is started and ended serves jobs, too.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from incrowd.desk.project import Project, save_json
from incrowd.desk.security import RequestError

_PATIENCE = 6.0  # seconds that a page waits; later it says that it waits
_LONGEST = 900.0  # seconds that an answer may take
_MOST_BYTES = 64 << 20
_MOST_AT_ONCE = 16  # questions that are worked on or wait
_MOST_KEPT = 500
_CELLS = ("preview", "rows", "hierarchy", "explain", "groups")
"""Questions whose answers hold cells: they are not kept."""
_OVERTAKEN = ("alone", "check")
"""Questions that are asked anew while somebody chooses: of one table only the last one is worked on."""

KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # Windows has no other
Answer = dict[str, Any]


async def started(
    project: Project, words: Sequence[str], scratch: Path, out: int, messages: int, **variables: str
) -> asyncio.subprocess.Process:
    """A module of incrowd, run in the folder of the project as a process with a group of its own.

    ``words``: the module and what it is told; ``out`` and ``messages``: where its two outputs go.
    """
    own = {"INCROWD_ONE_GROUP": "1", "TMPDIR": str(scratch), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", *words),
        cwd=project.folder,
        env={**os.environ, **own, **variables},
        stdin=asyncio.subprocess.PIPE,
        stdout=out,
        stderr=messages,
        start_new_session=True,
        limit=_MOST_BYTES,
    )


def signal_group(process: asyncio.subprocess.Process, number: int) -> None:
    """Send a signal to the whole group of a process."""
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)


class Asker:
    """Questions about the tables of a project, and the answers so far."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._tasks: dict[str, asyncio.Task[Answer]] = {}
        self._last: dict[tuple[str, str], str] = {}  # of the questions that the next one overtakes
        self._one_by_one = asyncio.Semaphore(1)

    async def ask(self, what: str, table: str = "", **facts: Any) -> Answer | None:
        """The answer; None if it takes longer than a page can wait: ask again."""
        kept = self._place(what, table, facts)
        key = kept.stem
        if what not in _CELLS and (answer := self.project.json_in(kept)) is not None:
            return answer
        if what in _OVERTAKEN:
            self._overtake(what, table, key)
        if key not in self._tasks:
            self._make_room()
            question = {"ask": what, "table": self.project.word(table) if table else "", **facts}
            self._tasks[key] = asyncio.get_running_loop().create_task(self._work(question, kept))
        task = self._tasks[key]
        done, _ = await asyncio.wait([task], timeout=_PATIENCE)
        if not done:
            return None
        if self._tasks.get(key) is task:
            del self._tasks[key]
        return None if task.cancelled() else task.result()

    def _overtake(self, what: str, table: str, key: str) -> None:
        """Nobody waits any more for the answer before: another one was asked for."""
        before, self._last[what, table] = self._last.get((what, table)), key
        if before not in (None, key) and (task := self._tasks.pop(before, None)) is not None:
            task.cancel()

    def _make_room(self) -> None:
        """Forget answers that nobody came back for; refuse where too many questions wait."""
        if len(self._tasks) >= _MOST_AT_ONCE:
            self._tasks = {key: task for key, task in self._tasks.items() if not task.done()}
        if len(self._tasks) >= _MOST_AT_ONCE:
            raise RequestError(429, "Too many questions at once. Wait a moment, then load the page again.")

    def remember(self, answer: Answer, what: str, table: str, **facts: Any) -> None:
        """Keep an answer for a question that has the same one."""
        self._keep(self._place(what, table, facts), answer)

    def _place(self, what: str, table: str, facts: Answer) -> Path:
        """The file of an answer: another one if the table has changed."""
        stamp = self.project.stamp(table) if table else []
        text = json.dumps([what, stamp, facts], sort_keys=True, default=str)
        return self.project.private / "facts" / f"{what}-{hashlib.sha256(text.encode()).hexdigest()[:32]}.json"

    async def close(self) -> None:
        """End every question."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    def _keep(self, kept: Path, answer: Answer) -> None:
        save_json(kept, answer)
        files = sorted(kept.parent.iterdir(), key=lambda one: one.stat().st_mtime, reverse=True)
        for old in files[_MOST_KEPT:]:
            old.unlink(missing_ok=True)

    async def _work(self, question: Answer, kept: Path) -> Answer:
        """Ask a process; an answer without cells is kept, whether or not somebody still waits for it."""
        answer = await self._asked(question)
        if question["ask"] not in _CELLS and "error" not in answer:
            self._keep(kept, answer)
        return answer

    async def _asked(self, question: Answer) -> Answer:
        async with self._one_by_one:
            words, outputs = ["incrowd.desk.facts"], (asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL)
            process = await started(self.project, words, self.project.private / "incoming", *outputs)
            try:
                output, _ = await asyncio.wait_for(process.communicate(json.dumps(question).encode()), _LONGEST)
                answer = json.loads(output)
            except TimeoutError:
                return {"error": "UndeterminedError", "message": "This took too long. Use the command line instead."}
            except ValueError:
                return {"error": "UnexpectedError", "message": "The table could not be looked at: out of memory?"}
            finally:
                signal_group(process, KILL)
                await process.wait()  # a process that nobody waits for keeps its pipes open
        return answer if isinstance(answer, dict) else {"error": "UnexpectedError", "message": "There is no answer."}
