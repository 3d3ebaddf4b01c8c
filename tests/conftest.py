"""What holds for all tests: how many examples are drawn, and what is published.

Hypothesis has two profiles: ``ci``, which is the default, and ``dev`` (``make fast``), which draws a fifth of the
examples. Neither has a deadline: how long an example takes depends on what else the machine does.

Invented tables are regular: their columns tell each other, so most releases of them would be refused for that.

Tests of other things therefore publish despite unchanged columns. What is about unchanged columns, every page of the
documentation, the demo, the planted faults and every command that is run as a process keep the refusal.
"""

from hypothesis import settings

import incrowd.releases.pipeline

REFUSAL = incrowd.releases.pipeline.refusal
STRICT = ("unchanged", "tests/faults/", "tests/house/", "tests/unit/demo/", "test_judge", "test_trust_options")

settings.register_profile("ci", deadline=None, print_blob=True)
settings.register_profile("dev", settings.get_profile("ci"), max_examples=20)
settings.load_profile("ci")


def pytest_collection_modifyitems(items):
    """Tests that want a number of examples of their own get a fifth of it in the profile ``dev``."""
    if settings.get_current_profile_name() == "dev":
        tests = {getattr(item.obj, "__func__", item.obj) for item in items if hasattr(item, "obj")}
        for test in tests:
            if getattr(test, "_hypothesis_internal_settings_applied", False):
                own = test._hypothesis_internal_use_settings
                test._hypothesis_internal_use_settings = settings(own, max_examples=max(1, own.max_examples // 5))


def pytest_runtest_setup(item):
    strict = any(word in item.nodeid for word in STRICT)
    incrowd.releases.pipeline.refusal = REFUSAL if strict else publish_despite


def publish_despite(counts, *, despite=False, alone_at_most=None):
    return REFUSAL(counts, despite=True, alone_at_most=alone_at_most)
