"""Kernels that are kept on disk: two processes that compile at the same time never read each other's version."""

import sys

import numpy as np
import pytest
from numba.core.caching import IndexDataCacheFile

from incrowd.trees.machine_code import KeptByKey, machine_code


def _twice(numbers):
    return numbers * 2


@pytest.fixture
def folder(tmp_path):
    return str(tmp_path), "kernel", ("stamp", 1)


def test_a_kernel_runs_for_every_kind_of_array():
    twice = machine_code(_twice)
    assert twice(np.array([1, 2])).tolist() == [2, 4]
    assert twice(np.array([0.5])).tolist() == [1.0]
    assert isinstance(twice._cache._cache_file, KeptByKey)


def test_what_is_kept_is_found_again_by_its_key_only(folder):
    KeptByKey(*folder).save("integers", "code for integers")
    KeptByKey(*folder).save("floats", "code for floats")
    later = IndexDataCacheFile(*folder)
    assert later.load("integers") == "code for integers"
    assert later.load("floats") == "code for floats"
    assert later.load("dates") is None


def test_two_that_save_at_once_may_lose_a_version_but_never_mix_them_up(folder, monkeypatch):
    """The second saves, as a whole, between the first one's look at the index and its own saving."""
    first, second = KeptByKey(*folder), KeptByKey(*folder)
    looked = first._load_index()
    second.save("floats", "code for floats")
    monkeypatch.setattr(IndexDataCacheFile, "_load_index", lambda _: looked)
    first.save("integers", "code for integers")
    monkeypatch.undo()
    found = {key: KeptByKey(*folder).load(key) for key in ("integers", "floats")}
    assert found["integers"] == "code for integers"
    assert found["floats"] in (None, "code for floats")


def test_an_index_never_names_code_of_an_older_source(folder):
    path, name, _ = folder
    KeptByKey(path, name, ("stamp", 0)).save(("key", "old code"), "old")
    newer = KeptByKey(path, name, ("stamp", 1))
    assert newer.load(("key", "new code")) is None
    newer.save(("key", "new code"), "new")
    assert newer.load(("key", "new code")) == "new"


def test_versions_of_a_class_that_is_gone_are_compiled_anew(folder, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "Renamed", type("Renamed", (), {"__module__": __name__}), raising=False)
    KeptByKey(*folder).save(sys.modules[__name__].Renamed, "old")
    monkeypatch.delattr(sys.modules[__name__], "Renamed")
    KeptByKey(*folder).save("key", "new")
    assert KeptByKey(*folder).load("key") == "new"
