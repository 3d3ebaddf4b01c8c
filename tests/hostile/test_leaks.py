"""What must never leave with a release: trust list, section 1, items 1, 2, 3 and 6.

Canaries are put wherever a removed value could hide; every byte that is published or returned is searched.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import pickle
import re
from math import sqrt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from incrowd.api import release
from incrowd.errors import IncrowdError
from incrowd.methods.catalog import METHODS
from incrowd.tables.options import Outputs, Run
from incrowd.vocabulary.hierarchy import Hierarchy
from support.covering import in_turn

ROWS = 600
SEED = 774_411_993
FORMATS = ["csv", "csv.gz", "csv.zst", "tsv", "parquet", "arrow", "arff"]
RARE = "KANARIE-JOB-longer-than-an-inlined-string"
PERSON = "KANARIE-PERSON-longer-than-an-inlined-string"
LABEL = "KANARIE-UNUSED-LABEL"
ATTRIBUTE = "KANARIE-ATTRS"
LOW, HIGH = 1_234_567_891, 8_876_543_219


def people():
    """Two rows hold a rare job and the extreme incomes; every person has a name."""
    rng = np.random.default_rng(5)
    income = rng.integers(2_000_000_000, 3_000_000_000, ROWS)
    income[17], income[400] = LOW, HIGH
    job = rng.choice(["cook", "nurse", "smith"], ROWS).astype(object)
    job[[17, 400]] = RARE
    return pl.DataFrame(
        {
            "person": [f"{PERSON}-{i}" for i in range(ROWS)],
            "income": income,
            "job": job.tolist(),
            "age": rng.integers(20, 70, ROWS),
            "place": np.arange(ROWS) + 0.5,
            "ill": np.where(rng.random(ROWS) < 0.3 + 0.4 * (income > 2_500_000_000), "y", "n").tolist(),
        }
    )


JOBS = Hierarchy.from_paths("job", [["cook", "*"], ["nurse", "*"], ["smith", "others", "*"], [RARE, "others", "*"]])
ROLES = {
    "quasi_identifiers": ["income", "job", "age"],
    "target": "ill",
    "identifiers": ["person"],
    "k": 10,
}


def needles(*numbers):
    """A value as text and as the bytes a binary format keeps it in."""
    found = [RARE.encode(), PERSON.encode(), LABEL.encode(), ATTRIBUTE.encode()]
    for number in numbers:
        found += [str(number).encode(), number.to_bytes(8, "little"), np.float64(number).tobytes()]
    return found


SECRETS = needles(LOW, HIGH)


def search(data, secrets=SECRETS):
    return [secret for secret in secrets if secret in data]


def unpacked(path):
    """The bytes of a file, also as they were before any compression."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        data += gzip.decompress(data)
    elif path.suffix == ".zst":
        data += pa.input_stream(str(path), compression="zstd").read()
    elif path.suffix == ".parquet":
        data += pickle.dumps(pl.read_parquet(path)) + pickle.dumps(pa.parquet.read_table(path))
    elif path.suffix == ".arrow":
        data += pickle.dumps(pl.read_ipc(path)) + pickle.dumps(pa.feather.read_table(path))
    return data


@pytest.fixture
def folder(tmp_path, monkeypatch):
    inner = tmp_path / "KANARIE-FOLDER"
    inner.mkdir()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return inner


def test_the_search_can_find(folder):
    """A release that masks in place, or publishes the input, would be caught."""
    people().write_parquet(folder / "t.parquet")
    found = search(unpacked(folder / "t.parquet"))
    assert {RARE.encode(), PERSON.encode(), LOW.to_bytes(8, "little")} <= set(found)
    masked = people().with_columns(pl.when(pl.col("job") != RARE).then(pl.col("job")).alias("job"))
    assert search(pickle.dumps(masked.to_arrow().select(["job"]))) == [RARE.encode()]


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("form", [None, "counts"])
def test_no_value_of_few_people_is_in_any_published_byte_if_rare_values_are_to_be_kept_out(folder, form, method):
    people().write_csv(folder / "people.csv")
    to, report = folder / "out.csv", folder / "report.html"
    form = form if form in METHODS[method].forms else None
    release(
        folder / "people.csv",
        **ROLES,
        method=method,
        form=form,
        rarest=5,
        to=to,
        outputs=Outputs(report=report),
        run=Run(seed=SEED),
    )
    for path in (to, report, folder / "out.csv.certificate.json"):
        assert search(unpacked(path), SECRETS) == [], path.name


