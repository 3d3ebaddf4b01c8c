"""Sections that not every report has: measured risk, attacks, earlier releases, unchanged columns, utility; charts.

Every chart says in words what it shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from incrowd.drawing.markup import Html, element, join, text, texts
from incrowd.drawing.page import bullets, figure, folded, pairs, paragraph, section, table
from incrowd.drawing.svg import WIDTH, Bar, BarGroup, bars, picture, rect
from incrowd.drawing.wording import counted, listed, percent, sentence, short_number, unbroken
from incrowd.errors import Notice
from incrowd.report.attack_facts import (
    LEAK,
    NO_LEAK,
    NOT_RUN,
    AttackFact,
    AttackFacts,
    EarlierRelease,
    attack_summary,
    joint_sentence,
)
from incrowd.report.facts import Accuracy, AttributeFacts, Facts
from incrowd.report.unchanged_facts import alone_sentence, effective_sentence, singling_out_line
from incrowd.report.utility_facts import Utility
from incrowd.report.wording import ALL_FORMS, HIDDEN, by_persons_and_rows, forms_in, grouped, shares_of
from incrowd.risk.charts import AFTER, BEFORE, Histogram, buckets, risk_figures
from incrowd.risk.telling import TextPart, drawn_part, headline, parts_of, safe_harbor_part
from incrowd.verification.unchanged_counts import UnchangedCounts
from incrowd.verification.verdict import Check
from incrowd.vocabulary.views import checks_outcome, checks_table

BAR_WIDTH, BAR_HEIGHT = 240, 14
_COLOURS = ("series-0", "series-5", "series-4", "series-6", "series-2", "series-3", "empty")
FORM_COLOURS = dict(zip(ALL_FORMS, _COLOURS, strict=True))
_MAJORITY, _LOSS = "other", "series-7"


def size_histogram(histogram: Histogram, unit: str = "row") -> Html:
    """How many groups there are of which size, in rows or persons, in buckets that widen with the size."""
    ranges = buckets(histogram)
    most = max((bucket.classes for bucket in ranges), default=1)
    notes = {bucket: bucket.note if unit == "row" else counted(bucket.classes, "group") for bucket in ranges}
    groups = [_single(bucket.label, bucket.classes, notes[bucket], AFTER) for bucket in ranges]
    return _bar_chart(f"Groups by their number of {unit}s", groups, most)


def accuracy_bars(accuracy: Accuracy) -> Html:
    """Accuracy learned before, after, and by the majority, from 0 to 100 %."""
    measured = (
        ("before", accuracy.before, "trained on the table itself", BEFORE),
        ("after", accuracy.after, "trained on the release", AFTER),
        ("majority", accuracy.majority, "always the most frequent class", _MAJORITY),
    )
    groups = [_single(label, share, f"{percent(share)} {note}", kind) for label, share, note, kind in measured]
    return _bar_chart("Accuracy of a decision tree", groups, 1.0)


def loss_bars(utility: Utility) -> Html:
    """How much of each attribute is lost, from 0 to 100 %."""
    groups = [_single(one.name, one.loss, f"{percent(one.loss)} lost", _LOSS) for one in utility.attributes]
    return _bar_chart("Loss of each quasi-identifier", groups, 1.0)


def _single(label: str, length: float, note: str, kind: str) -> BarGroup:
    return BarGroup(label, (Bar(note, ((length, kind, ""),)),))


def _bar_chart(title: str, groups: Sequence[BarGroup], longest: float) -> Html:
    drawn, bottom, _ = bars(groups, longest or 1.0)
    words = "; ".join(f"{group.label}: {bar.note}" for group in groups for bar in group.bars)
    return picture(f"{title}. {words}", drawn, WIDTH, max(1, bottom))


def form_bar(attribute: AttributeFacts) -> Html:
    """In what share of the rows an attribute is shown in which form, as one stacked bar.

    Hidden is an empty frame, so that the bar can be read without colours.
    """
    shares = shares_of(attribute)
    words = ", ".join(f"{form} {percent(share)}" for form, share in shares.items() if share)
    parts, left = [rect(0.5, 0.5, BAR_WIDTH - 1, BAR_HEIGHT - 1, FORM_COLOURS[HIDDEN])], 0.0
    for form, share in shares.items():
        width = BAR_WIDTH * share
        if form != HIDDEN and width > 0:
            parts.append(rect(left, 0, width, BAR_HEIGHT, f"area {FORM_COLOURS[form]}"))
        left += width
    return picture(f"{attribute.name}: {words}", parts, BAR_WIDTH, BAR_HEIGHT)


NOT_MEASURED = "Risk was not measured, so nothing is known about it. To measure it: incrowd risk."


def risk(facts: Facts) -> Html:
    """Who can be re-identified, linked and inferred about, in the table and in its release."""
    title = "Risk, before and after"
    if facts.risk is None:
        return section(title, "risk", paragraph(NOT_MEASURED, class_="unknown"), *_singling_out(facts))
    measured = facts.risk
    both = [part for part in parts_of(measured) if part.name != "safe-harbor"]
    parts = [_whole(part, risk_figures(measured) if part.name == "at-risk" else ()) for part in both]
    last = measured.after or measured
    checklist = _whole(safe_harbor_part(last, several=True), ())
    opening = [paragraph(unbroken(f"{headline(measured)}.")), *_singling_out(facts)]
    return section(title, "risk", *opening, *parts, checklist)


def _singling_out(facts: Facts) -> list[Html]:
    """Singling out both ways, where unchanged columns were counted."""
    if facts.unchanged is None:
        return []
    return [
        paragraph(unbroken(f"In the release, {singling_out_line(facts.unchanged, facts.verdict.sizes.rows_below(2))}."))
    ]


def _whole(part: TextPart, figures: Sequence[Html]) -> Html:
    """A part with its title as the caption of its table."""
    title = [] if part.table else [element("h3", text(part.title))]
    return join([*title, *drawn_part(part, part.title), *figures])


# The attacks as a section of the report: what each found, what it was set against, and what did not run.
MARKS = {LEAK: "✗ leak", NO_LEAK: "✓ no leak found", NOT_RUN: "? not run"}
CLASSES = {LEAK: "bad", NO_LEAK: "good", NOT_RUN: "unknown"}
ATTACKS_HEADER = ("Attack", "Verdict", "Before", "After", "99 % interval", "Control", "Goal", "Unit")
NONE_RUN = "No attack was run, so nothing is known about what an attack would find. To run them: incrowd attack."
ATTACKS_READING = (
    "Before: the same attack on the table itself, as if it were released unprotected. Control: how far an attacker "
    "gets without the release. Goal: the bound that the measured value should keep; the verdict allows for chance, so "
    "a value may lie slightly beyond it. That an attack found no leak does not show that there is none; an attack "
    "that did not run shows nothing."
)


def attacks(facts: Facts) -> Html:
    """What attacks on the release found, beside the same on the table."""
    title = "Attacks, before and after"
    if facts.attacks is None:
        return section(title, "attacks", paragraph(NONE_RUN, class_="unknown"))
    outcomes = facts.attacks
    rows = [_attack_row(one, outcomes) for one in outcomes.after]
    shown = table("What the attacks found", texts(*ATTACKS_HEADER), rows, numbers=range(2, 7), class_="found")
    return section(
        title,
        "attacks",
        paragraph(attack_summary(outcomes), class_="bad" if outcomes.count(LEAK) else ""),
        shown,
        paragraph(ATTACKS_READING, class_="aside"),
        *_words("Leaks", outcomes, LEAK),
        *_words("Not run", outcomes, NOT_RUN),
        *_words("No leak found", outcomes, NO_LEAK),
    )


def _attack_row(one: AttackFact, all_attacks: AttackFacts) -> list[Html]:
    earlier = all_attacks.first(one.attack)
    before = short_number(earlier.measured) if earlier and earlier.verdict != NOT_RUN else NOT_RUN
    ends = "" if one.interval is None else f"{short_number(one.interval[0])} to {short_number(one.interval[1])}"
    verdict = element("span", text(MARKS[one.verdict]), class_=CLASSES[one.verdict])
    if one.verdict == NOT_RUN:
        return [text(one.attack), verdict, text(before), text(NOT_RUN), *[text("")] * 4]
    figures = (before, short_number(one.measured), ends, short_number(one.control), short_number(one.goal), one.unit)
    return [text(one.attack), verdict, *map(text, figures)]


def _words(title: str, all_attacks: AttackFacts, verdict: str) -> Iterator[Html]:
    """What the attacks that ended so say, in words."""
    chosen = [one for one in all_attacks.after if one.verdict == verdict]
    if chosen:
        yield element("h3", text(title))
        yield bullets(_in_words(one) for one in chosen)


def _in_words(one: AttackFact) -> Html:
    asks = [element("span", text(f" {one.asks}"), class_="aside")] if one.asks else []
    return join([element("strong", text(f"{one.attack}: ")), text(one.words), *asks])


# Earlier releases as a section of the report: which there are, and what they tell together with this one.
NOT_TRACKED = (
    "Earlier releases were not tracked. Two releases about the same people can be combined; to track them, keep a "
    "ledger with incrowd release --ledger."
)
EARLIER_HEADER = ("Made", "Promises", "Compared by", "People", "In this table too")
EARLIER_READING = (
    "Counted person by person, for an attacker who links the rows of the releases without error and knows which tables "
    "a person is in. Releases that are not in the ledger are not counted."
)


def earlier_releases(facts: Facts) -> Html:
    """What the ledger knows, and what was counted of it."""
    title, ledger = "Earlier releases", facts.earlier
    if ledger is None:
        return section(title, "earlier", paragraph(NOT_TRACKED, class_="unknown"))
    remarks = [paragraph(f"Not counted: {one}.", class_="bad") for one in ledger.not_counted]
    remarks += [
        paragraph(f"Entry {one['entry']} is about other people, as stated by {one['by']}.") for one in ledger.vouched
    ]
    if not ledger.releases:
        return section(title, "earlier", paragraph(joint_sentence(ledger)), *remarks)
    rows = [_earlier_row(one) for one in ledger.releases]
    return section(
        title,
        "earlier",
        paragraph(unbroken(joint_sentence(ledger)), class_="bad" if ledger.despite else ""),
        *remarks,
        table("Releases in the ledger", texts(*EARLIER_HEADER), rows),
        paragraph(EARLIER_READING, class_="aside"),
    )


def _earlier_row(one: EarlierRelease) -> list[Html]:
    shared = "not known" if one.shared is None else f"{one.shared:,}"
    return texts(one.when, one.requirement, one.by, one.relation, shared)


def notices(noticed: Sequence[Notice]) -> Html:
    """Everything that was handled and should be known."""
    words = bullets(map(text, grouped(noticed))) if noticed else paragraph("None.")
    return section("Notices", "notices", words)


# What rules did to columns, as a section of the report: which were dropped or made coarser, and by which rule.
RULES = ("coarsened", "preset", "preset-overruled")
COARSENED = (
    "A coarsened column holds what its rule leaves of it; the verification applied the rule to the input by itself. "
    "All counts in this report are of the table as it was read by these rules."
)


def rules(facts: Facts) -> list[Html]:
    """What the rules of a preset, and those that the user named, did; nothing if there were none."""
    rules = [notice for notice in facts.notices if notice.code in RULES]
    if not rules and facts.preset is None:
        return []
    title = f"Rules of the preset {facts.preset}" if facts.preset else "Rules for columns"
    rows = [texts(notice.where, sentence(notice.message.removesuffix("."))) for notice in rules]
    shown = [table("What rules did to columns", texts("Column", "What was done, and why"), rows)] if rows else []
    words = COARSENED if rows else "No column was dropped or coarsened by it."
    return [section(title, "rules", *shown, paragraph(words, class_="aside"))]


# Weights and limits as a section of the report: what was asked for, and what was counted of it.
WISHES = {
    "weights": ("kept finer, by a factor of", ""),
    "at_most": ("at most at level", "{} at most at level {}"),
    "apart": ("sets of values that stay apart:", "{} apart"),
}
"""What is said of a column in words, and the check that counts it."""


def wishes(facts: Facts) -> list[Html]:
    """What the user would rather keep, and what was counted of it; nothing if nothing was said."""
    if not facts.limits:
        return []
    finding = {check.name: check.finding for check in facts.verdict.checks}
    rows = [
        texts(name, f"{words} {value}", finding.get(check.format(name, value), "a wish: nothing is promised"))
        for wish, (words, check) in WISHES.items()
        for name, value in facts.limits.get(wish, {}).items()
    ]
    if (most := facts.limits.get("lose")) is not None:
        rows.append(texts("rows", f"left out, at most {most}", f"{facts.rows_dropped:,} of {facts.rows:,}"))
    if (people := facts.limits.get("rarest")) is not None:
        promise = f"names only what {people:,} people or more have"
        rows.append(texts("every cell", promise, finding.get(promise, "not counted")))
    shown = table("What was asked for", texts("What", "Wish", "Counted"), rows)
    return [section("Weights and limits", "wishes", shown)]


# Columns that a key makes, as a section of the report: which, how, and that this protects nobody.
KEYED_READING = (
    "Made with a secret key that stays with its holder, and computed once more by the verification, from the input and "
    "the key. Nothing in this report counts pseudonyms or shifts as protection. The name of the key tells keys apart, "
    "and reveals nothing that a key makes."
)


def keyed_columns(facts: Facts) -> list[Html]:
    """What was made with a key; nothing if there is nothing."""
    rows = []
    if entry := facts.keyed.get("pseudonyms"):
        rows.append(texts(listed(entry["columns"]), f"pseudonyms ({entry['algorithm']})", entry["key"]))
    if entry := facts.keyed.get("shifted_dates"):
        words = (
            f"dates shifted by up to {entry['days']:,} days, one shift for each {entry['by']} ({entry['algorithm']})"
        )
        rows.append(texts(listed(entry["columns"]), words, entry["key"]))
    if not rows:
        return []
    shown = table("Columns made with a key", texts("Columns", "Released as", "Name of the key"), rows)
    return [section("Pseudonyms and shifted dates", "keyed", shown, paragraph(KEYED_READING, class_="aside"))]


# Unchanged columns as a section of the report: what they give back, and who is alone by them.
TITLE = "Unchanged columns"
NOT_COUNTED = "It was not counted how much the unchanged columns undo, so nothing is known about it."
UNCHANGED_READING = (
    "A cell is given back if one or two unchanged columns leave only one of the values it may stand for, or values of "
    "half of the people. Anybody who knows how the columns depend on each other can work this out: from a codebook, a "
    "similar table, or rows that show the value. Effective k is the smallest number of people who agree in all that is "
    "shown and given back. Requirements other than k are not recounted on these finer groups."
)


def unchanged_columns(facts: Facts) -> Html:
    """Effective k, what gives back which quasi-identifier, and sets of columns that single people out."""
    counts = facts.unchanged
    if counts is None:
        return section(TITLE, "unchanged", paragraph(NOT_COUNTED, class_="unknown"))
    parts = [
        paragraph(unbroken(sentence(effective_sentence(counts))), class_="" if counts.sound else "bad"),
        *([_given_back(counts)] if counts.by else []),
        paragraph(unbroken(sentence(alone_sentence(counts)))),
        *([_sets(counts)] if counts.alone.without_class else []),
        paragraph(UNCHANGED_READING, class_="aside"),
    ]
    return section(TITLE, "unchanged", *parts)


def _given_back(counts: UnchangedCounts) -> Html:
    header = texts("Unchanged", "Gives back", "Cells")
    rows = [[text(" with ".join(one.columns)), text(one.quasi_identifier), text(f"{one.cells:,}")] for one in counts.by]
    return table("What is given back", header, rows, numbers=[2])


def _sets(counts: UnchangedCounts) -> Html:
    alone = counts.alone
    totals = {
        "all unchanged columns but the class": alone.without_class,
        "all unchanged columns and the class": alone.with_class,
        "those you did not call private": alone.not_private,
        "those you did not call private or sensitive": alone.not_called_private,
    }
    sets = {
        listed(one.columns) + ("" if one.exact else " (not all sets were compared)"): one.people for one in alone.best
    }
    rows = [
        [text(words), text(f"{people:,}"), text(unbroken(percent(people / counts.rows)))]
        for words, people in (totals | sets).items()
    ]
    return table("People who are alone", texts("By", "People", "Share"), rows, numbers=[1, 2])


# What the release still shows, what is lost of each attribute, and what a classifier still learns.
ABOUT_LOSS = (
    "A released cell stands for one or several values of the table. Loss: the number of other values it may stand "
    "for, as a share of all other values (Iyengar 2002). Normalized certainty penalty (NCP): the number of values it "
    "may stand for, as a share of all values; 0 if there is only one (Xu et al. 2006). Numbers are counted as "
    "distinct values, so that no figure reveals the smallest or the largest. A mean bounds no single value and counts "
    "as a hidden cell, as do all cells of rows that are left out."
)


def utility(facts: Facts) -> Html:
    """What the release still shows, and what a classifier still learns from it."""
    return section("Utility", "utility", *_cells(facts), *_losses(facts), _accuracy(facts.accuracy))


def _cells(facts: Facts) -> Iterator[Html]:
    forms = forms_in(facts)
    header = [text("Quasi-identifier"), text("Share of the rows")]
    header += [join([element("i", class_=f"key {FORM_COLOURS[form]}"), text(form)]) for form in forms]
    rows = []
    for attribute in facts.attributes:
        shares = shares_of(attribute)
        numbers = [_share(shares[form]) for form in forms]
        rows.append((element("bdi", text(attribute.name)), form_bar(attribute), *numbers))
    yield paragraph(f"{percent(facts.cells_shown)} of the quasi-identifier cells show something.")
    yield table("How each quasi-identifier is shown", header, rows, numbers=range(2, len(header)), class_="forms")


def _share(share: float) -> Html:
    return text(percent(share)) if share else element("span", text(percent(share)), class_="nil")


def _losses(facts: Facts) -> Iterator[Html]:
    losses = facts.utility
    if losses is None:
        yield paragraph("The loss of each attribute was not measured.", class_="aside")
        return
    header = texts("Quasi-identifier", "Hidden cells", "Loss", "NCP")
    rows = [
        (element("bdi", text(one.name)), text(f"{one.hidden:,}"), text(percent(one.loss)), text(percent(one.penalty)))
        for one in losses.attributes
    ]
    whole = (text("all"), text(f"{losses.hidden:,}"), text(percent(losses.loss)), text(percent(losses.penalty)))
    if losses.attributes:
        yield figure("Loss of each quasi-identifier", loss_bars(losses))
        yield table("Loss of each quasi-identifier, in figures", header, [*rows, whole], numbers=range(1, 4))
        yield paragraph(ABOUT_LOSS, class_="aside")
    yield pairs(_of_groups(facts, losses))


def _of_groups(facts: Facts, losses: Utility) -> dict[str, Html]:
    alike = losses.discernibility / facts.rows if facts.rows else 0.0
    return {
        "Cells hidden": text(f"{losses.hidden:,} of {losses.cells:,}"),
        "Discernibility": text(
            f"{losses.discernibility:,} (Bayardo and Agrawal 2005); on average a row cannot be told from "
            f"{alike:,.1f} rows, itself included"
        ),
        "Average group size": text(f"{losses.average_group:.2f} times the smallest size allowed (LeFevre et al. 2006)"),
    }


def _accuracy(accuracy: Accuracy | None) -> Html:
    if accuracy is None:
        return paragraph("Accuracy was not measured.", class_="aside")
    return join(
        [
            figure(f"Accuracy on {counted(accuracy.test_rows, 'unseen row')}", accuracy_bars(accuracy)),
            paragraph(
                f"A C4.5 decision tree was trained on {counted(accuracy.train_rows, 'row')}, once as they are "
                "and once on a trial release of these rows by the same recipe. Both were tested on rows "
                f"that neither had seen. {_difference(accuracy)}{_of_persons(accuracy)}",
                class_="aside",
            ),
        ]
    )


def _of_persons(accuracy: Accuracy) -> str:
    """What there is to say where a person may have several rows."""
    if (persons := accuracy.persons) is None:
        return ""
    learned, tested = counted(persons.train_persons, "person"), counted(persons.test_persons, "person")
    return f" Nobody is in both parts ({learned} and {tested}): {by_persons_and_rows(persons)}."


def _difference(accuracy: Accuracy) -> str:
    points = 100 * (accuracy.after - accuracy.before)
    words = f"The release {'costs' if points < 0 else 'gains'} {abs(points):.1f} percentage points."
    if abs(points) < 0.05:
        words = "The release costs no measurable accuracy."
    if accuracy.is_majority:
        words += " A tree trained on it is no better than always predicting the most frequent class."
    return words


# The checks of the verification; columns that passed the same check share a row.
def folded_checks(checks: Sequence[Check]) -> Html:
    """How the checks ended; each of them where somebody unfolds it, or one failed."""
    failed = not all(check.passed for check in checks)
    return folded(sentence(checks_outcome(checks)), checks_table(checks), unfolded=failed)
