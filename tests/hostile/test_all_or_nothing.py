"""Everything that is asked for appears, or nothing; and nobody can read more than before."""

from __future__ import annotations

import stat

import polars as pl
import pytest

import incrowd
from incrowd.errors import IncrowdError, OutputError
from incrowd.report.html import report_html

NAMES = {"to": "out.csv", "report": "report.html", "plan": "plan.json", "certificate": "certificate.json"}
PEOPLE = pl.DataFrame(
    {
        "age": [30 + i % 3 for i in range(60)],
        "job": ["cook" if i % 2 else "nurse" for i in range(60)],
        "ill": ["y" if i % 5 < 2 else "n" for i in range(60)],
    }
)


def release(folder, replace=True, **more):
    targets = {name: folder / file for name, file in NAMES.items()}
    asked = {"quasi_identifiers": ["age", "job"], "target": "ill", "k": 5, "class_sensitive": False}
    return incrowd.release(
        PEOPLE, **asked, to=targets.pop("to"), outputs=incrowd.Outputs(**targets, replace=replace), **more
    )


def texts(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.each(3)
@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize("part", ["incrowd.report.html.report_html", "incrowd.plan.plan_file.write_plan"])
def test_a_part_that_cannot_be_written_keeps_all_from_appearing(tmp_path, monkeypatch, part, before):
    for name in NAMES.values() if before else ():
        (tmp_path / name).write_text("old")
    old = texts(tmp_path)

    def broken(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(part, broken)
    with pytest.raises(IncrowdError, match="No space left"):
        release(tmp_path)
    assert texts(tmp_path) == old
    monkeypatch.undo()
    release(tmp_path)
    assert sorted(texts(tmp_path)) == sorted(NAMES.values())
    assert b"old" not in texts(tmp_path).values()


@pytest.mark.parametrize("name", NAMES.values())
def test_a_file_that_exists_is_replaced_only_where_that_is_allowed(tmp_path, monkeypatch, name):
    (tmp_path / name).write_text("old")
    with pytest.raises(OutputError, match=f"{name} exists already. Name another file, or use replace=True"):
        release(tmp_path, replace=False)
    assert texts(tmp_path) == {name: b"old"}
    (tmp_path / name).unlink()

    def late(*names, **how):
        (tmp_path / name).write_text("of somebody else, by now")
        return report_html(*names, **how)

    monkeypatch.setattr("incrowd.report.html.report_html", late)
    with pytest.raises(OutputError, match="exists already"):
        release(tmp_path, replace=False)
    assert texts(tmp_path) == {name: b"of somebody else, by now"}


def test_private_files_stay_private(tmp_path):
    for name in NAMES.values():
        (tmp_path / name).write_text("old")
        (tmp_path / name).chmod(0o600)
    release(tmp_path)
    assert b"old" not in texts(tmp_path).values()
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}


@pytest.mark.parametrize("part", ["incrowd.models.pipeline.plot_tree", "incrowd.models.pipeline.to_pmml"])
def test_a_model_with_all_its_files_or_none(tmp_path, monkeypatch, part):
    def publish():
        targets = {"to": tmp_path / "m.json", "plot": tmp_path / "m.svg", "pmml": tmp_path / "m.pmml"}
        return incrowd.publish_model(PEOPLE, target="ill", public=["age", "job"], k=5, **targets)

    monkeypatch.setattr(part, lambda *_: 1 / 0)
    with pytest.raises(IncrowdError):
        publish()
    assert texts(tmp_path) == {}
    monkeypatch.undo()
    publish()
    assert sorted(texts(tmp_path)) == ["m.json", "m.json.certificate.json", "m.pmml", "m.svg"]


def test_a_table_with_its_private_report_or_neither(tmp_path, monkeypatch):
    targets = {"to": tmp_path / "out.csv", "report": tmp_path / "out.html"}
    monkeypatch.setattr("incrowd.hiding.pipeline.hiding_html", lambda *_: 1 / 0)
    with pytest.raises(IncrowdError):
        incrowd.hide_cells(PEOPLE, [(7, "ill")], **targets)
    assert texts(tmp_path) == {}
    monkeypatch.undo()
    incrowd.hide_cells(PEOPLE, [(7, "ill")], **targets)
    assert sorted(texts(tmp_path)) == ["out.csv", "out.html"]
