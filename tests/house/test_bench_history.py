"""The history of the benchmarks: a file per version, and a comparison with the version before."""

from __future__ import annotations

import json
from importlib.metadata import version

import pytest
from bench.history import FOLDER, compared, keep, spread
from bench.parts import PARTS
from bench.process import Cost, Costs
from bench.setting import Setting

from experiments.pages import Section, Table


def rows_of(section: Section) -> list[tuple[str, ...]]:
    [table] = [part for part in section.parts if isinstance(part, Table)]
    return [tuple(row) for row in table.rows]


def test_ratios_are_of_the_same_round():
    copies = Costs(tuple(Cost(1.0, cpu, 0, {}) for cpu in (1.0, 2.0, 4.0)))
    ours = Costs(tuple(Cost(1.0, cpu, 0, {}) for cpu in (3.0, 4.0, 20.0)))
    assert ours.ratios(copies) == [3.0, 2.0, 5.0]
    assert spread(ours.ratios(copies)) == "3.0 (2.0 to 5.0)"
    with pytest.raises(ValueError, match="shorter"):
        ours.ratios(Costs(copies.runs[:2]))


def test_the_last_version_before_this_one_that_measured_it_is_compared(tmp_path):
    for name, part, ratios in (
        ("0.0.9", "sizes", {"a": [9.0]}),
        ("0.0.10", "sizes", {"a": [4.0, 6.0, 5.0]}),
        ("0.0.11", "tree", {"a": [1.0]}),
        ("99.0.0", "sizes", {"a": [1.0]}),
    ):
        (tmp_path / f"{name}.json").write_text(json.dumps({part: ratios}), encoding="utf-8")
    section = compared("sizes", Section("Speed", ("Words.",), {"a": [6.0, 5.0, 7.0], "b": [2.0]}), tmp_path)
    assert section.parts[0] == "Words."
    assert rows_of(section) == [("a", "6.0 (5.0 to 7.0)", "5.0 (4.0 to 6.0)", "+20%"), ("b", "2.0", "", "")]
    assert "0.0.10" in section.text(pictures=False)


def test_what_has_no_ratios_is_left_as_it_is(tmp_path):
    section = Section("Speed", ("Words.",))
    assert compared("sizes", section, tmp_path) is section
    keep("sizes", section.ratios, tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_part_is_entered_beside_the_others_of_the_version(tmp_path):
    keep("sizes", {"a": [1.234, 2.0]}, tmp_path)
    keep("startup", {"b": [3.0]}, tmp_path)
    keep("sizes", {"a": [1.0]}, tmp_path)
    [path] = tmp_path.iterdir()
    assert path.stem == version("incrowd")
    assert json.loads(path.read_text(encoding="utf-8")) == {"sizes": {"a": [1.0]}, "startup": {"b": [3.0]}}


def test_the_files_that_are_kept_are_of_parts_that_there_are():
    for path in FOLDER.glob("*.json"):
        known = json.loads(path.read_text(encoding="utf-8"))
        assert set(known) <= set(PARTS)
        assert all(ratio > 0 for part in known.values() for rounds in part.values() for ratio in rounds)


@pytest.mark.parametrize(("up_to", "left"), [(None, [10, 20, 30]), (20, [10, 20]), (5, [10])])
def test_sizes_can_be_left_out_but_not_all(up_to, left):
    assert Setting(up_to=up_to).affordable((10, 20, 30), int) == left
