"""The command line, run in this process in a folder of its own."""

from __future__ import annotations

import signal

import pytest

from incrowd.cli.main import main


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    """Run ``incrowd``: its status, standard output and standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(signal, "signal", lambda *_: None)

    def run(*words):
        monkeypatch.setattr("sys.argv", ["incrowd", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return ended.value.code or 0, printed.out, printed.err

    return run
