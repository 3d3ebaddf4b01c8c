"""Every method next to every peer, on the same rows: whole processes, and what they wrote, recounted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.commands import METHODS, copy, release
from bench.peers.catalog import NOT_HERE, PEERS, Peer
from bench.peers.environment import environment
from bench.peers.table import complete_rows, write_paths, write_table
from bench.people import ATTRIBUTES
from bench.process import ROOT, Cost, Costs, LeftOut, Workshop
from bench.setting import Setting, tell
from experiments.charts import bar_chart
from experiments.pages import Goal, Picture, Section, Table
from incrowd.releases.recount import verify
from incrowd.verification.verdict import Verdict

K = 10
SIZES, LARGE = (4_522, 45_222, 452_220), 1_356_660
QUICK_SIZES, QUICK_LARGE, QUICK_METHODS = (150, 1_300, 3_000), 6_000, ("kactus",)
LIMIT = 600.0  # seconds for a peer
AGAIN = 15.0  # what takes less is run as often as ours, where it is compared
HOPELESS = 15  # who needs more than a fifteenth of the limit for a tenth of the rows is not tried on the most
COPY, FIRST = "copy", "kactus"


@dataclass(frozen=True)
class Outcome:
    """One tool on one table: what it cost, and what a recount of its release found."""

    costs: Costs
    smallest: int
    groups: int
    lost: int


Found = Mapping[str, Outcome | LeftOut]


@dataclass(frozen=True)
class Measured:
    """By tool: the middle size; for peers the other sizes; ours on the large table."""

    ours: Found
    theirs: Found
    other: Mapping[int, Found]
    copied: Costs
    large: Mapping[str, Costs]


def measure(setting: Setting) -> Section:
    """Install the peers, write the tables, run, tell."""
    frame, source = complete_rows(setting)
    sizes, large = (QUICK_SIZES, QUICK_LARGE) if setting.quick else (SIZES, LARGE)
    with TemporaryDirectory(prefix="incrowd-bench-") as folder:
        for rows in (*sizes, large):
            write_table(frame, rows, Path(folder) / f"{rows}.csv")
        write_paths(frame, Path(folder) / "paths.json")
        measured = _Run(Workshop(Path(folder)), setting, sizes, large).everything()
    return Section("Next to other tools", tuple(_parts(measured, source, sizes, large, setting)))


class _Run:
    """All the running."""

    def __init__(self, workshop: Workshop, setting: Setting, sizes: Sequence[int], large: int) -> None:
        self.workshop, self.setting, self.sizes, self.large = workshop, setting, sizes, large
        self.methods = QUICK_METHODS if setting.quick else METHODS
        self.pythons = {} if setting.quick else {peer: environment(peer) for peer in PEERS}

    def everything(self) -> Measured:
        """Ours, theirs by size, ours on many rows."""
        small, middle, large = self.sizes
        for method in () if self.setting.quick else self.methods:  # compile
            self.workshop.run(self._command(method, small))
        copied, ours = self._ours(middle)
        smallest = {peer.name: self._peer(peer, small) for peer in self.pythons}
        theirs = {peer.name: self._next(peer, smallest, middle) for peer in self.pythons}
        more = {peer.name: self._next(peer, theirs, large) for peer in self.pythons}
        many = {method: self._command(method, self.large) for method in self.methods}
        tell(f"{self.large:,} rows, {len(many)} methods")
        costs = self.workshop.alternate(many, 1)
        return Measured(ours, theirs, {small: smallest, large: more}, copied, costs)

    def _command(self, method: str, rows: int) -> list[str]:
        return release(f"{rows}.csv", method, K, ATTRIBUTES)

    def _ours(self, rows: int) -> tuple[Costs, Found]:
        """The copy and every method in turns."""
        runs: dict[str, list[Cost]] = {name: [] for name in (COPY, *self.methods)}
        outcomes: dict[str, Outcome] = {}
        for _ in range(self.setting.repetitions):
            runs[COPY].append(self.workshop.run(copy(f"{rows}.csv")))
            for method in self.methods:
                runs[method].append(self.workshop.run(self._command(method, rows)))
                outcomes[method] = self._recounted(Costs(tuple(runs[method])), "release.csv", rows)
                tell(f"{method}: {runs[method][-1].cpu:.1f} s")
        return Costs(tuple(runs[COPY])), outcomes

    def _next(self, peer: Peer, before: Found, rows: int) -> Outcome | LeftOut:
        """A peer on more rows. All that managed few rows are tried where they are compared, none is skipped there."""
        smaller = before[peer.name]
        if isinstance(smaller, LeftOut):
            known = smaller.why.startswith(("does not install", "not tried"))
            return smaller if known else LeftOut(f"not tried, with fewer rows {smaller.why}")
        if rows > self.sizes[1] and smaller.costs.cpu * HOPELESS > LIMIT:
            return LeftOut(f"not tried, as a tenth of the rows took {smaller.costs.cpu:.0f} s")
        return self._peer(peer, rows)

    def _peer(self, peer: Peer, rows: int) -> Outcome | LeftOut:
        """A peer's script, again if it is quick; then a recount of what it wrote."""
        python = self.pythons[peer]
        if isinstance(python, LeftOut):
            return python
        arguments = [f"{rows}.csv", "peer.csv", str(K), "paths.json"]
        apart = {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}
        runs: list[Cost] = []
        while not runs or (rows == self.sizes[1] and runs[0].cpu < AGAIN and len(runs) < self.setting.repetitions):
            cost = self.workshop.attempt([str(python), "-m", peer.module, *arguments], LIMIT, apart)
            tell(f"{rows:,} rows, {peer.name}: {cost if isinstance(cost, LeftOut) else f'{cost.cpu:.1f} s'}")
            if isinstance(cost, LeftOut):
                return cost
            runs.append(cost)
        return self._recounted(Costs(tuple(runs)), "peer.csv", rows)

    def _recounted(self, costs: Costs, file: str, rows: int) -> Outcome:
        """What DuckDB counts in the written file."""
        verdict = verify(self.workshop.folder / file, k=K, quasi_identifiers=ATTRIBUTES)
        assert isinstance(verdict, Verdict)  # no certificate is asked for
        sizes = verdict.sizes
        return Outcome(costs, sizes.smallest, sizes.classes, rows - sizes.rows)


