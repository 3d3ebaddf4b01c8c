"""Every reader of the program, with valid files for it and the ways in which they are damaged.

The files are of an invented table whose cells can be recognised: none of them may turn up in a message.
"""

from __future__ import annotations

import gzip
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from quality.damage import BYTES, JSON, TEXT, Way, in_entry, in_gzip, in_parquet, in_zip, insert_word, shuffle_lines

CANARY = re.compile(r"KANARIE|71100\d\d|1871-0\d")
"""What cells of the table look like."""


@dataclass(frozen=True)
class Seed:
    """A valid file: how its name ends, and its bytes."""

    ending: str
    data: bytes


@dataclass(frozen=True)
class Reader:
    """What reads files of a kind, as far as a user's command would take them.

    ``ways`` are those in which files are damaged, by how their names end.
    """

    name: str
    seeds: Callable[[], list[Seed]]
    read: Callable[[Path], object]
    ways: Mapping[str, tuple[Way, ...]]


def table() -> Any:
    """A table of invented people."""
    import polars as pl

    rows = range(48)
    return pl.DataFrame(
        {
            "age": [7_110_000 + (i * i) % 50 for i in rows],
            "job": [f"KANARIE-{i % 5}" if i % 11 else None for i in rows],
            "income": [1000.5 + (i * 37) % 17 for i in rows],
            "born": [f"1871-0{1 + i % 9}-1{i % 9}" for i in rows],
            "ill": ["y" if (i * 7) % 11 < 5 else "n" for i in rows],
        }
    )


def _written(ending: str, write: Callable[[Path], object]) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder, f"seed{ending}")
        write(path)
        return path.read_bytes()


def _csv() -> list[Seed]:
    frame = table()
    comma = frame.write_csv().encode()
    quoted = frame.write_csv(quote_style="always", separator=";", line_terminator="\r\n").encode()
    returns = frame.head(20).write_csv(line_terminator="\r").encode()
    wide = frame.head(20).write_csv(separator="\t").encode("utf-16")
    return [
        Seed(".csv", comma),
        Seed(".csv", quoted),
        Seed(".csv", returns),
        Seed(".tsv", wide),
        Seed(".csv.gz", gzip.compress(comma, mtime=0)),
    ]


def _parquet() -> list[Seed]:
    import polars as pl
    import pyarrow as pa
    import pyarrow.parquet as pq

    frame = table().with_columns(pl.col("born").str.to_date(), pl.col("job").alias("trade"))
    arrow = _as_dictionary(frame.to_arrow(compat_level=pl.CompatLevel.oldest()), "trade")

    def write(arrow: Any, **how: Any) -> bytes:
        sink = io.BytesIO()
        pq.write_table(arrow, sink, **how)
        return sink.getvalue()

    decimals = pa.table({"age": pa.array([7_110_001, 7_110_002] * 9).cast(pa.decimal128(25, 2)), "job": ["f", "m"] * 9})
    return [
        Seed(".parquet", write(arrow, compression="none", use_dictionary=False)),
        Seed(".parquet", write(arrow, compression="none", data_page_version="2.0", row_group_size=20)),
        Seed(".parquet", write(arrow, compression="snappy")),
        Seed(".parquet", write(arrow.select(["age", "job"]), compression="zstd", row_group_size=16)),
        Seed(".parquet", write(decimals, compression="none")),
        Seed(".parquet", _written(".parquet", frame.write_parquet)),
    ]


