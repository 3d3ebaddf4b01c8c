"""The small pictures of promises (docs/pictures), drawn with the kit of the package: light, dark, and told in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from incrowd.drawing.markup import Html
from incrowd.drawing.svg import SIZE, Point, path, picture, rect, standalone, text_width, words

ROW, GAP, STRIPE = 24, 40, 6
"""Height of a row, room between two tables, width of the stripe that colours a group."""


def _table(title: str, rows: Sequence[Sequence[str]], groups: Sequence[str], at: Point) -> tuple[list[Html], float]:
    """A small table, its first row the header, and where it ends; a row has the colour of its group."""
    x, y = at
    widths = [max(text_width(row[place]) for row in rows) + 14 for place in range(len(rows[0]))]
    edge = x + STRIPE + 8
    drawn = [words(title, (edge, y), kind="strong")]
    for number, (row, group) in enumerate(zip(rows, ["", *groups], strict=True)):
        top = y + 12 + number * ROW
        if group:
            drawn += [
                rect(x, top + 2, STRIPE, ROW - 4, f"area {group}"),
                rect(edge - 4, top, sum(widths), ROW, "leaf"),
            ]
        for place, cell in enumerate(row):
            kind = "note" if not group or cell == "hidden" else ""
            drawn.append(words(cell, (edge + sum(widths[:place]), top + ROW - 7), kind=kind))
        drawn.append(path([(edge - 4, top + ROW), (edge - 4 + sum(widths), top + ROW)], "rule"))
    return drawn, edge + sum(widths)


def _beside(label: str, *tables: tuple[str, Sequence[Sequence[str]], Sequence[str]], says: Sequence[str]) -> str:
    """Tables side by side, each with a sentence below it."""
    drawn: list[Html] = []
    x, bottom = 0.0, max(len(rows) for _, rows, _ in tables) * ROW + 52
    for (title, rows, groups), sentence in zip(tables, says, strict=True):
        parts, end = _table(title, rows, groups, (x, SIZE))
        drawn += [*parts, words(sentence, (x + STRIPE + 8, bottom))]
        x = max(end, x + STRIPE + 8 + text_width(sentence)) + GAP
    return standalone(picture(label, drawn, x - GAP, bottom + 6))


def k_anonymity() -> str:
    """Three rows look alike."""
    first, second = ["series-0"] * 3, ["series-1"] * 3
    table = [
        ["age", "sex", "postcode", "diagnosis"],
        ["34", "f", "01037", "heart"],
        ["36", "f", "01037", "asthma"],
        ["39", "f", "01038", "heart"],
        ["61", "m", "01962", "diabetes"],
        ["64", "f", "01962", "heart"],
        ["67", "m", "01962", "asthma"],
    ]
    release = [
        ["age", "sex", "postcode", "diagnosis"],
        *(["(30, 40]", "f", "01037|01038", illness] for illness in ("heart", "asthma", "heart")),
        *(["(60, 70]", "hidden", "01962", illness] for illness in ("diabetes", "heart", "asthma")),
    ]
    return _beside(
        "A table of six people beside its release: three and three rows look alike in age, sex and postcode.",
        ("the table", table, [""] * 6),
        ("its release, k = 3", release, [*first, *second]),
        says=("Who knows age, sex and postcode finds one row.", "The same knowledge fits three rows."),
    )


def diversity() -> str:
    """A group of one diagnosis, and a group of three."""
    head = ["age", "sex", "diagnosis"]
    return _beside(
        "Two groups of three rows. In one everybody has the same diagnosis; in the other there are three.",
        ("k = 3, and no more", [head, *[["(30, 40]", "f", "heart"]] * 3], ["leak"] * 3),
        (
            "k = 3 and distinct-l = 3",
            [head, *(["(30, 40]", "f", illness] for illness in ("heart", "asthma", "diabetes"))],
            ["sound"] * 3,
        ),
        says=("The row is not found; the diagnosis is known.", "The diagnosis is one of three."),
    )


def persons() -> str:
    """Three rows of one patient, and of three."""
    head = ["whose (not released)", "age", "sex"]
    return _beside(
        "Two groups of three rows that look alike. One holds three visits of one patient, the other three patients.",
        ("3 rows, 1 person", [head, *[["patient A", "(30, 40]", "f"]] * 3], ["leak"] * 3),
        ("3 rows, 3 persons", [head, *([f"patient {one}", "(30, 40]", "f"] for one in "ABC")], ["sound"] * 3),
        says=("Alike, but there is nobody to hide among.", "With --person k counts these."),
    )


def unchanged() -> str:
    """A hidden cell that another column gives back."""
    head = ["education", "education code", "income"]
    shown = [head, ["hidden", "13", "high"], ["hidden", "13", "low"], ["hidden", "9", "high"]]
    back = [head, ["Bachelors", "13", "high"], ["Bachelors", "13", "low"], ["HS-grad", "9", "high"]]
    return _beside(
        "A release that hides education and keeps its code; beside it the same rows with education filled in.",
        ("the release: k = 3", shown, ["series-0"] * 3),
        ("with a codebook: effective k = 1", back, ["leak"] * 3),
        says=("Education is hidden; its code is unchanged.", "Refused: name or drop the code."),
    )


def together() -> str:
    """Two groups of two releases that share one person."""
    width, shared, top = 250.0, 60.0, 30.0
    inner = width - shared
    places = [(28 + 40 * (n % 4), top + 30 + 36 * (n // 4)) for n in range(8)]
    drawn = [
        words("a group of last year's release", (0, top - 12), kind="strong"),
        words("a group of this year's", (inner + width, top - 12), "end", "strong"),
        rect(0, top, width, 96, "empty", rx=8.0),
        rect(inner, top, width, 96, "empty dashed", rx=8.0),
        *(rect(x - 7 + side, y - 7, 14, 14, "area series-0", rx=7.0) for x, y in places for side in (0, width + 4)),
        rect(inner + shared / 2 - 7, top + 41, 14, 14, "area leak", rx=7.0),
        words("Who is known to be in both is found: one person is.", (inner + shared / 2, top + 120), "middle"),
    ]
    return standalone(
        picture("A group of one release and a group of another share one person.", drawn, inner + width, top + 126)
    )


def closeness() -> str:
    """Shares of the whole table beside those of two groups."""
    kinds, sets = (
        ["heart", "asthma", "diabetes"],
        [
            ("whole table", (0.5, 0.3, 0.2), "plain"),
            ("a group: t = 0.05", (0.45, 0.35, 0.2), "sound"),
            ("a group: t = 0.4", (0.1, 0.3, 0.6), "leak"),
        ],
    )
    drawn: list[Html] = []
    for place, (title, shares, kind) in enumerate(sets):
        x = place * 210
        drawn.append(words(title, (x, SIZE), kind="strong"))
        for row, (name, share) in enumerate(zip(kinds, shares, strict=True)):
            y = 30 + row * ROW
            drawn += [words(name, (x, y + 12)), rect(x + 66, y + 1, 130 * share, 14, f"area {kind}")]
            drawn.append(words(f"{share:.0%}", (x + 70 + 130 * share, y + 12), kind="note small"))
    drawn.append(
        words("t is how much of the shares would have to move to make the group look like the table.", (0, 126))
    )
    return standalone(
        picture("Shares of three diagnoses in a table, in a group like it and in one unlike it.", drawn, 620, 132)
    )


PICTURES: dict[str, Callable[[], str]] = {
    f"pictures/{make.__name__}.svg": make for make in (k_anonymity, diversity, closeness, persons, unchanged, together)
}
