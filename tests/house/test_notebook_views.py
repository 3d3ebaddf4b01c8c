"""What a notebook shows: every result has a view of its own, escaped, that touches nothing else on the page."""

import polars as pl
import pytest

import incrowd
from incrowd.attacks.attack import Finding
from incrowd.attacks.run import AttackReport
from incrowd.comparisons.run import compare
from incrowd.verification.verdict import Check, ClassSizes, Verdict
from incrowd.vocabulary.hierarchy import Hierarchy

EVIL = "<script>x</script>"


@pytest.fixture(scope="module")
def views():
    frame = pl.DataFrame({EVIL: [20 + at % 30 for at in range(60)], "ill": ["yes", "no", "no"] * 20})
    released = incrowd.release(frame, quasi_identifiers=[EVIL], target="ill", k=5, class_sensitive=False)
    finding = Finding("leak", EVIL, measured=0.5, attack="skewness")
    return {
        "schema": incrowd.inspect(frame),
        "verdict": Verdict(ClassSizes(1, 1, 1, ((1, 1),)), (Check(EVIL, False, EVIL),)),
        "hierarchy": Hierarchy.from_paths("age", [("young", EVIL, "*"), ("old", "any", "*")]),
        "plan": released.plan,
        "risk": incrowd.measure_risk(frame, quasi_identifiers=[EVIL]),
        "attacks": AttackReport((finding,)),
        "release": released,
        "comparison": compare(
            frame, target="ill", quasi_identifiers=[EVIL], methods=["mondrian"], learners=["majority"], ks=[5], jobs=1
        ),
    }


@pytest.mark.parametrize("name", ["schema", "verdict", "hierarchy", "plan", "risk", "attacks", "release", "comparison"])
def test_a_view_is_an_escaped_fragment(views, name):
    view = views[name]._repr_html_()
    assert view.startswith("<style>")
    assert "<script" not in view
    assert ("&lt;script&gt;" in view) == (name != "risk")  # which names no column
    assert "<html" not in view


def test_a_failed_check_is_seen(views):
    assert "FAILED" in views["verdict"]._repr_html_()


def test_levels_of_a_hierarchy_stand_side_by_side(views):
    view = views["hierarchy"]._repr_html_()
    assert [view.index(f"level {level}") for level in range(3)] == sorted(view.index(f"level {i}") for i in range(3))