@pytest.mark.slow
@pytest.mark.parametrize(("method", "ending"), in_turn(METHODS, FORMATS, each=3))
def test_no_removed_value_is_in_any_published_byte(folder, ending, method):
    people().write_csv(folder / "people.csv")
    to, report = folder / f"out.{ending}", folder / "report.html"
    # a set may name a rare value: it is released; so there are no sets here, or groups of a hierarchy instead
    asked = {"largest_set": 0} if "largest_set" in METHODS[method].parameters else {}
    asked |= {"hide": False} if "hide" in METHODS[method].parameters else {}  # the rare value is in a cell
    groups = {"job": JOBS} if METHODS[method].generalizes else None
    made = release(
        folder / "people.csv",
        **ROLES,
        method=method,
        parameters=asked,
        hierarchies=groups,
        to=to,
        outputs=Outputs(report=report),
        run=Run(seed=SEED),
    )
    beside = folder / f"out.{ending}.certificate.json"
    secrets = [*SECRETS, str(folder).encode(), b"KANARIE-FOLDER", str(SEED).encode()]
    named = [RARE.encode()] if METHODS[method].counts else []  # counts name every value; a notice says so
    assert bool(named) == any(notice.code == "rare-values" for notice in made.report.notices)
    for path in (to, report, beside):
        assert search(unpacked(path), secrets) == (named if path == to else []), path.name
    said = repr(made) + made._repr_html_() + json.dumps(made.certificate) + str(made.verdict)
    assert search(said.encode(), secrets) == []
    assert sorted(path.name for path in folder.iterdir()) == sorted(["people.csv", to.name, beside.name, report.name])


@pytest.mark.parametrize("numeric", ["bins", "levels", "mean"])
@pytest.mark.parametrize("form", ["pandas", "polars", "pyarrow"])
def test_no_removed_value_is_in_a_returned_frame(form, numeric, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    table = people()
    if form == "pandas":
        table = table.to_pandas()
        labels = [*sorted(set(table["job"])), LABEL]
        table["job"] = pd.Categorical(table["job"], labels)
        table["income"] = table["income"].astype("Int64")
        table.index = [f"{PERSON}-row-{i}" for i in range(ROWS)]
        table.attrs["note"] = ATTRIBUTE
    elif form == "polars":
        table = table.with_columns(pl.col("job").cast(pl.Enum(["cook", LABEL, RARE, "nurse", "smith"])))
    else:
        table = table.to_arrow().replace_schema_metadata({"note": ATTRIBUTE})
        jobs = table["job"].combine_chunks()
        table = table.set_column(2, "job", jobs.dictionary_encode())
    made = release(table, **ROLES, method="kactus", parameters={"numeric": numeric}).table
    assert type(made) is type(table)
    assert search(pickle.dumps(made)) == []
    if form == "pandas":
        assert made.attrs == {}
        assert made.index.equals(pd.RangeIndex(len(made)))
        assert not [dtype for dtype in made.dtypes if isinstance(dtype, pd.CategoricalDtype)]
        made.to_parquet(tmp_path / "t.parquet")
        made.to_feather(tmp_path / "t.feather", compression="uncompressed")
        assert search((tmp_path / "t.parquet").read_bytes() + (tmp_path / "t.feather").read_bytes()) == []
    elif form == "polars":
        made.write_ipc(tmp_path / "t.arrow", compression="uncompressed")
        assert search((tmp_path / "t.arrow").read_bytes()) == []
    else:
        pa.feather.write_feather(made, tmp_path / "t.feather", compression="uncompressed")
        assert search((tmp_path / "t.feather").read_bytes()) == []
        assert not made.schema.metadata


def test_rows_that_are_left_out_are_left_out_of_the_memory_too(folder):
    """kACTUS may lose up to k-1 rows; their untouched cells must not be there either."""
    frame = pl.DataFrame(
        {
            "a": ["x"] * 20 + ["z"] * 20 + [None] * 3,
            "note": ["ok"] * 40 + [f"KANARIE-LOST-longer-than-an-inlined-string-{i}" for i in range(3)],
            "ill": ["y"] * 20 + ["n"] * 20 + ["y", "n", "y"],
        }
    )
    made = release(frame, quasi_identifiers=["a"], target="ill", k=20, method="kactus")
    assert made.certificate["rows"]["left_out"] == frame.height - made.table.height == 3
    assert search(pickle.dumps(frame), [b"KANARIE-LOST"])
    assert not search(pickle.dumps(made.table), [b"KANARIE-LOST"])


@pytest.mark.each(7)
@pytest.mark.parametrize("method", METHODS)
def test_the_order_of_rows_tells_nothing(folder, method):
    """Spearman's rho between the place in the release and the place in the input, and between neighbours."""
    made = release(people(), **ROLES, method=method).table
    places = made["place"].to_numpy()
    order = np.argsort(np.argsort(places))
    rho = np.corrcoef(order, np.arange(len(order)))[0, 1]
    assert abs(rho) < 5 / sqrt(len(order))  # three for a single look; five, as this looks at fresh chance each time
    assert np.mean(np.diff(places) == 1) < 0.02
    again = release(people(), **ROLES, method=method).table["place"].to_numpy()
    assert not np.array_equal(again, places)


@pytest.mark.slow
def test_the_order_of_many_seeds_tells_nothing():
    """With fixed seeds the bound of three holds as it should: nearly always."""
    frame = people().select("age", "place", "ill")
    outside = 0
    for seed in range(20):
        made = release(frame, quasi_identifiers=["age"], target="ill", k=10, run=Run(seed=seed)).table
        places = made["place"].to_numpy()
        rho = np.corrcoef(np.argsort(np.argsort(places)), np.arange(len(places)))[0, 1]
        outside += abs(rho) >= 3 / sqrt(len(places))
    assert outside <= 1


def test_the_certificate_holds_no_plain_hash_of_the_input(folder):
    table = folder / "people.csv"
    people().write_csv(table)
    release(table, **ROLES, to=folder / "out.csv")
    text = (folder / "out.csv.certificate.json").read_text()
    data = table.read_bytes()
    for name in ("sha256", "sha1", "md5", "sha512", "blake2b", "sha3_256"):
        assert hashlib.new(name, data).hexdigest() not in text
    certificate = json.loads(text)
    assert re.fullmatch("[0-9a-f]{64}", certificate["input_hmac_sha256"])
    assert certificate["output"]["sha256"] == hashlib.sha256((folder / "out.csv").read_bytes()).hexdigest()


def test_the_keyed_hash_depends_on_a_private_key(folder, tmp_path, monkeypatch):
    table = folder / "people.csv"
    people().write_csv(table)
    seen = []
    for owner in ("one", "two", "one"):
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / owner))
        seen.append(release(table, **ROLES, to=folder / f"out{len(seen)}.csv").certificate["input_hmac_sha256"])
    assert seen[0] == seen[2] != seen[1]
    key = next((tmp_path / "one").rglob("*.key"))
    assert key.stat().st_mode & 0o077 == 0
    assert len(key.read_bytes()) == 32


