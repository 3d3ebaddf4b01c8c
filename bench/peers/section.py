"""Every method next to every peer, on the same rows: whole processes, and what they wrote, recounted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.census import ATTRIBUTES, census
from bench.commands import METHODS, copy, release
from bench.peers.catalog import NOT_HERE, PEERS, Peer
from bench.peers.environment import environment
from bench.peers.table import write_paths, write_table
from bench.process import ROOT, Cost, Costs, LeftOut, Workshop
from bench.setting import Setting, tell
from experiments.charts import bar_chart
from experiments.pages import Goal, Picture, Section, Table
from incrowd.releases.recount import verify
from incrowd.verification.verdict import Verdict

KS, QUICK_KS = (10, 100), (10,)
SIZES, LARGE = (4_522, 45_222, 452_220), 1_356_660
QUICK_SIZES, QUICK_LARGE, QUICK_METHODS = (150, 1_300, 3_000), 6_000, ("kactus",)
LIMITS = (60.0, 180.0, 300.0)  # seconds for a peer, by size
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
    """By k, then by tool: the middle size; for peers the other sizes at the first k; ours on the large table."""

    ours: Mapping[int, Found]
    theirs: Mapping[int, Found]
    other: Mapping[int, Found]
    copies: Mapping[int, Costs]
    large: Mapping[str, Costs]


def measure(setting: Setting) -> Section:
    """Install the peers, write the tables, run, tell."""
    frame, source = census(setting)
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
        """Ours and theirs by k, theirs by size, ours on many rows."""
        small, middle, large = self.sizes
        for method in () if self.setting.quick else self.methods:  # compile
            self.workshop.run(self._command(method, small, 10))
        ours: dict[int, Found] = {}
        theirs: dict[int, Found] = {}
        copies = {}
        first, *others = QUICK_KS if self.setting.quick else KS
        smallest = {peer.name: self._peer(peer, small, first) for peer in self.pythons}
        for k in (first, *others):
            copies[k], ours[k] = self._ours(middle, k)
            theirs[k] = {peer.name: self._next(peer, smallest, middle, k) for peer in self.pythons}
        more = {peer.name: self._next(peer, theirs[first], large, first) for peer in self.pythons}
        many = {method: self._command(method, self.large, first) for method in self.methods}
        tell(f"{self.large:,} rows, {len(many)} methods")
        costs = self.workshop.alternate(many, 1)
        return Measured(ours, theirs, {small: smallest, large: more}, copies, costs)

    def _command(self, method: str, rows: int, k: int) -> list[str]:
        return release(f"{rows}.csv", method, k, ATTRIBUTES)

    def _ours(self, rows: int, k: int) -> tuple[Costs, Found]:
        """Every method and the copy in turns."""
        runs: dict[str, list[Cost]] = {name: [] for name in (COPY, *self.methods)}
        found: dict[str, Outcome] = {}
        for _ in range(self.setting.repetitions):
            runs[COPY].append(self.workshop.run(copy(f"{rows}.csv")))
            for method in self.methods:
                runs[method].append(self.workshop.run(self._command(method, rows, k)))
                found[method] = self._recounted(Costs(tuple(runs[method])), "release.csv", rows, k)
                tell(f"k = {k}, {method}: {runs[method][-1].wall:.1f} s")
        return Costs(tuple(runs[COPY])), found

    def _next(self, peer: Peer, before: Found, rows: int, k: int) -> Outcome | LeftOut:
        """A peer on more rows. All that managed few rows are tried where they are compared, none is skipped there."""
        smaller, limit = before[peer.name], LIMITS[self.sizes.index(rows)]
        if isinstance(smaller, LeftOut):
            known = smaller.why.startswith(("does not install", "not tried"))
            return smaller if known else LeftOut(f"not tried, with fewer rows {smaller.why}")
        if rows > self.sizes[1] and smaller.costs.wall * HOPELESS > limit:
            return LeftOut(f"not tried, as a tenth of the rows took {smaller.costs.wall:.0f} s")
        return self._peer(peer, rows, k)

    def _peer(self, peer: Peer, rows: int, k: int) -> Outcome | LeftOut:
        """A peer's script, again if it is quick; then a recount of what it wrote."""
        python = self.pythons[peer]
        if isinstance(python, LeftOut):
            return python
        arguments = [f"{rows}.csv", "peer.csv", str(k), "paths.json"]
        apart = {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}
        limit, compared = LIMITS[self.sizes.index(rows)], rows == self.sizes[1] and k == KS[0]
        runs: list[Cost] = []
        while not runs or (compared and runs[0].wall < AGAIN and len(runs) < self.setting.repetitions):
            cost = self.workshop.attempt([str(python), "-m", peer.module, *arguments], limit, apart)
            tell(f"{rows:,} rows, k = {k}, {peer.name}: {cost if isinstance(cost, LeftOut) else f'{cost.wall:.1f} s'}")
            if isinstance(cost, LeftOut):
                return cost
            runs.append(cost)
        return self._recounted(Costs(tuple(runs)), "peer.csv", rows, k)

    def _recounted(self, costs: Costs, file: str, rows: int, k: int) -> Outcome:
        """What DuckDB counts in the written file."""
        verdict = verify(self.workshop.folder / file, k=k, quasi_identifiers=ATTRIBUTES)
        assert isinstance(verdict, Verdict)  # no certificate is asked for
        sizes = verdict.sizes
        return Outcome(costs, sizes.smallest, sizes.classes, rows - sizes.rows)


