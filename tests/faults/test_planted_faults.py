"""Every planted fault is refused by the program itself: nothing is published, and nothing is left behind."""

from __future__ import annotations

import importlib

import pytest

from faults.catalogue import FAULTS
from faults.people import Case
from faults.planting import SPARK
from faults.running import attempt

HERE = [(fault, case) for fault in FAULTS for case in fault.cases if case.engine != SPARK]


def marks(case):
    """Other releases than the usual one are slow ones."""
    return [] if case == Case() else [pytest.mark.slow]


TRIALS = [pytest.param(fault, case, id=f"{fault.name}, {case}", marks=marks(case)) for fault, case in HERE]
CASES = [pytest.param(case, id=str(case), marks=marks(case)) for case in dict.fromkeys(case for _, case in HERE)]


@pytest.fixture(autouse=True)
def private_home(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("home")))


@pytest.mark.each(4)
@pytest.mark.parametrize(("fault", "case"), TRIALS)
def test_a_release_with_a_fault_is_refused(fault, case, tmp_path):
    outcome = attempt(case, tmp_path, fault)
    assert outcome.met, "the release never came to the fault"
    assert outcome.refused, f"published: {fault.sentence}"


@pytest.mark.parametrize("case", CASES)
def test_without_a_fault_it_is_published(case, tmp_path):
    outcome = attempt(case, tmp_path)
    assert outcome.error is None
    assert f"release.{case.written}" in outcome.left


def test_faults_have_names_of_their_own():
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
    assert all(fault.sentence for fault in FAULTS)


@pytest.mark.parametrize("target", sorted({target for fault in FAULTS for target in fault.targets.values()}))
def test_what_a_fault_replaces_is_there(target):
    module, _, path = target.partition(":")
    owner = importlib.import_module(module)
    for part in path.split("."):
        owner = vars(owner)[part]
    assert callable(getattr(owner, "__func__", owner)) or isinstance(owner, property)
