"""The pictures of the tutorial at the desk (docs/pictures/desk): its way, walked in a browser.

As a program it takes them anew: ``python tests/support/desk_pictures.py docs/pictures/desk``.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if __name__ == "__main__":  # as a program it finds what tests share
    sys.path.insert(0, str(Path(__file__).parents[1]))

from support.new_user import opened_browser, opened_desk
from support.waiting import PATIENCE

if TYPE_CHECKING:
    from playwright.sync_api import Page

PICTURES = Path(__file__).parents[2] / "docs" / "pictures" / "desk"
TABLE = "patients.csv"
ROLES = {
    "private": ("bmi", "systolic_pressure", "earlier_admissions"),
    "drop": ("admission_date", "ward"),
}
"""What the tutorial decides on columns, where the draft proposes something else."""
SIZE, MARGIN = {"width": 1280, "height": 960}, 16
PROJECT = "my-project"
_HOME = """name => document.querySelectorAll("main code").forEach(
  code => code.textContent.endsWith(`/${name}`) && (code.textContent = `~/${name}`))"""
"""Where the folder lies is nobody's business."""


class Photographer:
    """Goes the way of the tutorial, and takes a picture of every screen."""

    def __init__(self, page: Page, folder: Path) -> None:
        self.page, self.folder = page, folder
        page.set_default_timeout(1000 * PATIENCE)
        page.set_viewport_size(SIZE)  # type: ignore[arg-type]

    def take(self, name: str, at: str = "") -> None:
        """A picture of the page, from the top or from where a heading is, as far as a screen goes or its content."""
        page = self.page
        page.evaluate(_HOME, PROJECT)
        first = page.get_by_role("heading", name=at).first if at else page.locator("body")
        first.evaluate("one => one.scrollIntoView()")
        end = page.locator("main").evaluate("one => one.getBoundingClientRect().bottom")
        clip = {"x": 0, "y": 0, "width": SIZE["width"], "height": min(SIZE["height"], end + MARGIN)}
        page.screenshot(path=self.folder / f"{name}.png", animations="disabled", clip=clip)  # type: ignore[arg-type]

    def press(self, words: str, until: str) -> None:
        """Press what says so, and wait until the page that comes has all that it will show."""
        from playwright.sync_api import expect

        page = self.page
        page.get_by_role("button", name=words).or_(page.get_by_role("link", name=words)).first.click()
        page.wait_for_selector(until)
        expect(page.locator("[data-again], [data-job]")).to_have_count(0, timeout=1000 * PATIENCE)
        page.wait_for_load_state("networkidle")

    def walk(self, address: str) -> None:
        """From the table to a signed release that verifies."""
        page = self.page
        page.goto(address)
        page.wait_for_selector(f"text={TABLE}")
        self.take("1-table")
        self.press(TABLE, "h1:has-text('was read')")
        self.take("2-data")
        self.press("Yes, that is right: go on", "h1:has-text('person')")
        self.take("3-person")
        self.press("Keep this, and go on", ".alone strong")
        for role, names in ROLES.items():
            for name in names:
                page.get_by_label(f"Role of {name}", exact=True).select_option(role)
        page.wait_for_selector(".alone:has-text('these 8')")
        self.take("4-columns")
        self.press("Keep this, and go on", "h1:has-text('promise')")
        page.locator("input[name=class_sensitive][value=no]").check()
        page.get_by_label("Require").fill("distinct-l=3 on diagnosis_group")
        page.get_by_label("Require").blur()
        page.wait_for_selector("[data-check] .fine")
        self.take("5-promise")
        self.press("Keep this, and go on", "h1:has-text('Method')")
        self.take("6-method")
        self.press("Keep this, and go on", "h1:has-text('Release')")
        page.get_by_label("Responsible").fill("Records office, Example Hospital")
        self.take("7-release")
        self.press("Release and verify", "[data-next]")
        self.take("8-job")
        self.press("See the result", ".standing")
        self.take("9-result")
        self.press("Make a key to sign with", "[data-next]")
        self.press("Choose it to sign with", "button:has-text('Recount it, and sign')")
        self.press("Recount it, and sign", "[data-next]")
        self.press("Back to the result", "text=The certificate is signed")
        self.take("10-signed", at="Before you sign")


def take_pictures(folder: Path) -> list[str]:
    """All of them, as files of a folder; their names."""
    from incrowd.comparisons.datasets.invented import make_patients

    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        project = Path(place) / PROJECT
        project.mkdir()
        make_patients(3000).write_csv(project / TABLE)
        with opened_desk(project) as address, opened_browser() as browser:
            Photographer(browser.new_page(), folder).walk(address)
    return sorted(path.name for path in folder.glob("*.png"))


if __name__ == "__main__":
    print(*take_pictures(Path(sys.argv[1]) if sys.argv[1:] else PICTURES), sep="\n")