def _parts(
    measured: Measured, source: str, sizes: Sequence[int], large: int, setting: Setting
) -> Iterator[str | Table | Picture | Goal]:
    middle = sizes[1]
    yield (
        f"{source}, complete rows, {len(ATTRIBUTES)} quasi-identifiers ({', '.join(ATTRIBUTES)}) and the class, from "
        "CSV to CSV. Every figure is a whole process, interpreter and imports included. Each peer runs in an "
        "environment of its own with versions that work together, by a script of a few lines (`bench/peers/scripts`); "
        "those that take hierarchies get the ones that come with incrowd. Groups that a peer writes once with a count "
        f"are written once per person. Ours take turns with the copy (rounds: {setting.repetitions}); peers follow in "
        f"the same run, once, those under {AGAIN:.0f} s at k = {KS[0]} as often as ours. Smallest group, groups and "
        "lost rows are DuckDB's recount of the written file (`incrowd verify`), the same for all; ours have recounted "
        "themselves before, and that is in their figures."
    )
    for k, ours in measured.ours.items():
        yield f"**{middle:,} rows, k = {k}**"
        yield _tools_table({**ours, **measured.theirs[k]}, measured.copies[k])
    yield _picture(measured, middle, large)
    yield from _goals(measured, middle, large)
    if measured.theirs[min(measured.theirs)]:
        yield f"**The peers on fewer and more rows**, k = {min(measured.theirs)}, wall s:"
        yield _sizes_table(measured, middle)
        yield from _why(measured)
    yield f"**Ours on {large:,} rows**, k = {min(measured.ours)}, once each:"
    yield _large_table(measured.large)
    yield _versions()
    yield NOT_HERE


def _tools_table(found: Found, copied: Costs) -> Table:
    rows = [(COPY, "Polars", f"{copied.wall:.2f}", f"{copied.cpu:.2f}", f"{copied.gigabytes:.2f}", "1", "", "", "")]
    for name, outcome in found.items():
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
    by_rows = {**measured.other, middle: measured.theirs[min(measured.theirs)]}
    sizes = sorted(by_rows)
    rows = [(name, *(_wall(by_rows[size][name]) for size in sizes)) for name in by_rows[middle]]
    return Table(("", *(f"{size:,} rows" for size in sizes)), rows)


def _wall(outcome: Outcome | LeftOut) -> str:
    return "–" if isinstance(outcome, LeftOut) else f"{outcome.costs.wall:.1f}"


def _why(measured: Measured) -> Iterator[str]:
    """The reasons for the dashes."""
    limits = ", ".join(f"{limit:.0f}" for limit in LIMITS)
    known = {
        f"{name} on {rows:,} rows ({outcome.why})"
        for rows, found in measured.other.items()
        for name, outcome in found.items()
        if isinstance(outcome, LeftOut)
    }
    if known:
        yield f"No figure (–): {'; '.join(sorted(known))}. A process was given {limits} s, by size."


def _large_table(costs: Mapping[str, Costs]) -> Table:
    rows = [(f"`{name}`", f"{c.wall:.1f}", f"{c.cpu:.1f}", f"{c.gigabytes:.2f}") for name, c in costs.items()]
    return Table(("", "wall s", "CPU s", "peak GB"), rows)


def _goals(measured: Measured, middle: int, large: int) -> Iterator[Goal]:
    """Whether every method is faster than every peer, and a large table faster than theirs."""
    for k, found in measured.theirs.items():
        peers = _walls(found)
        if not peers:
            continue
        ours = _walls(measured.ours[k])
        fastest, slowest = min(peers, key=lambda name: peers[name]), max(ours, key=lambda name: ours[name])
        yield Goal(
            f"{middle:,} rows, k = {k}: every method is faster than every peer (wall)",
            f"the slowest method, `{slowest}`, takes {ours[slowest]:.1f} s, the fastest peer, {fastest}, "
            f"{peers[fastest]:.1f} s",
            ours[slowest] < peers[fastest],
        )
        if k == min(measured.theirs):
            many = {name: cost.wall for name, cost in measured.large.items()}
            quicker = sum(seconds < peers[fastest] for seconds in many.values())
            yield Goal(
                f"`{FIRST}` on {large:,} rows takes less time than the fastest peer on {middle:,}",
                f"{many[FIRST]:.1f} s against {peers[fastest]:.1f} s; {quicker} of {len(many)} methods do",
                many[FIRST] < peers[fastest],
            )


def _walls(found: Found) -> dict[str, float]:
    return {name: outcome.costs.wall for name, outcome in found.items() if isinstance(outcome, Outcome)}


def _picture(measured: Measured, middle: int, large: int) -> Picture:
    k = min(measured.ours)
    title = f"Wall seconds of the whole process, {middle:,} rows, k = {k}"
    bars = {name: {"incrowd": wall} for name, wall in _walls(measured.ours[k]).items()}
    bars[f"{FIRST}, {large:,} rows"] = {"incrowd, more rows": measured.large[FIRST].wall}
    bars |= {name: {"peers": wall} for name, wall in _walls(measured.theirs[k]).items()}
    return Picture("peers", title, bar_chart(title, "s", bars))


def _versions() -> str:
    return f"Versions: {', '.join(f'{peer.name} {peer.version}' for peer in PEERS)}."
