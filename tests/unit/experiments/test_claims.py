"""The index of claims: pages are read back as they were written, and nothing is shown that is not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.claims.contents import DOCUMENTS, NOT_RUN, Contents, Item
from experiments.claims.finding import Beside, Figures, GoalOf, HeldByTest, PointOf, RowsOf
from experiments.claims.page import PAGES, claims_document, write_claims
from experiments.claims.pages import ResultPage
from experiments.reproduce.document import Grid, as_markdown
from incrowd.errors import InputError

RESULTS = Path(__file__).parents[3] / "docs" / "results"
PAGE = ResultPage(
    "a",
    """# A

Written by `python -m experiments a`.

Points:

| point | ours | our figures | paper |
|---|---|---|---|
| it \\| falls | **missed** | 3 | so |

**Met**: all hidden. Measured: 4 of 4.

## B

Shares:

|  | NB | NB, thesis |
|---|---:|---:|
| x | 90 | 100 |
| y | 1,000 | 980 |
| z | 5 | – |
""",
)
PAGE_BY_NAME = {"a": PAGE}


def test_a_page_is_read_back():
    assert PAGE.command == "python -m experiments a"
    assert PAGE.goals == (("all hidden.", "4 of 4.", "met"),)
    assert [(table.heading, table.caption) for table in PAGE.tables] == [("A", "Points:"), ("B", "Shares:")]
    assert PAGE.points == ({"point": "it | falls", "ours": "missed", "our figures": "3", "paper": "so"},)


def test_figures_are_found_where_they_are():
    found = PointOf("a", "it").look(PAGE_BY_NAME)
    assert (found.ours, found.verdict, found.claim, found.printed) == ("3", "missed", "it | falls", "so")
    assert GoalOf("a", "all hidden").look(PAGE_BY_NAME).verdict == "met"
    assert RowsOf("a", "Shares", "", "x").look(PAGE_BY_NAME).ours == "NB: 90, NB, thesis: 100"
    assert RowsOf("a", "B", "", "y", ("NB",)).look(PAGE_BY_NAME).ours == "NB: 1,000"
    beside = Beside("a", "Shares", (("NB", "NB, thesis"),), "points").look(PAGE_BY_NAME)
    assert beside.ours == "2 figures, 15.00 points apart on average, at most 20.00"
    assert Figures("a", r"^\| (\w) \| [\d,]+").look(PAGE_BY_NAME).ours == "x; y; z"
    assert Figures("a", r"^\| (\w) \| [\d,]+", first=True).look(PAGE_BY_NAME).ours == "x"


@pytest.mark.parametrize(
    "where",
    [
        PointOf("a", "rises"),
        GoalOf("a", "all shown"),
        RowsOf("a", "Shares", "", "w"),
        RowsOf("a", "Nowhere", "", "x"),
        Beside("a", "Points", (("NB", "NB, thesis"),), "points"),
        Figures("a", "none (of it)"),
        HeldByTest("golden/test_iac_paper.py", "test_that_nobody_wrote"),
    ],
)
def test_what_is_not_there_is_refused(where):
    with pytest.raises(InputError, match="do not have what the list of contents looks for"):
        where.look(PAGE_BY_NAME)


def test_every_item_has_a_place_or_a_reason():
    assert len(DOCUMENTS) == 5
    for item in (item for contents in DOCUMENTS for item in contents.items):
        assert item.where is not None or item.verdict != NOT_RUN or item.note, item.name


def test_the_index_is_what_the_pages_say(tmp_path):
    """The committed index is made from the committed pages."""
    write_claims(tmp_path / "claims.md", RESULTS)
    assert (tmp_path / "claims.md").read_text(encoding="utf-8") == (RESULTS / "claims.md").read_text(encoding="utf-8")


def test_every_point_of_every_page_is_in_the_index_once():
    pages = {name: ResultPage.read(RESULTS, name) for name in PAGES}
    grids = [block for block in claims_document(pages).blocks if isinstance(block, Grid)]
    shown = [row[1].words for grid in grids for row in grid.rows]
    for name in PAGES:
        for point in pages[name].points:
            assert sum(said.endswith(point["point"]) for said in shown) == 1, point["point"]


def test_items_without_a_place_say_so(monkeypatch):
    contents = Contents("Paper", (Item("Table 9", "what", "much", note="Too long."),))
    monkeypatch.setattr("experiments.claims.page.DOCUMENTS", (contents,))
    assert "| Table 9 | what | much | Too long. | not run | – |" in as_markdown(claims_document({}))
