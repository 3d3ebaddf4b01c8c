"""Packages of others, as Python finds them: a module and its entry points in a folder of the path."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from incrowd.optional import plugins


def put_package(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, code: str, points: Mapping[str, Mapping[str, str]]
) -> None:
    """A package of one module, version 1.0, with entry points by group; it is found until the test ends."""
    (folder / f"{name}.py").write_text(code, encoding="utf-8")
    about = folder / f"{name}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    (about / "RECORD").write_text(f"{name}.py,,\n", encoding="utf-8")
    groups = [
        "\n".join([f"[incrowd.{kind}]", *(f"{point} = {place}" for point, place in named.items())])
        for kind, named in points.items()
    ]
    (about / "entry_points.txt").write_text("\n\n".join(groups), encoding="utf-8")
    if str(folder) not in sys.path:
        monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, name, raising=False)
    plugins.cache_clear()