def test_the_extremes_of_untransformed_means_are_not_told(folder):
    """The interval of a group ends at a cut or is open, never at the smallest or largest number."""
    for numeric in ("bins", "interval"):
        made = release(people(), **ROLES, parameters={"numeric": numeric}, to=folder / f"{numeric}.csv")
        data = (folder / f"{numeric}.csv").read_text() + json.dumps(made.certificate)
        assert str(LOW) not in data
        assert str(HIGH) not in data
        assert "inf" in data


ERRORS = {
    "a type the values do not have": {"columns": {"job": {"type": "integer"}}},
    "dates that are none": {"columns": {"job": {"type": "date"}}},
    "an order that lacks a value": {"columns": {"job": {"type": "ordered", "order": ["cook", "nurse", "smith"]}}},
    "truth that is none": {"columns": {"job": {"type": "boolean"}}},
    "identifiers that repeat": {"columns": {"job": {"role": "identifier"}}},
    "k above n": {"k": ROWS + 1},
}


@pytest.mark.parametrize("asked", ERRORS.values(), ids=ERRORS)
@pytest.mark.parametrize("form", ["csv", "frame"])
def test_no_error_tells_a_value(folder, asked, form):
    from incrowd.tables.recipe import Recipe

    table = people()
    if form == "csv":
        table.write_csv(folder / "people.csv")
    recipe = Recipe(k=asked.get("k", 10), columns=asked.get("columns", {}))
    roles = {**ROLES, "k": None}
    if "role" in asked.get("columns", {}).get("job", {}):
        roles["quasi_identifiers"] = ["income", "age"]
        roles["identifiers"] = None
    with pytest.raises(IncrowdError) as caught:
        release(folder / "people.csv" if form == "csv" else table, recipe=recipe, **roles, to=folder / "out.csv")
    told = str(caught.value) + repr(caught.value)
    assert search(told.encode(), [*SECRETS, b"cook", b"nurse", str(folder).encode()]) == []
    assert not (folder / "out.csv").exists()


def test_notices_tell_no_value(folder):
    frame = people().with_columns(odd=pl.Series([" KANARIE ", "kanarie", "KANARIE", "*"] * (ROWS // 4)))
    frame.write_csv(folder / "people.csv")
    roles = {**ROLES, "quasi_identifiers": ["odd", "age"]}
    made = release(
        folder / "people.csv", **roles, to=folder / "out.csv", outputs=Outputs(report=folder / "report.html")
    )
    said = " ".join(str(notice) for notice in made.report.notices)
    assert made.report.notices
    assert "kanarie" not in said.lower()
    assert search(json.dumps(made.certificate["notices"]).encode(), [b"KANARIE", b"kanarie"]) == []
