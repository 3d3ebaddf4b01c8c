"""What a process that a test starts has to know: which module is changed, or where lines that are run are noted.

``INCROWD_MUTANT`` is ``PATH:NUMBER``, a file and the number of its change; ``INCROWD_TRACE`` is a folder.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import os
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any

from quality.operators import mutated

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
HOOK = Path(__file__).parent / "hook"


def module_of(path: Path) -> str:
    """The name of the module in a file.

    Examples
    --------
    >>> module_of(SOURCE / "incrowd/verification/__init__.py"), module_of(SOURCE / "incrowd/errors.py")
    ('incrowd.verification', 'incrowd.errors')
    """
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def install() -> None:
    """Do what the environment asks for."""
    if mutant := os.environ.get("INCROWD_MUTANT"):
        path, _, number = mutant.rpartition(":")
        sys.meta_path.insert(0, _Finder(ROOT / path, int(number)))
    if folder := os.environ.get("INCROWD_TRACE"):
        Tracer(Path(folder)).start()


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, path: Path, number: int) -> None:
        self._name, self._number = module_of(path), number

    def find_spec(
        self, name: str, path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != self._name:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is not None and spec.origin is not None:
            spec.loader = _Loader(name, spec.origin, self._number)
        return spec


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, number: int) -> None:
        super().__init__(name, path)
        self._number = number

    def get_code(self, fullname: str) -> CodeType:
        source = self.get_data(self.path).decode("utf-8")
        code: CodeType = compile(mutated(source, self._number), self.path, "exec")
        del fullname
        return code


class Tracer:
    """Notes the lines of the program that are run, each once until it is asked to forget, with the time.

    ``folder`` gets a file for each process: a line may be run by a process that ends without a word.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.lines: set[tuple[str, int]] = set()
        self._folder, self._files = folder, dict[int, int]()
        self._watched: dict[str, bool] = {}

    def start(self) -> None:
        """Begin, in all threads."""
        threading.settrace(self._called)
        sys.settrace(self._called)

    def stop(self) -> None:
        """End."""
        sys.settrace(None)
        threading.settrace(None)

    def _called(self, frame: FrameType, _event: str, _value: Any) -> Any:
        name = frame.f_code.co_filename
        if name not in self._watched:
            self._watched[name] = is_target(name)
        return self._noted if self._watched[name] else None

    def _noted(self, frame: FrameType, _event: str, _value: Any) -> Any:
        line = (frame.f_code.co_filename, frame.f_lineno)
        if line not in self.lines:
            self.lines.add(line)
            if self._folder is not None:
                os.write(self._file(self._folder), f"{time.time()}\t{line[0]}\t{line[1]}\n".encode())
        return self._noted

    def _file(self, folder: Path) -> int:
        """The file of this process; a process that was forked has its own, and notes all lines anew."""
        process = os.getpid()
        if process not in self._files:
            self._files = {process: os.open(folder / f"{process}.lines", os.O_WRONLY | os.O_CREAT | os.O_APPEND)}
            if len(self.lines) > 1:
                self.lines.clear()
        return self._files[process]


TARGETS = (
    "src/incrowd/verification",
    "src/incrowd/vocabulary/requirements",
    "src/incrowd/vocabulary/requirement.py",
    "src/incrowd/tables/publishing",
)
_PREFIXES = tuple(str(ROOT / target) for target in TARGETS)


def is_target(path: str) -> bool:
    """Whether a file is one that mutants are made of."""
    return path.startswith(_PREFIXES)
