"""The browser that the tests open pages in.

As a program (``python tests/support/chromium.py``) it sees to it that there is one, and a font to draw text in. It
needs nothing but Python, and runs before anything else of ``make test``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_PLACES = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
)
_FONTS = ("/usr/share/fonts", "/usr/local/share/fonts", "~/.local/share/fonts", "~/.fonts")
_PACKAGES = {"Chromium": "chromium", "a font": "fonts-dejavu-core"}
"""What the tests need of the system, and the packages of Debian that have it."""


def find_chromium() -> str | None:
    """Chromium or Chrome, on the search path or where macOS and Windows keep it."""
    programs = [*map(shutil.which, _NAMES), *(place for place in _PLACES if Path(place).exists())]
    return next(filter(None, programs), None)


def has_font() -> bool:
    """Whether there is a font; macOS and Windows always have some."""
    folders = (Path(place).expanduser() for place in _FONTS)
    return sys.platform in ("darwin", "win32") or any(any(folder.rglob("*.[ot]tf")) for folder in folders)


def missing() -> list[str]:
    """What the machine lacks."""
    there = {"Chromium": find_chromium() is not None, "a font": has_font()}
    return [name for name, is_there in there.items() if not is_there]


def install(packages: list[str]) -> None:
    """Let Debian's package manager install something, where this account may."""
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        return
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for words in (["update"], ["install", "--yes", "--no-install-recommends", *packages]):
        subprocess.run(["apt-get", "-qq", *words], env=environment, stdout=subprocess.DEVNULL, check=False)


def main() -> int:
    """Install what is missing, or say in one line what to install, and why."""
    if missing():
        install([_PACKAGES[name] for name in missing()])
    if not missing():
        return 0
    packages = " ".join(_PACKAGES[name] for name in missing())
    print(
        f"Nothing was tested: the tests open reports in a browser, and this machine lacks {' and '.join(missing())}."
        f" Install it, on Debian: apt-get install {packages}",
        file=sys.stderr,
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