def _parts(
    measured: Measured, source: str, sizes: Sequence[int], large: int, setting: Setting
) -> Iterator[str | Table | Picture | Goal]:
    middle = sizes[1]
    yield (
        f"{source}, complete rows, {len(ATTRIBUTES)} quasi-identifiers and the class, k = {K}, from CSV to CSV. Every "
        "figure is a whole process, interpreter and imports included. Each peer runs in an environment of its own with "
        "versions that work together, by a script of a few lines (`bench/peers/scripts`); those that take hierarchies "
        "get the ones that come with incrowd, and drafted intervals for other numbers. Groups that a peer writes once "
        f"with a count are written once per person. Ours take turns with the copy (rounds: {setting.repetitions}); "
        f"peers follow in the same run, once, on {middle:,} rows those under {AGAIN:.0f} s of CPU as often as ours. "
        "Smallest group, groups and lost rows are DuckDB's recount of the written file (`incrowd verify`), the same "
        "for all; ours have recounted themselves before, and that is in their figures."
    )
    yield f"**{middle:,} rows**"
    yield _tools_table({**measured.ours, **measured.theirs}, measured.copied)
    yield _picture(measured, middle, large)
    yield from _goals(measured, middle, large)
    if measured.theirs:
        yield "**The peers on fewer and more rows**, CPU s:"
        yield _sizes_table(measured, middle)
        yield from _why(measured)
    yield f"**Ours on {large:,} rows**, once each:"
    yield _large_table(measured.large)
    yield _versions()
    yield NOT_HERE


