"""What an installation weighs: ``python -m quality.weight`` tells megabytes by package and by extra.

Measured where everything is installed (``make test`` does), by the files that pip noted, without compiled bytecode.
"""

from __future__ import annotations

import tomllib
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SHOWN = 4.5  # megabytes; what is smaller is told as the rest


def brought(wanted: list[str]) -> set[str]:
    """The packages that these requirements install, and those that they need."""
    todo, names = [Requirement(one) for one in wanted], set[str]()
    while todo:
        one = todo.pop()
        name, extras = canonicalize_name(one.name), one.extras or {""}
        if name == PROJECT["name"]:
            todo += [Requirement(more) for extra in extras for more in PROJECT["optional-dependencies"][extra]]
        elif name not in names:
            names.add(name)
            needs = map(Requirement, distribution(name).requires or [])
            todo += [n for n in needs if n.marker is None or any(n.marker.evaluate({"extra": e}) for e in extras)]
    return names


def megabytes(name: str) -> float:
    """What the package has on disk."""
    files = [Path(str(file.locate())) for file in distribution(name).files or [] if file.suffix != ".pyc"]
    return sum(file.stat().st_size for file in files if file.is_file()) / 1e6


def main() -> None:
    """Print both tables."""
    base = brought(PROJECT["dependencies"])
    sizes = {name: megabytes(name) for name in base}
    for name in sorted(sizes, key=lambda name: -sizes[name]):
        if sizes[name] >= SHOWN:
            print(f"{name:24}{sizes[name]:8.0f}")
    print(f"{'the rest':24}{sum(size for size in sizes.values() if size < SHOWN):8.0f}")
    print(f"{'all of it':24}{sum(sizes.values()):8.0f}\n")
    for extra in PROJECT["optional-dependencies"]:
        more = sum(map(megabytes, brought([f"incrowd[{extra}]"]) - base))
        print(f"[{extra}]{'':{22 - len(extra)}}{more:8.0f}")


if __name__ == "__main__":
    main()
