"""Tables of the oracle of unchanged columns, as the verification counts them: codes and allowed values."""

import numpy as np

from incrowd.verification.open_cells import QuasiIdentifier
from incrowd.verification.unchanged import UnchangedColumn
from incrowd.vocabulary.requirement import KnownSet


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
            "not_called_private": alone.not_called_private,
            "best": {str(len(one.columns)): [list(one.columns), one.people] for one in alone.best},
            "smallest_telling_set": list(alone.telling.columns) if alone.telling else [],
        },
    }
