"""The desk in a real browser: a new user's way from a table to a verified release, on every screen and on paper.

Where INCROWD_SHOTS names a folder, pictures of every page are written to it, to be looked at.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from bench.people import stand_in
from playwright.sync_api import Browser, Locator, Page, Route, expect

from support.hospital import export
from support.new_user import NewUser, opened_desk
from support.waiting import PATIENCE

RULES = {
    "light": {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]},
    "dark": {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}},
}
"""What axe looks for on a light screen, and on a dark one: there only colours are others."""
_VIOLATIONS = """async rules => (await axe.run({...rules, resultTypes: ["violations"]})).violations.map(
  one => [one.impact, one.id, one.nodes[0].html])"""
_MOST_TABS = 200
WIDE, NARROW, PAPER = ({"width": width, "height": 900} for width in (1280, 375, 794))


class Walk:
    """A desk for a folder, and a browser on it that looks at every page."""

    def __init__(self, page: Page, address: str, shots: Path | None, folder: Path) -> None:
        self.page, self.address, self.shots, self.folder = page, address, shots, folder
        self.base = address.partition("/enter")[0]
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self.complaints.append(message.text) if message.type == "error" else None)
        page.set_default_timeout(1000 * PATIENCE)

    def look(self, name: str, *, axe: bool = True) -> None:
        """On light and dark, wide and narrow screens: nothing serious for axe, nothing beyond the edge."""
        expect(self.page.locator("[data-again]")).to_have_count(0, timeout=1000 * PATIENCE)
        self.page.wait_for_load_state("networkidle")
        for report in self.page.locator("iframe").all():
            report.scroll_into_view_if_needed()  # what is out of sight is not drawn
        if axe:
            self.page.evaluate(AXE_SCRIPT)
        for scheme, rules in RULES.items():
            self.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
            for size in (WIDE, NARROW):
                self.page.set_viewport_size(size)  # type: ignore[arg-type]
                self._picture(f"{name}-{scheme}-{size['width']}")
                assert not self.page.evaluate("document.documentElement.scrollWidth > innerWidth"), (name, size)
            if axe:
                violations = self.page.evaluate(_VIOLATIONS, rules)
                assert violations == [], (name, scheme)
        self.page.set_viewport_size(PAPER)  # type: ignore[arg-type]
        self.page.emulate_media(media="print", color_scheme="light")
        self._picture(f"{name}-print")
        assert not self.page.locator(".rail").is_visible()
        self.page.emulate_media(media="screen")
        self.page.set_viewport_size(WIDE)  # type: ignore[arg-type]

    def _picture(self, name: str) -> None:
        if self.shots is not None:
            self.page.screenshot(path=self.shots / f"{name}.png", full_page=True)

    def go_on(self, words: str, until: str, name: str) -> None:
        """Press what says so, and look at the page that comes."""
        self.page.get_by_role("button", name=words).or_(self.page.get_by_role("link", name=words)).first.click()
        self.page.wait_for_selector(until)
        expect(self.page.locator("[data-again]")).to_have_count(0, timeout=1000 * PATIENCE)
        if name:
            self.look(name)

    def open(self, path: str, until: str, name: str) -> None:
        """Look at a page."""
        self.page.goto(f"{self.base}{path}")
        self.page.wait_for_selector(until)
        self.look(name)

    def set_role(self, column: str, role: str) -> None:
        """Choose the role of a column."""
        self.page.get_by_label(f"Role of {column}", exact=True).select_option(role)

    def release(self, sensitive: str = "no", *, seen: bool = False) -> None:
        """From the columns to the result; the pages that look alike in every walk may have been seen in another."""
        method, release, job = ("", "", "") if seen else ("method", "release", "job")
        self.go_on("Keep this, and go on", "h1:has-text('promise')", "promise")
        self.page.locator(f"input[name=class_sensitive][value={sensitive}]").check()
        self.go_on("Keep this, and go on", "h1:has-text('Method')", method)
        self.go_on("Keep this, and go on", "h1:has-text('Release')", release)
        self.page.wait_for_selector(".fine")
        self.go_on("Release and verify", "[data-next]", job)
        self.go_on("See the result", ".standing", "result")


@pytest.fixture
def walk(tmp_path: Path, browser: Browser, request: pytest.FixtureRequest) -> Iterator[Walk]:
    folder = tmp_path / "project"
    folder.mkdir()
    shots = None
    if wanted := os.environ.get("INCROWD_SHOTS"):
        shots = Path(wanted) / request.node.name.removeprefix("test_")
        shots.mkdir(parents=True, exist_ok=True)
    with opened_desk(folder) as address, browser.new_context() as window:
        made = Walk(window.new_page(), address, shots, folder)
        yield made
        assert all(url.startswith((made.base, "data:")) for url in made.requests)
        assert made.complaints == []


def verify(file: Path) -> Any:
    return subprocess.run([sys.executable, "-m", "incrowd", "verify", str(file)], capture_output=True, check=False)


@pytest.mark.slow
def test_the_demo_from_the_first_page_to_a_verified_release(walk: Walk) -> None:
    page = walk.page
    page.goto(walk.address)
    walk.look("home")
    walk.go_on("Demo: patients", "[data-next]", "job-demo")
    walk.go_on("Begin with this table", "a.button", "data")
    walk.go_on("Show them", "text=Mask them again", "data-shown")
    walk.go_on("Yes, that is right: go on", "h1:has-text('person')", "people")
    walk.go_on("Keep this, and go on", ".alone strong", "columns")
    for column in ("bmi", "systolic_pressure", "earlier_admissions", "ward"):
        walk.set_role(column, "private")
    page.wait_for_selector(".alone:has-text('these 9')")
    walk.release()
    assert any(frame.url.startswith(f"{walk.base}/report?") for frame in page.frames)  # else it was refused
    release = walk.folder / "releases" / "patients-1" / "recipient" / "patients.csv"
    assert verify(release).returncode == 0
    table = "table=0%2Fdemo-patients%2Fpatients.csv"
    for tool in ("verify", "risk", "compare", "model", "hide", "history"):
        walk.open(f"/{tool}?{table}", "h1", tool)
    walk.open("/verify?table=0%2Freleases%2Fpatients-1%2Frecipient%2Fpatients.csv", "h1", "verify-release")
    walk.go_on("Verify: patients.csv", ".standing", "answer-verify")
    walk.open(f"/hierarchy?{table}&column=age", "h1", "hierarchy")
    walk.go_on("Draft a hierarchy from the values", "[data-next]", "")
    walk.go_on("Look at the hierarchy", "button:has-text('Use it')", "hierarchy-draft")
    walk.go_on("Use it for age", "h1:has-text('column')", "")
    walk.open(f"/hide?{table}&column=age&text=80", "table.cells", "hide-rows")
    page.locator("tbody tr:first-child input").nth(1).check()
    walk.go_on("See who can guess them", ".standing", "answer-hide")
    walk.open(f"/risk?{table}", "h1", "risk-again")
    walk.go_on("Measure: patients.csv", "iframe.report", "answer-risk")


@pytest.mark.slow
def test_visits_count_persons(walk: Walk) -> None:
    page = walk.page
    page.goto(walk.address)
    walk.go_on("Demo: several visits", "[data-next]", "")
    walk.go_on("Begin with this table", "a.button", "")
    walk.go_on("Yes, that is right: go on", "h1:has-text('person')", "people-visits")
    assert page.locator("input[name=person]:checked").get_attribute("value") == "patient_id"
    assert "With several rows".lower() in page.inner_text("main").lower()
    walk.go_on("Keep this, and go on", ".alone strong", "")
    assert "persons are alone" in page.inner_text(".alone")
    walk.release(seen=True)
    assert "of persons" in page.inner_text(".standing") or "persons" in page.inner_text("main")


@pytest.mark.slow
def test_a_hospitals_file_is_mended_as_the_desk_says_compared_and_released(walk: Walk, tmp_path: Path) -> None:
    """What cannot be read is told with what to do; the rest is read as it is, and every guess can be changed."""
    page = walk.page
    file = tmp_path / "Patienten 2021.csv"
    for titles, twice, told in ((True, True, "line 4 has the names"), (False, True, "have the same name")):
        file.write_bytes(export(titles=titles, twice=twice))
        page.goto(walk.address if titles else walk.base)
        page.set_input_files("input[type=file]", file)
        walk.go_on("Copy it into the project", ".problem", f"data-refused-{titles:d}")
        assert told in page.inner_text(".problem")
    file.write_bytes(export(titles=False, twice=False))
    page.goto(walk.base)
    page.set_input_files("input[type=file]", file)
    walk.go_on("Copy it into the project", "a.button", "data")
    assert [page.input_value(f"#{name}") for name in ("delimiter", "encoding", "decimal")] == [";", "cp1252", "comma"]
    assert "--" not in page.inner_text(".note >> nth=0")
    page.fill("#delimiter", ",")
    walk.go_on("Read it like this", ".problem", "data-wrong")
    assert page.input_value("#delimiter") == ","
    page.fill("#delimiter", ";")
    walk.go_on("Read it like this", "a.button", "")
    walk.go_on("Yes, that is right: go on", "h1:has-text('person')", "people")
    walk.go_on("Keep this, and go on", ".alone strong", "columns")
    for column, role in (("Diagnose", "target"), ("Aufnahme", "drop"), ("Bemerkung", "drop"), ("Kosten", "drop")):
        walk.set_role(column, role)
    walk.go_on("Keep this, and go on", "h1:has-text('promise')", "promise")
    walk.open(f"/compare?{page.url.partition('?')[2]}", "h1", "compare")
    page.fill("#k", "5")
    page.fill("#learners", "c45")
    for method in page.locator("input[name=methods]").all():
        method.set_checked(method.get_attribute("value") in ("mondrian", "kactus-plus"))
    walk.go_on("Compare on", "iframe.report", "answer-compare")
    walk.go_on("Choose a method", "figure svg", "method-compared")
    assert page.locator(".chart-and-table .point").count() >= 4  # two methods, in the legend and in the chart
    walk.open(f"/columns?{page.url.partition('?')[2]}", ".alone strong", "columns-decided")
    walk.release("yes", seen=True)
    assert "t-equal" in page.inner_text("main") or "closeness" in page.inner_text(".standing")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["hospital", "adult"])
def test_a_new_user_gets_to_a_release_without_a_halt(walk: Walk, tmp_path: Path, kind: str) -> None:
    """They click what is to be seen and believe what pages say; nothing sends them back."""
    file = tmp_path / "export.csv"
    if kind == "hospital":
        file.write_bytes(export(titles=False, twice=False))
    else:
        stand_in().head(3000).write_csv(file)
    user = NewUser(walk.page)
    if kind == "adult":  # the other walk has looked at the pages of the hospital
        user.look = lambda name: walk.look(name, axe=False)
    assert user.walk(walk.address, file), user.hesitations
    assert user.hesitations == []
    assert user.clicks - 2 * len(user.decisions) <= 12
    assert verify(next(walk.folder.glob("releases/*/recipient/*.csv"))).returncode in (0, 2)  # persons are not released


@pytest.mark.slow
def test_what_was_chosen_stays_while_the_rest_of_a_page_is_counted(walk: Walk) -> None:
    rows = "".join(f"{number % 40},{'fm'[number % 2]},{'yn'[number % 3 == 0]}\n" for number in range(120))
    (walk.folder / "people.csv").write_text(f"age,sex,ill\n{rows}", encoding="utf-8")
    page, late = walk.page, []

    def wait_once(route: Route) -> None:
        """As if nothing were counted yet when the page first comes."""
        answer = route.fetch()
        before, open_, rest = answer.text().partition('<div data-check data-part="check">')
        assert open_
        late.append(rest)
        waiting = "<p data-again>Looking …</p>" + rest[rest.index("</div>") :]
        route.fulfill(response=answer, body=before + open_ + (rest if len(late) > 1 else waiting))

    page.goto(walk.address)
    page.goto(f"{walk.base}/columns?table=0%2Fpeople.csv")
    walk.go_on("Keep this, and go on", "h1:has-text('promise')", "")
    page.route("**/promise?*", wait_once)
    page.reload()
    page.wait_for_selector("[data-check] [data-again]")
    page.fill("#k", "7")
    page.wait_for_selector("[data-check] .fine, [data-check] .problem, [data-check] .note")
    expect(page.locator("[data-again]")).to_have_count(0, timeout=1000 * PATIENCE)
    assert page.input_value("#k") == "7"


@pytest.mark.slow
def test_every_step_works_without_the_script_and_without_a_mouse(walk: Walk, browser: Browser) -> None:
    page = browser.new_page(java_script_enabled=False)
    page.set_default_timeout(1000 * PATIENCE)
    rows = "".join(f"{number % 40},{'fm'[number % 2]},{'yn'[number % 3 == 0]}\n" for number in range(120))
    (walk.folder / "people.csv").write_text(f"age,sex,ill\n{rows}", encoding="utf-8")
    page.goto(walk.address)

    def reach(goal: Locator, *keys: str) -> None:
        """By Tab alone, as whoever has no mouse; where one is can be seen."""
        for _ in range(_MOST_TABS):
            page.keyboard.press("Tab")
            if goal.evaluate("one => one === document.activeElement"):
                assert goal.evaluate("one => getComputedStyle(one).outlineStyle") == "solid"
                for key in keys:
                    page.keyboard.press(key)
                return
        raise AssertionError(goal)

    def press(words: str, until: str) -> None:
        for _ in range(PATIENCE):
            page.wait_for_selector("h1")
            if page.locator(until).count():
                return
            again = page.get_by_role("link", name="look again")
            button = page.get_by_role("button", name=words)
            link = page.get_by_role("link", name=words)
            reach(next(one for one in (again, button, link) if one.count()).first, "Enter")
            page.wait_for_load_state()
        raise AssertionError(until)

    press("people.csv", "h1:has-text('was read')")
    press("Yes, that is right: go on", "h1:has-text('person')")
    press("Keep this, and go on", "h1:has-text('column')")
    press("Keep this, and go on", "h1:has-text('promise')")
    reach(page.locator("input[name=class_sensitive]").first, "ArrowDown")  # from yes to no
    press("Keep this, and go on", "h1:has-text('Method')")
    press("Keep this, and go on", "h1:has-text('Release')")
    press("Release and verify", "[data-next]")
    press("See the result", ".standing")
    assert "recounted independently" in page.inner_text(".standing")
