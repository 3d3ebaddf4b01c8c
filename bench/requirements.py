"""What a requirement beyond k costs: the same release of Adult with and without two of them."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from bench.commands import release
from bench.history import spread
from bench.people import ATTRIBUTES, encode, write_people
from bench.process import Cost, Costs, LeftOut, Workshop
from bench.renamed import people_with_hierarchies
from bench.setting import Setting, tell
from experiments.pages import Goal, Section, Table

K, MOST, ROUNDS, REQUIRED = 10, 2.0, 1, "entropy-l=1.2 on class, t=0.3 on class"
METHODS = ("kactus-plus", "tds", "iack", "infogain-mondrian")  # of each family one
ROWS, QUICK_ROWS, QUICK_METHODS, LIMIT = 45_222, 1_500, ("kactus-plus",), 300.0


def measure(setting: Setting) -> Section:
    """Both in turns, method by method."""
    frame, source = people_with_hierarchies(setting)
    rows, rounds = (QUICK_ROWS, 1) if setting.quick else (ROWS, ROUNDS)
    costs: dict[str, tuple[Costs, Costs] | LeftOut] = {}
    with TemporaryDirectory(prefix="incrowd-bench-") as folder:
        workshop = Workshop(Path(folder))
        write_people(workshop.folder / "all.parquet", encode(frame.drop_nulls()), rows)
        for method in QUICK_METHODS if setting.quick else METHODS:
            costs[method] = _in_turns(workshop, method, rounds)
            tell(f"{method}: {_told(costs[method])}")
    ratios = {method: pair[1].ratios(pair[0]) for method, pair in costs.items() if not isinstance(pair, LeftOut)}
    return Section(
        "Requirements beyond k",
        (
            f"{source}, {rows:,} rows, {len(ATTRIBUTES)} quasi-identifiers, k = {K}, Parquet to "
            f'verified Parquet: k alone, and k with the class sensitive and `--require "{REQUIRED}"`, in turns '
            f"(rounds: {rounds}, after one of each that does not count); whole processes.",
            Table(
                ("", "k alone, CPU s", "with two, CPU s", "ratio"),
                [(f"`{method}`", *_row(pair)) for method, pair in costs.items()],
            ),
            Goal(
                f"every family of methods: two requirements take at most {MOST:g} times the CPU of k alone",
                _worst(ratios, costs),
                len(ratios) == len(costs) and all(median(each) <= MOST for each in ratios.values()),
            ),
        ),
        ratios,
    )


def _in_turns(workshop: Workshop, method: str, repetitions: int) -> tuple[Costs, Costs] | LeftOut:
    plain = release("all.parquet", method, K, ATTRIBUTES)
    sensitive = plain.index("--class-sensitive") + 1
    commands = (plain, [*plain[:sensitive], "yes", *plain[sensitive + 1 :], "--require", REQUIRED])
    runs: tuple[list[Cost], list[Cost]] = [], []
    for command in commands if repetitions > 1 else ():  # compile
        workshop.attempt(command, LIMIT)
    for _ in range(repetitions):
        for command, kept in zip(commands, runs, strict=True):
            cost = workshop.attempt(command, LIMIT)
            if isinstance(cost, LeftOut):
                return cost
            kept.append(cost)
    return Costs(tuple(runs[0])), Costs(tuple(runs[1]))


def _row(pair: tuple[Costs, Costs] | LeftOut) -> tuple[str, str, str]:
    if isinstance(pair, LeftOut):
        return "–", "–", str(pair)
    return f"{pair[0].cpu:.2f}", f"{pair[1].cpu:.2f}", spread(pair[1].ratios(pair[0]))


def _told(pair: tuple[Costs, Costs] | LeftOut) -> str:
    return str(pair) if isinstance(pair, LeftOut) else f"{spread(pair[1].ratios(pair[0]))} times"


def _worst(ratios: dict[str, list[float]], costs: dict[str, tuple[Costs, Costs] | LeftOut]) -> str:
    left = [method for method in costs if method not in ratios]
    worst = max(ratios, key=lambda method: median(ratios[method]), default=None)
    most = "none has a figure" if worst is None else f"at most {spread(ratios[worst])} times, `{worst}`"
    return f"{most}; left out: {', '.join(left)}" if left else most
