"""Invented tables are regular: their columns tell each other, so most releases of them would be refused for that.

Tests of other things therefore publish despite unchanged columns. What is about unchanged columns, every page of the
documentation, the demo, the planted faults and every command that is run as a process keep the refusal.
"""

import incrowd.pipeline

REFUSAL = incrowd.pipeline.refusal
STRICT = ("unchanged", "tests/faults/", "tests/house/", "tests/unit/demo/", "test_judge", "test_trust_options")


def pytest_runtest_setup(item):
    strict = any(word in item.nodeid for word in STRICT)
    incrowd.pipeline.refusal = REFUSAL if strict else publish_despite


def publish_despite(counts, *, despite=False, alone_at_most=None):
    return REFUSAL(counts, despite=True, alone_at_most=alone_at_most)
