"""The report in a real browser: what it makes of the page, what it paints, and what it refuses to run."""

import re

from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import Group, Show
from incrowd.report.attack_facts import AttackFact, AttackFacts
from incrowd.report.facts import Accuracy, Facts, facts_of
from incrowd.report.html import report_html
from incrowd.verification.verdict import Check, ClassSizes, Verdict
from incrowd.vocabulary.released_value import Interval, Mean, Shown, Suppressed, ValueSet
from incrowd.vocabulary.requirement import KAnonymity
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema
from support.browsing import Opened, Painted

SCRIPT = "<script>document.title='owned'</script>"
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


def test_the_browser_finds_every_section_and_runs_nothing(browse: Opened) -> None:
    page, said = browse(report_html(facts()))
    seen = page.content()
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
        assert seen.count(f'<section class="{name}">') == 1
    assert "Satisfies 10-anonymity, recounted independently from the written file." in seen
    assert page.title() == "Release report: release.csv"
    assert seen.count("<svg") == 5
    assert said == []


def test_the_policy_of_the_page_stops_a_script(browse: Opened) -> None:
    page, said = browse(report_html(facts()).replace("</body>", f"{SCRIPT}</body>"))
    assert SCRIPT in page.content()
    assert page.title() != "owned"
    assert any("Content Security Policy" in words for words in said)


def test_the_page_is_painted_in_its_colours(painted: Painted) -> None:
    seen = painted(report_html(facts()), width=640, height=3800, device_scale_factor=0.5)
    assert {PAPER, *CHART_COLOURS} <= seen
    assert DARK_PAPER not in seen
    assert len(seen) > 100


def test_a_dark_screen_gets_a_dark_page(painted: Painted) -> None:
    seen = painted(report_html(facts()), width=640, height=500, color_scheme="dark")
    assert DARK_PAPER in seen
    assert PAPER not in seen


def test_the_printed_report_has_its_own_page_for_the_signature(browse: Opened) -> None:
    """On paper of the usual length it has several pages; on endless paper only the one that is its own is left."""

    def pages(html: str) -> int:
        return len(re.findall(rb"/Type /Page\b", browse(html)[0].pdf(prefer_css_page_size=True)))

    endless = report_html(facts()).replace("@page{", "@page{size:210mm 4000mm;")
    assert pages(report_html(facts())) > 2
    assert pages(endless) == 2
    assert pages(endless.replace("break-before: page", "")) == 1
