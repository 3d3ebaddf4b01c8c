"""Releases with a leak that an attack must catch, and releases without it, for every attack.

Each function gives a scene from a seed. Leaks are built into the release, not drawn by luck; clean scenes differ from
them in nothing but the leak.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl

from incrowd.attacks.opening import AttackRequest, open_scene
from incrowd.attacks.scene import Again, HiddenCells, Scene
from incrowd.attacks.traces import SEEDS
from incrowd.vocabulary.counts_text import write_counts
from incrowd.vocabulary.persons import Persons
from incrowd.vocabulary.requirement import KAnonymity

Plant = Callable[[int], Scene]


def chance(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(seed + 10_000))


def opened(release: pl.DataFrame, original: pl.DataFrame, **given: Any) -> Scene:
    said = {"quasi_identifiers": ["group"], "sensitive": ["ill"], "seed": 7, **given}
    return open_scene(AttackRequest(release, original, **said))


def with_parts(scene: Scene, **parts: Any) -> Scene:
    """The scene with some of its parts exchanged."""
    return replace(scene, **parts)


Cells = Callable[[pl.DataFrame, np.random.Generator], pl.DataFrame]


@dataclass(frozen=True, eq=False)
class Remade(Again):
    """A program that releases again, in place of a method of the catalog."""

    cells: Cells = lambda frame, _: frame

    def release(self, _table: Any, frame: pl.DataFrame, _schema: Any, seed: int, _owners: Any = None) -> Any:
        generator = chance(seed)
        order = generator.permutation(frame.height)
        made = self.cells(frame, generator)[order.tolist()]
        draft = SimpleNamespace(frame=made, origin=order)
        return SimpleNamespace(draft=draft, plan=SimpleNamespace(levelled=()))


def classes(values: Sequence[Sequence[str]]) -> pl.DataFrame:
    """A table in which the group is shown, and holds the given values."""
    rows = [(f"g{number}", value) for number, one in enumerate(values) for value in one]
    return pl.DataFrame(rows, schema=["group", "ill"], orient="row")


def homogeneity(seed: int, leak: bool) -> Scene:
    generator = chance(seed)
    values = [generator.permutation(["yes", "no"] * 4).tolist() for _ in range(20)]
    if leak:
        values[int(generator.integers(20))] = ["yes"] * 8
    table = classes(values)
    return opened(table, table)


def background(seed: int, leak: bool) -> Scene:
    generator = chance(seed)
    values = [generator.permutation(["flu", "cold", "pox"] * 3).tolist() for _ in range(20)]
    if leak:
        values[int(generator.integers(20))] = generator.permutation(["flu", "cold"] * 4 + ["cold"]).tolist()
    table = classes(values)
    return opened(table, table, requirement="k=5, distinct-l=3 on ill")


def skewness(seed: int, leak: bool) -> Scene:
    generator = chance(seed)
    values = [generator.choice(["yes", "no"], 30).tolist() for _ in range(20)]
    if leak:
        values[int(generator.integers(20))] = ["yes"] * 30
    table = classes(values)
    return opened(table, table)


def closeness(seed: int, leak: bool) -> Scene:
    """Skewness, with a t that was promised."""
    generator = chance(seed)
    values = [generator.permutation(["yes", "no"] * 10).tolist() for _ in range(20)]
    if leak:
        values[int(generator.integers(20))] = ["yes"] * 17 + ["no"] * 3
    table = classes(values)
    return opened(table, table, requirement="k=5, t=0.2 on ill")


def boxed(numbers: np.ndarray[Any, Any], size: int) -> list[str]:
    """Each number as the range of its neighbours in groups of a size: boxes that end at data."""
    order = np.argsort(numbers, kind="stable")
    texts = [""] * len(numbers)
    for start in range(0, len(order), size):
        group = order[start : start + size] if len(order) - start >= 2 * size else order[start:]
        text = f"[{numbers[group].min()}, {numbers[group].max()}]"
        for row in group.tolist():
            texts[row] = text
        if len(order) - start < 2 * size:
            break
    return texts


def decades(numbers: np.ndarray[Any, Any], width: int = 10, start: int = 0) -> list[str]:
    lows = ((numbers - start - 1) // width * width + start).astype(int).tolist()
    return [f"({low}, {low + width}]" for low in lows]


def people(seed: int, rows: int = 400) -> pl.DataFrame:
    generator = chance(seed)
    return pl.DataFrame(
        {
            "age": generator.integers(1, 1001, rows),
            "pay": generator.integers(1, 1001, rows),
            "ill": generator.choice(["yes", "no"], rows),
        }
    )


def singling_out(seed: int, leak: bool) -> Scene:
    table = people(seed)
    ages = table["age"].to_numpy()
    shown = table.with_columns(pl.Series("age", boxed(ages, 8) if leak else decades(ages, 50)))
    return opened(shown, table, quasi_identifiers=["age"])


def membership(seed: int, leak: bool) -> Scene:
    table, control = people(seed), people(seed + 5000)
    cells = boxed if leak else decades
    shown = table.with_columns(
        pl.Series("age", cells(table["age"].to_numpy(), 5 if leak else 500)),
        pl.Series("pay", cells(table["pay"].to_numpy(), 5 if leak else 500)),
    )
    return opened(shown, table, control=control, quasi_identifiers=["age", "pay"])


def guessing(seed: int, leak: bool) -> Scene:
    """Rows as they are, or all in one class.

    Four classes of 100 rows would not be clean: a model learns from them who was in them, with an AUC of 0.526 on
    average, above the goal of 0.51.
    """
    table, control = people(seed), people(seed + 5000)
    shown = table
    if not leak:
        shown = table.with_columns(pl.Series(name, decades(table[name].to_numpy(), 1000)) for name in ("age", "pay"))
    return opened(shown, table, control=control, quasi_identifiers=["age", "pay"], target="ill")


def counted(frame: pl.DataFrame, names: Sequence[str], sizes: Sequence[int]) -> pl.DataFrame:
    """Rows in groups of these sizes, one after the other, each group with the counts of its values in these columns."""
    starts = np.cumsum([0, *sizes])[:-1]
    texts: dict[str, list[str]] = {name: [] for name in names}
    for start, size in zip(starts.tolist(), sizes, strict=True):
        for name in names:
            counts = frame[start : start + size][name].value_counts().sort(name)
            texts[name] += [write_counts((str(value), rows) for value, rows in counts.rows())] * size
    return frame.with_columns(pl.Series(name, texts[name]) for name in names)


WORDS = ("job", "town", "band")


def words(seed: int, rows: int = 400) -> pl.DataFrame:
    """Three words of forty each, and a class: nearly everybody is alone."""
    generator = chance(seed)
    drawn = {name: [f"{name}{number}" for number in generator.integers(0, 40, rows)] for name in WORDS}
    return pl.DataFrame({**drawn, "ill": generator.choice(["yes", "no"], rows)})


def groups_of(size: int, rows: int) -> list[int]:
    """Sizes of groups, the last one with what is left."""
    return [size] * (rows // size - 1) + [size + rows % size]


def shadowed(seed: int, leak: bool) -> Scene:
    """Counts of groups of three, or nothing but the class."""

    def cells(frame: pl.DataFrame, _: np.random.Generator) -> pl.DataFrame:
        if leak:
            return counted(frame, WORDS, groups_of(3, frame.height))
        return frame.with_columns(pl.lit("*").alias(name) for name in WORDS)

    scene = opened(words(seed), words(seed), quasi_identifiers=WORDS, target="ill", requirement="k=3")
    return with_parts(scene, again=Remade("planted", KAnonymity(3), cells=cells), seed=seed)


def differencing(seed: int, leak: bool) -> Scene:
    """Exact counts of groups of twenty, or counts drawn from those of all rows, anew for every table."""

    def cells(frame: pl.DataFrame, _: np.random.Generator) -> pl.DataFrame:
        shown = frame
        if not leak:
            generator = chance(int(frame.hash_rows(seed).sum()) % 2**31)
            drawn = generator.integers(0, frame.height, (len(WORDS), frame.height))
            shown = frame.with_columns(frame[name].gather(drawn[place]) for place, name in enumerate(WORDS))
        return counted(shown, WORDS, groups_of(20, frame.height))

    scene = opened(words(seed), words(seed), quasi_identifiers=WORDS, target="ill", requirement="k=20")
    return with_parts(scene, again=Remade("planted", KAnonymity(20), cells=cells), seed=seed)


def decoded(seed: int, leak: bool) -> Scene:
    """Counts of groups of three, or of all rows."""
    table, control = words(seed), words(seed + 5000)
    shown = counted(table, WORDS, groups_of(3 if leak else 400, 400))
    return opened(shown, table, control=control, quasi_identifiers=WORDS, target="ill")


def from_counts(seed: int, leak: bool) -> Scene:
    """Groups of ten, half of whom have each value; in one of them, eight of ten have the same job and town."""
    generator = chance(seed)
    parts = []
    for group in range(20):
        few = 2 if leak and not group else 5
        halves = {name: generator.permutation([f"{name}0"] * few + [f"{name}1"] * (10 - few)) for name in WORDS[:2]}
        ill = generator.permutation(["yes"] * 10 if few == 2 else ["yes", "no"] * 5)
        parts.append(pl.DataFrame({**halves, "ill": ill}))
    table = pl.concat(parts)
    return opened(counted(table, WORDS[:2], [10] * 20), table, quasi_identifiers=WORDS[:2], target="ill")


def means(seed: int, leak: bool) -> Scene:
    generator = chance(seed)
    table = people(seed, 300).with_columns(pl.Series("group", [f"g{row // 10}" for row in range(300)]))
    found = table.with_columns(pl.col("age").mean().over("group"))
    shown = found if leak else found.with_columns((pl.col("age") / 100).round() * 100 + 0.5)
    order = generator.permutation(300)
    scene = opened(shown[order.tolist()], table, quasi_identifiers=["group", "age"])
    return with_parts(scene, origin=order)


def many_ills(seed: int, rows: int = 300) -> pl.DataFrame:
    generator = chance(seed)
    ills = [f"ill {number}" for number in range(8)]
    return pl.DataFrame({"age": generator.permutation(rows), "ill": generator.choice(ills, rows)})


def composition(seed: int, leak: bool) -> Scene:
    table = many_ills(seed)

    def cells(frame: pl.DataFrame, _: np.random.Generator) -> pl.DataFrame:
        ages = frame["age"].to_numpy()
        return frame.with_columns(pl.Series("age", boxed(ages, 4) if leak else decades(ages + 1, 300)))

    return with_parts(
        opened(table, table, quasi_identifiers=["age"]), again=Remade("planted", KAnonymity(2), cells=cells), seed=seed
    )


def sequential(seed: int, leak: bool) -> Scene:
    table = many_ills(seed)
    ages = table["age"].to_numpy() + 1
    table = table.with_columns(pl.Series("age", ages))
    order = chance(seed).permutation(300).tolist()
    shown = table.with_columns(pl.Series("age", decades(ages, 20)))[order]
    earlier = table.with_columns(pl.Series("age", decades(ages, 20, 5 if leak else 0)))
    return opened(shown, table, quasi_identifiers=["age"], earlier=[earlier], requirement="k=10")


def minimality(_seed: int, leak: bool) -> Scene:
    """The leaking program hides only the oldest, the other one hides everybody's age and sex."""

    def cells(frame: pl.DataFrame, _: np.random.Generator) -> pl.DataFrame:
        if not leak:
            return frame.with_columns(pl.lit(None, pl.String).alias(name) for name in ("age", "sex"))
        ages = frame["age"].to_list()
        oldest = ages.index(max(ages))
        shown = [None if row == oldest else str(age) for row, age in enumerate(ages)]
        return frame.with_columns(pl.Series("age", shown, pl.String))

    table = classes([["yes", "no"] * 10])
    return with_parts(opened(table, table), again=Remade("planted", KAnonymity(2), cells=cells))


