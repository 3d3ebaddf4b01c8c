"""Files of today's formats, small ones of each kind: ``python tests/support/format_examples.py FOLDER`` writes them.

Those of a published version stay in tests/golden/formats for good: every later version must read them. While a version
is not published, its formats may still change, and its files are made again.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import polars as pl

import incrowd
from incrowd.tables.reading.draft import draft_schema
from incrowd.tables.reading.read import read
from incrowd.tables.roles import draft_recipe

ASKED = {
    "quasi_identifiers": ["age", "town"],
    "identifiers": ["id"],
    "target": "ill",
    "class_sensitive": False,
    "k": 5,
}


def people() -> pl.DataFrame:
    """Sixty people."""
    places, numbers = ("here", "there", None), range(60)
    return pl.DataFrame(
        {
            "id": [f"P{number:03}" for number in numbers],
            "age": [20 + number for number in numbers],
            "town": [places[number % 3] for number in numbers],
            "ill": ["yes" if number > 39 or number % 9 == 0 else "no" for number in numbers],
        }
    )


def write_examples(folder: Path) -> None:
    """A table, and of it a recipe, a release with certificate, plan and ledger, and a published tree."""
    folder.mkdir(parents=True)
    people().write_csv(folder / "people.csv")
    drafted = draft_recipe(draft_schema(read(folder / "people.csv"), target="ill"), k=5)
    (folder / "recipe.yaml").write_text(drafted, encoding="utf-8")
    incrowd.release(
        folder / "people.csv",
        **ASKED,
        to=folder / "release.csv",
        outputs=incrowd.Outputs(plan=folder / "plan.json", responsible="the tests"),
        ledger=folder / "ledger",
    )
    incrowd.write_plan(incrowd.read_plan(folder / "plan.json"), folder / "plan.parquet")
    incrowd.publish_model(people().drop("id", "town"), target="ill", public=["age"], k=5, to=folder / "tree.json")


if __name__ == "__main__":
    os.umask(0o077)
    write_examples(Path(sys.argv[1]))
