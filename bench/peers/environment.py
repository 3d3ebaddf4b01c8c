"""An environment for each peer, made once and kept in a folder for caches."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from bench.peers.catalog import Peer
from bench.process import LeftOut
from bench.setting import tell

READY = "ready"


def environment(peer: Peer) -> Path | LeftOut:
    """The Python of the peer's environment, made if it is not there; or why there is none."""
    folder = _folder(peer)
    if not (folder / READY).exists():
        tell(f"installing {peer.name} {peer.version}")
        failed = _make(folder, peer)
        if failed is not None:
            shutil.rmtree(folder, ignore_errors=True)
            return LeftOut(f"does not install: {failed}")
    return folder / "bin" / "python"


def _make(folder: Path, peer: Peer) -> str | None:
    """Make the environment; what pip said last where it failed."""
    shutil.rmtree(folder, ignore_errors=True)
    apart = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run([sys.executable, "-m", "venv", folder], check=True, env=apart)
    python = str(folder / "bin" / "python")
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *peer.packages]
    done = subprocess.run(install, env=apart, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        (folder / READY).touch()
        return None
    return next((line for line in reversed(done.stderr.splitlines()) if line.startswith("ERROR")), "pip failed")


def _folder(peer: Peer) -> Path:
    """Another one for other versions, of the packages or of Python."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    what = " ".join([platform.python_version(), *peer.packages])
    return cache / "incrowd-bench" / f"{peer.name}-{hashlib.sha256(what.encode()).hexdigest()[:12]}"
