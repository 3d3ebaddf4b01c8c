"""The benchmarks of scale: tables made on the fly, limits, peers, the page part by part, profiles."""

import fcntl
import json
import sys
import xml.etree.ElementTree as ElementTree
from contextlib import suppress
from itertools import chain, count, pairwise
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest
from bench import commands
from bench.breadth import LEANING, widen
from bench.commands import METHODS, copy, release
from bench.flame import LEAST, flame_graph, grow
from bench.matrix import by_size, drawn_by_size, left_out
from bench.page import sections_of, write_performance
from bench.parts import PARTS, TITLES, chosen
from bench.peers.catalog import PEERS, Peer
from bench.peers.environment import environment
from bench.peers.section import Outcome, _Run, _tools_table
from bench.peers.table import complete_rows, write_paths, write_table
from bench.people import ATTRIBUTES as ALL_ATTRIBUTES
from bench.people import TARGET, decode, encode, expand, people, write_people
from bench.process import Cost, Costs, LeftOut, Workshop
from bench.profile import COLOURS, _charged, kind
from bench.renamed import people_with_hierarchies
from bench.sampled import Sampler, cut
from bench.setting import Setting

from experiments.pages import Picture, Section
from incrowd.tables.hierarchies.read import adult_hierarchies
from support.waiting import PATIENCE, wait_until

ROOT = Path(__file__).parents[2]
SVG = "{http://www.w3.org/2000/svg}"
BARE = [sys.executable, "-I", "-S", "-c"]


def test_a_file_made_in_pieces_has_the_rows_of_the_table_made_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr("bench.people.GROUP", 2_000)
    columns = encode(people(Setting(quick=True))[0].drop_nulls())
    path = tmp_path / "people.parquet"
    for rows in (700, 2 * len(columns[0].codes), 5_001):
        write_people(path, columns, rows)
        assert pl.read_parquet(path).equals(decode(expand(columns, 4)).head(rows))
    assert pl.scan_parquet(path).select(pl.len()).collect().item() == 5_001


def test_the_stand_in_has_values_that_hierarchies_know():
    frame, source = people_with_hierarchies(Setting(quick=True))
    assert source == "stand-in"
    for name, hierarchy in adult_hierarchies().items():
        assert all(hierarchy.covers(value) for value in frame[name].drop_nulls().unique())


