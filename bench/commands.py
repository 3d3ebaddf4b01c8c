"""The commands that are measured on Parquet files: a release, a plain copy, scikit-learn's tree."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from sysconfig import get_path

from bench.people import TARGET
from incrowd.methods.catalog import METHODS as CATALOG
from incrowd.methods.catalog import find_method

INCROWD = Path(get_path("scripts")) / "incrowd"
METHODS = tuple(CATALOG)
CAP = "4GB"


def release(file: str, method: str, k: int, names: Sequence[str], *, capped: bool = False) -> list[str]:
    """From a file to a verified release of the same kind; hierarchies for the methods and columns that have some."""
    options = ["--quasi-identifiers", ",".join(names), "--target", TARGET, "-k", str(k), "--method", method]
    options += ["--class-sensitive", "no", "--despite-unchanged"]
    known = {name: path for name, path in _hierarchies().items() if name in names}
    used = known if find_method(method).generalizes else {}
    trees = [word for name, path in used.items() for word in ("--hierarchy", f"{name}={path}")]
    cap = ["--memory", CAP] if capped and takes_memory() else []
    to = ["--to", f"release{Path(file).suffix}", "--replace"]
    return [str(INCROWD), "release", file, *options, *trees, *cap, *to, "--json"]


def verify(file: str, k: int, names: Sequence[str]) -> list[str]:
    """Recount a file."""
    return [str(INCROWD), "verify", file, "-k", str(k), "--quasi-identifiers", ",".join(names)]


def copy(file: str) -> list[str]:
    """Polars reading the file and writing it again, a part at a time."""
    suffix = Path(file).suffix
    read = {".csv": "scan_csv(f, infer_schema=False).sink_csv", ".parquet": "scan_parquet(f).sink_parquet"}[suffix]
    return [sys.executable, "-c", f"import polars as p; f = {file!r}; p.{read}('copy{suffix}')"]


def fit(file: str, smallest_leaf: int) -> list[str]:
    """scikit-learn's tree on the same data; it tells what the fit alone takes."""
    return [sys.executable, "-m", "bench.fitting", file, str(smallest_leaf)]


@cache
def takes_memory() -> bool:
    """Whether a release can be given a limit of memory."""
    page = subprocess.run([str(INCROWD), "release", "--help"], capture_output=True, text=True, check=True)
    return "--memory" in page.stdout


def _hierarchies() -> dict[str, Path]:
    """The files of Adult's hierarchies, by column."""
    folder = Path(str(files("incrowd.tables.hierarchies"))) / "examples" / "adult"
    return {path.stem: path for path in sorted(folder.glob("*.txt"))}
