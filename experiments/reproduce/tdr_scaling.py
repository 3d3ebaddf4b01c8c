"""Seconds of TDR by rows and by sets of attributes that are known together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from experiments.charts import lines
from experiments.reproduce.document import Block, Grid, Heading, Picture, Words, shown
from experiments.reproduce.evidence import Evidence
from experiments.reproduce.experiment import Verdict
from experiments.reproduce.preparing import Prepared
from experiments.scalability import SEVEN, SMALL, Timed, expanded, power, timed
from incrowd.tables.hierarchies.read import adult_hierarchies

K = 150
FACTORS, QUICK_FACTORS = (1, 6, 23), (1,)
SETS = {1: (SEVEN,), 2: (SEVEN[:4], SEVEN[3:]), 3: (SEVEN[:3], SEVEN[2:5], SEVEN[4:])}
MOST_POWER, MOST_TIMES = 1.0, 3.0


@dataclass(frozen=True)
class Scaled:
    """A release by TDR: how many sets of attributes are known together, and what it took."""

    sets: int
    took: Timed


def look_at_scaling(prepared: Prepared) -> dict[str, object]:
    """Releases of Adult, expanded to a million rows, in this process."""
    bench = next((bench for bench in prepared.benches if bench.table.dataset == "adult"), None)
    if bench is None or not set(SEVEN) <= set(bench.laboratory.subject.table.columns):
        return {}
    factors = QUICK_FACTORS if prepared.options.quick else FACTORS
    subject, by_rows, by_sets = bench.laboratory.subject, [], []
    with TemporaryDirectory(prefix="incrowd-scaling-") as place:
        folder = Path(place)
        hierarchies = {name: tree for name, tree in adult_hierarchies().items() if name in SEVEN}
        timed(expanded(subject, 1).head(SMALL), folder, "tdr", hierarchies=hierarchies)  # compiles
        for factor in factors:
            frame = expanded(subject, factor)
            by_rows.append(Scaled(1, timed(frame, folder, "tdr", hierarchies=hierarchies)))
        for number, sets in SETS.items():
            known = [(list(names), K) for names in sets]
            took = timed(frame, folder, "tdr", hierarchies=hierarchies, known_together=known)
            by_sets.append(Scaled(number, took))
    return {"by rows": tuple(by_rows), "by sets": tuple(by_sets)}


def scales_by_rows(evidence: Evidence) -> Verdict | None:
    """The power of the rows with which CPU seconds grow."""
    measured = _scaled(evidence.facts, "by rows")
    if len(measured) < 2:
        return None
    slope = power([(one.took.rows, one.took.cpu) for one in measured])
    first, last = measured[0].took, measured[-1].took
    figures = f"to the power {slope:.2f}: {first.cpu:.2f} s for {first.rows:,} rows, {last.cpu:.2f} s for {last.rows:,}"
    return Verdict(slope <= MOST_POWER, figures)


def scales_by_sets(evidence: Evidence) -> Verdict | None:
    """CPU seconds with several sets against one."""
    seconds = {one.sets: one.took.cpu for one in _scaled(evidence.facts, "by sets")}
    if 1 not in seconds or 3 not in seconds:
        return None
    return Verdict(seconds[3] <= MOST_TIMES * seconds[1], f"{seconds[3] / seconds[1]:.2f} times as long")


def scaling_blocks(facts: Mapping[str, object]) -> Iterator[Block]:
    """Both as tables, and the rows as a drawing."""
    by_rows, by_sets = _scaled(facts, "by rows"), _scaled(facts, "by sets")
    if not by_rows or not by_sets:
        return
    yield Heading("Seconds, by rows and by sets")
    yield Words(
        f"Adult, expanded as on the page of the kACTUS paper's Table 6: {len(SEVEN)} quasi-identifiers with "
        f"hierarchies, k = {K}, from reading a Parquet file to writing the release, in a process that has released "
        "before. The recount runs in another process: it is in the wall seconds only, as is waiting for other work."
    )
    header = ("rows", "sets", "CPU s", "deciding, wall s", "with recount, wall s")
    for caption, measured in (("By rows", by_rows), ("By sets known together", by_sets)):
        yield Grid(caption, header, tuple(shown(*_row(one)) for one in measured), words=0)
    if len(by_rows) > 1:
        points = {"TDR, one set": [(float(one.took.rows), one.took.cpu) for one in by_rows]}
        title = "TDR: CPU seconds by rows"
        drawing = lines(title, "rows", "CPU seconds", points, "{:,.0f}".format)
        yield Picture("reproduction_tdr_seconds", title, drawing)


def _row(one: Scaled) -> tuple[str, ...]:
    took = one.took
    return f"{took.rows:,}", str(one.sets), f"{took.cpu:.2f}", f"{took.deciding:.2f}", f"{took.wall:.2f}"


def _scaled(facts: Mapping[str, object], which: str) -> tuple[Scaled, ...]:
    measured = facts.get(which, ())
    return tuple(one for one in measured if isinstance(one, Scaled)) if isinstance(measured, tuple) else ()
