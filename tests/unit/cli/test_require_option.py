"""--require, --class-sensitive and --population on the command line."""

import json

import polars as pl
import pytest

RELEASE = ("release", "people.csv", "-q", "age,sex", "--target", "ill", "--method", "mondrian", "--to", "out.csv")


@pytest.fixture
def incrowd(command, tmp_path):
    rows = range(120)
    columns = {"age": [20 + i % 40 for i in rows], "sex": [("f", "m")[i % 2] for i in rows]}
    columns |= {"pay": [100 * (i % 9) for i in rows], "ill": [("y", "n", "n")[i % 3] for i in rows]}
    pl.DataFrame(columns).write_csv(tmp_path / "people.csv")

    return command


def test_what_is_required_is_kept_and_recounted(incrowd, tmp_path):
    required = ("--require", "k=5, t=0.3 on pay", "--require", "k-map=8", "--population", "people.csv")
    status, _, err = incrowd(*RELEASE, *required, "--class-sensitive", "yes")
    assert status == 0, err
    certificate = json.loads((tmp_path / "out.csv.certificate.json").read_text())
    assert certificate["class_sensitive"] == "yes"
    asked = "5-anonymity; 0.3-closeness of pay; 8-map; 0.3-closeness of ill (equal distance)"
    assert certificate["requirement_asked"] == asked
    status, out, _ = incrowd("verify", "out.csv", "-q", "age,sex", "--require", "k=5, t=0.3 on pay")
    assert (status, out.count("passed")) == (0, 2)
    status, out, _ = incrowd("verify", "people.csv", "-q", "age,sex", "--require", "distinct-l=4 on pay")
    assert (status, "classes break it" in out) == (1, True)


def test_the_class_is_asked_about_once(incrowd):
    status, _, err = incrowd(*RELEASE)
    assert (status, "Use --class-sensitive yes or no" in err) == (2, True)
    words = [word for word in RELEASE if word not in ("--target", "ill")]
    assert incrowd(*words)[0] == 0  # without a target there is no question


@pytest.mark.parametrize(
    ("required", "told"),
    [
        ("entropi-l=2", "Did you mean 'entropy-l'?"),
        ("t=2 on pay", "between 0 and 1"),
        ("t=0.1 on wage", "There is no column 'wage'"),
        ("t=0.1 on age", "'age' is quasi-identifier"),
        ("distinct-l=10 on pay", "Choose l of at most 9"),
        ("k-map=5", "needs a population"),
    ],
)
def test_what_cannot_be_required_is_said(incrowd, tmp_path, required, told):
    status, _, err = incrowd(*RELEASE, "--class-sensitive", "no", "--require", required)
    assert (status, told in err) == (2, True), err
    assert not (tmp_path / "out.csv").exists()
