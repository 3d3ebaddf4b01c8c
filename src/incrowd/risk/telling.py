"""The measured risk in words and tables: facts for the terminal, for a report, for a Python prompt.

A part is plain data. Who draws it decides how it looks; nothing here holds a cell value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from incrowd.drawing.markup import Html, texts
from incrowd.drawing.page import paragraph, table
from incrowd.drawing.wording import counted, percent, plain, unbroken
from incrowd.risk.assessment import Risk
from incrowd.risk.attackers import Attacker, MeasuredRisk
from incrowd.risk.classes import DisSuda, NotMeasured
from incrowd.risk.uniques import CONDITIONS, Estimate, Estimates

Row = tuple[str, ...]
CONDITION = "trust it for"  # the head of a column of words

ATTACKERS = {
    "prosecutor": "knows that the person is in the table",
    "journalist": "does not know whether the person is in it",
    "marketer": "links all rows to people",
}


PERSONS = (
    "Persons are counted, not rows: whoever knows one row of a person picks one of the persons whose rows look alike, "
    "and a person is as exposed as its row with the fewest persons to pick from. Whoever knows several rows of a "
    "person may find more."
)


@dataclass(frozen=True)
class RiskTable:
    """A table of words; the first ``words`` columns stand at the left."""

    header: Row
    rows: tuple[Row, ...]
    words: int = 1

    def lines(self) -> Iterator[str]:
        """The table in plain text."""
        widths = [max(map(len, column)) for column in zip(self.header, *self.rows, strict=True)]
        for row in (self.header, *self.rows):
            cells = zip(row, widths, range(len(row)), strict=True)
            yield "  ".join(c.ljust(w) if i < self.words else c.rjust(w) for c, w, i in cells).rstrip()


@dataclass(frozen=True)
class TextPart:
    """A titled part: sentences, then a table, then asides; ``name`` is for style sheets."""

    title: str
    name: str
    sentences: tuple[str, ...] = ()
    table: RiskTable | None = None
    asides: tuple[str, ...] = ()


def text_of(risk: Risk) -> str:
    """All parts in plain text."""
    lines = [headline(risk)]
    for part in parts_of(risk):
        lines += ["", part.title, *(f"  {words}" for words in part.sentences)]
        lines += [f"  {line}" for line in (part.table.lines() if part.table else ())]
        lines += [f"  {aside}" for aside in part.asides]
    return "\n".join(map(plain, lines))


def drawn_part(part: TextPart, caption: str = "") -> Iterator[Html]:
    """The table, the sentences and the asides of a part."""
    if part.table:
        header = part.table.header
        numbers = range(part.table.words, len(header) - (CONDITION in header))
        rows = [texts(*map(unbroken, row)) for row in part.table.rows]
        yield table(caption, texts(*header), rows, numbers=numbers, class_="words" if part.table.words > 1 else "")
    yield from (paragraph(unbroken(words)) for words in part.sentences)
    yield from (paragraph(unbroken(aside), class_="aside") for aside in part.asides)


def headline(risk: Risk) -> str:
    """The one sentence to read first."""
    words = f"{risk.source}: {_alone(risk)}"
    return words if risk.after is None else f"{words}; after, {risk.after.source}: {_alone(risk.after)}"


def _alone(risk: Risk) -> str:
    alone = risk.uniques.in_sample
    if risk.persons is not None:
        verb = "has a row that is" if alone == 1 else "have a row that is"
        people = counted(risk.persons, "person")
        share = percent(risk.uniques.share)
        return f"{alone:,} of {people} {verb} nobody else's in its quasi-identifiers ({share}), of {risk.rows:,} rows"
    verb = "is unique in its" if alone == 1 else "are unique in their"
    return f"{alone:,} of {counted(risk.rows, 'row')} {verb} quasi-identifiers ({percent(risk.uniques.share)})"


def parts_of(risk: Risk) -> list[TextPart]:
    """Everything that was measured, in the order it is told."""
    both = [risk] if risk.after is None else [risk, risk.after]
    notices = tuple(f"{one.source}: {notice}" for one in both for notice in one.notices)
    return [
        attackers_part(both),
        at_risk_part(both),
        uniques_part(both),
        special_part(both),
        three_risks_part(both),
        *(safe_harbor_part(one, len(both) > 1) for one in both),
        *([TextPart("Notices", "notices", notices)] if notices else []),
    ]


def _heads(both: Sequence[Risk], *words: str) -> Row:
    """Column heads, each twice where there is a release."""
    if len(both) == 1:
        return words
    return tuple(f"{word}, {when}" if word else when for word in words for when in ("before", "after"))


def attackers_part(both: Sequence[Risk]) -> TextPart:
    """Prosecutor, journalist and marketer."""
    rows, asides = [], []
    for name, knows in ATTACKERS.items():
        measured = [getattr(one, name) for one in both]
        rows.append((name, *map(_maximum, measured), *map(_average, measured)))
        basis = "; after: ".join(dict.fromkeys(map(_basis, measured)))
        asides.append(f"The {name} {knows}: {basis}.")
    if len(both) > 1:
        asides.append("After: by classes of the release; a set, an interval or a suppressed cell counts as one value.")
    if both[0].persons is not None:
        asides.append(PERSONS)
    table = RiskTable(("attacker", *_heads(both, "maximum", "average")), tuple(rows))
    return TextPart("Who could be re-identified", "attackers", (), table, tuple(asides))


def _maximum(attacker: Attacker | NotMeasured) -> str:
    if isinstance(attacker, NotMeasured):
        return "not estimated"
    return percent(attacker.maximum) if attacker.at_risk else "–"


def _average(attacker: Attacker | NotMeasured) -> str:
    return "not estimated" if isinstance(attacker, NotMeasured) else percent(attacker.average)


def _basis(attacker: Attacker | NotMeasured) -> str:
    return f"not estimated ({attacker.reason})" if isinstance(attacker, NotMeasured) else attacker.basis


def at_risk_part(both: Sequence[Risk]) -> TextPart:
    """Rows above thresholds, for prosecutor and journalist."""
    rows = []
    for place, threshold in enumerate(one.threshold for one in both[0].prosecutor.at_risk):
        cells = [_at_risk(getattr(one, name), place) for name in ("prosecutor", "journalist") for one in both]
        rows.append((f"above {threshold:g}", *cells))
    header = ("risk", *_heads(both, "prosecutor", "journalist"))
    return TextPart(f"{both[0].unit.capitalize()}s at risk", "at-risk", (), RiskTable(header, tuple(rows)))


def _at_risk(attacker: Attacker | NotMeasured, place: int) -> str:
    if isinstance(attacker, NotMeasured):
        return "not estimated"
    return f"{attacker.at_risk[place].rows:,} ({percent(attacker.at_risk[place].share)})"


def uniques_part(both: Sequence[Risk]) -> TextPart:
    """Uniques counted and estimated."""
    rows: list[Row] = [("in the table, counted", *(_share(o.uniques.in_sample, o.uniques.share) for o in both), "")]
    if any(one.uniques.counted for one in both):
        rows.append(("in the population table, counted", *(_counted(one) for one in both), ""))
    for name in ("decision rule", "Pitman", "SNB", "Zayatz", "Ewens"):
        rows.append((f"in the population, {name}", *(_estimated(one, name) for one in both), CONDITIONS[name]))
    heads = ("uniques", *(_heads(both, "") if len(both) > 1 else (f"{both[0].unit}s",)), CONDITION)
    if both[0].population is None:
        why = "its size is not known; state how many persons it has"
        why = why if both[0].persons is None else "persons have several rows"
        unknown = (f"Uniques in the population: not estimated, as {why}.",)
        return TextPart("Who is unique", "uniques", unknown, RiskTable(heads[:-1], (rows[0][:-1],)))
    about = f"The table is taken as a simple random sample of {both[0].population:,} persons."
    return TextPart("Who is unique", "uniques", (about,), RiskTable(heads, tuple(rows)))


def _share(number: float, share: float) -> str:
    return f"{number:,.0f} ({percent(share)})"


def _counted(one: Risk) -> str:
    counts = one.uniques.counted
    return "not counted" if counts is None else f"{counts[0]:,}; {counts[1]:,} of them unique here"


def _estimated(one: Risk, name: str) -> str:
    estimates = one.uniques.estimated
    if not isinstance(estimates, Estimates):
        return "not estimated"
    answer = estimates.chosen if name == "decision rule" else estimates.by_name[name]
    if not isinstance(answer, Estimate):
        return "no estimate"
    chosen = f", by {answer.how}" if name == "decision rule" else ""
    return f"{_share(answer.uniques, answer.share)}{chosen}"


def special_part(both: Sequence[Risk]) -> TextPart:
    """Special uniques and the columns that make them."""
    first = both[0].special
    rows = [
        (f"unique by {counted(size, 'column')}", *(f"{_at(one.special.rows, size):,}" for one in both))
        for size in range(1, max(one.special.largest for one in both) + 1)
    ]
    rows.append(("unique by more columns only", *(f"{one.special.unscored:,}" for one in both)))
    rows.append(("highest SUDA score", *(f"{one.special.highest:,.0f}" for one in both)))
    rows.append(("highest DIS-SUDA", *(_dis(one.special.dis) for one in both)))
    about = [f"Sets of up to {counted(first.largest, 'column')} were tried, all {first.sets:,} of them."]
    if first.requested > first.largest:
        about.append(f"Left out: sets of {first.largest + 1} to {first.requested} columns, as they are too many.")
    leading = sorted(first.columns, key=lambda column: -column[1])[:3]
    if sum(first.minimal):
        part_of = ", ".join(f"{name} {percent(share)}" for name, _, share in leading)
        about.append(f"Columns most often in a minimal set that singles out: {part_of}.")
    table = RiskTable((f"{both[0].unit}s", *(_heads(both, "") if len(both) > 1 else ("number",))), tuple(rows))
    return TextPart("Special uniques", "special", tuple(about), table)


def _at(numbers: tuple[int, ...], size: int) -> int:
    return numbers[size - 1] if size <= len(numbers) else 0


def _dis(score: DisSuda | NotMeasured) -> str:
    return "not estimated" if isinstance(score, NotMeasured) else f"{score.highest:.3f}"


def three_risks_part(both: Sequence[Risk]) -> TextPart:
    """Singling out, linkability and inference."""
    rows: list[Row] = []
    asides = [
        f"Control: each {both[0].unit} is left out of the table when it is attacked. Excess: (attack - control) / (1 - "
        "control).",
        "In brackets: 95 % intervals. Attacks that need the original beside its release: incrowd attack.",
    ]
    for one in both:
        when = "" if len(both) == 1 else " before" if one is both[0] else " after"
        known = (one.inference,) if isinstance(one.inference, NotMeasured) else one.inference
        for name, measured in (
            ("singling out", one.singling_out),
            ("linkability", one.linkability),
            *(("inference", measured) for measured in known),
        ):
            rows.append(_three(f"{name}{when}", measured))
        if one.edges.alone:
            ends = ", ".join(map(str, one.edges.alone))
            asides.append(f"Singled out by an extreme value{when}: {ends}.")
    header = ("risk", "attack", "control", "excess", "chance")
    return TextPart("The three risks of WP216", "wp216", (), RiskTable(header, tuple(rows)), tuple(asides))


def _three(name: str, measured: MeasuredRisk | NotMeasured) -> Row:
    if isinstance(measured, NotMeasured):
        return (name, "not measured", "", "", measured.reason)
    named = f"{name}: {measured.column}" if measured.column else name
    return (named, f"{measured.attack}", f"{measured.control}", f"{measured.excess}", percent(measured.chance))


def safe_harbor_part(one: Risk, several: bool) -> TextPart:
    """The checklist."""
    rows = []
    for item in one.safe_harbor:
        where = "; ".join(f"{finding.column}: {finding.why}" for finding in item.findings)
        rows.append((f"{item.letter}  {item.title}", str(item.standing), where or item.note))
    title = "HIPAA Safe Harbor checklist" + (f": {one.source}" if several else "")
    aside = "An item that was not found may still be there: only names and patterns were looked at."
    return TextPart(
        title, "safe-harbor", (), RiskTable(("identifier", "result", "where, or why not"), tuple(rows), 3), (aside,)
    )
