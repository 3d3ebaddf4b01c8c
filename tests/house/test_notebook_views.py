"""What a notebook shows: every result has a view of its own, escaped, that touches nothing else on the page."""

import polars as pl
import pytest

import incrowd
from incrowd.attacks.attack import Finding
from incrowd.attacks.run import AttackReport
from incrowd.verification.verdict import Check, ClassSizes, Verdict
from incrowd.vocabulary.hierarchy import Hierarchy

EVIL = "<script>x</script>"
VIEWS = ["schema", "verdict", "hierarchy", "plan", "explanation", "risk", "attacks", "release", "comparison", "model"]
PLOTS = ["hierarchy", "risk", "attacks", "comparison", "model"]


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
        "explanation": incrowd.explain(released.plan),
        "risk": incrowd.measure_risk(frame, quasi_identifiers=[EVIL]),
        "attacks": AttackReport((finding,)),
        "release": released,
        "model": incrowd.publish_model(frame, target="ill", public=[EVIL], k=5).model,
        "comparison": incrowd.compare(
            frame, target="ill", quasi_identifiers=[EVIL], methods=["mondrian"], learners=["majority"], ks=[5], jobs=1
        ),
    }


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_is_an_escaped_fragment(views, name):
    view = views[name]._repr_html_()
    assert view.startswith("<style>")
    assert "<script" not in view
    assert "&lt;script&gt;" in view or name == "model"  # whose tree may be a leaf
    assert "<html" not in view


@pytest.mark.parametrize("name", PLOTS)
def test_a_plot_is_an_escaped_fragment_and_a_document(views, name):
    drawing = views[name].plot()
    assert drawing._repr_html_().startswith("<style>")
    assert drawing._repr_svg_().startswith("<svg ")
    assert "<script" not in drawing._repr_html_() + drawing._repr_svg_()


def test_an_explanation_is_text_all_the_same(views):
    explanation = views["explanation"]
    assert explanation == str(explanation)
    assert views["plan"]._repr_html_() == explanation._repr_html_()


def test_a_failed_check_is_seen(views):
    assert "FAILED" in views["verdict"]._repr_html_()


def test_levels_of_a_hierarchy_stand_side_by_side(views):
    view = views["hierarchy"]._repr_html_()
    assert [view.index(f"level {level}") for level in range(3)] == sorted(view.index(f"level {i}") for i in range(3))
