"""What the release still shows, what is lost of each attribute, and what a classifier still learns."""

from __future__ import annotations

from collections.abc import Iterator

from incrowd.report.charts import accuracy_bars, form_bar, loss_bars
from incrowd.report.facts import Accuracy, Facts
from incrowd.report.markup import Html, element, join, paragraph, table, text
from incrowd.report.sections import figure, pairs, section
from incrowd.report.utility_facts import Utility
from incrowd.report.wording import counted, forms_in, percent, shares_of

ABOUT_LOSS = (
    "A cell stands for one or several values of the table. Loss: the other values it may stand for, in per cent of all "
    "others (Iyengar 2002). Normalised certainty penalty (NCP): the values it may stand for, in per cent of all; 0 if "
    "there is only one (Xu et al. 2006). Numbers count as values, so that no figure tells the smallest or largest. A "
    "mean bounds no single value and counts like a hidden cell, as do all cells of rows that are left out."
)


def utility(facts: Facts) -> Html:
    """What the release still shows, and what a classifier still learns from it."""
    return section("What is still usable", "utility", *_cells(facts), *_losses(facts), _accuracy(facts.accuracy))


def _cells(facts: Facts) -> Iterator[Html]:
    forms = forms_in(facts)
    header = [text("Quasi-identifier"), text("Share of the rows")]
    header += [join([element("i", class_=f"key form-{form}"), text(form)]) for form in forms]
    rows = []
    for attribute in facts.attributes:
        shares = shares_of(attribute)
        numbers = [_share(shares[form]) for form in forms]
        rows.append((element("bdi", text(attribute.name)), form_bar(attribute), *numbers))
    yield paragraph(f"{percent(facts.cells_shown)} of the quasi-identifier cells show something.")
    yield table("How each quasi-identifier is shown", header, rows, class_="forms")


def _share(share: float) -> Html:
    return text(percent(share)) if share else element("span", text(percent(share)), class_="nil")


def _losses(facts: Facts) -> Iterator[Html]:
    found = facts.utility
    if found is None:
        yield paragraph("The loss of each attribute was not measured.", class_="aside")
        return
    header = [text(word) for word in ("Quasi-identifier", "Hidden cells", "Loss", "NCP")]
    rows = [
        (element("bdi", text(one.name)), text(f"{one.hidden:,}"), text(percent(one.loss)), text(percent(one.penalty)))
        for one in found.attributes
    ]
    whole = (text("all"), text(f"{found.hidden:,}"), text(percent(found.loss)), text(percent(found.penalty)))
    if found.attributes:
        yield figure("Loss of each quasi-identifier", loss_bars(found))
        yield table("What is lost of each quasi-identifier", header, [*rows, whole], class_="numbers")
        yield paragraph(ABOUT_LOSS, class_="aside")
    yield pairs(_of_groups(facts, found))


def _of_groups(facts: Facts, found: Utility) -> dict[str, Html]:
    told_from = found.discernibility / facts.rows if facts.rows else 0.0
    return {
        "Cells hidden": text(f"{found.hidden:,} of {found.cells:,}"),
        "Discernibility": text(
            f"{found.discernibility:,} (Bayardo, Agrawal 2005); for each row {told_from:,.1f} rows that it cannot be "
            "told from, itself included"
        ),
        "Average group": text(f"{found.average_group:.2f} times the smallest that is allowed (LeFevre et al. 2006)"),
    }


def _accuracy(accuracy: Accuracy | None) -> Html:
    if accuracy is None:
        return paragraph("Accuracy was not measured.", class_="aside")
    return join(
        [
            figure(f"Accuracy on {counted(accuracy.test_rows, 'unseen row')}", accuracy_bars(accuracy)),
            paragraph(
                f"A C4.5 decision tree learned from {counted(accuracy.train_rows, 'row')}, once as they are "
                "and once from a trial release of these rows by the same recipe. Both were tested on rows "
                f"that neither had seen. {_difference(accuracy)}",
                class_="aside",
            ),
        ]
    )


def _difference(accuracy: Accuracy) -> str:
    points = 100 * (accuracy.after - accuracy.before)
    said = f"The release {'costs' if points < 0 else 'gains'} {abs(points):.1f} percentage points."
    if abs(points) < 0.05:
        said = "The release costs no accuracy that shows in one decimal."
    if accuracy.after <= accuracy.majority:
        said += " What is learned from it is no better than always saying the most frequent class."
    return said