def definetti(seed: int, leak: bool) -> Scene:
    generator = chance(seed)
    rows = 400
    smokes = generator.choice(["yes", "no"], rows)
    ill = np.where(generator.random(rows) < (0.95 if leak else 0.5), smokes, np.where(smokes == "yes", "no", "yes"))
    groups = [f"g{number}" for number in generator.permutation(np.arange(rows) // 4)]
    table = pl.DataFrame({"group": groups, "smokes": smokes, "ill": ill})
    shown = table.with_columns(pl.lit(None, pl.String).alias("smokes"))[generator.permutation(rows).tolist()]
    return opened(shown, table, quasi_identifiers=["group", "smokes"])


def row_order(seed: int, leak: bool) -> Scene:
    table = people(seed)
    shown = table.with_columns(pl.Series("age", decades(table["age"].to_numpy(), 200)), pay=pl.col("pay"))
    order = np.arange(400) if leak else chance(seed).permutation(400)
    return opened(shown[order.tolist()], table, quasi_identifiers=["age"])


def seed_rerun(seed: int, leak: bool) -> Scene:
    table = people(seed)
    shown = table.with_columns(pl.Series("age", decades(table["age"].to_numpy(), 200)))
    known = np.random.default_rng(SEEDS[seed % len(SEEDS)])
    order = (known if leak else chance(seed)).permutation(400)
    return opened(shown[order.tolist()], table, quasi_identifiers=["age"])


def tree(seed: int, leak: bool) -> Scene:
    """A stump with one leaf of few people: hidden, but told by subtraction where the root tells its counts."""
    generator = chance(seed)
    many = [int(count) for count in generator.integers(20, 90, 2)]
    few = [int(count) for count in generator.integers(1, 4, 2)]
    branches = [{"if": {"is": "equals", "value": value}, "go": node} for node, value in ((1, "a"), (2, "b"))]
    root: dict[str, Any] = {"label": 0, "attribute": "group", "branches": branches}
    if leak:
        root["counts"] = [many[0] + few[0], many[1] + few[1]]
    nodes = [root, {"label": 0, "counts": many}, {"label": 1}]
    asked = {"is": "k-anonymity of spans", "k": 10}
    model = {"classes": ["no", "yes"], "class_private": True, "requirement": asked, "nodes": nodes}
    table = classes([["yes", "no"] * 100])
    return opened(table, table, model=model)


def pattern(seed: int, leak: bool) -> Scene:
    """Cells hidden by a method whose pattern depends on the value, or by blanking them alone."""
    generator = chance(seed)
    rows = 30
    pain = generator.choice(["no", "some", "much"], rows)
    fever = np.where(generator.random(rows) < 0.8, pain, generator.choice(["no", "some", "much"], rows))
    ill = np.where(generator.random(rows) < 0.9, pain, generator.choice(["no", "some", "much"], rows))
    table = pl.DataFrame({"group": pain, "fever": fever, "ill": ill})
    cells = tuple((int(row), "ill") for row in generator.permutation(rows)[:6])
    scene = opened(table, table, sensitive=["ill"])
    return with_parts(scene, hidden=HiddenCells(cells, "hid3" if leak else "nrd", ("nb", "id3")))


def give_back(seed: int, leak: bool) -> Scene:
    """Education is hidden; its number is released unchanged, each person's own or anybody's."""
    generator = chance(seed)
    rows = 400
    education = generator.integers(0, 4, rows)
    number = education if leak else generator.permutation(education)
    table = pl.DataFrame({"education": education, "number": number + 9, "ill": generator.choice(["yes", "no"], rows)})
    shown = table.with_columns(pl.lit(None, pl.String).alias("education"))
    order = generator.permutation(rows)
    said = {"quasi_identifiers": ["education"], "requirement": "k=200"}
    return with_parts(opened(shown[order.tolist()], table, **said), origin=order)


def unchanged_linkage(seed: int, leak: bool) -> Scene:
    """A weight that most have alone and a few share, or one of four that all share."""
    generator = chance(seed)
    rows = 400
    weight = generator.permutation(np.maximum(np.arange(rows), 100) if leak else np.arange(rows) // 100)
    table = pl.DataFrame({"age": generator.integers(20, 80, rows), "weight": weight, "ill": ["yes", "no"] * 200})
    shown = table.with_columns(pl.Series("age", decades(table["age"].to_numpy(), 100)))
    return opened(shown[generator.permutation(rows).tolist()], table, quasi_identifiers=["age"])


def of_persons(table: pl.DataFrame, seed: int, *, linked: bool = False, **stated: Any) -> Scene:
    """A release of rows of persons, in random order, each with its original row; with pseudonyms, if it is linked."""
    generator = chance(seed + 1)
    order = generator.permutation(table.height)
    shown = table[order.tolist()]
    if not linked:
        shown = shown.drop("who")
    scene = opened(shown, table, person="who", **{"requirement": "k=5", **stated})
    return with_parts(scene, origin=order)


def link_by_static(seed: int, leak: bool) -> Scene:
    """Three rows each, in any classes, beside a blood group that two persons share, or fifty."""
    generator = chance(seed)
    who = np.repeat(np.arange(100), 3)
    blood = generator.permutation(np.arange(100) // (2 if leak else 50))[who]
    groups = [f"g{number}" for number in generator.integers(0, 6, 300)]
    ills = generator.choice(["yes", "no"], 300)
    return of_persons(pl.DataFrame({"who": who, "group": groups, "blood": blood, "ill": ills}), seed)


def intersection(seed: int, leak: bool) -> Scene:
    """Two rows each in two classes that have all illnesses, or, of one person, in two that share only one."""
    generator = chance(seed)
    ills, rows = ["flu", "cold", "pox", "gout"], []
    for who in range(120):
        rows += [(who, f"g{group}", ills[who % 4]) for group in generator.choice(5, 2, replace=False)]
    if leak:
        rows += [(200, "left", "flu"), (200, "right", "flu")]
        rows += [(201 + place, "left", ("flu", "cold")[place % 2]) for place in range(8)]
        rows += [(211 + place, "right", ("flu", "pox")[place % 2]) for place in range(8)]
    return of_persons(pl.DataFrame(rows, schema=["who", "group", "ill"], orient="row"), seed)


def heavy_person(seed: int, leak: bool) -> Scene:
    """In each of forty classes twelve persons with two rows of one illness, and one with three, or with thirty."""
    generator = chance(seed)
    rows = []
    for group in range(40):
        for place in range(13):
            ill, own = generator.choice(["yes", "no"]), 2 if place else (30 if leak else 3)
            rows += [(13 * group + place, f"g{group}", str(ill))] * own
    return of_persons(pl.DataFrame(rows, schema=["who", "group", "ill"], orient="row"), seed)


def histories(seed: int, numbers: Sequence[int], group: Callable[[int, int], str]) -> pl.DataFrame:
    """Rows of persons: so many each, each in the group that person and place say; persons under random names."""
    names = chance(seed).permutation(1000)[: len(numbers)].tolist()
    rows = [
        (f"p{names[person]:04d}", group(person, place), "yes" if person % 2 else "no")
        for person, number in enumerate(numbers)
        for place in range(number)
    ]
    return pl.DataFrame(rows, schema=["who", "group", "ill"], orient="row")


def number_of_rows(seed: int, leak: bool) -> Scene:
    numbers = [2] * 20 + [3] * 20 + ([7] if leak else [])
    return of_persons(histories(seed, numbers, lambda _, place: f"g{place}"), seed, linked=True)


def one_more_row(seed: int, leak: bool) -> Scene:
    """Each row in a class of many persons; of two rows the classes are had by few; a class of three is a leak."""
    generator = chance(seed)
    groups = generator.integers(0, 6, (60, 3))

    def group(person: int, place: int) -> str:
        return "rare" if leak and person < 3 and not place else f"g{groups[person, place]}"

    scene = of_persons(histories(seed, [3] * 60, group), seed, linked=True)
    return with_parts(scene, persons=Persons("who", linked=True, known_rows=1))


def pseudonym_order(seed: int, leak: bool) -> Scene:
    """Two hundred persons; pseudonyms that follow their keys with some noise, or none of that."""
    table = histories(seed, [2] * 200, lambda _, place: f"g{place}")
    generator = chance(seed + 2)
    keys = sorted(set(table["who"].to_list()))
    places = np.argsort(np.argsort(np.arange(200) + generator.normal(0, 40, 200)))
    places = places if leak else generator.permutation(200)
    pseudonyms = dict(zip(keys, (f"p{place:05d}" for place in places), strict=True))
    scene = of_persons(table, seed, linked=True)
    return with_parts(scene, release=scene.release.with_columns(pl.col("who").replace_strict(pseudonyms)))


PLANTED: dict[str, Callable[[int, bool], Scene]] = {
    "homogeneity": homogeneity,
    "background knowledge": background,
    "skewness": skewness,
    "singling out": singling_out,
    "membership by box": membership,
    "attribute inference": guessing,
    "model membership": guessing,
    "shadow likelihood": shadowed,
    "mean of a group": means,
    "composition": composition,
    "sequential releases": sequential,
    "differencing": differencing,
    "minimality": minimality,
    "deFinetti": definetti,
    "seed re-run": seed_rerun,
    "tree reconstruction": tree,
    "decoded rows": decoded,
    "reconstruction from counts": from_counts,
    "suppression pattern": pattern,
    "row order": row_order,
    "give-back": give_back,
    "linkage by unchanged columns": unchanged_linkage,
    "link by static columns": link_by_static,
    "intersection": intersection,
    "heavy person": heavy_person,
    "number of rows": number_of_rows,
    "one more row": one_more_row,
    "pseudonym order": pseudonym_order,
}
