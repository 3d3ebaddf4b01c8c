"""Stages of a run as lines of JSON, for another program."""

from __future__ import annotations

import json

from incrowd.cli.shared import progress, recorder


def test_nobody_asks(monkeypatch):
    monkeypatch.delenv("INCROWD_PROGRESS", raising=False)
    assert recorder() is None


def test_stages_are_told_even_where_the_answer_is_json(monkeypatch, tmp_path):
    monkeypatch.setenv("INCROWD_PROGRESS", str(tmp_path / "lines"))
    with progress(quiet=True) as show:
        show("reading")
        show("verifying: 5 of 9 rows")
    lines = [json.loads(line) for line in (tmp_path / "lines").read_text(encoding="utf-8").splitlines()]
    assert [line["stage"] for line in lines] == ["reading", "verifying: 5 of 9 rows"]
    assert all(line["at"] > 0 for line in lines)


def test_a_refusal_names_its_kind(monkeypatch, tmp_path, command):
    monkeypatch.setenv("INCROWD_PROGRESS", str(tmp_path / "lines"))
    status, _, told = command("release", "nothing.csv", "-q", "age", "--to", "out.csv")
    [*_, line] = [json.loads(line) for line in (tmp_path / "lines").read_text(encoding="utf-8").splitlines()]
    assert (line["status"], status) == (2, 2)
    assert line["error"].endswith("Error")
    assert line["message"] in told
