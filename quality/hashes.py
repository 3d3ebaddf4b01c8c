"""Hashes of the exact versions: ``python -m quality.hashes`` writes constraints-hashed.txt from constraints.txt.

pip says which file it would install on each system and Python of the workflow, and by which SHA-256 the index knows it;
nothing is downloaded but packages that exist as source only. No address is kept. With the file, CI installs nothing
that has changed since: ``make hashed``.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

ROOT = Path(__file__).parents[1]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
OLDER_LINUX = [f"manylinux_2_{minor}_x86_64" for minor in range(36, 4, -1)]  # pip knows none of them by a newer one
SYSTEMS = {
    "linux": [*OLDER_LINUX, "manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64"],
    "darwin": ["macosx_15_0_arm64"],
    "win32": ["win_amd64"],
}
AT_ONCE = 6  # most of the time is waiting for the index
HEAD = "# Written by `python -m quality.hashes`: the versions of constraints.txt, with the SHA-256 of each file.\n"
REFUSED = re.compile(r"No matching distribution found for ([\w.-]+)==")

Hashes = dict[str, set[str]]


def pinned() -> dict[str, str]:
    """Version by name, as constraints.txt has them."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if "==" in line)


def ask(wanted: dict[str, str], *options: str) -> tuple[dict[str, str], list[str]]:
    """Hash by name of what pip would install, and the names it has nothing for."""
    missing: list[str] = []
    while True:
        names = [f"{name}=={version}" for name, version in wanted.items() if name not in missing]
        with tempfile.TemporaryDirectory() as folder:
            words = ["install", "--quiet", "--dry-run", "--no-deps", "--ignore-installed", "--report", "-"]
            command = [sys.executable, "-m", "pip", *words, "--target", folder, *options, *names]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            break
        refused = REFUSED.search(done.stderr)
        if refused is None:
            raise SystemExit(done.stderr)
        missing.append(refused[1])
    files = json.loads(done.stdout)["install"]
    by_name = {
        _plain(one["metadata"]["name"]): one["download_info"]["archive_info"]["hashes"]["sha256"] for one in files
    }
    return {name: by_name[_plain(name)] for name in wanted if name not in missing}, missing


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def collect() -> tuple[Hashes, dict[str, set[str]]]:
    """All hashes by name, and the systems that a package has no file for, whatever the Python."""
    wanted, hashes, absent = pinned(), defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)

    def answer(machine: tuple[str, str]) -> tuple[dict[str, str], list[str]]:
        platforms = (word for one in SYSTEMS[machine[0]] for word in ("--platform", one))
        return ask(wanted, "--only-binary", ":all:", "--python-version", f"{machine[1]}.9", *platforms)

    machines = list(product(SYSTEMS, PYTHONS))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = dict(zip(machines, pool.map(answer, machines), strict=True))
    for (system, python), (known, missing) in answers.items():
        sys.stderr.write(f"{system}, Python {python}: {len(known)} files, none of {', '.join(missing) or 'nothing'}\n")
        for name, sha256 in known.items():
            hashes[name].add(sha256)
    for name, system in product(wanted, SYSTEMS):
        if all(name in answers[system, python][1] for python in PYTHONS):
            absent[name].add(system)
    for name in [name for name in wanted if name not in hashes]:  # no wheel anywhere: its source, which fits everywhere
        known, _ = ask({name: wanted[name]}, "--no-binary", name)
        hashes[name].add(known[name])
        absent.pop(name)
    return hashes, absent


def main() -> None:
    """Write the file."""
    hashes, absent = collect()
    lines = []
    for name, version in pinned().items():
        marker = "".join(f' ; sys_platform != "{system}"' for system in sorted(absent.get(name, ())))
        lines.append(f"{name}=={version}{marker} \\")
        lines.append(" \\\n".join(f"    --hash=sha256:{sha256}" for sha256 in sorted(hashes[name])))
    (ROOT / "constraints-hashed.txt").write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
