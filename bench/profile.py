"""Where the time of a release goes: by stage, by function, and as a flame graph."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.commands import release
from bench.flame import flame_graph, grow
from bench.people import ATTRIBUTES, COPIES, encode, write_people
from bench.process import Cost, Workshop
from bench.renamed import people_with_hierarchies
from bench.sampled import WAITS
from bench.setting import Setting, tell
from experiments.pages import Picture, Section, Table

METHOD, K, QUICK_COPIES, LINES = "kactus", 150, 2, 15
Stacks = Sequence[tuple[Sequence[str], float]]
COLOURS = {
    "reading": "series-0",
    "deciding": "series-1",
    "engines": "series-2",
    "writing": "series-6",
    "verifying": "series-3",
    "the rest of incrowd": "series-4",
    "libraries": "series-7",
    "importing, waiting": "other",
}
ROOMS = {
    "reading": "reading",
    "databases": "reading",
    "methods": "deciding",
    "trees": "deciding",
    "measures": "deciding",
    "plan": "deciding",
    "engines": "engines",
    "publishing": "writing",
    "report": "writing",
    "verification": "verifying",
    "recount": "verifying",
}


def measure(setting: Setting) -> Section:
    """One run as it is, one that is looked at."""
    frame, source = people_with_hierarchies(setting)
    columns = encode(frame.drop_nulls())
    rows = len(columns[0].codes) * (QUICK_COPIES if setting.quick else COPIES)
    with TemporaryDirectory(prefix="incrowd-bench-") as folder:
        write_people(Path(folder) / "all.parquet", columns, rows)
        cost, stacks = _run(Workshop(Path(folder)))
    title = f"Where {cost.wall:.1f} seconds go: {METHOD}, {rows:,} rows, Parquet to verified Parquet"
    root = grow(stacks)
    return Section(
        "Where the time goes",
        (
            f"{source}, {rows:,} rows, {len(ATTRIBUTES)} quasi-identifiers, k = {K}, `{METHOD}`, Parquet to Parquet: "
            f"the whole process takes {cost.wall:.2f} s, {cost.cpu:.2f} s CPU, {cost.memory / 1e9:.2f} GB. A second "
            f"run of the same command is looked at every few milliseconds ({root.seconds:.2f} s in all threads). A "
            "library is shown as one entry, with the time of the threads that it hides counted once, as its caller "
            "waits for it; where one of our threads waits for others, both are shown.",
            "Wall seconds by stage, as the command reports them; the rest is start-up, loading, and ending:",
            _stages(cost),
            "By function, seconds in the function itself and in the libraries that it calls, all threads; waiting for "
            "other threads is left out:",
            _functions(stacks),
            Picture("profile_flame", title, flame_graph(title, root, COLOURS, kind)),
        ),
    )


def _run(workshop: Workshop) -> tuple[Cost, Stacks]:
    """A run that compiles, one that counts, one that is looked at."""
    command = release("all.parquet", METHOD, K, ATTRIBUTES)
    workshop.run(command)
    cost = workshop.run(command)
    tell(f"{METHOD}: {cost.wall:.2f} s")
    workshop.run([sys.executable, "-m", "bench.sampled", "stacks.json", *command[1:]])
    stacks: Stacks = json.loads((workshop.folder / "stacks.json").read_text(encoding="utf-8"))
    return cost, stacks


def _stages(cost: Cost) -> Table:
    rest = max(0.0, cost.wall - sum(cost.stages.values()))
    stages: Mapping[str, float] = {**cost.stages, "the rest": rest}
    return Table(tuple(stages), [tuple(f"{seconds:.2f}" for seconds in stages.values())], words=0)


def _functions(stacks: Stacks) -> Table:
    """The functions that take most, without what they call of ours, and without waiting for one another."""
    spent: Counter[tuple[str, str]] = Counter()
    for stack, seconds in stacks:
        if stack[-1] != WAITS:
            spent[_charged(stack)] += seconds  # type: ignore[assignment]
    whole = sum(spent.values()) or 1.0
    rows = [
        (f"`{function}`", library, f"{seconds:.2f}", f"{seconds / whole:.0%}")
        for (function, library), seconds in spent.most_common(LINES)
    ]
    return Table(("function", "in", "s", "share"), rows, words=2)


def _charged(stack: Sequence[str]) -> tuple[str, str]:
    """The innermost function of ours, and the library that it was in.

    Examples
    --------
    >>> _charged(["main thread", "incrowd.releases.pipeline:run_release", "polars"])
    ('pipeline:run_release', 'polars')
    """
    *_, last = stack
    inner = next((name for name in reversed(stack) if name.startswith("incrowd.")), stack[0])
    return inner.removeprefix("incrowd."), "" if last == inner else last


def kind(name: str) -> str:
    """Which colour an entry of the stacks has.

    Examples
    --------
    >>> kind("incrowd.tables.reading.read:read"), kind("polars"), kind("incrowd.releases.pipeline:run")
    ('reading', 'libraries', 'the rest of incrowd')
    """
    if name in ("importing", "waiting"):
        return "importing, waiting"
    if not name.startswith("incrowd."):
        return "the rest of incrowd" if name.endswith(("thread", "threads")) else "libraries"
    room = name.removeprefix("incrowd.").partition(":")[0].partition(".")[0]
    return ROOMS.get(room, "the rest of incrowd")
