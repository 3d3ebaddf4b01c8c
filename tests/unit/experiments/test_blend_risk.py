"""Blend and its rivals attacked: every release under every requirement, and a page that says so."""

import pytest
from typer.testing import CliRunner

from experiments.__main__ import app
from experiments.blend import risk as blended
from experiments.blend.risk import ATTACKS, WIDE_ATTACKS, attack_blended, write_blended, write_wide
from incrowd.comparisons.datasets.invented import make_patients
from incrowd.comparisons.subject import understand_table


@pytest.fixture(scope="module")
def subject():
    table = make_patients(400).select("age", "sex", "occupation", "readmitted").rename({"readmitted": "class"})
    return understand_table(table, target="class", quasi_identifiers=["age", "sex", "occupation"])


@pytest.mark.slow
def test_a_requirement_on_the_class_leaves_no_group_of_one_class(subject):
    asked = ("k=5", "k=5, entropy-l=1.2")
    found = attack_blended(subject, (("blend", "counts"), ("tdr", None)), asked, tell=lambda _: None)
    assert {one.finding.attack for one in found} == set(ATTACKS)
    alone = {(one.method, one.besides): one.finding.measured for one in found if one.finding.attack == "homogeneity"}
    assert alone["blend", "k=5, entropy-l=1.2"] == 0
    assert alone["blend", "k=5"] > 0


@pytest.mark.slow
def test_the_page_has_a_table_for_every_attack(subject, monkeypatch, tmp_path):
    monkeypatch.setattr(blended, "read_adult", lambda *_: subject)
    short = blended.attack_blended
    monkeypatch.setattr(
        blended, "attack_blended", lambda found, tell: short(found, (("blend", "strict"),), ("k=5",), tell)
    )
    write_blended(tmp_path / "risk.md", tell=lambda _: None)
    told = (tmp_path / "risk.md").read_text(encoding="utf-8")
    assert told.count("| blend as strict") == len(ATTACKS)
    assert "400 rows of Adult" in told


@pytest.mark.slow
def test_counts_are_put_together_where_all_attributes_are_known(subject, monkeypatch, tmp_path):
    monkeypatch.setattr(blended, "read_wide", lambda *_: subject)
    monkeypatch.setattr(blended, "WIDE", (("infogain-mondrian", "counts"),))
    monkeypatch.setattr(blended, "WIDE_ASKED", ("k=5",))
    write_wide(tmp_path / "wide.md", tell=lambda _: None)
    page = (tmp_path / "wide.md").read_text(encoding="utf-8")
    assert page.count("| infogain-mondrian as counts |") == len(WIDE_ATTACKS)
    differencing = page.split("## Differencing")[1].split("##")[0]
    assert "| 0.0 % |" in differencing  # counts are drawn: nobody's record is read off
    assert "all 3 attributes" in page


def test_the_command_says_what_it_can_do(tmp_path):
    wrong = CliRunner().invoke(app, ["blend", "adult", "--page", str(tmp_path / "p.md")])
    assert wrong.exit_code != 0
    assert "--keep FILE" in str(wrong.exception) + wrong.output
