"""What holds for all tests: how many examples are drawn, and what is published.

Hypothesis has three profiles. ``thorough`` draws the examples that tests name, or 100; ``ci``, which is the default,
and ``dev`` (``make fast``) draw a share of them (``support/examples.py``). None has a deadline: how long an example
takes depends on what else the machine does.

Invented tables are regular: their columns tell each other, so most releases of them would be refused for that.

Tests of other things therefore publish despite unchanged columns. What is about unchanged columns, every page of the
documentation, the demo, the planted faults and every command that is run as a process keep the refusal.

Blend asks a forest on small tables, and that takes a second. Tests of other things let it ask one of few trees. Before
a comparison each method is timed; tests have it timed on few rows.
"""

import gc
from collections import Counter

import pytest
from hypothesis import settings

from support import one_database
from support.examples import PROFILES, drawn

gc.disable()  # until all tests are collected: what is imported stays
one_database.share()  # before the program's other modules are imported

import incrowd.comparisons.workers  # noqa: E402
import incrowd.methods.blending.guide  # noqa: E402
import incrowd.releases.pipeline  # noqa: E402

REFUSAL = incrowd.releases.pipeline.refusal
STRICT = ("unchanged", "tests/faults/", "tests/house/", "tests/unit/demo/", "test_judge", "test_trust_options")
TREES, FEW_TREES = incrowd.methods.blending.guide.TREES, 30
incrowd.comparisons.workers.SIZES = (60, 240)
WHOLE_FORESTS = ("blend", "test_chosen_method", "tests/golden/", "test_doctests")

for profile in PROFILES:
    settings.register_profile(profile, deadline=None, print_blob=True, max_examples=100)
settings.load_profile("ci")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    draw_fewer_examples(items)
    leave_cases_to_the_slow(items)
    items.sort(key=_place)


def _place(item):
    """The test that takes longest first, so that nobody waits for it; then Spark's, so one process has one Java."""
    return item.name != "test_a_quick_run_goes_through_everything", "spark" not in item.path.name


def pytest_collection_finish():
    gc.freeze()
    gc.enable()


def pytest_unconfigure():
    gc.unfreeze()


def draw_fewer_examples(items):
    """Every test draws the profile's share of its examples."""
    tests = {getattr(item.obj, "__func__", item.obj) for item in items if hasattr(item, "obj")}
    for test in tests:
        if hasattr(test, "hypothesis"):
            own = test._hypothesis_internal_use_settings
            test._hypothesis_internal_use_settings = settings(own, max_examples=drawn(own.max_examples))


def leave_cases_to_the_slow(items):
    """Of a test that is marked ``each(n)`` each n-th case is quick, and the others are slow.

    With a number that shares no divisor with those of the parameters, all of their values occur.
    """
    places = Counter()
    for item in items:
        mark = item.get_closest_marker("each")
        if mark is not None and item.get_closest_marker("slow") is None:
            if places[item.function] % mark.args[0]:
                item.add_marker(pytest.mark.slow)
            places[item.function] += 1


def pytest_runtest_setup(item):
    strict = any(word in item.nodeid for word in STRICT)
    incrowd.releases.pipeline.refusal = REFUSAL if strict else publish_despite
    whole = any(word in item.path.as_posix() for word in WHOLE_FORESTS)
    incrowd.methods.blending.guide.TREES = TREES if whole else FEW_TREES


def publish_despite(counts, *, despite=False, alone_at_most=None):
    return REFUSAL(counts, despite=True, alone_at_most=alone_at_most)
