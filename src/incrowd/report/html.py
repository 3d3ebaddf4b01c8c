"""The report of a release as one HTML file, and its sections: each a function from facts to markup."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping
from typing import Any

from incrowd.drawing.markup import Html, element, join, text, texts
from incrowd.drawing.page import bullets, contents, figure, folded, head, page, pairs, paragraph, section, table, tiles
from incrowd.drawing.page import standing as standing_line
from incrowd.drawing.wording import Tone, counted, listed, percent, sentence
from incrowd.plan.explain import group_values, in_words
from incrowd.plan.steps import Reasons
from incrowd.report.attack_facts import LEAK, NOT_RUN
from incrowd.report.extra_sections import (
    attacks,
    earlier_releases,
    folded_checks,
    keyed_columns,
    notices,
    risk,
    rules,
    size_histogram,
    unchanged_columns,
    utility,
    wishes,
)
from incrowd.report.facts import Facts, counts_sentence
from incrowd.report.person_facts import (
    ALIKE,
    kind_of_link,
    person_figures,
    person_limits,
    persons_sentence,
    unit_sentence,
)
from incrowd.report.unchanged_facts import headline_lines
from incrowd.report.wording import (
    Standing,
    class_answer,
    little_use,
    rows_sentence,
    standing,
    statement,
    tone_of,
)
from incrowd.vocabulary.certificates import version
from incrowd.vocabulary.schema import NOT_RELEASED, STATED, Role

_PACKAGES = ("incrowd", "polars", "duckdb", "numpy", "numba", "pyarrow")
_MARKS = {Standing.SATISFIED: "✓", Standing.LITTLE_USE: "!", Standing.FAILED: "✗", Standing.NOT_RECOUNTED: "?"}
MOST_PARTS, MOST_REASONS = 12, 20
_RELEASED = dict.fromkeys(NOT_RELEASED, "left out") | {
    Role.QUASI_IDENTIFIER: "transformed",
    Role.PSEUDONYM: "as pseudonyms",
    Role.SHIFTED: "with shifted dates",
}


def _released(facts: Facts, role: Role) -> str:
    """What becomes of a column in the release."""
    if role is Role.PERSON and facts.persons is not None and facts.persons.linked:
        return "as pseudonyms"
    return _RELEASED.get(role, "unchanged")


def report_html(facts: Facts, whole_page: bool = True, certificate: Mapping[str, Any] | None = None) -> str:
    """The report of a release: a page of its own, or a fragment for a notebook whose styles touch nothing else.

    With the certificate its digests stand in the report, and whoever signs signs for these bytes.
    """
    parts: tuple[Html, ...] = (
        request(facts),
        result(facts),
        *rules(facts),
        *wishes(facts),
        *keyed_columns(facts),
        verification(facts),
        unchanged_columns(facts),
        risk(facts),
        attacks(facts),
        earlier_releases(facts),
        utility(facts),
        notices(facts.notices),
        limits(facts),
        origin(facts, certificate),
    )
    title = f"Release report: {facts.output or facts.source}"
    if not whole_page:
        return page(title, _head(facts), *parts, whole=False)
    parts = (*parts, signing(facts, certificate))
    return page(title, _head(facts), contents(parts), *parts)


def _head(facts: Facts) -> Html:
    """Title, the one sentence about the guarantee, and the key figures."""
    outcome = standing(facts)
    return head(
        "Release report",
        f"{facts.source} → {facts.output}" if facts.output else facts.source,
        standing_line(sentence(statement(facts)), tone_of(facts), _MARKS[outcome]),
        *([bullets(map(text, lines), class_="beside poor")] if (lines := little_use(facts)) else []),
        bullets(map(text, (*headline_lines(facts.unchanged), _unchanged(facts))), class_="beside"),
        key_figures(facts),
    )


def _unchanged(facts: Facts) -> str:
    names, keyed = _as_they_came(facts), facts.schema.keyed
    keyed_words = f"; made with a key, which is no protection of its own: {listed(keyed)}" if keyed else ""
    if not names:
        return f"no column is released unchanged{keyed_words}"
    are = "is" if len(names) == 1 else "are"
    return f"{counted(len(names), 'column')} {are} released unchanged: {listed(names)}{keyed_words}"


def _as_they_came(facts: Facts) -> list[str]:
    return [name for name in facts.schema.untouched if name not in facts.schema.keyed]


def key_figures(facts: Facts) -> Html:
    """The numbers to see first."""
    figures, tones = {}, {}
    if facts.unchanged is not None:
        figures["effective k"] = f"{facts.unchanged.effective_k:,}"
        tones["effective k"] = Tone.GOOD if facts.unchanged.sound else Tone.BAD
    figures |= {
        **person_figures(facts),
        "rows released": f"{facts.rows - facts.rows_dropped:,}",
        "rows left out": f"{facts.rows_dropped:,}",
        "groups": f"{facts.groups:,}",
        "rows in the smallest group": f"{facts.smallest_group:,}",
        "cells kept": percent(facts.cells_shown),
    }
    if facts.risk is not None and facts.risk.after is not None:
        before, after = facts.risk.prosecutor.average, facts.risk.after.prosecutor.average
        figures[f"average re-identification risk ({percent(before)} before)"] = percent(after)
    if facts.attacks is not None:
        gone = facts.attacks.count(NOT_RUN)
        term = f"attacks that found a leak ({gone} not run)" if gone else "attacks that found a leak"
        figures[term] = f"{facts.attacks.count(LEAK)} of {len(facts.attacks.after)}"
        tones[term] = Tone.BAD if facts.attacks.count(LEAK) else Tone.GOOD
    if facts.accuracy is not None:
        term = f"accuracy after ({percent(facts.accuracy.before)} before)"
        if facts.accuracy.is_majority:
            term = f"{term}: no better than the most frequent class"
            tones[term] = Tone.POOR
        figures[term] = percent(facts.accuracy.after)
    return tiles(figures, tones)


def request(facts: Facts) -> Html:
    """Requirement, method, parameters, files and the role of every column."""
    parameters = [text(f"{name} = {value}") for name, value in facts.parameters.items()]
    entries = {
        "Requirement": text(f"{facts.requirement} over {counted(len(facts.attributes), 'quasi-identifier')}"),
        **(
            {"Meaning": bullets((_promise(*one) for one in facts.meanings), class_="promises")}
            if facts.meanings
            else {}
        ),
        "Is the class itself sensitive?": text(class_answer(facts)),
        "Method": text(facts.method + (f", of {facts.method_package}" if facts.method_package else "")),
        "Parameters": join((element("code", each) for each in parameters), " ") or text("none"),
        **({} if facts.persons is None else {"Whose rows they are": text(unit_sentence(facts.persons))}),
        "Table": text(facts.source),
        "Release": text(facts.output or "handed back in memory"),
    }
    roles = [
        (
            element("bdi", text(column.name)),
            text(column.role),
            text(column.type),
            text(_released(facts, column.role)),
            text("" if column.reason == STATED else column.reason),
        )
        for column in facts.schema.columns
    ]
    header = texts("Column", "Role", "Type", "In the release", "Because")
    stated = [column.name for column in facts.schema.columns if column.reason == STATED]
    return section(
        "Request",
        "asked",
        pairs(entries),
        folded(
            f"{counted(len(roles), 'column')} and their roles",
            table("Columns and their roles", header, roles),
            *([paragraph(f"Stated by you: {', '.join(stated)}.")] if stated else []),
        ),
    )


def _promise(promise: str, words: str) -> Html:
    return join([element("strong", text(promise)), text(f": {words}" if words else "")])


def result(facts: Facts) -> Html:
    """The release in words, the sizes of its groups, its largest groups or the parts of its attributes, its reasons."""
    sizes = facts.verdict.sizes
    histogram = figure(
        f"Groups by size, as recounted: {counted(sizes.classes, 'group')}, the smallest of "
        f"{counted(sizes.smallest, 'row')}, the largest of {counted(sizes.largest, 'row')}",
        size_histogram(sizes.histogram),
    )
    parts = _parts(facts) if facts.parts else _groups(facts)
    return section(
        "Result", "done", parts[0], histogram, *_by_persons(facts), *parts[1:], *map(_reasons, facts.reasons)
    )


def _by_persons(facts: Facts) -> list[Html]:
    """Groups by their number of persons, where these may have several rows."""
    if (counts := facts.verdict.sizes.persons) is None or facts.persons is None:
        return []
    alike = ALIKE[kind_of_link(facts.persons)]
    title = f"{alike.capitalize()} by their number of persons, as recounted: {persons_sentence(counts)}"
    return [figure(title, size_histogram(counts.histogram, "person"))]


def _groups(facts: Facts) -> list[Html]:
    columns = [facts.schema[attribute.name] for attribute in facts.attributes]
    groups = [text(group_values(group, columns)) for group in facts.largest_groups]
    title = "The groups" if len(groups) == facts.groups else f"The {len(groups)} largest groups"
    about = paragraph(
        f"{facts.method} put the rows into {counted(facts.groups, 'group')}. All rows of a group show "
        f"the same quasi-identifiers. {rows_sentence(facts)}."
    )
    return [about, element("h3", text(title)), bullets(groups, class_="groups")] if groups else [about]


def _parts(facts: Facts) -> list[Html]:
    about = paragraph(
        f"{facts.method} shows a value in the same way in every row, unless the row's combination is rare. "
        f"{rows_sentence(facts)}."
    )
    rows = []
    for name, parts in facts.parts.items():
        listed = [f"{shown} ({count:,})" for shown, count in sorted(parts, key=lambda part: -part[1])]
        more = [f"… {len(listed) - MOST_PARTS} more"] if len(listed) > MOST_PARTS else []
        rows.append((element("bdi", text(name)), text("; ".join([*listed[:MOST_PARTS], *more]))))
    header = texts("Quasi-identifier", "What is shown, in how many rows")
    return [about, table("What the values of each quasi-identifier show", header, rows)]


def _reasons(reasons: Reasons) -> Html:
    header = texts(*reasons.columns)
    rows = [texts(*map(in_words, row)) for row in reasons.rows[:MOST_REASONS]]
    title = reasons.title
    if len(reasons.rows) > MOST_REASONS:
        title += f" (the first {MOST_REASONS} of {len(reasons.rows)})"
    facts = pairs({name: text(in_words(fact)) for name, fact in reasons.facts}) if reasons.facts else text("")
    return join([table(title, header, rows), facts]) if rows else join([element("h3", text(title)), facts])


def verification(facts: Facts) -> Html:
    """Every check with what it found."""
    if not facts.verdict.checks:
        return section("Verification", "verified", paragraph("No check was run.", class_="bad"))
    about = (
        f"A second engine, independent of the one that made the release, read the written {facts.written} and "
        "recounted:"
    )
    return section("Verification", "verified", paragraph(about), folded_checks(facts.verdict.checks))


def limits(facts: Facts) -> Html:
    """What the guarantee does not cover."""
    return section("What this does not guarantee", "limits", bullets(text(limit) for limit in _limits(facts)))


def _limits(facts: Facts) -> Iterator[str]:
    number, persons = len(_as_they_came(facts)), facts.verdict.sizes.persons
    unchanged = f"{counted(number, 'column')} (target, sensitive, private or other) {'is' if number == 1 else 'are'}"
    counts = " It is counted in rows, which are people only if each person has one row." if persons is None else ""
    yield f"{facts.requirement} prevents singling out by the quasi-identifiers listed above.{counts}"
    yield from person_limits(facts)
    yield f"{unchanged} released unchanged. Anybody who knows their values from elsewhere can link rows by them."
    if facts.schema.pseudonyms:
        yield (
            f"Pseudonyms ({listed(facts.schema.pseudonyms)}) protect nobody: rows with the same one are of one person, "
            "here and in every release under the same key, and whoever has the key can try any identifier."
        )
    if shifted := [name for name in facts.schema.keyed if name not in facts.schema.pseudonyms]:
        yield (
            f"Shifted dates ({listed(shifted)}) protect nobody: intervals are true, and whoever knows one true date of "
            "a person knows the shift."
        )
    if stated := counts_sentence(facts):
        yield stated
    if private := [column.name for column in facts.schema.columns if column.role is Role.PRIVATE]:
        yield f"That nobody outside knows {listed(private)} is stated by you; nothing here checks it."
    if len(facts.promises) <= len(_sizes(facts)):
        yield (
            "It does not prevent inference. If all rows of a group have the same class, anybody who knows that a "
            "person is in the group knows the class."
        )
    else:
        yield "Inference is limited only for the columns that the requirement names, and only as far as it states."
    if facts.attacks is None:
        yield "Attacks: not run. Nothing is claimed about what an attack would find."
    else:
        yield "The attacks show what they found, not what an attacker who knows more or tries something else may find."
    yield _earlier(facts)
    yield (
        "The plan stays private: it holds counts that the release hides. Keep it where the table is kept. "
        "Only the release and its certificate are meant to be published."
    )


def _sizes(facts: Facts) -> list[str]:
    """The promises about sizes of groups, which say nothing of the values in them."""
    return [promise for promise in facts.promises if "-anonymity" in promise or promise.endswith(("-map", "-presence"))]


def _earlier(facts: Facts) -> str:
    if facts.earlier is None:
        return "Earlier releases: not tracked. Two releases about the same people can be combined."
    if not facts.earlier.releases:
        return (
            "Earlier releases: none in the ledger. A release that is not in the ledger can still be combined with "
            "this one."
        )
    known = counted(len(facts.earlier.releases), "release")
    return (
        f"Earlier releases: {known} in the ledger, compared with this one person by person (see above). Releases that "
        "are not in the ledger can still be combined with this one."
    )


def origin(facts: Facts, certificate: Mapping[str, Any] | None = None) -> Html:
    """When, how long, with which versions, from which bytes."""
    moment = f"{facts.when:%Y-%m-%d %H:%M:%S %Z}".strip()
    entries = {"Made": element("time", text(moment), datetime=facts.when.isoformat(timespec="seconds"))}
    if facts.seconds:
        stages = ", ".join(f"{stage} {spent:.2f} s" for stage, spent in facts.seconds.items())
        entries["Took"] = text(f"{sum(facts.seconds.values()):.2f} s ({stages})")
    entries["Versions"] = text(", ".join(f"{name} {version(name)}" for name in _PACKAGES))
    entries["Python"] = text(platform.python_version())
    entries |= {term: element("code", text(digest), class_="digest") for term, digest in digests(facts, certificate)}
    return section("Provenance", "made", pairs(entries))


def digests(facts: Facts, certificate: Mapping[str, Any] | None) -> Iterator[tuple[str, str]]:
    """What ties the report to files: digests of the release, of what was asked, of the table (keyed), of others."""
    issued = certificate or {}
    named = {
        "Release SHA-256": (issued.get("output") or {}).get("sha256"),
        "Recipe SHA-256": issued.get("recipe_sha256"),
        "Table HMAC": issued.get("input_hmac_sha256"),
    }
    yield from ((term, digest) for term, digest in named.items() if digest)
    yield from ((f"Hierarchy of {name}", digest) for name, digest in issued.get("hierarchies", {}).items())
    earlier = facts.earlier.releases if facts.earlier else ()
    yield from (("Earlier release" + f" of {one.when}" * bool(one.made), one.sha256) for one in earlier)


# The last page of the report: a decision, who takes it, and when, written by hand.
DECISIONS = ("Release as it is", "Release under conditions", "Do not release")
LINES = ("Conditions, recipients", "Name and function", "Place and date", "Signature")


def signing(facts: Facts, certificate: Mapping[str, Any] | None = None) -> Html:
    """What is decided about which file, what is open, and lines to fill in."""
    digest = ((certificate or {}).get("output") or {}).get("sha256")
    about = {
        "Release": text(facts.output or "handed back in memory"),
        "SHA-256": element("code", text(digest), class_="digest") if digest else text("not in this report"),
        "Made": text(f"{facts.when:%Y-%m-%d %H:%M %Z}".strip()),
        "Responsible": text(facts.responsible or "not stated"),
        "Verification": text(statement(facts)),
    }
    boxes = [join([element("span", class_="box"), text(decision)]) for decision in DECISIONS]
    open_points = list(unknown(facts))
    return section(
        "Decision",
        "signing",
        pairs(about),
        *([paragraph("To be considered before signing:"), bullets(map(text, open_points))] if open_points else []),
        element("div", *(element("p", box) for box in boxes), class_="decisions"),
        element("div", *(_line(words) for words in LINES), class_="lines"),
    )


def _line(words: str) -> Html:
    return element("p", element("span", class_="rule-line"), element("span", text(words), class_="under"))


def unknown(facts: Facts) -> Iterator[str]:
    """What speaks against the release, and what nobody looked at: a signature covers it, so it is named."""
    if tone_of(facts) is Tone.BAD:
        yield "The release has not passed its verification."
    yield from map(sentence, little_use(facts)[:1])
    if facts.persons is not None:
        yield f"Whoever knows several rows of a person may find more than {facts.requirement} says (see above)."
    if facts.schema.target is not None and facts.class_sensitive is None:
        yield "It was not stated whether the class itself is sensitive."
    if facts.risk is None:
        yield "Risk was not measured."
    if facts.attacks is None:
        yield "No attack was run."
    else:
        if leaks := facts.attacks.count(LEAK):
            yield f"{counted(leaks, 'attack')} found a leak."
        if gone := facts.attacks.count(NOT_RUN):
            yield f"{counted(gone, 'attack')} did not run, which shows nothing about the risk."
    if facts.earlier is None:
        yield "Earlier releases about the same people were not tracked."
    else:
        if facts.earlier.despite:
            yield "Together with earlier releases it reveals more than was promised."
        if facts.earlier.not_counted:
            yield "Not every release in the ledger could be counted."
        if facts.earlier.vouched:
            others = counted(len(facts.earlier.vouched), "earlier release")
            yield f"That {others} had other people was stated, not counted."
    if facts.accuracy is None:
        yield "Accuracy was not measured."
    if facts.notices:
        yield f"There {'is' if len(facts.notices) == 1 else 'are'} {counted(len(facts.notices), 'notice')} above."