def test_what_is_too_slow_is_ended_with_all_it_started(tmp_path):
    waits = f"import fcntl, time; file = open({str(tmp_path / 'lock')!r}, 'w'); fcntl.flock(file, 2); time.sleep(3600)"
    child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {waits!r}])"
    assert Workshop(tmp_path).attempt([*BARE, child], 0.5) == LeftOut("not done after 0 s")
    with (tmp_path / "lock").open("w") as file:

        def nobody_has_it() -> bool:
            with suppress(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            return False

        wait_until(nobody_has_it)  # what was killed may take a moment to be gone


def test_what_fails_is_left_out_and_what_prints_words_is_measured(tmp_path):
    workshop = Workshop(tmp_path)
    assert workshop.attempt([*BARE, "raise SystemExit(3)"], PATIENCE) == LeftOut("failed with status 3")
    killed = workshop.attempt([*BARE, "import os; os.kill(os.getpid(), 9)"], PATIENCE)
    assert killed == LeftOut("ended by the system, as it is when memory runs out")
    worded = workshop.attempt([*BARE, "print('Finished')"], PATIENCE)
    assert isinstance(worded, Cost)
    assert worded.stages == {}


BOTH_AT_ONCE = """
import subprocess, sys, time
holds = "import sys; x = b'x' * 150_000_000; print(flush=True); sys.stdin.read()"
command, pipes = [sys.executable, "-c", holds], {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
both = [subprocess.Popen(command, **pipes) for _ in "ab"]
for process in both:
    process.stdout.readline()  # until it has all its memory
time.sleep(1.5)  # both are looked at
for process in both:
    process.communicate()
"""


@pytest.mark.slow
def test_the_memory_of_a_process_is_that_of_all_it_started(tmp_path):
    assert Workshop(tmp_path).run([*BARE, BOTH_AT_ONCE]).memory > 300_000_000


def test_costs_by_size_are_told_and_drawn():
    found = {
        "`a`": {10: Cost(1, 2.0, 3, {}), 100: LeftOut("slow")},
        "copy": {10: Cost(1, 0.0, 3, {}), 100: Cost(1, 9.5, 3, {})},
    }
    assert str(by_size("CPU s", found, lambda cost: cost.cpu)).splitlines()[2:] == [
        "| `a`   | 2.0 |   – |",
        "| copy  | 0.0 | 9.5 |",
    ]
    assert left_out(found, "rows") == ["Left out (–): `a` with 100 rows (slow)."]
    assert left_out({"copy": found["copy"]}, "rows") == []
    drawn = drawn_by_size("name", "title", ("rows", "s"), found, lambda cost: cost.cpu)
    marks = [each for each in ElementTree.fromstring(drawn.svg).iter() if "point" in each.get("class", "").split()]
    assert len(marks) == 3 + 2, "the points, and a mark beside each name"


def test_commands_use_hierarchies_and_limits_where_there_are_some(monkeypatch):
    monkeypatch.setattr(commands, "takes_memory", lambda: True)
    plain = release("a.parquet", "kactus", 5, ["age", "made-1"], capped=True)
    assert plain[plain.index("--memory") + 1] == "4GB"
    assert "--hierarchy" not in plain
    assert plain[plain.index("--to") + 1] == "release.parquet"
    by_groups = release("a.csv", "tdr", 5, ["age", "made-1"])
    assert "--memory" not in by_groups
    assert by_groups.count("--hierarchy") == 1
    monkeypatch.setattr(commands, "takes_memory", lambda: False)
    assert "--memory" not in release("a.csv", "tdr", 5, ["age"], capped=True)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_copy_is_a_copy(tmp_path, kind):
    frame = pl.DataFrame({"a": [1, None, 3], "b": ["x", "y", None]})
    getattr(frame, f"write_{kind}")(tmp_path / f"all.{kind}")
    Workshop(tmp_path).run(copy(f"all.{kind}"))
    assert getattr(pl, f"read_{kind}")(tmp_path / f"copy.{kind}").equals(frame)


def test_made_attributes_know_a_little_about_the_class():
    table = decode(expand(encode(people(Setting(quick=True))[0].drop_nulls()), 4))
    wide = widen(table, 40)
    assert (wide.width, wide.height) == (41, table.height)
    assert wide.columns[:14] == ALL_ATTRIBUTES
    assert widen(table, 9).columns == [*ALL_ATTRIBUTES, TARGET]
    high = wide[TARGET] == wide[TARGET].unique().sort()[-1]
    means = [wide.filter(each)["made-6"].mean() for each in (high, ~high)]
    assert means[1] - means[0] == pytest.approx(LEANING * 25, abs=3)


def test_every_peer_has_a_script_and_versions():
    for peer in PEERS:
        script = ROOT / f"{peer.module.replace('.', '/')}.py"
        assert script.read_text(encoding="utf-8").startswith(f'"""{peer.name}: ')
        assert all("==" in package for package in peer.packages)
    scripts = {path.stem for path in (ROOT / "bench" / "peers" / "scripts").glob("*.py")} - {"__init__", "handed"}
    assert scripts == {peer.module.rpartition(".")[2] for peer in PEERS}


@pytest.mark.slow
def test_a_peer_that_does_not_install_is_told_and_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    found = environment(Peer("no-such-package-anywhere", "1.0", (), "nothing"))
    assert isinstance(found, LeftOut)
    assert found.why.startswith("does not install: ERROR: ")
    assert list((tmp_path / "incrowd-bench").iterdir()) == []


def test_a_peer_that_is_installed_is_not_installed_again(tmp_path, monkeypatch):
    made = []
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(
        "bench.peers.environment._make",
        lambda folder, peer: made.append(peer) or folder.mkdir(parents=True) or (folder / "ready").touch(),
    )
    assert environment(PEERS[0]) == environment(PEERS[0])
    assert made == [PEERS[0]]
    assert environment(PEERS[0]) != environment(PEERS[1])


def test_peers_get_the_same_rows_and_the_ways_of_all_values(tmp_path):
    frame, _ = complete_rows(Setting(quick=True))
    for rows in (100, frame.height, 3_000):
        write_table(frame, rows, tmp_path / "people.csv")
        written = pl.read_csv(tmp_path / "people.csv")
        assert (written.height, written.columns) == (rows, frame.columns)
    write_paths(frame, tmp_path / "paths.json")
    ways = json.loads((tmp_path / "paths.json").read_text(encoding="utf-8"))
    assert list(ways) == list(ALL_ATTRIBUTES)
    for name, paths in ways.items():
        assert {path[0] for path in paths} == {str(value) for value in frame[name].unique()}
        assert {path[-1] for path in paths} == {"*"}
        assert len({len(path) for path in paths}) == 1


def test_a_peer_is_skipped_only_where_nothing_is_compared(tmp_path, monkeypatch):
    run = _Run(Workshop(tmp_path), Setting(quick=True), (10, 100, 1_000), 10_000)
    tried = []
    monkeypatch.setattr(run, "_peer", lambda peer, rows: tried.append(rows))
    slow = Outcome(Costs((Cost(50.0, 50.0, 1, {}),)), 5, 1, 0)
    peer = PEERS[0]
    run._next(peer, {peer.name: slow}, 100)
    assert tried == [100]
    assert run._next(peer, {peer.name: slow}, 1_000) == LeftOut("not tried, as a tenth of the rows took 50 s")
    late, missing = LeftOut("not done after 60 s"), LeftOut("does not install: ERROR")
    assert run._next(peer, {peer.name: late}, 100) == LeftOut("not tried, with fewer rows not done after 60 s")
    assert run._next(peer, {peer.name: missing}, 100) == missing
    assert tried == [100]


def test_tools_are_told_side_by_side():
    costs = Costs((Cost(2.0, 3.0, 10**9, {}),))
    table = _tools_table({"kactus": Outcome(costs, 10, 7, 0), PEERS[0].name: LeftOut("not done after 60 s")}, costs)
    assert [row[0] for row in table.rows] == ["copy", "`kactus`", PEERS[0].name]
    assert table.rows[1][1:] == ("incrowd", "2.00", "3.00", "1.00", "1.0", "10", "7", "0")
    assert table.rows[2][1] == "not done after 60 s"
    assert {len(row) for row in table.rows} == {len(table.header)}


def test_one_section_is_written_anew_and_the_others_stay(tmp_path):
    page = tmp_path / "docs" / "performance.md"
    last, first = (Section(TITLES[place], ["Old.", Picture(f"p{place}", "Shows", "<svg/>")]) for place in (3, 0))
    write_performance(page, "python -m bench a", [last], "Care.")
    write_performance(page, "python -m bench b", [first], "Care.")
    write_performance(page, "python -m bench c", [Section(TITLES[3], ["New."])], "Care.")
    sections = sections_of(page.read_text(encoding="utf-8"))
    assert list(sections) == [TITLES[0], TITLES[3]]
    assert "`python -m bench b`" in sections[TITLES[0]]
    assert "Old." in sections[TITLES[0]]
    assert "`python -m bench c`" in sections[TITLES[3]]
    assert "Old." not in sections[TITLES[3]]
    assert (page.parent / "plots" / "p0.svg").exists()


def test_groups_are_made_of_parts():
    assert set(chosen("all")) == set(PARTS) - {"largest"}
    assert set(chosen("speed")) < set(chosen("all"))
    assert chosen("largest") == ("largest",)
    assert len(set(TITLES)) == len(PARTS)
    assert set(METHODS) >= {"kactus", "kactus-plus", "tdr", "mondrian"}


def test_a_flame_graph_is_as_wide_as_its_time():
    stacks = [
        (["main thread", "incrowd.a:f", "polars"], 3.0),
        (["main thread", "incrowd.a:f"], 1.0),
        (["main thread", "x"], 1e-5),
    ]
    root = ElementTree.fromstring(flame_graph("a < b", grow(stacks), COLOURS, kind))
    boxes = {box.find(f"{SVG}title").text: float(box.get("width")) for box in root.iter(f"{SVG}rect") if len(box)}
    assert set(boxes) == {"main thread: 4.00 s", "incrowd.a:f: 4.00 s", "polars: 3.00 s"}
    assert boxes["polars: 3.00 s"] == pytest.approx(0.75 * boxes["incrowd.a:f: 4.00 s"], abs=LEAST)
    assert root.get("aria-label") == "a < b"


def test_samples_add_up_to_the_time_that_passed(monkeypatch):
    """By a clock of its own: every look is two seconds after the one before."""
    looks, ends = count(0, 2), chain([False] * 5, [True])
    monkeypatch.setattr("bench.sampled.time", SimpleNamespace(perf_counter=lambda: next(looks)))
    sampler = Sampler()
    sampler.over = SimpleNamespace(wait=lambda _seconds: next(ends))
    sampler.run()
    assert sum(seconds for (thread, *_), seconds in sampler.stacks.items() if thread == "main thread") == 10


def test_stacks_are_cut_at_libraries_and_imports():
    assert cut(["numpy", "numpy", "incrowd.a:f", "importing", "incrowd.b:<module>"]) == [
        "numpy",
        "incrowd.a:f",
        "importing",
    ]
    assert cut(["waiting", "waiting"]) == []
    assert cut(["incrowd.a:f", "waiting"]) == ["incrowd.a:f", "waiting"]
    assert all(before != after for before, after in pairwise(cut(["polars"] * 3)))
    assert _charged(["main thread", "incrowd.a:f", "polars"]) == ("a:f", "polars")
    assert _charged(["main thread"]) == ("main thread", "")
    assert {kind(name) for name in ("importing", "polars", "incrowd.tables.reading.read:read", "main thread")} <= set(
        COLOURS
    )
