"""Blend and its rivals attacked, with the class as the secret: what more accuracy costs, at equal requirements.

Run by ``python -m experiments blend risk --page docs/results/blend_risk.md``; with all 14 attributes known, by attacks
that put counts together, ``python -m experiments blend wide --page docs/results/blend_wide.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.attacks.adult import QUASI_IDENTIFIERS, SALARY, Tell, read_adult, read_wide, scene_of
from experiments.pages import Section, Table, machine, write_page
from incrowd.attacks.attack import LEAK, Finding
from incrowd.attacks.run import attack_scene
from incrowd.comparisons.subject import Subject
from incrowd.vocabulary.requirement import KAnonymity
from incrowd.vocabulary.requirements.words import asked_for

METHODS = (
    ("blend", "counts"),
    ("blend", "strict"),
    ("infogain-mondrian", "counts"),
    ("infogain-mondrian", "strict"),
    ("mondrian", "strict"),
    ("kactus", "strict"),
    ("tdr", None),
)
ASKED = ("k=10", "k=100", "k=1000", "k=100, entropy-l=1.4", "k=100, entropy-l=1.4, t-equal=0.3")
ATTACKS = {
    "homogeneity": "Share of rows in groups of one class: their class is read off.",
    "attribute inference": "How much more often the class of members is guessed right than that of people who are not "
    "in the table, (members - others) / (1 - others).",
    "membership by box": "Share of members who fit into some group, minus that of others.",
    "model membership": "Area under the curve of telling members from others by how likely their class is found.",
}

WIDE = (
    ("blend", "counts"),
    ("infogain-mondrian", "counts"),
    ("infogain-mondrian", "strict"),
    ("kactus-plus", "strict"),
)
WIDE_ASKED = ("k=10", "k=100")
WIDE_ATTACKS = {
    "homogeneity": ATTACKS["homogeneity"],
    "shadow likelihood": "Area under the curve of telling members from others by the ratio of two likelihoods, of the "
    "release and of one of other people.",
    "differencing": "Share of people whose record is read off the release of all and one made without them.",
    "decoded rows": "Share of those whom nobody else is like whose row one deal has: of members, minus that of others.",
    "reconstruction from counts": "Share of rows that every table with these counts has.",
}


@dataclass(frozen=True)
class Attacked:
    """What an attack found on a release."""

    method: str
    form: str | None
    besides: str
    finding: Finding


def attack_blended(
    subject: Subject,
    methods: Sequence[tuple[str, str | None]] = METHODS,
    requirements: Sequence[str] = ASKED,
    tell: Tell = print,
    attacks: Mapping[str, str] = ATTACKS,
) -> list[Attacked]:
    """Release by every method under every requirement, and attack."""
    results = []
    for method, form in methods:
        for words in requirements:
            requirement = asked_for(words, KAnonymity(10))
            scene = scene_of(subject, method, requirement, {} if form is None else {"form": form})
            results += [Attacked(method, form, words, one) for one in attack_scene(scene, list(attacks)).findings]
            tell(f"{method}{'' if form is None else f' as {form}'}, {words}")
    return results


def write_blended(page: Path, data: Path | None = None, rows: int | None = None, tell: Tell = print) -> None:
    """Run everything and write the page; with ``rows``, on so many rows only, for a quick look."""
    subject = read_adult(data, rows)
    results = attack_blended(subject, tell=tell)
    about = [
        f"Written by `python -m experiments blend risk`: {subject.table.height:,} rows of Adult, quasi-identifiers "
        f"{', '.join(QUASI_IDENTIFIERS)}, the salary ({SALARY}) is the secret. A star is a leak by the rule of the "
        "attack, see [attacks](../attacks.md). Of counts the attacker knows how likely each group is a person's own; "
        "of plain values, which box fits.",
        machine(),
    ]
    write_page(page, "Blend attacked", about, list(_sections(results, ATTACKS)))


def write_wide(page: Path, data: Path | None = None, rows: int | None = None, tell: Tell = print) -> None:
    """The same with all attributes as quasi-identifiers, by the attacks that put counts together."""
    subject = read_wide(data, rows)
    results = attack_blended(subject, WIDE, WIDE_ASKED, tell, WIDE_ATTACKS)
    about = [
        f"Written by `python -m experiments blend wide`: {subject.table.height:,} rows of Adult, all "
        f"{len(subject.schema.quasi_identifiers)} attributes quasi-identifiers, no hierarchies. A star is a leak by "
        "the rule of the attack, see [attacks](../attacks.md). The more attributes are known, the purer groups become "
        "and the more counts tell.",
        machine(),
    ]
    write_page(page, "Blend attacked, all attributes known", about, list(_sections(results, WIDE_ATTACKS)))


def _sections(results: Sequence[Attacked], attacks: Mapping[str, str]) -> Iterator[Section]:
    for attack, words in attacks.items():
        here = {(one.method, one.form, one.besides): one.finding for one in results if one.finding.attack == attack}
        every = list(dict.fromkeys(one.besides for one in results))
        releases = list(dict.fromkeys((one.method, one.form) for one in results))
        body = [
            (method if form is None else f"{method} as {form}", *(_measured(here[method, form, one]) for one in every))
            for method, form in releases
        ]
        yield Section(f"{attack[0].upper()}{attack[1:]}", (words, Table(("", *every), body)))


def _measured(finding: Finding) -> str:
    if finding.measured is None:
        return "not run"
    text = f"{100 * finding.measured:.1f} %" if finding.unit != "AUC" and finding.unit != "advantage" else None
    return (text or f"{finding.measured:.3f}") + ("*" if finding.verdict == LEAK else "")
