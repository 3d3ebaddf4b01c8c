"""More and more quasi-identifiers, and larger and larger k, on the same rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

from bench.commands import copy, fit, release
from bench.matrix import Matrix, by_size, drawn_by_size, left_out
from bench.people import ATTRIBUTES, TARGET, decode, encode, expand
from bench.process import Cost, LeftOut, Workshop
from bench.renamed import people_with_hierarchies
from bench.setting import Setting, tell
from experiments.pages import Picture, Section, Table

METHODS, QUICK_METHODS, LIMIT = ("kactus", "tdr", "mondrian"), ("kactus",), 180.0
WIDTHS, QUICK_WIDTHS = (2, 4, 8, 14, 24, 40), (2, 16)
KS, QUICK_KS = (2, 10, 100, 1_000, 10_000), (2, 100)
COPIES, QUICK_COPIES, K = 10, 1, 100
DOMAINS, NUMBERS_FROM, LEANING = (2, 4, 8, 16, 50, 100), 16, 0.2
COPY, FIT = "copy", "scikit-learn's fit"


def measure(setting: Setting) -> Section:
    """Everything in turn, each as a process of its own."""
    frame, source = people_with_hierarchies(setting)
    table = decode(expand(encode(frame.drop_nulls()), QUICK_COPIES if setting.quick else COPIES))
    methods, widths, ks = (QUICK_METHODS, QUICK_WIDTHS, QUICK_KS) if setting.quick else (METHODS, WIDTHS, KS)
    with TemporaryDirectory(prefix="incrowd-bench-") as folder:
        workshop = Workshop(Path(folder))
        wide = widen(table, max(widths))
        if not setting.quick:
            _warm_up(workshop, wide, methods)
        wider = _by_width(workshop, wide, methods, widths)
        larger = _by_k(workshop, wide.select(*ATTRIBUTES, TARGET), methods, ks)
    return Section(
        "More quasi-identifiers, larger k",
        (
            f"{source}, expanded to {table.height:,} rows, Parquet to verified Parquet; every figure is one whole "
            f"process, start-up included. Beyond Adult's {len(ATTRIBUTES)}, quasi-identifiers are made: between "
            f"{min(DOMAINS)} and {max(DOMAINS)} values, drawn evenly, but for {LEANING:.0%} of the rows of one class "
            "from the lower half. scikit-learn's fit is that of its tree alone, smallest leaf k, on ordinal codes. A "
            f"process was given {LIMIT:.0f} s.",
            f"**More quasi-identifiers**, k = {K}.",
            *_told("quasi-identifiers", "width", wider),
            f"**Larger k**, {len(ATTRIBUTES)} quasi-identifiers.",
            *_told("k", "k", larger),
        ),
    )


def widen(table: pl.DataFrame, width: int) -> pl.DataFrame:
    """The table with made attributes up to that many; each knows a little about the class."""
    generator = np.random.default_rng(5)
    second = (table[TARGET] == table[TARGET].unique().sort()[-1]).to_numpy()
    made = []
    for place in range(width - len(ATTRIBUTES)):
        values = DOMAINS[place % len(DOMAINS)]
        drawn = generator.integers(0, values, table.height)
        leaning = second & (generator.random(table.height) < LEANING)
        numbers = pl.Series(f"made-{place + 1}", np.where(leaning, drawn // 2, drawn))
        made.append(
            numbers if values >= NUMBERS_FROM else pl.select(pl.format("v{}", numbers)).to_series().alias(numbers.name)
        )
    return table.select(ATTRIBUTES).with_columns(made).with_columns(table[TARGET])


def _warm_up(workshop: Workshop, table: pl.DataFrame, methods: Sequence[str]) -> None:
    """Compile what is not compiled yet."""
    few = table.select(*ATTRIBUTES, TARGET).head(1_000)
    few.write_parquet(workshop.folder / "few.parquet")
    for method in methods:
        workshop.run(release("few.parquet", method, 10, ATTRIBUTES))


def _by_width(workshop: Workshop, table: pl.DataFrame, methods: Sequence[str], widths: Sequence[int]) -> Matrix:
    """The first attributes, more and more of them."""

    def commands(width: int) -> dict[str, list[str]]:
        names = [name for name in table.columns if name != TARGET][:width]
        table.select(*names, TARGET).write_parquet(workshop.folder / "all.parquet")
        releases = {method: release("all.parquet", method, K, names) for method in methods}
        return {**releases, COPY: copy("all.parquet"), FIT: fit("all.parquet", K)}

    return _measure_all(workshop, widths, commands)


def _by_k(workshop: Workshop, table: pl.DataFrame, methods: Sequence[str], ks: Sequence[int]) -> Matrix:
    """The same file, larger and larger k."""
    table.write_parquet(workshop.folder / "all.parquet")

    def commands(k: int) -> dict[str, list[str]]:
        releases = {method: release("all.parquet", method, k, ATTRIBUTES) for method in methods}
        return {**releases, COPY: copy("all.parquet"), FIT: fit("all.parquet", k)}

    return _measure_all(workshop, ks, commands)


def _measure_all(workshop: Workshop, sizes: Sequence[int], commands: Callable[[int], dict[str, list[str]]]) -> Matrix:
    costs: dict[str, dict[int, Cost | LeftOut]] = {}
    for size in sizes:
        for name, command in commands(size).items():
            cost = workshop.attempt(command, LIMIT)
            alone = isinstance(cost, Cost) and name == FIT
            costs.setdefault(name, {})[size] = _fit_alone(cost) if alone else cost
            tell(
                f"{size:,}, {name}: {cost}" if isinstance(cost, LeftOut) else f"{size:,}, {name}: {cost.cpu:.1f} s CPU"
            )
    return costs


def _fit_alone(cost: Cost | LeftOut) -> Cost | LeftOut:
    """The fit without the reading before it."""
    return Cost(cost.stages["wall"], cost.stages["CPU"], cost.memory, {}) if isinstance(cost, Cost) else cost


def _told(of: str, short: str, matrix: Matrix) -> list[str | Table | Picture]:
    title = f"CPU seconds of the whole command by {of}, both axes logarithmic"
    named: Matrix = {(f"`{name}`" if name in METHODS else name): costs for name, costs in matrix.items()}
    releases = {name: costs for name, costs in named.items() if name not in (COPY, FIT)}
    return [
        by_size(f"CPU s by {of}", named, lambda cost: cost.cpu, "{:.2f}"),
        by_size(f"wall s by {of}", named, lambda cost: cost.wall, "{:.2f}"),
        by_size(f"peak GB by {of}", releases, lambda cost: cost.memory / 1e9, "{:.2f}"),
        *left_out(named, of),
        drawn_by_size(f"breadth_by_{short}", title, (of, "CPU s"), named, lambda cost: cost.cpu),
    ]
