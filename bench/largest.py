"""A hundred million rows, made on the fly, released out of core under a limit of memory, and recounted."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from bench.commands import CAP, release, takes_memory, verify
from bench.people import ATTRIBUTES, encode, write_people
from bench.process import Cost, LeftOut, Workshop
from bench.renamed import people_with_hierarchies
from bench.setting import Setting, tell
from bench.sizes import CAPPED_FROM, FEW, FIRST, MOST_GIGABYTES, K, Measured, first_table, run_in_turns
from experiments.charts import line_chart
from experiments.pages import Goal, Picture, Section

SIZES, QUICK_SIZES = (1_000_000, 10_000_000, 100_000_000), (1_500, 3_000)
ONCE_FROM, MOST_GROWTH, LIMIT = 50_000_000, 1.2, 3600.0


def measure(setting: Setting) -> Section:
    """The first method on a million, ten million and a hundred million rows, one after the other."""
    with TemporaryDirectory(prefix="incrowd-bench-") as folder:
        measured, recount = _run(Workshop(Path(folder)), setting)
    rows = max(measured.first)
    cost, growth = measured.first[rows], _growth(measured)
    recounted = isinstance(recount, Cost)
    how_recounted = (
        f"recounted in {recount.wall:.0f} s with {recount.memory / 1e9:.2f} GB"
        if isinstance(recount, Cost)
        else f"recount {recount}"
    )
    cap = f"`--memory {CAP}`" if takes_memory() else "no limit of memory (this version takes none)"
    return Section(
        "A hundred million rows",
        (
            f"{measured.source}, expanded; {len(ATTRIBUTES)} quasi-identifiers, k = {K}, `{FIRST}`, Parquet to "
            "verified Parquet. The rows are made and written a million at a time. Copy and release take turns (rounds: "
            f"{setting.repetitions}, one from {ONCE_FROM:,} rows on). From {CAPPED_FROM:,} rows on, releases run with "
            f"{cap}. Net is without start-up, the same command on {FEW:,} rows. At the end the published file is "
            "recounted by a process of its own, `incrowd verify`.",
            first_table(measured),
            _picture(measured),
            Goal(
                f"{rows:,} rows with {cap}: the release completes, stays under {MOST_GIGABYTES:g} GB, and verifies",
                f"{cost.wall:.0f} s, {cost.gigabytes:.2f} GB, {how_recounted}",
                recounted and cost.gigabytes < MOST_GIGABYTES and takes_memory(),
            ),
            Goal(
                f"CPU per row, net of start-up, at most {MOST_GROWTH - 1:.0%} above that of the smallest size",
                f"{growth:.2f} times at most; {measured.net(rows):.2f} µs for {rows:,} rows",
                growth <= MOST_GROWTH,
            ),
        ),
    )


def _run(workshop: Workshop, setting: Setting) -> tuple[Measured, Cost | LeftOut]:
    """Each size, then the recount of the last release."""
    sizes = QUICK_SIZES if setting.quick else SIZES
    frame, source = people_with_hierarchies(setting)
    columns = encode(frame.drop_nulls())
    write_people(workshop.folder / "few.parquet", columns, min(FEW, min(sizes)))
    command = release("few.parquet", FIRST, K, ATTRIBUTES)
    workshop.run(command)  # compile
    measured = Measured(source, workshop.alternate({"": command}, setting.repetitions)[""])
    for rows in sizes:
        tell(f"making {rows:,} rows")
        path = workshop.folder / "all.parquet"
        write_people(path, columns, rows)
        measured.megabytes[rows] = path.stat().st_size / 1e6
        run_in_turns(workshop, measured, rows, 1 if rows >= ONCE_FROM else setting.repetitions)
    return measured, workshop.attempt(verify("release.parquet", K, ATTRIBUTES), LIMIT)


def _growth(measured: Measured) -> float:
    """The largest cost per row against that of the smallest size."""
    least = measured.net(min(measured.first)) or 1.0
    return max(measured.net(rows) / least for rows in measured.first)


def _picture(measured: Measured) -> Picture:
    title = f"CPU per row by rows: {FIRST}, net of start-up, and the copy"
    points = {
        FIRST: [(float(rows), measured.net(rows)) for rows in measured.first],
        "copy": [(float(rows), 1e6 * cost.cpu / rows) for rows, cost in measured.copies.items()],
    }
    return Picture("largest_per_row", title, line_chart(title, "rows", "µs per row", points, "{:,.0f}".format))
