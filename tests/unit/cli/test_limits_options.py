"""``--weight``, ``--at-most``, ``--apart``, ``--lose``: how they are written, also in a recipe; what mistakes say."""

from __future__ import annotations

import pytest

from incrowd.errors import ParameterError
from incrowd.tables.recipe import read_recipe
from incrowd.vocabulary.preferences import Preferences

ASKED = ["-q", "age,job", "--target", "ill", "--class-sensitive", "no", "-k", "2", "--method"]


@pytest.mark.parametrize(
    ("written", "told"),
    [
        (["tdr", "--weight", "age"], "--weight takes two words and =, for instance --weight age=3"),
        (["tdr", "--weight", "age=much"], "--weight: what is said of 'age' must be a number"),
        (["tdr", "--weight", "age=0"], "--weight: the factor of 'age' must be a number from 0.001 to 1000"),
        (["iacc", "--weight", "age=3"], "iacc cannot weigh attributes. Leave --weight out, or choose one of kactus,"),
        (["kactus", "--at-most", "job=1"], "Leave --at-most out, or choose one of tdr, tds, mondrian,"),
        (["tdr", "--at-most", "job=1"], "'job' is without one. Name one with --hierarchy"),
        (["tdr", "--at-most", "town=1"], "There is no column 'town'"),
        (["kactus-plus", "--apart", "job=cook"], "kactus-plus cannot keep values apart. Leave --apart out, or choose"),
        (["tdr", "--apart", "job"], "--apart takes two words and =, for instance --apart area=north,west|south"),
        (["tdr", "--apart", "job=cook|cook"], "--apart: what is said of 'job' must be sets of values"),
        (["tdr", "--apart", "job=cook|"], "--apart: what is said of 'job' must be sets of values"),
        (["tdr", "--apart", "job=baker"], "1 of the values that are listed for 'job' does not occur in the table"),
        (["tdr", "--apart", "job=cook,nurse"], "all values of 'job' are in one set"),
        (["tdr", "--apart", "age=30"], "--apart is about categories, and 'age' is none"),
        (["blend", "--lose", "2%"], "Leave --lose out, or choose one of kactus,"),
        (["tdr", "--lose", "a few"], "--lose is a share of the rows"),
    ],
)
def test_mistakes_are_told_in_the_words_of_the_command_line(command, tmp_path, written, told):
    (tmp_path / "t.csv").write_text("age,job,ill\n" + "30,cook,no\n40,nurse,yes\n" * 4)
    status, _, message = command("release", "t.csv", "--to", "o.csv", *ASKED, *written)
    assert (status, told in message) == (2, True), message
    assert not (tmp_path / "o.csv").exists()


def test_a_recipe_names_them(tmp_path):
    (tmp_path / "r.yaml").write_text("weights: {age: 3}\nat_most: {job: 1}\nlose: 2%\napart: {job: 'a,b|c'}\n")
    apart = {"job": [["a", "b"], ["c"]]}
    assert read_recipe(tmp_path / "r.yaml").preferences == Preferences({"age": 3}, {"job": 1}, "2%", apart=apart)
    for wrong in ("apart: {job: 3}", "apart: [job]", "weights: [age]", "at_most: {job: one}", "lose: [2]"):
        (tmp_path / "r.yaml").write_text(f"{wrong}\n")
        with pytest.raises(ParameterError):
            read_recipe(tmp_path / "r.yaml")
