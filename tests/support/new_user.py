"""A new user at the desk: brings a file, clicks only what is to be seen, believes what the pages say.

As a program it walks with any file of yours and tells what that took: ``python tests/support/new_user.py FILE``.
"""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if __name__ == "__main__":  # as a program it finds what tests share
    sys.path.insert(0, str(Path(__file__).parents[1]))

from support.chromium import find_chromium
from support.waiting import PATIENCE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
_MOST_PAGES = 40
_STEPS = (
    "main a[data-next], main .next a.button",
    "main .buttons button:not(.plain):not([disabled])",
    "main form > button:not(.plain):not([disabled])",
)
"""What goes on, in the order in which somebody who knows nothing tries it: the one blue button of a page."""


@contextlib.contextmanager
def opened_desk(folder: Path, *words: str) -> Iterator[str]:
    """A desk for a folder, as a user starts it; the address that opens it."""
    command = [sys.executable, "-m", "incrowd", "desk", str(folder), "--no-browser", *words]
    desk = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert desk.stdout is not None
    try:
        yield desk.stdout.readline().strip()
    finally:
        desk.terminate()
        desk.communicate()


@contextlib.contextmanager
def opened_browser() -> Iterator[Browser]:
    """The system's Chromium."""
    from playwright.sync_api import sync_playwright

    chromium = find_chromium()
    assert chromium, "Chromium is not installed; `make test` sees to it."
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=_FLAGS)
        yield browser
        browser.close()


@dataclass
class NewUser:
    """What somebody did who has read nothing: pages seen, clicks, decisions, hesitations."""

    page: Page
    look: Callable[[str], None] = lambda _name: None
    pages: list[str] = field(default_factory=list)
    clicks: int = 0
    decisions: list[str] = field(default_factory=list)
    hesitations: list[str] = field(default_factory=list)

    def walk(self, address: str, file: Path) -> bool:
        """From the address of a desk to the result of a release; whether it was reached."""
        self.page.set_default_timeout(1000 * PATIENCE)
        self.page.goto(address)
        self._see()
        self.page.set_input_files("input[type=file]", file)
        self._click("button:has-text('Copy it into the project')")
        self.page.wait_for_url("**/data?*")
        for _ in range(_MOST_PAGES):
            self._see()
            if self.page.locator("main .standing").count() and "/result" in self.page.url:
                return True
            self._decide()
            if not self._go_on():
                return False
        return False

    def _see(self) -> None:
        """Wait until the page has all that it will show."""
        from playwright.sync_api import expect

        self.page.wait_for_selector("h1")
        expect(self.page.locator("[data-again], [data-job]")).to_have_count(0, timeout=1000 * PATIENCE)
        self.pages.append(self.page.inner_text("h1"))
        self.look(f"{len(self.pages):02d}")

    def _decide(self) -> None:
        """Do what the page advises or asks for; a problem that it tells is a hesitation."""
        for row in self.page.locator("tr[data-role]").all():
            if row.locator("td .special:visible").count() and row.get_attribute("data-role") != "drop":
                self._choose(row.locator("select").first.get_attribute("name") or "", "drop")
        question = self.page.locator("input[name=class_sensitive]:visible")
        if question.count() and not self.page.locator("input[name=class_sensitive]:checked").count():
            question.first.check()  # in doubt, yes
            self.clicks += 1
            self.decisions.append("the class is sensitive")
        problems = self.page.locator("main .problem:visible")
        for problem in problems.all():
            self.hesitations.append(f"{self.pages[-1]}: {problem.inner_text().strip()}")

    def _choose(self, name: str, role: str) -> None:
        self.page.locator(f"select[name='{name}']").select_option(role)
        self.clicks += 2
        self.decisions.append(f"{name} {role}")

    def _go_on(self) -> bool:
        mend = self.page.locator("main .problem a:visible")
        if mend.count() and "/result" not in self.page.url:
            self._click("main .problem a")
            return True
        for selector in _STEPS:
            if self.page.locator(f"{selector} >> visible=true").count():
                self._click(selector)
                return True
        self.hesitations.append(f"{self.pages[-1]}: nothing leads on")
        return False

    def _click(self, selector: str) -> None:
        before = self.page.url
        self.page.locator(f"{selector} >> visible=true").first.click()
        self.clicks += 1
        self.page.wait_for_load_state()
        self.page.wait_for_timeout(300 if self.page.url == before else 0)


def main() -> int:
    """Walk with a file, and tell what it took."""
    parser = argparse.ArgumentParser(description="A new user's walk at the desk with a file of yours.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--shots", type=Path, help="a folder for pictures of every page")
    asked = parser.parse_args()
    if asked.shots is not None:
        asked.shots.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        with opened_desk(Path(folder)) as address, opened_browser() as browser:
            page, shots = browser.new_page(), asked.shots
            user = NewUser(page)
            if shots is not None:
                user.look = lambda name: [page.screenshot(path=shots / f"{name}.png", full_page=True)].clear()
            reached = user.walk(address, asked.file)
            seconds = time.perf_counter() - begun
        releases = [*Path(folder).glob("releases/*/recipient/*.certificate.json")]
        verified = [_status(one.with_name(one.name.removesuffix(".certificate.json"))) for one in releases]
    print(f"reached the result: {reached}; incrowd verify: exit status {verified} (2: whose rows they are is secret)")
    print(f"{seconds:.0f} s, {len(user.pages)} pages, {user.clicks} clicks, {len(user.decisions)} decisions")
    print(*(f"page: {one}" for one in user.pages), sep="\n")
    print(*(f"decision: {one}" for one in user.decisions), sep="\n")
    print(*(f"hesitation: {one}" for one in user.hesitations), sep="\n")
    return 0 if reached and verified and 1 not in verified else 1


def _status(release: Path) -> int:
    words = [sys.executable, "-m", "incrowd", "verify", str(release)]
    return subprocess.run(words, check=False, capture_output=True).returncode


if __name__ == "__main__":
    sys.exit(main())
