"""The report in a real browser: what it makes of the page, what it paints, and what it refuses to run."""

import re
import struct
import subprocess
import zlib
from collections.abc import Iterator
from pathlib import Path

from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import Group, Show
from incrowd.report.attack_facts import AttackFact, AttackFacts
from incrowd.report.facts import Accuracy, Facts, facts_of
from incrowd.report.html import report_html
from incrowd.verification.verdict import Check, ClassSizes, Verdict
from incrowd.vocabulary.released_value import Interval, Mean, Shown, Suppressed, ValueSet
from incrowd.vocabulary.requirement import KAnonymity
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema
from support.chromium import find_chromium
from support.waiting import PATIENCE

SCRIPT = "<script>document.title='owned'</script>"
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--enable-logging=stderr",
)
PAPER, DARK_PAPER = (255, 255, 255), (21, 24, 28)
CHART_COLOURS = {(0, 114, 178), (47, 143, 196), (176, 122, 0), (122, 91, 166)}  # value, set, mean, interval


def facts() -> Facts:
    quasi = [Column(name, Role.QUASI_IDENTIFIER) for name in ("zip", SCRIPT)]
    age = Column("age", Role.QUASI_IDENTIFIER, ColumnType.INTEGER)
    schema = Schema((age, *quasi, Column("ill", Role.TARGET)))
    groups = (
        Group(40, (Mean(41.5), Shown("x"), Suppressed())),
        Group(25, (Interval(20, 40), ValueSet(("x", "y")), Shown("z"))),
        Group(35, (Suppressed(), Shown("y"), Shown("z"))),
    )
    show = Show(("age", "zip", SCRIPT), groups)
    plan = ReleasePlan("kactus-plus", (("regrow", True),), KAnonymity(10), schema, 103, (show,))
    check = Check("10-anonymity", True, "smallest of 3 classes: 25 rows")
    verdict = Verdict(ClassSizes(100, 3, 25, ((25, 1), (35, 1), (40, 1))), (check,))
    accuracy = Accuracy(0.86, 0.84, 0.6, 68, 35)
    found = AttackFacts((AttackFact(SCRIPT, "leak", SCRIPT, 0.5, unit=SCRIPT), AttackFact("order", "not run", SCRIPT)))
    return facts_of(
        plan, verdict, source="patients.csv", output="release.csv", accuracy=accuracy, attacks=found, responsible=SCRIPT
    )


def browse(folder: Path, page: str, *flags: str) -> subprocess.CompletedProcess[str]:
    """Open a page in headless Chromium."""
    chromium = find_chromium()
    assert chromium, "Chromium is not installed; `make test` sees to it."
    file = folder / "report.html"
    file.write_text(page, encoding="utf-8")
    command = [chromium, *FLAGS, f"--user-data-dir={folder / 'profile'}", *flags, file.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)


def pixels(png: bytes) -> Iterator[tuple[int, ...]]:
    """The colours of an 8-bit PNG, pixel by pixel, its filters undone (PNG specification, section 9)."""
    width, depth, kind = struct.unpack(">I4xBB", png[16:26])
    assert depth == 8
    size = {2: 3, 6: 4}[kind]
    raw = zlib.decompress(b"".join(_image_data(png)))
    above = [0] * (width * size)
    for start in range(0, len(raw), width * size + 1):
        row = list(raw[start + 1 : start + 1 + width * size])
        _unfilter(raw[start], row, above, size)
        above = row
        yield from zip(row[0::size], row[1::size], row[2::size], strict=True)


def _image_data(png: bytes) -> Iterator[bytes]:
    place = 8
    while place < len(png):
        length, name = struct.unpack(">I4s", png[place : place + 8])
        if name == b"IDAT":
            yield png[place + 8 : place + 8 + length]
        place += length + 12


def _unfilter(kind: int, row: list[int], above: list[int], size: int) -> None:
    if kind == 2:
        row[:] = [(value + up) & 255 for value, up in zip(row, above, strict=True)]
    elif kind:
        for i, up in enumerate(above):
            left, corner = (row[i - size], above[i - size]) if i >= size else (0, 0)
            guess = left if kind == 1 else (left + up) // 2 if kind == 3 else _paeth(left, up, corner)
            row[i] = (row[i] + guess) & 255


def _paeth(left: int, up: int, corner: int) -> int:
    to_left, to_up, to_corner = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
    if to_left <= to_up and to_left <= to_corner:
        return left
    return up if to_up <= to_corner else corner


def colours(folder: Path, *flags: str) -> set[tuple[int, ...]]:
    """All colours the browser paints, at half size."""
    picture = folder / "page.png"
    browse(folder, report_html(facts()), f"--screenshot={picture}", "--force-device-scale-factor=0.5", *flags)
    return set(pixels(picture.read_bytes()))


def test_the_browser_finds_every_section_and_runs_nothing(tmp_path: Path) -> None:
    seen = browse(tmp_path, report_html(facts()), "--dump-dom")
    for name in (
        "asked",
        "done",
        "verified",
        "risk",
        "attacks",
        "earlier",
        "utility",
        "notices",
        "limits",
        "made",
        "signing",
    ):
        assert seen.stdout.count(f'<section class="{name}">') == 1
    assert "Satisfies 10-anonymity, recounted independently from the written file." in seen.stdout
    assert "<title>Release report: release.csv</title>" in seen.stdout
    assert seen.stdout.count("<svg") == 5
    assert "Content Security Policy" not in seen.stderr


def test_the_policy_of_the_page_stops_a_script(tmp_path: Path) -> None:
    seen = browse(tmp_path, report_html(facts()).replace("</body>", f"{SCRIPT}</body>"), "--dump-dom")
    assert SCRIPT in seen.stdout
    assert "<title>owned</title>" not in seen.stdout
    assert "Content Security Policy" in seen.stderr


def test_the_page_is_painted_in_its_colours(tmp_path: Path) -> None:
    painted = colours(tmp_path, "--window-size=640,3800")
    assert {PAPER, *CHART_COLOURS} <= painted
    assert DARK_PAPER not in painted
    assert len(painted) > 100


def test_a_dark_screen_gets_a_dark_page(tmp_path: Path) -> None:
    painted = colours(tmp_path, "--window-size=640,500", "--blink-settings=preferredColorScheme=0")
    assert DARK_PAPER in painted
    assert PAPER not in painted


def test_the_printed_report_has_its_own_page_for_the_signature(tmp_path: Path) -> None:
    """On paper of the usual length it has several pages; on endless paper only the one that is its own is left."""
    paper = tmp_path / "report.pdf"

    def pages(html: str) -> int:
        browse(tmp_path, html, "--no-pdf-header-footer", f"--print-to-pdf={paper}")
        return len(re.findall(rb"/Type /Page\b", paper.read_bytes()))

    endless = report_html(facts()).replace("@page{", "@page{size:210mm 4000mm;")
    assert pages(report_html(facts())) > 2
    assert pages(endless) == 2
    assert pages(endless.replace("break-before: page", "")) == 1
