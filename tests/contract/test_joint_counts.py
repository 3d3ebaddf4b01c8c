"""Attributes that are counted together, from a frame to the recipient: drawn by the rule, for enough people each."""

from __future__ import annotations

import hashlib
import hmac
import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

import incrowd
from faults.people import at as engine
from incrowd.errors import ParameterError
from incrowd.plan.plan_file import plan_from_json, plan_to_json
from incrowd.recipients import open_release
from incrowd.releases.certified.checking import check_release
from incrowd.rows.memory import held
from incrowd.vocabulary.counts_text import encode_value, read_members
from incrowd.vocabulary.randomness import seeded_key

K, ROWS = 12, 900
NAMES = ["shape", "colour", "size", "mass"]


def things(seed=1):
    """The colour goes with the shape, but not for all; the class with the size. Some colours are rare."""
    rng = np.random.default_rng(seed)
    shape, number = rng.integers(0, 4, ROWS), np.arange(ROWS)
    colour = (shape + (rng.random(ROWS) < 0.3)) % 4
    colour = np.where(number < 14, (shape + 2) % 4, np.where((number < 100) & (shape == 0), 3, colour))
    size = rng.integers(1, 90, ROWS)
    return pl.DataFrame(
        {
            "thing": [f"t{one}" for one in number],
            "shape": [["=a", "b|c", "?!", None][one] for one in shape],
            "colour": ["mauve" if one > ROWS - 6 else ["red", "ä", "z", "%"][colour[one]] for one in number],
            "size": size,
            "mass": np.where(rng.random(ROWS) < 0.7, size // 9, rng.integers(0, 10, ROWS)),
            "class": np.where((size // 20 % 2 == 0) ^ (rng.random(ROWS) < 0.1), "yes", "no"),
        }
    )


THINGS = things()
ASKED = {
    "quasi_identifiers": NAMES,
    "target": "class",
    "identifiers": ["thing"],
    "class_sensitive": False,
    "k": K,
    "method": "kactus",
    "form": "counts",
    "joint_counts": True,
}


@pytest.fixture(autouse=True)
def private_home(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("home")))


def released(table=THINGS, **asked):
    return incrowd.release(table, **(ASKED | asked))


def joint_of(made):
    return [tuple(names) for names in made.certificate["reading"].get("joint", [])]


def members(texts):
    """The i-th members of some cells as one, each with its rows, which all cells say."""
    rows = {}
    for each in zip(*(read_members(text) for text in texts), strict=True):
        values, counts = zip(*each, strict=True)
        assert len(set(counts)) == 1
        assert values not in rows
        rows[values] = counts[0]
    return rows


@pytest.mark.each(3)
@pytest.mark.parametrize(
    "asked", [{}, {"method": "infogain-mondrian", "k": 40}, {"rarest": 30}, {"bins": "fine"}], ids=str
)
def test_nothing_is_named_that_fewer_people_have(asked):
    made = released(**asked)
    assert made.verdict.passed
    assert joint_of(made), "shape and colour are not counted together"
    least = max(asked.get("k", K), asked.get("rarest", 0))
    assert {check.name for check in made.verdict.checks} >= {f"combinations of {least} people or more"}
    own = Counter(THINGS.select(words(made, name).alias(name) for name in NAMES).rows())
    for names in joint_of(made):
        places = [NAMES.index(name) for name in names]
        people = Counter()
        for row, many in own.items():
            people[tuple(row[place] for place in places)] += many
        for look, rows in Counter(made.table.select(names).rows()).items():
            told = members(look)
            assert rows % sum(told.values()) == 0
            assert min(people[values] for values in told) >= least
        assert "mauve" not in "".join("".join(look) for look in made.table.select(names).rows())


def words(made, name):
    """A column in the words of the cells."""
    cuts = made.certificate["public_cuts"].get(name)
    if cuts is None:
        return pl.col(name)
    ends = ["-inf", *(f"{cut:g}" for cut in cuts), "inf"]
    labels = [f"({low}, {high}{']' if high != 'inf' else ')'}" for low, high in pairwise(ends)]
    places = np.searchsorted(np.array(cuts), THINGS[name].to_numpy(), side="left")
    return pl.lit(pl.Series([labels[place] for place in places.tolist()]))


def test_they_are_drawn_by_the_rule(tmp_path):
    """The rule of docs/release_forms.md once more, in plain Python, group by group."""
    made = released(rarest=30, run=incrowd.Run(seed=5))
    joint = {name: names for names in joint_of(made) for name in names}
    frame = THINGS.select(words(made, name).alias(name) for name in NAMES)
    parts = list(dict.fromkeys(joint.get(name, (name,)) for name in NAMES))
    rows_of = {names: [tuple(row) for row in frame.select(names).rows()] for names in parts}
    everybody = {names: Counter(rows) for names, rows in rows_of.items()}
    named = {n: {v for v, many in everybody[n].items() if len(n) == 1 or many >= 30} for n in parts}
    assert any(set(everybody[names]) - named[names] for names in parts), "all combinations may be named"
    origin = ORIGINS.pop()
    groups = {}
    for look, row in zip(made.table.select(NAMES).rows(), origin, strict=True):
        groups.setdefault(look, []).append(row)
    key = seeded_key(5)
    for look, rows in groups.items():
        assert look == by_the_rule(rows, rows_of, named, parts, key, made)


def by_the_rule(rows, rows_of, named, parts, key, made):
    n, texts, own, whole = len(rows), {}, {}, {}
    for names in parts:
        ordered = sorted(named[names], key=lambda value, names=names: draw_orders(value, names))
        had = [rows_of[names][row] for row in rows]
        own[names] = [value for value in ordered for _ in range(had.count(value))]
        shown = [value for value in rows_of[names] if value in named[names]]
        shares = {value: math.ceil(Fraction(64 * shown.count(value), len(shown))) for value in ordered}
        whole[names] = [value for value in ordered for _ in range(shares[value])]
        for at, name in enumerate(names):
            entries = [f"{encode_value(v[at])}:{own[names].count(v)}" for v in dict.fromkeys(own[names])]
            entries += [f"*:{n - len(own[names])}"] if len(own[names]) < n else []
            text = "|".join(entries)
            texts[name] = f"{len(text.encode())}:{text}"
    seed = hmac.new(key, "".join(texts[name] for name in NAMES).encode(), hashlib.sha256).digest()
    stream = hashlib.shake_256(seed).digest(8 * len(NAMES) * n)
    cells = {}
    for names in parts:
        drawn, first = Counter(), NAMES.index(names[0])
        for draw in range(n):
            at = 8 * (draw * len(NAMES) + first)
            word = int.from_bytes(stream[at : at + 8], "big")
            row = word % (len(own[names]) + 2)
            inside = row < len(own[names])
            drawn[own[names][row] if inside else whole[names][word // (len(own[names]) + 2) % len(whole[names])]] += 1
        for at, name in enumerate(names):
            ordered = sorted(drawn, key=lambda value: [cell_order(one) for one in value])
            cells[name] = "|".join(f"{encode_value(value[at])}:{drawn[value]}" for value in ordered)
    return tuple(cells[name] for name in NAMES)


def draw_orders(values, names):
    """Bins ascending, texts by their bytes, missing last; attribute by attribute."""
    return [
        (1, 0.0, b"")
        if value is None
        else (0, low_of(value), b"")
        if name in ("size", "mass")
        else (0, 0.0, encode_value(value).encode())
        for value, name in zip(values, names, strict=True)
    ]


def cell_order(value):
    """Text by its letters, bins ascending, missing last."""
    if value is None:
        return (1, 0.0, "")
    return (0, low_of(value), "") if value.startswith("(") else (0, 0.0, value)


def low_of(value):
    return float(value[1:].split(",")[0])


ORIGINS = []


@pytest.fixture(autouse=True)
def origins(monkeypatch):
    """Keep which row is which: the draft knows, and the release does not tell."""
    original = held.EmbeddedEngine.draft

    def draft(self, *arguments, **named):
        made = original(self, *arguments, **named)
        ORIGINS.append(made.origin.tolist())
        return made

    monkeypatch.setattr(held.EmbeddedEngine, "draft", draft)


@pytest.mark.slow
def test_persons_blocks_and_classes_are_counted_together_as_well(tmp_path):
    visits = pl.concat([THINGS, THINGS[:300]]).with_columns(whose=pl.col("thing")).drop("thing")
    made = released(visits, identifiers=None, person="whose")
    assert made.verdict.passed
    assert joint_of(made)
    THINGS.write_csv(tmp_path / "things.csv")
    with engine("blocks"):
        made = released(tmp_path / "things.csv", to=tmp_path / "release.csv", counts_by_class=True, redraw=3)
    assert made.verdict.passed
    assert joint_of(made)
    assert made.certificate["reading"]["joint"] == [list(one.names) for one in made.plan.joint]
    assert check_release(tmp_path / "release.csv").passed
    assert plan_from_json(plan_to_json(made.plan)) == made.plan


def test_recipients_deal_what_belongs_together():
    made = released()
    opened = open_release(made.table, certificate=made.certificate)
    plain = pl.from_arrow(incrowd.decode(made.table.to_arrow(), certificate=made.certificate, deals=3, seed=1))
    names = next(names for names in joint_of(made) if "shape" in names)
    told = {values for look in set(made.table.select(names).rows()) for values in members(look)}
    at = [names.index("shape"), names.index("colour")]
    assert set(plain.select("shape", "colour").rows()) <= {tuple(values[one] for one in at) for values in told}
    alone = {name: Counter() for name in names}
    for look, many in Counter(made.table.select(names).rows()).items():
        size = sum(members(look).values())
        for values, rows in members(look).items():
            for name, value in zip(names, values, strict=True):
                alone[name][value] += rows * many / size
    for name in ("shape", "colour"):
        dealt = Counter(plain[name].to_list())
        assert all(abs(dealt[value] / 3 - rows) < 2 + rows / 20 for value, rows in alone[name].items())
    assert len(opened.classes) == ROWS


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"form": "pair"}, "in cells of counts. Choose form counts"),
        ({"form": "strict"}, "in cells of counts. Choose form counts"),
        ({"form": None, "method": "kactus"}, "joint_counts is about counts"),
        ({"redraw": 0}, "Exact counts are not told jointly"),
        ({"joint_counts": "yes"}, "joint_counts"),
        ({"run": incrowd.Run(engine="spark")}, "on one machine. Leave joint_counts out"),
    ],
)
def test_what_cannot_be_had_is_refused_by_name(asked, words):
    with pytest.raises((ParameterError, TypeError), match=words):
        released(**asked)


def test_nothing_is_counted_together_where_nothing_belongs_together():
    rng = np.random.default_rng(3)
    table = THINGS.with_columns(
        pl.Series(name, rng.permutation(THINGS[name].to_numpy()) if name != "shape" else THINGS[name]) for name in NAMES
    )
    made = released(table)
    assert made.verdict.passed
    assert joint_of(made) == []
    assert "joint" not in made.certificate["reading"]
