"""Faults planted in the driver of a release by Spark are refused, too."""

from __future__ import annotations

import pytest

from faults.catalogue import FAULTS
from faults.planting import SPARK
from faults.running import attempt
from support.spark_session import PLAIN_PLANS, local_session

pytestmark = pytest.mark.slow
HERE = [(fault, case) for fault in FAULTS for case in fault.cases if case.engine == SPARK]


@pytest.fixture(scope="module", autouse=True)
def session(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("home")))
        yield local_session(**PLAIN_PLANS)


@pytest.mark.parametrize(("fault", "case"), HERE, ids=[f"{fault.name}, {case}" for fault, case in HERE])
def test_a_release_with_a_fault_is_refused(fault, case, tmp_path):
    outcome = attempt(case, tmp_path, fault)
    assert outcome.met, "the release never came to the fault"
    assert outcome.refused, f"published: {fault.sentence}"


@pytest.mark.parametrize("case", dict.fromkeys(case for _, case in HERE), ids=str)
def test_without_a_fault_it_is_published(case, tmp_path):
    outcome = attempt(case, tmp_path)
    assert outcome.error is None
    assert "release" in outcome.left
