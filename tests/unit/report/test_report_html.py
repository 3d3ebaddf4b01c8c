import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from incrowd.drawing.page import POLICY
from incrowd.errors import Notice
from incrowd.plan.steps import Group
from incrowd.report.facts import Accuracy, AttributeFacts
from incrowd.report.html import report_html
from incrowd.verification.verdict import Check, Verdict
from incrowd.vocabulary.released_value import Shown, Suppressed, ValueSet
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema
from support.report_examples import example, schema, sizes

HEADINGS = [
    "Request",
    "Result",
    "Verification",
    "Unchanged columns",
    "Risk, before and after",
    "Attacks, before and after",
    "Earlier releases",
    "Utility",
    "Notices",
    "What this does not guarantee",
    "Provenance",
    "Decision",
]
HOSTILE = "<script>alert(1)</script>"
VOID = {"meta"}


class Page(HTMLParser):
    """A page read strictly: every element is closed, in order."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[tuple[str, str]] = []
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append((self.open[-1] if self.open else "", data))

    def inside(self, tag: str) -> list[str]:
        return [words for where, words in self.words if where == tag]

    @property
    def text(self) -> str:
        return " ".join(words for where, words in self.words if where != "style")


def test_all_sections_are_there_in_order() -> None:
    assert Page(report_html(example())).inside("h2") == HEADINGS


def test_key_facts_are_said() -> None:
    said = Page(report_html(example())).text
    for words in (
        "Satisfies 10-anonymity, recounted independently from the written file.",
        "10,430 of 10,434 rows released; 4 left out",
        "kactus-plus",
        "largest_set = 0.5",
        "1,204 rows: age 41.2; workclass x;",
        "smallest of 300 classes: 10 rows",
        "Attacks: not run",
        "The plan stays private",
        "2026-03-14 09:26:53 UTC",
        "incrowd",
    ):
        assert words in said


def test_the_page_is_self_contained() -> None:
    source = report_html(example())
    page = Page(source)
    assert {"http-equiv": "Content-Security-Policy", "content": POLICY} in [attrs for _, attrs in page.tags]
    assert not {tag for tag, _ in page.tags} & {"script", "link", "iframe", "img", "object", "form"}
    links = [attrs["href"] or "" for tag, attrs in page.tags if tag == "a"]
    places = [f"#{attrs['id']}" for tag, attrs in page.tags if tag == "h2"]
    assert links == places == list(dict.fromkeys(places))
    assert not re.search(r"url\(|@import|https?:|javascript:", source)
    assert not [attrs for _, attrs in page.tags if any(name.startswith("on") for name in attrs)]


def test_every_row_of_the_roles_table_names_its_column() -> None:
    page = Page(report_html(example()))
    for column in example().schema.columns:
        assert column.name in page.inside("bdi")
    assert "left out" in page.inside("td")
    assert "transformed" in page.inside("td")


def test_tables_and_pictures_are_accessible() -> None:
    tags = Page(report_html(example())).tags
    assert all(attrs.get("scope") in ("col", "row") for tag, attrs in tags if tag == "th")
    pictures = [attrs for tag, attrs in tags if tag == "svg"]
    assert len(pictures) == len(example().attributes) + 2
    assert all(attrs.get("role") == "img" and attrs.get("aria-label") for attrs in pictures)
    assert sum(tag == "table" for tag, _ in tags) == sum(tag == "caption" for tag, _ in tags) == 3
    assert ("html", {"lang": "en"}) in tags


@pytest.mark.parametrize("whole_page", [True, False])
def test_hostile_names_and_messages_stay_text(whole_page: bool) -> None:
    columns = (Column(HOSTILE, Role.QUASI_IDENTIFIER, reason=HOSTILE), Column("income", Role.TARGET))
    checks = (Check("10-anonymity", True, HOSTILE), Check(f"{HOSTILE} faithful", True, HOSTILE))
    facts = example(
        source=HOSTILE,
        output="</title></style>" + HOSTILE,
        schema=Schema(columns),
        method=HOSTILE,
        parameters={HOSTILE: HOSTILE},
        attributes=(AttributeFacts(HOSTILE, {"value": 0.5}),),
        largest_groups=(Group(12, (Shown("x"),)),),
        verdict=Verdict(sizes(), checks),
        notices=(Notice("x", HOSTILE, HOSTILE),),
        seconds={HOSTILE: 1.0},
    )
    page = Page(report_html(facts, whole_page))
    assert "script" not in {tag for tag, _ in page.tags}
    assert page.text.count(HOSTILE) >= 10


def test_control_characters_do_not_reach_the_page() -> None:
    facts = example(source="a\x00b\u202ec\ud800.csv")
    report_html(facts).encode("utf-8")
    assert "a\ufffdb\ufffdc\ufffd.csv" in Page(report_html(facts)).text


def test_no_value_is_in_the_report_that_the_release_hides() -> None:
    secret = "canary-4711"
    ordered = Column("grade", Role.QUASI_IDENTIFIER, ColumnType.ORDERED, order=(secret, "b"))
    group = Group(12, (Suppressed(), ValueSet(("a", "b"))))
    facts = example(
        schema=Schema((*schema().columns, ordered)),
        attributes=example().attributes[:2],
        largest_groups=(group,),
    )
    page = report_html(facts)
    assert "12 rows: workclass a|b; hidden: age" in page
    assert secret not in page


def test_a_failed_check_is_shown_in_words() -> None:
    failed = Verdict(sizes(), (Check("10-anonymity", False, "smallest class: 3 rows"),))
    said = Page(report_html(example(verdict=failed))).text
    assert "FAILED its verification" in said
    assert "✗ FAILED" in said
    assert "satisfies" not in said.lower()


def test_no_check_is_no_success() -> None:
    said = Page(report_html(example(verdict=Verdict(sizes())))).text
    assert "NOT VERIFIED" in said
    assert "No check was run." in said
    assert "satisfies" not in said.lower()


def test_accuracy_that_was_not_measured_is_said_to_be_so() -> None:
    page = Page(report_html(example(accuracy=None)))
    assert "Accuracy was not measured." in page.text
    assert not [attrs for _, attrs in page.tags if "Accuracy" in attrs.get("aria-label", "")]


@pytest.mark.parametrize(
    ("after", "words"),
    [
        (0.79, "costs 1.0 percentage points"),
        (0.82, "gains 2.0 percentage points"),
        (0.8002, "costs no measurable accuracy"),
    ],
)
def test_the_change_of_accuracy_is_said(after: float, words: str) -> None:
    assert words in Page(report_html(example(accuracy=Accuracy(0.8, after, 0.5, 100, 50)))).text


@pytest.mark.parametrize(("after", "useless"), [(0.49, True), (0.5, True), (0.51, False)])
def test_a_release_that_teaches_nothing_is_said_to_be_so(after: float, useless: bool) -> None:
    said = Page(report_html(example(accuracy=Accuracy(0.8, after, 0.5, 100, 50)))).text
    assert ("no better than always predicting the most frequent class" in said) is useless


def test_an_empty_release_can_be_described() -> None:
    empty = Verdict(sizes(()), (Check("10-anonymity", False, "smallest of 0 classes: 0 rows"),))
    facts = example(verdict=empty, groups=0, smallest_group=0, attributes=(), largest_groups=(), notices=())
    page = Page(report_html(replace(facts, parameters={}, seconds={}, output=None, rows_dropped=facts.rows)))
    assert page.inside("h2") == HEADINGS
    assert "handed back in memory" in page.text


def test_a_fragment_has_no_page_around_it() -> None:
    tags = Page(report_html(example(), whole_page=False)).tags
    assert not {tag for tag, _ in tags} & {"html", "head", "body", "main", "meta", "title"}
    assert [tag for tag, _ in tags[:2]] == ["style", "div"]
    assert tags[1][1] == {"class": "incrowd view"}


def test_every_rule_of_a_fragment_is_scoped() -> None:
    style = Page(report_html(example(), whole_page=False)).inside("style")[0]
    style = re.sub(r"/\*.*?\*/|@media[^{]*\{", "", style, flags=re.DOTALL)
    selectors = [s.strip() for rule in re.findall(r"([^{}]+)\{", style) for s in rule.split(",")]
    assert len(selectors) > 50
    assert [s for s in selectors if not re.match(r"\.incrowd(?![\w-])", s)] == []


def test_every_colour_of_a_chart_has_a_rule() -> None:
    source = report_html(example())
    style = Page(source).inside("style")[0]
    used = {kind for tag, attrs in Page(source).tags if tag == "rect" for kind in attrs["class"].split()}
    assert {"area", "axis", "empty", "other", "series-0", "series-4", "series-5", "series-6"} <= used
    assert [kind for kind in used if f".{kind} " not in style and f".{kind}," not in style] == []


def test_light_dark_and_paper_have_styles() -> None:
    style = Page(report_html(example())).inside("style")[0]
    for rule in ("prefers-color-scheme: dark", "@media print", "color-scheme:light dark"):
        assert rule in style


def test_the_word_is_not_used_as_a_claim() -> None:
    assert "anonymous" not in report_html(example()).lower()
