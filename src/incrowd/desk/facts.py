"""Facts about a table, asked by the desk of a process of their own: ``python -m incrowd.desk.facts``.

The question is one JSON document on standard input, the answer one on standard output. Answers hold counts, names of
columns and messages; only ``preview``, ``rows``, ``hierarchy``, ``explain`` and ``groups`` hold cells, and the desk
keeps none of them.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.errors import IncrowdError, describe_failure, is_panic, speak_as_command
from incrowd.tables.reading.dialect import GUESSED

if TYPE_CHECKING:
    import polars as pl

    from incrowd.tables.reading.source import Source

_PREVIEW, _ROWS, _MOST_COLUMNS, _LONGEST, _BARS, _GROUPS = 12, 25, 200, 120, 12, 10
_SPECIAL = {
    "health": "disease diagnosis diagnose icd icd9 icd10 condition symptom illness disorder hiv cancer drug medication "
    "treatment therapy prescription disability mental health bmi smoker smoking pressure krankheit erkrankung befund "
    "medikament behandlung therapie behinderung maladie traitement handicap enfermedad tratamiento discapacidad",
    "religion or belief": "religion religious belief faith church konfession kirche croyance religieux",
    "origin": "race ethnicity ethnic origin herkunft ethnie etnia native",
    "politics or unions": "politics political party vote union partei gewerkschaft syndicat sindicato",
    "sexual life": "orientation sexual sexuality",
    "genetics or biometrics": "gene genetic genotype dna snp biometric fingerprint iris",
    "offences": "crime conviction offence offense vorstrafe condamnation condena",
}
"""Special categories of the GDPR (articles 9 and 10), and words in the names of columns that point to them."""


_OF_READING = (GUESSED, "missing-marker")  # notices that the page of the data has


def special_category(name: str) -> str | None:
    """The special category that the name of a column points to.

    Examples
    --------
    >>> special_category("diagnosis_group"), special_category("height")
    ('health', None)
    """
    words = set(re.findall(r"[a-z0-9]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()))
    return next((kind for kind, known in _SPECIAL.items() if words & set(known.split())), None)


def columns(question: dict[str, Any]) -> dict[str, Any]:
    """What each column seems to be and why, how the table was read, and a recipe to begin with."""
    from incrowd.cli.inspect import drafted
    from incrowd.cli.shared import table_at
    from incrowd.vocabulary.schema import Role

    draft = drafted(table_at(question["table"]), None, question["reading"], lambda _stage: None)
    frame = draft.source.frame
    rows = [
        {**row, "special": special_category(row["name"]), "bars": _bars(frame[row["name"]])} for row in draft.columns
    ]
    may_be_persons = [
        row["name"] for row in rows if row["role"] in (Role.PERSON, Role.IDENTIFIER) or _may_number(row, frame.height)
    ]
    facts = {"rows": frame.height, "columns": rows, "notices": draft.notices, "guesses": draft.guesses}
    return {
        **facts,
        "reading": draft.reading,
        "recipe": draft.recipe,
        "persons": may_be_persons,
        "form": draft.source.origin.form,
    }


def _may_number(row: dict[str, Any], height: int) -> bool:
    return row["type"] in ("text", "categorical", "integer") and height >= row["distinct"] > max(20, height // 10)


def _bars(series: pl.Series) -> list[int]:
    """How often values occur: numbers and dates in intervals of the same width, others by their frequency."""
    from incrowd.risk.classes import numbers_of

    if series.drop_nulls().n_unique() <= 1:
        return []
    numbers = numbers_of(series)
    if numbers is None or series.n_unique() <= _BARS:
        counts = series.drop_nulls().value_counts(sort=True)[:, 1].head(_BARS)
        return [int(one) for one in counts]
    known = numbers.drop_nulls()
    return [int(one) for one in known.hist(bin_count=_BARS)["count"]]


def tables(question: dict[str, Any]) -> dict[str, Any]:
    """The tables of a database file."""
    from incrowd.tables.databases.reading import table_names
    from incrowd.tables.databases.tables import DatabaseFile, TableName

    return {"names": [str(TableName(name)) for name in table_names(DatabaseFile.parse(question["table"]))]}


def preview(question: dict[str, Any]) -> dict[str, Any]:
    """The first rows; cells only where the user asked for them."""
    source = _source(question)
    head = source.frame.head(_PREVIEW)
    names = head.columns[:_MOST_COLUMNS]
    cells = [[None if one is None else _cell(one) for one in head[name]] for name in names]
    if not question.get("cells"):
        cells = [[None if one is None else "" for one in column] for column in cells]
    return {"names": names, "rows": [list(row) for row in zip(*cells, strict=True)], "all": head.width}


def _cell(value: Any) -> str:
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def rows(question: dict[str, Any]) -> dict[str, Any]:
    """Rows in which a column has a value, with their numbers, counted from 1; the first rows if no column is named."""
    import polars as pl

    frame = _source(question).frame
    numbered = frame.with_row_index("\0row", offset=1)
    if question.get("column"):
        if question["column"] not in frame.columns:
            return {"names": [], "rows": [], "found": 0}
        text = str(question.get("text", "")).strip().lower()
        cell = pl.col(question["column"]).cast(pl.String).str.strip_chars().str.to_lowercase()
        numbered = numbered.filter(cell.is_null() if not text else cell == text)
    shown = [
        [int(row[0]), *(None if one is None else _cell(one) for one in row[1 : _MOST_COLUMNS + 1])]
        for row in numbered.head(_ROWS).iter_rows()
    ]
    return {"names": frame.columns[:_MOST_COLUMNS], "rows": shown, "found": numbered.height}


def persons(question: dict[str, Any]) -> dict[str, Any]:
    """How many persons a column tells apart, and how many rows each has."""
    source = _source(question)
    column = source.frame[question["column"]]
    known = column.drop_nulls()
    each = known.value_counts()[:, 1]
    most = int(each.max() or 0)
    bars = {str(rows): int((each == rows).sum()) for rows in range(1, min(most, 9) + 1)}
    if most > 9:
        bars["10 and more"] = int((each >= 10).sum())
    return {
        "persons": len(each),
        "rows": len(column),
        "missing": column.null_count(),
        "most": most,
        "mean": round(len(known) / len(each), 2) if len(each) else 0,
        "several": int((each > 1).sum()),
        "bars": bars,
    }


def alone(question: dict[str, Any]) -> dict[str, Any]:
    """How many people nobody else looks like, with these columns; and without each of them in turn."""
    import numpy as np

    from incrowd.risk.classes import Coded, classes_of, coded

    source = _source(question)
    known, person, k = question["known"], question.get("person"), int(question["k"])
    owners = coded(source.frame, [person])[0].codes if person else None
    people = len(np.unique(owners)) if owners is not None else source.frame.height
    every = coded(source.frame, known)

    def counts(some: list[Coded]) -> tuple[int, int]:
        if not some:
            return 0, people if people < k else 0
        classes = classes_of(some, owners)
        sizes = classes.sizes[classes.labels]
        if owners is None:
            return int((sizes == 1).sum()), int((sizes < k).sum())
        return len(np.unique(owners[sizes == 1])), len(np.unique(owners[sizes < k]))

    single, below = counts(every)
    without = [(name, counts(every[:place] + every[place + 1 :])[0]) for place, name in enumerate(known)]
    by_column = sorted(((single - left, name) for name, left in without), reverse=True)
    return {
        "people": people,
        "alone": single,
        "below": below,
        "unit": "persons" if person else "rows",
        "adds": [{"name": name, "alone": more} for more, name in by_column[:3] if more > 0],
    }


def reach(question: dict[str, Any]) -> dict[str, Any]:
    """How far promises can go on this table: k, and for each column what no groups can exceed, as no part mixes more.

    A missing value is a value. Where persons may have several rows, only k has a bound here.
    """
    import math

    import numpy as np

    from incrowd.risk.classes import coded
    from incrowd.vocabulary.requirements.columns import rounded

    frame, person = _source(question).frame, question.get("person")
    if person:
        return {"k": frame[person].drop_nulls().n_unique(), "unit": "persons", "columns": []}
    rows = []
    for name, column in zip(question["columns"], coded(frame, question["columns"]), strict=True):
        counts = np.bincount(column.codes)
        shares = counts[counts > 0] / frame.height
        mixed = math.prod(shares**-shares) if frame.height else 1.0  # 2 to the power of the entropy
        most = float(shares.max(initial=0))
        limits = {"mixed": rounded(mixed, up=False), "share": rounded(most, up=True)}
        rows.append({"name": name, "values": len(shares), **limits})
    return {"k": frame.height, "unit": "rows", "columns": rows}


def check(question: dict[str, Any]) -> dict[str, Any]:
    """Whether a release by this recipe is possible, as far as that is known before anything is decided."""
    from incrowd.cli.shared import table_at
    from incrowd.releases.job import Job, Targets
    from incrowd.releases.pipeline import hold, possible
    from incrowd.report.wording import grouped
    from incrowd.tables.databases.tables import query_of
    from incrowd.tables.recipe import parse_recipe, recipe_of

    recipe = recipe_of({"recipe": parse_recipe(question["text"], question["recipe"])})
    table = table_at(question["table"])
    job = Job(query_of(table) or table, recipe, Targets(), recipe_path=Path(question["recipe"]))
    with hold(job) as (settled, held, _):
        read = (one for one in held.notices if one.code not in _OF_READING)
        notices = [*read, *possible(settled, held)]
    return {"possible": True, "notices": grouped(notices)}


def hierarchy(question: dict[str, Any]) -> dict[str, Any]:
    """The levels of a hierarchy, each with its groups and how many leaves they have."""
    from collections import Counter

    from incrowd.tables.hierarchies.read import read_hierarchy

    tree = read_hierarchy(Path(question["file"]))
    levels = []
    for level in range(1, tree.height + 1):
        groups = Counter(tree.labels[node] for node in tree.at_level(level).tolist())
        levels.append({"groups": len(groups), "largest": [[_cell(name), size] for name, size in groups.most_common(6)]})
    return {"leaves": len(tree.leaves), "kind": str(tree.kind), "levels": levels}


def explain(question: dict[str, Any]) -> dict[str, Any]:
    """A plan in sentences."""
    from incrowd.plan.explain import explain as sentences
    from incrowd.plan.plan_file import read_plan

    return {"lines": str(sentences(read_plan(Path(question["file"])), 10)).splitlines()}


def groups(question: dict[str, Any]) -> dict[str, Any]:
    """The largest groups of a release: how many rows they have, and what is released of them."""
    import polars as pl

    from incrowd.tables.reading.read import read

    path = Path(question["table"])
    frame = read(path, header=True if path.suffix == ".csv" else None).frame
    names = [name for name in question["known"] if name in frame.columns][:_MOST_COLUMNS]
    if not names:
        return {"names": [], "rows": []}
    counted = frame.select(pl.col(names).cast(pl.String)).group_by(names).len("\0rows")
    largest = counted.sort(["\0rows", *names], descending=[True, *[False] * len(names)]).head(_GROUPS)
    shown = [[int(size), *(None if one is None else _cell(one) for one in row)] for *row, size in largest.iter_rows()]
    return {"names": names, "rows": shown}


def ledger(question: dict[str, Any]) -> dict[str, Any]:
    """The releases of the ledger, and whether it is sound."""
    from incrowd.cli.ledger import described_entries

    return described_entries(Path(question["folder"]))


def _source(question: dict[str, Any]) -> Source:
    from incrowd.cli.shared import table_at
    from incrowd.tables.databases.tables import in_memory
    from incrowd.tables.reading.read import read

    return read(in_memory(table_at(question["table"])), **question["reading"])


QUESTIONS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    one.__name__: one
    for one in (columns, tables, preview, rows, persons, alone, reach, check, hierarchy, explain, groups, ledger)
}


def main() -> None:
    """Answer the question; errors are answers, too, and hold no value of the table."""
    question = json.load(sys.stdin)
    out, sys.stdout = sys.stdout, sys.stderr
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    speak_as_command(desk=True)
    try:
        answer = QUESTIONS[question["ask"]](question)
    except IncrowdError as error:
        answer = {"error": type(error).__name__, "message": str(error)}
    except BaseException as error:
        if not (isinstance(error, Exception) or is_panic(error)):
            raise
        answer = {"error": type(error).__name__, "message": describe_failure(error)}
    json.dump(answer, out, ensure_ascii=True)


if __name__ == "__main__":
    main()
