"""A project is a folder; its files are all that the desk knows: tables, recipes, releases, reports, the ledger.

A table is named by a short reference: the number of a folder that was named at the start, and the way from there
(``0/patients.csv``, ``0/clinic.db?table=visits``), or the address of a table on a server. Nothing outside these folders
is read or written.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from incrowd.desk.recipes import PROPOSED, edited, recipe_text, with_roles_at_columns
from incrowd.desk.security import RequestError
from incrowd.errors import OutputError
from incrowd.tables.databases.tables import DATABASE_FILES, DatabaseFile, is_database_file
from incrowd.tables.publishing.staging import lock, staged, sweep_abandoned
from incrowd.vocabulary.plain_data import read_plain_yaml

TABLES = (
    *(".csv", ".tsv", ".txt", ".data", ".dat", ".parquet", ".arrow", ".feather", ".arff", ".jsonl", ".ndjson"),
    *(".xlsx", ".xls", ".sav", ".zsav", ".por", ".dta", ".sas7bdat", ".xpt"),
    *DATABASE_FILES,
)
PACKED = (".gz", ".zst")
HIERARCHIES = (".csv", ".txt", ".yaml", ".json")
_PRIVATE = ".incrowd-desk"
OURS = ("releases", "models", "hidden", "comparisons", "risk")  # folders in which commands write
_MOST_FILES, _DEEPEST = 2_000, 3
_OF_DATABASE = "?table="
_ORPHANS = 6.0  # seconds that jobs of a killed desk have to end by themselves


class Project:
    """A folder of work, and further folders that tables may be read from."""

    def __init__(self, folder: Path, data: Sequence[Path] = ()) -> None:
        self.folder = folder.resolve(strict=True)
        self.roots = (self.folder, *(one.resolve(strict=True) for one in data))
        for root in self.roots:
            if not root.is_dir():
                raise OutputError(f"{root.name} is not a folder.")
        self.private = self.folder / _PRIVATE

    @contextlib.contextmanager
    def opened(self) -> Iterator[None]:
        """Hold the folder for one desk, and sweep what a killed one left."""
        if self.private.is_symlink():
            raise OutputError(f"{_PRIVATE} is a link. Remove it: the desk keeps private files there.")
        self.private.mkdir(mode=0o700, exist_ok=True)
        try:
            handle = lock(self.private)
        except OSError:
            raise OutputError("Another desk has this folder.") from None
        try:
            self.private.chmod(0o700)
            for place in ("jobs", "facts", "incoming"):
                (self.private / place).mkdir(mode=0o700, exist_ok=True)
            self.sweep()
            yield
        finally:
            os.close(handle)

    def sweep(self) -> None:
        """Wait for jobs of a killed desk to end; remove half an upload, scratch files, and drafts of releases."""
        jobs = self.private / "jobs"
        for job in jobs.iterdir():
            _wait_for_lock(job)
            shutil.rmtree(job / "scratch", ignore_errors=True)
        shutil.rmtree(self.private / "incoming", ignore_errors=True)
        (self.private / "incoming").mkdir(mode=0o700)
        for place in OURS:
            if (self.folder / place).is_dir() and not (self.folder / place).is_symlink():
                sweep_abandoned(self.folder / place)

    # names of files, to and fro

    def locate(self, reference: str) -> Path:
        """The file of a reference: an ordinary one, in the folders that were named, wherever links lead."""
        number, _, way = reference.partition("/")
        way = way.partition(_OF_DATABASE)[0] if is_database_file(way) else way
        if not (number.isdecimal() and int(number) < len(self.roots)) or not way or "\0" in way:
            raise RequestError(404, "There is no such file in the folders of this desk.")
        root = self.roots[int(number)]
        try:
            path = (root / way).resolve(strict=True)
        except (OSError, RuntimeError, ValueError):
            raise RequestError(404, "There is no such file in the folders of this desk.") from None
        inside = path.is_relative_to(root) and not any(part.startswith(".") for part in path.relative_to(root).parts)
        if not inside or not path.is_file():
            raise RequestError(404, "There is no such file in the folders of this desk.")
        return path

    def reference(self, path: Path) -> str:
        """The reference of a file in these folders."""
        for number, root in enumerate(self.roots):
            if path.is_relative_to(root):
                return f"{number}/{path.relative_to(root).as_posix()}"
        raise RequestError(404, "There is no such file in the folders of this desk.")

    def word(self, reference: str) -> str:
        """How commands, which run in the folder, name the table."""
        if is_address(reference):
            return reference
        path = self.locate(reference)
        word = path.relative_to(self.folder).as_posix() if path.is_relative_to(self.folder) else str(path)
        word = f"./{word}" if word.startswith("-") else word
        return f"{word}{_OF_DATABASE}{table}" if (table := database_table(reference)) else word

    def label(self, reference: str) -> str:
        """What people call the table."""
        return database_table(reference) or ("table" if is_address(reference) else self.locate(reference).name)

    def stamp(self, reference: str) -> list[Any]:
        """What changes when the table changes; of a table on a server nobody knows."""
        if is_address(reference):
            return [reference, int(time.time() // 300)]
        facts = self.locate(reference).stat()
        return [reference, facts.st_size, facts.st_mtime_ns]

    def size(self, reference: str) -> int | None:
        """Bytes of the file of a table; None if it has none, or none yet."""
        try:
            return None if is_address(reference) else self.locate(reference).stat().st_size
        except RequestError:
            return None

    def files(self, endings: Sequence[str]) -> list[str]:
        """References of the files with these endings, packed ones too; nothing hidden, and not too deep."""
        kinds = (*endings, *(one + packed for one in endings for packed in PACKED))
        files: list[str] = []
        for number, root in enumerate(self.roots):
            for folder, folders, names in os.walk(root):
                depth = len(Path(folder).relative_to(root).parts)
                folders[:] = sorted(one for one in folders if not one.startswith(".") and depth < _DEEPEST)
                at = Path(folder).relative_to(root)
                files += [
                    f"{number}/{(at / name).as_posix()}"
                    for name in sorted(names)
                    if name.lower().endswith(kinds) and not name.startswith(".")
                ]
                if len(files) > _MOST_FILES:
                    return files[:_MOST_FILES]
        return files

    def tables(self) -> list[str]:
        """References of what looks like a table, those that somebody brought before those that the desk made."""
        files = [one for one in self.files(TABLES) if not one.endswith(".recipe.yaml")]
        made = [one for one in files if one.startswith(tuple(f"0/{place}/" for place in (*OURS, "hierarchies")))]
        return [one for one in files if one not in made] + made

    def place(self, kind: str, *, make: bool = True) -> Path:
        """The folder of the project for files of a kind: nothing is written where a link leads."""
        folder = self.folder / kind
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            raise RequestError(409, f"{kind} is a link or a file. Remove it: the desk keeps files in a folder there.")
        if make:
            folder.mkdir(mode=0o700, exist_ok=True)
        return folder

    def new_folder(self, kind: str, reference: str) -> str:
        """A folder that did not exist, for what a command writes about a table; its way from the project."""
        stem = slug(self.label(reference).partition(".")[0])
        for number in range(1, 100_000):
            folder = self.place(kind) / f"{stem}-{number}"
            try:
                folder.mkdir()
            except FileExistsError:
                continue
            return folder.relative_to(self.folder).as_posix()
        raise RequestError(409, "There are too many folders of this name.")

    # recipes

    def recipe_path(self, reference: str) -> Path:
        """The file of the recipe of a table, in the project: beside the table, where that is there."""
        name = self.label(reference)
        if reference != f"0/{name}":
            name = f"{slug(name)}-{hashlib.sha256(reference.encode()).hexdigest()[:8]}"
        return self.folder / f"{name}.recipe.yaml"

    def recipe_word(self, reference: str) -> str:
        """How commands name it."""
        name = self.recipe_path(reference).name
        return f"./{name}" if name.startswith("-") else name

    def recipe(self, reference: str) -> dict[str, Any] | None:
        """What the recipe says, with every role at its column; None if there is no recipe yet."""
        path = self.recipe_path(reference)
        if path.is_symlink():
            self.reference(path.resolve())  # or refuse: it leads out of the folders
        if not path.is_file():
            return None
        data = read_plain_yaml(path.read_text(encoding="utf-8"), f"The recipe {path.name}")
        columns = (data.get("columns") or {}) if isinstance(data, dict) else None
        if not isinstance(columns, dict) or not all(isinstance(one, dict | None) for one in columns.values()):
            raise OutputError(f"The recipe {path.name} is not a list of settings. Mend or remove the file.")
        return with_roles_at_columns(data)

    def proposed(self, reference: str) -> bool:
        """Whether the roles in the recipe are proposals that nobody has decided on."""
        path = self.recipe_path(reference)
        return path.is_file() and PROPOSED in path.read_text(encoding="utf-8").splitlines()

    def save_recipe(self, reference: str, data: Mapping[str, Any], *, proposed: bool = False) -> None:
        """Write a recipe that says something sensible, or raise what is wrong with it."""
        path = self.recipe_path(reference)
        text = edited(path.read_text(encoding="utf-8"), data) if path.is_file() else recipe_text(data)
        lines = [line for line in text.splitlines() if line != PROPOSED]
        text = "\n".join([*([PROPOSED] if proposed else []), *lines, ""])
        self.check_files(data)
        _write_recipe(path, text)

    def save_beside(self, name: str, data: Mapping[str, Any]) -> str:
        """Write a recipe that is made of others, or raise what is wrong with it; how commands name it."""
        self.check_files(data)
        _write_recipe(self.folder / name, recipe_text(data))
        return name

    def check_files(self, data: Mapping[str, Any]) -> None:
        """Refuse a recipe that names files outside the folders of this desk."""
        columns = [one for one in (data.get("columns") or {}).values() if isinstance(one, dict)]
        for name in (data.get("population"), *(one.get("hierarchy") for one in columns)):
            if isinstance(name, str):
                path = (self.folder / name).resolve()
                self.locate(self.reference(path))

    def json_in(self, path: Path) -> dict[str, Any] | None:
        """The data of a small JSON file of ours; None if there is none, or it is none."""
        try:
            if path.stat().st_size > 64 << 20:
                return None
            data = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return None
        return data if isinstance(data, dict) else None


def save_json(path: Path, data: Any) -> None:
    """Write a small file of ours, which is there whole or not at all."""
    part = path.with_suffix(".part")
    part.write_text(json.dumps(data), encoding="utf-8")
    part.replace(path)


def _write_recipe(path: Path, text: str) -> None:
    from incrowd.tables.recipe import parse_recipe

    parse_recipe(text, path)
    with staged(path) as hidden:
        hidden.write_text(text, encoding="utf-8")


def is_address(reference: str) -> bool:
    """Whether a table is on a server."""
    return reference.lower().startswith(("postgresql://", "postgres://"))


def database_table(reference: str) -> str:
    """The table of a database that a reference names, for the screen: nothing of the server. Empty if there is none."""
    if is_address(reference):
        match = re.search(r"[?&]table=([^&]+)", reference)
        return match[1] if match else ""
    return str(DatabaseFile.parse(reference).table or "") if is_database_file(reference) else ""


def slug(name: str) -> str:
    """A name of letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower())[:40].strip("-") or "table"


def _wait_for_lock(folder: Path) -> None:
    """Wait until no process of a job lives any more: it ends when its desk does, and is ended where it does not."""
    begun, ended = time.monotonic(), False
    while (waited := time.monotonic() - begun) < 10 * _ORPHANS:
        with contextlib.suppress(OSError):
            os.close(lock(folder))
            return
        if waited > _ORPHANS and not ended:
            _end_orphan(folder)
            ended = True
        time.sleep(0.05)
    raise OutputError(f"A job of an earlier desk is still running, that of {folder.name}. End its process first.")


def _end_orphan(folder: Path) -> None:
    """Kill the group of a job: who holds its lock is its first process, so the number is still that of the group."""
    with contextlib.suppress(OSError, ValueError, KeyError):
        pid = int(json.loads((folder / "process.json").read_text(encoding="utf-8"))["pid"])
        os.killpg(pid, signal.SIGKILL) if hasattr(os, "killpg") else os.kill(pid, signal.SIGTERM)
