"""One desk for a folder: its lock, its port, its end."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import signal
import socket
import sys
import time
import webbrowser
from collections.abc import Iterator, Sequence
from pathlib import Path

import typer
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from incrowd.desk.app import Desk, make_app
from incrowd.desk.project import Project
from incrowd.desk.security import AGAIN, ENTER, PATIENCE, Gate
from incrowd.errors import OutputError

_HOST = "127.0.0.1"
_MOST_CONNECTIONS = 200
_NOTE = "desk.json"


def serve(folder: Path, data: Sequence[Path], *, port: int = 0, idle: float = 7200.0, browser: bool = True) -> None:
    """Serve a folder until Ctrl+C, or until nobody has been there for a while."""
    for one in (folder, *data):
        if not one.is_dir():
            raise OutputError(f"The folder {one.name or one} does not exist. Make it first.")
    project = Project(folder, data)
    try:
        lock = contextlib.ExitStack()
        lock.enter_context(project.opened())
    except OutputError:
        if (address := _running(project)) is None:
            raise
        _show(address, browser, "A desk has this folder already:")
        return
    with lock, _listening(port) as listener:
        port = listener.getsockname()[1]
        gate = Gate(port)
        note = project.private / _NOTE
        _write_private(note, {"port": port, "key": gate.key})
        try:
            asyncio.run(_run(Desk(project, gate), listener, idle, browser))
        finally:
            note.unlink(missing_ok=True)


def _listening(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1) if os.name == "posix" else None
    try:
        listener.bind((_HOST, port))
    except OSError:
        listener.close()
        raise OutputError(f"Port {port} is taken. Name another, or none: --port 0.") from None
    return listener


def _write_private(path: Path, facts: dict[str, object]) -> None:
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        json.dump(facts, file)


class _Server(uvicorn.Server):
    """One that leaves signals to us."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield

    def stop(self) -> None:
        """End soon."""
        self.should_exit = True


class _Protocol(H11Protocol):
    """One that waits only so long for each request of a connection, in whatever drops it comes."""

    _patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait."""
        super().connection_made(transport)
        self._wait()

    def handle_events(self) -> None:
        """A request may have come."""
        super().handle_events()
        self._wait()

    def on_response_complete(self) -> None:
        """Wait for the next one."""
        super().on_response_complete()
        self._wait()

    def _wait(self) -> None:
        """Wait where no request is being answered."""
        request: RequestResponseCycle | None = self.cycle
        if request is not None and not request.response_complete:
            if self._patience is not None:
                self._patience.cancel()
            self._patience = None
        elif self._patience is None:
            self._patience = self.loop.call_later(PATIENCE, self.transport.close)


async def _run(desk: Desk, listener: socket.socket, idle: float, browser: bool) -> None:
    config = uvicorn.Config(
        make_app(desk),
        http=_Protocol,
        ws="none",
        lifespan="off",
        loop="asyncio",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_keep_alive=int(PATIENCE),
        timeout_graceful_shutdown=3,
        h11_max_incomplete_event_size=64 << 10,
    )
    server = _Server(config)
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):  # on Windows
            asyncio.get_running_loop().add_signal_handler(number, server.stop)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    while not (server.started or serving.done()):
        await asyncio.sleep(0.01)
    address = f"http://{_HOST}:{listener.getsockname()[1]}{ENTER}?token={desk.gate.new_token()}"
    _show(address, browser, f"The desk for {desk.project.folder.name} is open, on this machine only:")
    try:
        while not serving.done():
            await asyncio.wait([serving], timeout=1.0)
            if time.monotonic() - desk.last_visit > idle and not desk.jobs.is_busy:
                typer.echo("Nobody was here for a while: the desk is closed. Everything is in the folder.", err=True)
                server.should_exit = True
                await serving
    finally:
        await desk.close()


def _show(address: str, browser: bool, words: str) -> None:
    typer.echo(words, err=True)
    typer.echo(address)
    sys.stdout.flush()
    if browser:
        typer.echo("The address works once. End the desk with Ctrl+C.", err=True)
        webbrowser.open(address)


def _running(project: Project) -> str | None:
    """An address for the desk that has the folder; None if it does not answer."""
    facts = project.json_in(project.private / _NOTE)
    if facts is None:
        return None
    try:
        connection = http.client.HTTPConnection(_HOST, int(facts["port"]), timeout=5)
        connection.request("POST", AGAIN, headers={"x-incrowd-key": str(facts["key"]), "content-length": "0"})
        answer = connection.getresponse()
        token = answer.read(200).decode("ascii")
    except (OSError, ValueError, KeyError, http.client.HTTPException):
        return None
    return f"http://{_HOST}:{facts['port']}{ENTER}?token={token}" if answer.status == 200 else None