def _arrow() -> list[Seed]:
    import polars as pl
    import pyarrow as pa

    frame = table().with_columns(pl.col("born").str.to_date(), pl.col("job").alias("trade"))
    arrow = _as_dictionary(frame.to_arrow(compat_level=pl.CompatLevel.oldest()), "trade")

    def write(arrow: Any, opened: Any, compression: str | None = None) -> bytes:
        sink = io.BytesIO()
        with opened(sink, arrow.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
            writer.write_table(arrow, max_chunksize=20)
        return sink.getvalue()

    return [
        Seed(".arrow", write(arrow, pa.ipc.new_file)),
        Seed(".arrow", write(arrow, pa.ipc.new_stream)),
        Seed(".arrow", write(arrow, pa.ipc.new_file, "lz4")),
        Seed(".arrow", write(arrow.select(["age", "job"]), pa.ipc.new_stream, "zstd")),
        Seed(".feather", _written(".feather", frame.write_ipc)),
    ]


def _as_dictionary(arrow: Any, name: str) -> Any:
    return arrow.set_column(arrow.schema.get_field_index(name), name, arrow[name].dictionary_encode())


def _arff() -> list[Seed]:
    from incrowd.tables.publishing.serialise import write_table
    from incrowd.vocabulary.forms import FileForm

    frame = table()
    written = _written(".arff", lambda path: write_table(frame, path, FileForm.of(path)))
    head = "% people\n@RELATION 'a b'\n@ATTRIBUTE 'age' INTEGER\n@ATTRIBUTE job {'KANARIE-0',\"KANARIE-1\", ?}\n"
    by_hand = head + "@ATTRIBUTE born DATE 'yyyy'\n@DATA\n" + "7110001,'KANARIE-0',1871-01-01\n?,?,1871-02-03\n" * 9
    return [Seed(".arff", written), Seed(".arff", by_hand.encode())]


def _json_lines() -> list[Seed]:
    plain = table().write_ndjson().encode()
    return [Seed(".jsonl", plain), Seed(".ndjson", plain.replace(b'"job":null,', b"").replace(b":", b" : "))]


def _excel() -> list[Seed]:
    import polars as pl

    frame = table().with_columns(pl.col("born").str.to_date())
    data = _written(".xlsx", lambda path: frame.write_excel(path))
    return [Seed(".xlsx", data)]


def _databases() -> list[Seed]:
    import sqlite3

    import duckdb

    frame = table()

    def sqlite(path: Path) -> None:
        with sqlite3.connect(path) as file:
            file.execute(f"CREATE TABLE people ({', '.join(frame.columns)})")
            file.executemany(f"INSERT INTO people VALUES ({', '.join('?' * frame.width)})", frame.rows())
        file.close()

    def duck(path: Path) -> None:
        with duckdb.connect(str(path)) as file:
            file.register("given", frame.to_arrow())
            file.execute("CREATE TABLE people AS FROM given")

    return [Seed(".db", _written(".db", sqlite)), Seed(".duckdb", _written(".duckdb", duck))]


def _recounted() -> list[Seed]:
    return [*_csv(), *_parquet(), *_arrow(), *_arff(), *_json_lines()]


RECIPE = """\
# what each column is
columns:
  age: {role: quasi-identifier, type: integer}
  "job": {role: quasi-identifier, type: ordered, order: [low, mid, "high"]}
  income: {role: sensitive, type: real}
  ill: {role: target}
k: 10
method: kactus
parameters: {min_rows: 5, growth: 0.5}
reading: {delimiter: ";", encoding: utf-8, missing: ["NA", "-9"]}
repeats: [born]
class_sensitive: no
require: ["entropy-l=1.5 on income", "t=0.2 on income"]
form: counts
"""
SETS = """\
columns: {age: {role: quasi-identifier}, job: {role: quasi-identifier}, ill: {role: target}}
known_together:
  - columns: [age, job]
    k: 5
  - {columns: [job], k: 7}
"""


def _recipe() -> list[Seed]:
    return [Seed(".yaml", RECIPE.encode()), Seed(".yaml", SETS.encode())]


def _plan() -> list[Seed]:
    from incrowd.plan.plan_file import plan_to_json, write_plan

    plans = [*_plans()]
    seeds = [Seed(".json", json.dumps(plan_to_json(plan)).encode()) for plan in plans]
    parquet = _written(".parquet", lambda path: write_plan(plans[0], path))
    return [*seeds, Seed(".parquet", parquet)]


def _plans() -> Iterator[Any]:
    import polars as pl

    from incrowd.api import release
    from incrowd.vocabulary.hierarchy import Hierarchy

    job = Hierarchy.from_paths("job", [[f"KANARIE-{i}", "low" if i < 2 else "high", "*"] for i in range(5)])
    request: dict[str, Any] = {
        "quasi_identifiers": ["age", "job"],
        "target": "ill",
        "k": 3,
        "class_sensitive": False,
        "despite_unchanged": True,
    }
    dated = table().with_columns(pl.col("born").str.to_date())
    frame = dated.drop("born")
    yield release(frame, method="kactus", **request).plan
    yield release(frame, method="kactus-plus", form="counts", **request).plan
    yield release(frame, method="tdr", hierarchies={"job": job}, **request).plan
    yield release(dated, method="mondrian", **{**request, "quasi_identifiers": ["age", "job", "born"]}).plan
    yield release(frame, method="iack", hierarchies={"job": job}, **request).plan


def _model() -> list[Seed]:
    from incrowd.models.pipeline import publish_model

    frame = table().drop("born")

    def write(path: Path, **how: Any) -> object:
        return publish_model(
            frame, target="ill", public=["age", "job"], private=["income"], k=3, fill="value", to=path, **how
        )

    return [
        Seed(".json", _written(".json", write)),
        Seed(".json", _written(".json", lambda path: write(path, score="c45"))),
    ]


COMPACT = """\
# trades
job
  low: KANARIE-0, KANARIE-1
  high
    "KANARIE-2"
    rest: KANARIE-3, KANARIE-4
"""
NUMBERS = "age [numbers]\n  (-inf, 7110020]: (-inf, 7110010], (7110010, 7110020]\n  (7110020, inf)\n"


def _hierarchy() -> list[Seed]:
    from incrowd.tables.hierarchies.read import hierarchy_text, parse_compact

    seeds = []
    for text in (COMPACT, NUMBERS, "born [dates]: 1871-01, 1871-02, 1871-03\n"):
        hierarchy = parse_compact(text, "job")
        seeds.append(Seed(".txt", text.encode()))
        seeds += [Seed(end, hierarchy_text(hierarchy, f"x{end}").encode()) for end in (".csv", ".yaml")]
        seeds.append(Seed(".json", hierarchy_text(hierarchy, "x.json").encode()))
    return seeds


@cache
def _releases() -> list[Any]:
    """Releases of the table."""
    from incrowd.api import release

    request: dict[str, Any] = {"quasi_identifiers": ["age", "job"], "target": "ill", "k": 3, "class_sensitive": False}
    request |= {"despite_unchanged": True}
    return [
        release(table(), method="kactus", **request),
        release(table(), method="mondrian", require="t=0.9 on ill", **request),
    ]


def _certificate() -> list[Seed]:
    return [Seed(".json", json.dumps(one.certificate, indent=2).encode()) for one in _releases()]


KEY = b"k" * 32


def _ledger() -> list[Seed]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from incrowd.api import release
    from incrowd.releases.ledger.entry import FIRST, Head, linked, plain

    with TemporaryDirectory() as folder:
        book = Path(folder, "book")
        request: dict[str, Any] = {
            "quasi_identifiers": ["age", "job"],
            "target": "ill",
            "k": 3,
            "class_sensitive": False,
        }
        release(table(), method="kactus", ledger=book, despite_unchanged=True, **request)
        header, _, payload = next(book.glob("*.entry")).read_bytes().split(b"\n", 2)
    link = linked(json.loads(header), 0, FIRST, KEY)
    entry = plain(link.header) + b"\n" + link.mac.encode() + b"\n" + payload
    head = json.dumps(Head.of(1, link.mac, KEY).to_json()).encode()
    facts = {"incrowd_ledger": 1, "mark": "0f", "asked": "0a", "key": "00" * 32, "made": "2026-01-02", "sha256": "0f"}
    facts |= {"requirement": "5-anonymity", "version": "0", "k": 5, "quasi_identifiers": ["age"], "unchanged": ["ill"]}
    old = pa.table({"class": pa.array([1, 1, None, 2] * 9, pa.int32())})
    old = old.replace_schema_metadata({b"incrowd.releases.ledger": json.dumps(facts).encode()})
    sink = io.BytesIO()
    pq.write_table(old, sink)
    return [Seed(".entry", entry), Seed(".head.json", head), Seed(".entry.parquet", sink.getvalue())]


def read_table(path: Path) -> None:
    """Read a table as a release does, whole and, where it can be, in frames."""
    from incrowd.tables.reading.draft import draft_schema
    from incrowd.tables.reading.encode import encode
    from incrowd.tables.reading.read import read
    from incrowd.tables.streams.stream import open_stream

    if path.suffix not in (".arff", ".xlsx"):
        for frame in open_stream(path).frames(rows=17):
            frame.estimated_size()
    source = read(path)
    schema = draft_schema(source)
    encode(source, schema, schema.encoded)


def read_database(path: Path) -> None:
    """Read a table of a database as a release does."""
    from incrowd.tables.databases.tables import in_memory
    from incrowd.tables.reading.read import read

    read(in_memory(f"{path}?table=people"))


@cache
def _source() -> Any:
    """The table, read."""
    from incrowd.tables.reading.read import read

    return read(table())


@cache
def _draft() -> Any:
    """What its columns seem to be."""
    from incrowd.tables.reading.draft import draft_schema

    return draft_schema(_source())


def read_recipe_file(path: Path) -> None:
    """Read a recipe, and what it says of a table."""
    from incrowd.tables.recipe import read_recipe

    read_recipe(path).schema(_draft())


def read_plan_file(path: Path) -> None:
    """Read a plan, explain it and show new rows by it."""
    from incrowd.api import show_new_rows
    from incrowd.plan.explain import explain
    from incrowd.plan.plan_file import read_plan

    plan = read_plan(path)
    explain(plan)
    show_new_rows(plan, _source())


def read_model_file(path: Path) -> None:
    """Read a model as a recipient does, and as the verification does."""
    from incrowd.models.exports import export_text, plot_tree, to_pmml
    from incrowd.models.pipeline import verify_model
    from incrowd.models.published_tree import read_model

    verify_model(path, table())
    model = read_model(path)
    export_text(model)
    plot_tree(model)
    to_pmml(model)


def read_hierarchy_file(path: Path) -> None:
    """Read a hierarchy, write it again, and code a column by it."""
    from incrowd.errors import OutputError
    from incrowd.tables.hierarchies.draft import draw
    from incrowd.tables.hierarchies.read import hierarchy_text, read_hierarchy

    hierarchy = read_hierarchy(path)
    draw(hierarchy)
    try:
        hierarchy_text(hierarchy, path)
    except OutputError:
        return


def read_verified(path: Path) -> None:
    """Read a table as the verification does, by its own road."""
    from incrowd.releases.recount import verify

    verify(path, k=2, quasi_identifiers=["age", "job"])


def read_certificate_file(path: Path) -> None:
    """Read a certificate as those do who hold it next to a release, and who attack a release with it."""
    from incrowd.attacks.opening import AttackRequest, open_scene
    from incrowd.releases.certified.checking import check_release

    check_release(_releases()[0].table, path)
    open_scene(AttackRequest(release=table(), original=table(), certificate=path))


def read_ledger_file(path: Path) -> None:
    """Read a book, one of whose files is damaged."""
    from incrowd.releases.ledger.book import open_ledger, read_old

    if path.name.endswith(".entry.parquet"):
        read_old(path)
        return
    with TemporaryDirectory(dir=path.parent) as folder:
        book = Path(folder)
        (book / "ledger.key").write_bytes(KEY)
        (book / ("head.json" if path.name.endswith(".head.json") else "000000.entry")).write_bytes(path.read_bytes())
        with open_ledger(book) as ledger:
            _ = ledger.fault
            for one in ledger.releases():
                _ = one.people


_INSIDE = tuple(map(in_zip, (insert_word, insert_word, shuffle_lines, *BYTES)))
_PLAN, _ENTRY, _OLD = in_parquet(b"incrowd.plan"), in_entry(KEY), in_parquet(b"incrowd.releases.ledger")
_DELIMITED = {".csv": TEXT, ".tsv": TEXT, ".csv.gz": (*map(in_gzip, TEXT), *BYTES)}
_BOOK = {".entry": (*BYTES, *[_ENTRY] * 9), ".head.json": JSON, ".entry.parquet": (*BYTES, *[_OLD] * 4)}
_LINES = {".jsonl": TEXT, ".ndjson": (*TEXT, *BYTES)}
_TABLES = {**_DELIMITED, **_LINES, ".parquet": BYTES, ".arrow": BYTES, ".feather": BYTES, ".arff": TEXT}
_LEVELS = {".txt": TEXT, ".csv": TEXT, ".yaml": TEXT, ".json": JSON}
READERS = {
    reader.name: reader
    for reader in (
        Reader("csv", _csv, read_table, _DELIMITED),
        Reader("parquet", _parquet, read_table, {".parquet": BYTES}),
        Reader("arrow", _arrow, read_table, {".arrow": BYTES, ".feather": BYTES}),
        Reader("arff", _arff, read_table, {".arff": TEXT}),
        Reader("json lines", _json_lines, read_table, _LINES),
        Reader("databases", _databases, read_database, {".db": BYTES, ".duckdb": BYTES}),
        Reader("excel", _excel, read_table, {".xlsx": (*_INSIDE, *_INSIDE, *BYTES)}),
        Reader("recipe", _recipe, read_recipe_file, {".yaml": TEXT}),
        Reader("plan", _plan, read_plan_file, {".json": JSON, ".parquet": (*BYTES, _PLAN, _PLAN, _PLAN)}),
        Reader("model", _model, read_model_file, {".json": JSON}),
        Reader("hierarchy", _hierarchy, read_hierarchy_file, _LEVELS),
        Reader("certificate", _certificate, read_certificate_file, {".json": JSON}),
        Reader("ledger", _ledger, read_ledger_file, _BOOK),
        Reader("verification", _recounted, read_verified, _TABLES),
    )
}
