"""Keys, identifiers and dates that cannot be used: each is refused, nothing appears, and no cell or key is repeated."""

from __future__ import annotations

import pytest

from incrowd.cli.main import main

CANARY = "KANARIE"
KEY = "00112233445566778899aabbccddeeff0f1e2d3c4b5a69788796a5b4c3d2e1f0"
HEADER = "patient,age,sex,seen,ill"


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Release stays.csv from the command line: the status, and all words."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))

    def run(*words, rows=None, to="out/release.csv"):
        cells = rows or [f"{CANARY}{i},{20 + i % 7},{'fm'[i % 2]},2020-02-29,{'yn'[i % 3 % 2]}" for i in range(60)]
        (tmp_path / "stays.csv").write_text("\n".join([HEADER, *cells]) + "\n")
        (tmp_path / "out").mkdir(exist_ok=True)
        asked = ["-q", "age,sex", "--target", "ill", "--class-sensitive", "no", "-k", "3", "--to", to]
        monkeypatch.setattr("sys.argv", ["incrowd", "release", "stays.csv", *asked, *words])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return ended.value.code or 0, " ".join((said.out + said.err).split())

    return run


def refused(run, tmp_path, *words, **more):
    status, said = run(*words, **more)
    assert status == 2, said
    assert not list((tmp_path / "out").iterdir())
    assert CANARY not in said
    assert KEY[:20] not in said
    assert "Traceback" not in said
    return said


def put_key(folder, text=KEY, mode=0o600, name="key.txt"):
    path = folder / name
    path.write_text(text)
    path.chmod(mode)


KEYED = ("--pseudonym", "patient", "--shift-dates", "seen", "--key-file", "key.txt")


@pytest.mark.parametrize(
    ("text", "mode", "words"),
    [
        ("", 0o600, "holds no key: that is 64 random hexadecimal digits"),
        (KEY[:60], 0o600, "To make one in a new file: --key-file 'NEW FILE' --new-key"),
        ("0" * 64, 0o600, "holds no key"),
        (f"my secret {KEY}", 0o600, "holds no key"),
        (KEY, 0o640, "can be read by others. Take that away: chmod 600 key.txt"),
    ],
)
def test_a_bad_key_is_refused(text, mode, words, run, tmp_path):
    put_key(tmp_path, text, mode)
    assert words in refused(run, tmp_path, *KEYED)


def test_a_key_that_cannot_be_read_is_refused(run, tmp_path):
    (tmp_path / "key.txt").mkdir()
    assert "key.txt cannot be read: Is a directory" in refused(run, tmp_path, *KEYED)


def test_a_key_is_neither_guessed_nor_overwritten(run, tmp_path):
    assert "--key-file key.txt; to make a new one there, add --new-key" in refused(run, tmp_path, *KEYED[:4])
    assert "key.txt does not exist" in refused(run, tmp_path, *KEYED)
    put_key(tmp_path)
    assert "a key is never replaced" in refused(run, tmp_path, *KEYED, "--new-key")
    assert (tmp_path / "key.txt").read_text() == KEY


@pytest.mark.parametrize(
    "place", ["out/release.csv", "out/release.csv.certificate.json", "out/report.html", "stays.csv"]
)
def test_a_key_is_in_no_place_that_is_written_or_read(place, run, tmp_path):
    said = refused(run, tmp_path, *KEYED[:4], "--key-file", place, "--new-key", "--report", "out/report.html")
    assert "The key cannot be where" in said
    assert HEADER in (tmp_path / "stays.csv").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--pseudonym", "patent"), "There is no column 'patent'. Did you mean 'patient'?"),
        (("--shift-dates", "seen", "--shift-by", "person"), "There is no column 'person'"),
        (("--shift-dates", "seen"), "--shift-by patient_id"),
        (("--shift-dates", "ill", "--shift-by", "patient"), "Column 'ill' cannot be both target and shifted"),
        (("--shift-dates", "seen", "--shift-by", "patient", "--shift-days", "0"), "--shift-days is a whole number"),
        (("--shift-dates", "seen", "--shift-by", "patient", "--shift-days", "-5"), "--shift-days"),
        (("--shift-dates", "seen", "--shift-by", "patient", "--shift-days", "1e3"), "--shift-days"),
        (("--pseudonym", "sex"), "'sex' cannot be both quasi-identifier and pseudonym"),
    ],
)
def test_bad_columns_are_refused(words, message, run, tmp_path):
    put_key(tmp_path)
    assert message in refused(run, tmp_path, *words, "--key-file", "key.txt")


@pytest.mark.parametrize(
    ("dates", "message"),
    [
        (["2020-02-29", "3.4.2020", "May 5, 2020"], "cannot be read as dates of one style"),
        (["1/2/2020", "3/4/2020", "5/6/2020"], "the order of day, month and year cannot be told"),
        (["1.2.20", "3.4.20", "5.6.20"], "years have two digits. Say it: --dates dmy"),
        (["2020-02-30"] * 3, "1 different text cannot be read as dates"),
        (["2021-02-29", "soon", "later"], "3 different texts cannot be read as dates"),
        (["0001-01-01"] * 3, "would leave the calendar if shifted by up to 182 days"),
        (["9999-12-31"] * 3, "would leave the calendar"),
        ([f"{CANARY} came on the first of May 2020"] * 3, "cannot be read as dates"),
    ],
)
def test_bad_dates_are_refused(dates, message, run, tmp_path):
    put_key(tmp_path)
    rows = [f'{CANARY}{i},{20 + i % 7},{"fm"[i % 2]},"{dates[i % 3]}",{"yn"[i % 3 % 2]}' for i in range(60)]
    assert message in refused(run, tmp_path, *KEYED, rows=rows)


def test_dates_of_nobody_are_refused(run, tmp_path):
    put_key(tmp_path)
    rows = [f"{CANARY * (i > 1)}{i if i > 1 else ''},{20 + i % 7},f,2020-02-29,{'yn'[i % 2]}" for i in range(60)]
    assert "2 rows with a date have no 'patient' to shift it by" in refused(run, tmp_path, *KEYED, rows=rows)


def test_leap_days_and_missing_cells_are_no_trouble(run, tmp_path):
    put_key(tmp_path)
    dates = ("2020-02-29", "1600-02-29", "", "?", "9000-03-01")
    rows = [f"{CANARY}{i},{20 + i % 7},{'fm'[i % 2]},{dates[i % 5]},{'yn'[i % 3 % 2]}" for i in range(60)]
    status, said = run(*KEYED, rows=rows)
    assert status == 0, said
    text = (tmp_path / "out" / "release.csv").read_text()
    assert CANARY not in text
    assert "02-29" not in text or "2020-02-29" not in text
