"""What ``make test`` does on a machine without a browser."""

import pytest

from support import chromium


@pytest.fixture
def bare(monkeypatch):
    """A machine without Chromium and fonts, and what is installed on it."""
    installed = []
    monkeypatch.setattr(chromium, "find_chromium", lambda: "chromium" if "chromium" in installed else None)
    monkeypatch.setattr(chromium, "has_font", lambda: "fonts-dejavu-core" in installed)
    return installed


def test_what_is_missing_is_installed(bare, monkeypatch):
    monkeypatch.setattr(chromium, "install", bare.extend)
    assert chromium.main() == 0
    assert bare == ["chromium", "fonts-dejavu-core"]


def test_where_nothing_may_be_installed_one_line_says_what_to_install_and_why(bare, monkeypatch, capsys):
    monkeypatch.setattr(chromium.os, "geteuid", lambda: 1000)
    assert chromium.main() == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("Nothing was tested: the tests open reports in a browser")
    assert line.endswith("apt-get install chromium fonts-dejavu-core")


def test_what_is_there_is_left_alone(monkeypatch):
    monkeypatch.setattr(chromium, "missing", list)
    monkeypatch.setattr(chromium, "install", pytest.fail)
    assert chromium.main() == 0
