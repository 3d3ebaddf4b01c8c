"""A model is recounted on the table itself, and what appears is what was recounted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from incrowd.errors import VerificationError
from incrowd.models import pipeline
from incrowd.models.pipeline import publish_model
from incrowd.tables.publishing import staging
from incrowd.tables.reading import encode


@pytest.fixture(autouse=True)
def people(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    age, sex = rng.integers(18, 90, 400), rng.choice(["f", "m"], 400)
    ill = np.where((age // 12 + 3 * (sex == "f")) % 3 == 0, "yes", "no")
    pl.DataFrame({"age": age, "sex": sex, "ill": ill}).write_csv("people.csv")


def published():
    return publish_model("people.csv", target="ill", public=["age", "sex"], k=10, to="model.json")


def rows_are_read_three_times(original):
    def faulty(source, **reading):
        found = original(source, **reading)
        return replace(found, frame=pl.concat([found.frame] * 3))

    return faulty


def codes_are_permuted(original):
    def faulty(tally, column, missing):
        settled = original(tally, column, missing)
        if column.name != "age":
            return settled
        return replace(settled, places=np.append(np.roll(settled.places[:-1], 30), settled.places[-1:]))

    return faulty


def the_model_is_changed_after_it_was_recounted(original):
    def faulty(path):
        if path.name == "model.json":
            path.write_bytes(path.read_bytes().replace(b'"k": 10', b'"k": 90'))
        original(path)

    return faulty


@pytest.mark.parametrize(
    ("module", "name", "fault"),
    [
        (pipeline, "read", rows_are_read_three_times),
        (encode, "settle", codes_are_permuted),
        (staging, "flush", the_model_is_changed_after_it_was_recounted),
    ],
)
def test_a_model_with_a_fault_is_refused(module, name, fault, tmp_path, monkeypatch):
    monkeypatch.setattr(module, name, fault(getattr(module, name)))
    with pytest.raises(VerificationError):
        published()
    assert not list(tmp_path.glob("model*"))


def test_without_a_fault_it_is_published():
    assert published().verdict.passed
