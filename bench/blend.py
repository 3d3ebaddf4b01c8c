"""Blend on more and more rows, as a whole and in blocks."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from bench.commands import CAP, copy, release, takes_memory
from bench.history import spread
from bench.people import ATTRIBUTES, encode, write_people
from bench.process import Cost, Costs, LeftOut, Workshop
from bench.renamed import people_with_hierarchies
from bench.setting import Setting, tell
from experiments.pages import Goal, Section, Table

K, METHOD, MOST, LIMIT = 150, "blend", 20.0, 900.0
SIZES, QUICK_SIZES = (45_222, 452_220, 1_356_660), (1_500,)


def measure(setting: Setting) -> Section:
    """A copy and a release of each size, once."""
    frame, source = people_with_hierarchies(setting)
    columns = encode(frame.drop_nulls())
    costs: dict[int, tuple[Cost, Cost | LeftOut]] = {}
    with TemporaryDirectory(prefix="incrowd-bench-") as folder:
        workshop = Workshop(Path(folder))
        for rows in QUICK_SIZES if setting.quick else setting.affordable(SIZES, int):
            write_people(workshop.folder / "all.parquet", columns, rows)
            command = release("all.parquet", METHOD, K, ATTRIBUTES, capped=rows > SIZES[0])
            costs[rows] = workshop.run(copy("all.parquet")), workshop.attempt(command, LIMIT)
            tell(f"{rows:,} rows: {_row(rows, *costs[rows])}")
    ratios = {
        f"{rows:,} rows": Costs((cost,)).ratios(Costs((copied,)))
        for rows, (copied, cost) in costs.items()
        if isinstance(cost, Cost)
    }
    cap = f"`--memory {CAP}`" if takes_memory() else "no limit of memory"
    last = costs[max(costs)][1]
    return Section(
        "Blend, small and large",
        (
            f"{source}, expanded; {len(ATTRIBUTES)} quasi-identifiers, k = {K}, `{METHOD}`, Parquet to verified "
            f"Parquet, once each; from {SIZES[1]:,} rows on with {cap}. The copy is Polars reading the file and "
            "writing it again.",
            Table(
                ("rows", "copy, CPU s", "CPU s", "wall s", "peak GB", "in copies, CPU"),
                [_row(rows, *pair) for rows, pair in costs.items()],
            ),
            Goal(
                f"`{METHOD}`, {max(costs):,} rows in at most {MOST:g} s of CPU",
                f"{last.cpu:.1f} s" if isinstance(last, Cost) else str(last),
                isinstance(last, Cost) and last.cpu <= MOST,
                ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in last.stages.items()) + " (wall)."
                if isinstance(last, Cost)
                else "",
            ),
        ),
        ratios,
    )


def _row(rows: int, copied: Cost, cost: Cost | LeftOut) -> tuple[str, ...]:
    if isinstance(cost, LeftOut):
        return f"{rows:,}", f"{copied.cpu:.2f}", str(cost), "–", "–", "–"
    ratio = spread(Costs((cost,)).ratios(Costs((copied,))))
    return f"{rows:,}", f"{copied.cpu:.2f}", f"{cost.cpu:.1f}", f"{cost.wall:.1f}", f"{cost.memory / 1e9:.2f}", ratio
