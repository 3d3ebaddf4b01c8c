"""Tables of the oracle of unchanged columns, as the verification counts them: codes and allowed values."""

import numpy as np

import support.oracle_unchanged as oracle
from incrowd.verification.open_cells import QuasiIdentifier
from incrowd.verification.unchanged import UnchangedColumn, count_unchanged
from incrowd.vocabulary.requirement import KnownSet

KINDS = ("noise", "code", "nearly", "coarse", "rising", "part", "key", "xor")
WAYS = (["nothing"], ["nothing", "value"], ["part"], ["part", "nothing", "value"])


def codes(values):
    """The code of each value in its order, the codes by value, and that of a missing one."""
    known = sorted({value for value in values if value is not None})
    place = {value: at for at, value in enumerate(known)} | {None: len(known)}
    return np.array([place[value] for value in values], np.int64), place, len(known)


def coded(table):
    """The arguments of ``count_unchanged``."""
    quasi_identifiers = []
    for name, values in table["quasi"].items():
        own, place, missing = codes(values)
        texts = sorted(set(table["cells"][name]), key=str)
        labels = {text: at for at, text in enumerate(texts)}
        allows = [_places(table["allows"][name][text], place) for text in texts]
        shown = np.array([labels[text] for text in table["cells"][name]], np.int64)
        quasi_identifiers.append(QuasiIdentifier(name, own, shown, allows, missing))
    unchanged = []
    for name, values in table["unchanged"].items():
        own, _, missing = codes(values)
        unchanged.append(UnchangedColumn(name, own, missing, table["roles"][name]))
    return quasi_identifiers, unchanged, [KnownSet(tuple(table["quasi"]), table["k"])]


def _places(allowed, place):
    return None if allowed is None else np.array(sorted(place[value] for value in allowed if value in place), np.int64)


def outcome(counts):
    """Counts in the words of the worked examples."""
    alone = counts.alone
    return {
        "effective_k": counts.effective_k,
        "people_below_k": counts.people_below_k,
        "hidden_cells": counts.hidden_cells,
        "restored_cells": counts.given_back,
        "restored_by": [[list(one.columns), one.quasi_identifier, one.cells] for one in counts.by],
        "verdict": "refused" if not counts.sound else "told" if counts.given_back else "clean",
        "name_or_drop": list(counts.advice.columns) if counts.advice else None,
        "effective_k_then": counts.advice.effective_k if counts.advice else None,
        "alone": {
            "without_class": alone.without_class,
            "with_class": alone.with_class,
            "not_private": alone.not_private,
            "not_called_private": alone.not_called_private,
            "best": {str(len(one.columns)): [list(one.columns), one.people] for one in alone.best},
            "smallest_telling_set": list(alone.telling.columns) if alone.telling else [],
        },
    }


def agrees(table):
    """Hold the counts of a table to the definition."""
    counts = outcome(count_unchanged(*coded(table)))
    wanted = oracle.count(table)
    nominal = wanted.pop("nominal_k")
    assert {name: counts[name] for name in wanted} | {"restored_by": sorted(counts["restored_by"])} == wanted | {
        "restored_by": sorted(wanted["restored_by"])
    }
    assert counts["alone"] == oracle.alone(table)
    if nominal >= table["k"] > wanted["effective_k"]:
        assert (counts["name_or_drop"], counts["effective_k_then"]) == oracle.advice(table)


def released(generator, values, ways):
    """Cells for a column: nothing, the value, a set or an interval that holds it, as the ways say."""
    known = sorted({value for value in values if value is not None})
    width = int(generator.integers(1, len(known) + 1))
    cells, allows = [], {}
    for value in values:
        way = ways[int(generator.integers(len(ways)))]
        if value is None or way == "nothing":
            cell, allowed = "", None
        elif way == "value":
            cell, allowed = f"={value}", {value}
        else:
            start = known.index(value) // width * width
            allowed = set(known[start : start + width])
            cell = f"{min(allowed)} to {max(allowed)}"
        cells.append(cell)
        allows[cell] = allowed
    return cells, allows


def dependent(generator, source, kind, rows):
    """A column that follows another one, more or less."""
    codes = np.array([-1 if value is None else value for value in source])
    noise = generator.integers(0, int(generator.integers(2, 9)), rows)
    match kind:
        case "noise":
            own = noise
        case "code":
            own = codes * 7 % 11
        case "nearly":
            own = np.where(generator.random(rows) < 0.01, noise, codes)
        case "coarse":
            own = codes // 2
        case "rising":
            own = codes * 1000 + generator.integers(0, 900, rows)
        case "part":
            own = np.where(codes == codes[0], 0, noise + 1)
        case _:
            own = generator.permutation(rows)
    return [None if value == 3 and kind == "part" else int(value) for value in own]


def invented(seed, most_rows=420, wide=False):
    """A table with columns that depend on each other in many ways."""
    generator = np.random.Generator(np.random.Philox(seed))

    def one_of(options):
        return options[int(generator.integers(len(options)))]

    rows = int(generator.integers(70, most_rows + 1))
    quasi, cells, allows = {}, {}, {}
    for at in range(one_of((1, 2, 3))):
        width = 400 if wide else one_of((2, 3, 4, 8))
        shares = np.full(width, 1 / width) if wide else generator.dirichlet(np.full(width, one_of((0.5, 5.0))))
        own = generator.choice(width, rows, p=shares).tolist()
        values = [None if value == 1 and at == 0 else int(value) for value in own]
        if all(value is None for value in values):
            values[0] = 0
        quasi[f"q{at}"] = values
        cells[f"q{at}"], allows[f"q{at}"] = released(generator, values, one_of(WAYS))
    unchanged = {}
    for at in range(one_of((1, 2, 3, 4))):
        kind, source = one_of(KINDS), quasi[f"q{int(generator.integers(len(quasi)))}"]
        if kind == "xor" and at:
            before = np.array([value or 0 for value in unchanged[f"u{at - 1}"]])
            unchanged[f"u{at}"] = ((before + np.array([value or 0 for value in source])) % 4).tolist()
        else:
            unchanged[f"u{at}"] = dependent(generator, source, kind, rows)
    roles = {name: one_of(("other", "other", "private", "sensitive")) for name in unchanged}
    if len(roles) > 1 and one_of((True, False)):
        roles[list(roles)[-1]] = "target"
    parts = {"quasi": quasi, "cells": cells, "allows": allows, "unchanged": unchanged, "roles": roles}
    return {**parts, "k": one_of((2, 5, 20))}
