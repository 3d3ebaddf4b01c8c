"""The index of results: one table for each document, made from the pages that the experiments wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from experiments.claims.contents import DOCUMENTS, NOT_RUN, NOTHING, Contents
from experiments.claims.finding import COMPARED, REPRODUCED, TESTED, Pages, PointOf
from experiments.claims.pages import ResultPage
from experiments.reproduce.document import Block, Bullets, Document, Grid, Heading, Words, as_markdown, shown
from incrowd.tables.publishing.staging import staged

PAGES = (
    "reproduction_kactus",
    "reproduction_kactus_4",
    "reproduction_kactus_6",
    "reproduction_kadet",
    "reproduction_tdr",
    "reproduction_iac",
    "reproduction_inference",
    "reproduction_inference_sets",
)
HEADER = ("table, figure or claim", "what it shows", "printed", "ours", "verdict", "command")
VERDICTS = (
    "met, missed: the page judges it so, by a rule that was fixed before or is named there.",
    f"{COMPARED}: figures stand beside each other; a yes or no would be made up.",
    f"{REPRODUCED}: a worked example; a test has what is printed and fails where ours differs.",
    f"{TESTED}: pseudocode, which a test holds to an example or to properties of ours.",
    f"{NOT_RUN}: with the reason.",
    f"{NOTHING}: an illustration, or a list.",
)


def write_claims(path: Path, folder: Path) -> None:
    """Write the index from the pages in a folder."""
    pages = {name: ResultPage.read(folder, name) for name in PAGES}
    with staged(path) as hidden:
        hidden.write_text(as_markdown(claims_document(pages)), encoding="utf-8")


def claims_document(pages: Pages) -> Document:
    """The index."""
    return Document("Claims", tuple(_blocks(pages)))


def _blocks(pages: Pages) -> Iterator[Block]:
    tables = {contents.title: [*_items(contents, pages), *_points(contents, pages)] for contents in DOCUMENTS}
    yield Words("Written by `python -m experiments claims --page docs/results/claims.md` from the pages of results.")
    yield Words(
        "Every table and figure of the five documents and every claim that is judged: what was printed, what we get, "
        "and the command that shows it again."
    )
    yield Bullets(VERDICTS)
    counts = Counter(row[4] for rows in tables.values() for row in rows)
    yield Words(f"{counts.total()} rows: {', '.join(f'{number} {name}' for name, number in counts.most_common())}.")
    for title, rows in tables.items():
        yield Heading(title)
        yield Grid("Printed and ours", HEADER, tuple(shown(*row) for row in rows), words=len(HEADER))


Row = tuple[str, str, str, str, str, str]


def _items(contents: Contents, pages: Pages) -> Iterator[Row]:
    for item in contents.items:
        if item.where is None:
            yield item.name, item.shows, item.printed, item.note or "–", item.verdict, "–"
            continue
        finding = item.where.look(pages)
        shows = f"{item.shows}: {finding.claim}" if finding.claim else item.shows
        ours = f"{finding.ours}. {item.note}" if item.note else finding.ours
        yield item.name, shows, finding.printed or item.printed, ours, finding.verdict, f"`{finding.command}`"


def _points(contents: Contents, pages: Pages) -> Iterator[Row]:
    """The claims that the page of a document judges, but for those that stand with a figure."""
    if contents.page is None:
        return
    page = pages[contents.page]
    starts = tuple(item.where.start for item in contents.items if isinstance(item.where, PointOf))
    for point in page.points:
        if not point["point"].startswith(starts):
            yield "claim", point["point"], point["paper"], point["our figures"], point["ours"], f"`{page.command}`"