def _tools_table(outcomes: Found, copied: Costs) -> Table:
    rows = [(COPY, "Polars", f"{copied.wall:.2f}", f"{copied.cpu:.2f}", f"{copied.gigabytes:.2f}", "1", "", "", "")]
    for name, outcome in outcomes.items():
        if isinstance(outcome, LeftOut):
            rows.append((name, outcome.why, *("–",) * 7))
            continue
        cost = outcome.costs
        spent = (f"{cost.wall:.2f}", f"{cost.cpu:.2f}", f"{cost.gigabytes:.2f}", f"{cost.cpu / copied.cpu:.1f}")
        counted = (f"{outcome.smallest:,}", f"{outcome.groups:,}", f"{outcome.lost:,}")
        rows.append((*_words(name), *spent, *counted))
    header = ("", "what", "wall s", "CPU s", "peak GB", "in copies, CPU", "smallest group", "groups", "rows lost")
    return Table(header, rows, words=2)


def _words(name: str) -> tuple[str, str]:
    return (f"`{name}`", "incrowd") if name in METHODS else (name, {peer.name: peer.does for peer in PEERS}[name])


def _sizes_table(measured: Measured, middle: int) -> Table:
    by_rows = {**measured.other, middle: measured.theirs}
    sizes = sorted(by_rows)
    rows = [(name, *(_seconds(by_rows[size][name]) for size in sizes)) for name in by_rows[middle]]
    return Table(("", *(f"{size:,} rows" for size in sizes)), rows)


def _seconds(outcome: Outcome | LeftOut) -> str:
    return "–" if isinstance(outcome, LeftOut) else f"{outcome.costs.cpu:.1f}"


def _why(measured: Measured) -> Iterator[str]:
    """The reasons for the dashes."""
    known = {
        f"{name} on {rows:,} rows ({outcome.why})"
        for rows, outcomes in measured.other.items()
        for name, outcome in outcomes.items()
        if isinstance(outcome, LeftOut)
    }
    if known:
        yield f"No figure (–): {'; '.join(sorted(known))}. A process was given {LIMIT:.0f} s."


def _large_table(costs: Mapping[str, Costs]) -> Table:
    rows = [(f"`{name}`", f"{c.wall:.1f}", f"{c.cpu:.1f}", f"{c.gigabytes:.2f}") for name, c in costs.items()]
    return Table(("", "wall s", "CPU s", "peak GB"), rows)


def _goals(measured: Measured, middle: int, large: int) -> Iterator[Goal]:
    """Whether every method is faster than every peer, and a large table faster than theirs."""
    ours, peers = _cpu(measured.ours), _cpu(measured.theirs)
    if not peers:
        return
    fastest, slowest = min(peers, key=lambda name: peers[name]), max(ours, key=lambda name: ours[name])
    yield Goal(
        f"{middle:,} rows: every method takes less CPU than every peer",
        f"the slowest method, `{slowest}`, takes {ours[slowest]:.1f} s, the fastest peer, {fastest}, "
        f"{peers[fastest]:.1f} s",
        ours[slowest] < peers[fastest],
    )
    many = {name: cost.cpu for name, cost in measured.large.items()}
    quicker = sum(seconds < peers[fastest] for seconds in many.values())
    yield Goal(
        f"`{FIRST}` on {large:,} rows takes less CPU than the fastest peer on {middle:,}",
        f"{many[FIRST]:.1f} s against {peers[fastest]:.1f} s; {quicker} of {len(many)} methods do",
        many[FIRST] < peers[fastest],
    )


def _cpu(outcomes: Found) -> dict[str, float]:
    return {name: outcome.costs.cpu for name, outcome in outcomes.items() if isinstance(outcome, Outcome)}


def _picture(measured: Measured, middle: int, large: int) -> Picture:
    title = f"CPU seconds of the whole process, {middle:,} rows, k = {K}"
    bars = {name: {"incrowd": seconds} for name, seconds in _cpu(measured.ours).items()}
    bars[f"{FIRST}, {large:,} rows"] = {"incrowd, more rows": measured.large[FIRST].cpu}
    bars |= {name: {"peers": seconds} for name, seconds in _cpu(measured.theirs).items()}
    return Picture("peers", title, bar_chart(title, "s", bars))


def _versions() -> str:
    return f"Versions: {', '.join(f'{peer.name} {peer.version}' for peer in PEERS)}."
