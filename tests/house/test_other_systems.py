"""The package on a system without what only POSIX has: every process of these runs lacks it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from incrowd.comparisons.datasets.invented import make_patients

WITHOUT = """
import os, signal, sys

for module in ("fcntl", "grp", "pwd", "resource", "termios"):
    sys.modules[module] = None
gone = "fork forkpty link fchmod chown fchown killpg setsid getuid geteuid getgid sched_getaffinity sysconf statvfs"
for name in (gone + " register_at_fork O_DIRECTORY O_NOFOLLOW O_CLOEXEC").split():
    if hasattr(os, name):
        delattr(os, name)
for name in "SIGALRM SIGHUP SIGUSR1 SIGPIPE ITIMER_REAL setitimer getitimer alarm pthread_sigmask".split():
    delattr(signal, name)
os.supports_dir_fd.clear()
os.supports_fd.clear()
"""
IMPORTS = """
import importlib, pkgutil, incrowd
for module in pkgutil.walk_packages(incrowd.__path__, "incrowd."):
    if not module.name.endswith("__main__"):
        try:
            importlib.import_module(module.name)
        except (AttributeError, ImportError) as error:
            print(module.name, error)
"""
ROLES = ["--target", "readmitted", "-q", "age,sex,postcode", "--identifiers", "patient_id", "--class-sensitive", "no"]
RELEASE = ["release", "patients.csv", *ROLES, "-k", "10", "--to", "release.csv", "--despite-unchanged"]


@pytest.fixture
def run(tmp_path: Path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(WITHOUT, encoding="utf-8")
    path = os.pathsep.join([str(tmp_path / "site"), *sys.path])
    environment = {**os.environ, "PYTHONPATH": path, "XDG_CONFIG_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}

    def python(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, *words], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return python


@pytest.mark.slow
def test_every_module_is_imported(run) -> None:
    assert run("-c", IMPORTS) == ""


@pytest.mark.slow
def test_a_release_is_made_and_verified(run, tmp_path: Path) -> None:
    assert run("-c", "import os, signal; print(hasattr(os, 'fork'), hasattr(signal, 'SIGALRM'))") == "False False\n"
    make_patients(1000).write_csv(tmp_path / "patients.csv")
    run("-m", "incrowd", *RELEASE, "--ledger", "book")
    assert "passed" in run("-m", "incrowd", "verify", "release.csv")
    assert not [path.name for path in tmp_path.iterdir() if path.name.endswith(".incrowd")]
