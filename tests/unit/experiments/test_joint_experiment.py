"""Joint counts against counts of single attributes: the protocol's trials, and the page made of them."""

from __future__ import annotations

import json
from dataclasses import asdict

from experiments import joint


def outcome_of(trial):
    """With joint counts learners gain a point, and attackers a hundredth."""
    gain = trial.way == joint.JOINT
    if trial.what == "learners":
        return dict.fromkeys(joint.LEARNERS, 70.0 + gain) | {"together": 2.0 * gain}
    if trial.what == "leavers":
        return {"records": 0.0, "attributes": 30.0 + gain}
    return {"attribute by attribute": 0.55, "together": 0.55 + gain / 100, "members met": 9.0, "others met": 4.0}


def test_the_page_says_what_is_gained_and_told(tmp_path):
    lines = [{"trial": asdict(one), "outcome": outcome_of(one)} for one in joint.trials()]
    (tmp_path / joint.FILE).write_text("\n".join(map(json.dumps, lines)))
    kept = joint.read_outcomes(tmp_path)
    assert joint.gained(kept, "vowel", "c45", 10) == 1.0
    joint.write(tmp_path / "page.md", tmp_path)
    text = (tmp_path / "page.md").read_text()
    assert "**Met**: half a point on average. Measured: +1.00; by learner, over tables: C4.5 +1.0 (+1.0 to" in text
    assert "**Met**: no learner is clearly worse. Measured: worse are: none." in text
    assert f"{len(lines)} of {len(lines)} trials have run" in text
    assert "0.550 |        0.550 |    0.560" in text


def test_two_trials_differ_in_how_attributes_are_counted_alone():
    every = list(joint.trials())
    assert len(set(every)) == len(every)
    assert {one.way for one in every} == {joint.RAW, joint.APART, joint.JOINT}
