"""Packed JSON Lines and tables of databases, in and out, from the command line."""

from __future__ import annotations

import gzip
import json
import sqlite3
from contextlib import closing

import pyarrow as pa
import pytest
import yaml

from incrowd.errors import FileFormatError
from incrowd.tables.streams.stream import open_stream

ROWS = [{"age": 30 + at % 4, "sex": "fm"[at % 2], "ill": "yn"[at % 3 == 0]} for at in range(60)]
ASKED = ("-q", "age,sex", "--target", "ill", "--class-sensitive", "no", "-k", "5", "--method", "tdr")


def packed(path):
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else pa.input_stream(str(path)).read()


@pytest.mark.parametrize("ending", ["gz", "zst"])
def test_packed_lines_are_read_written_and_verified(command, tmp_path, ending):
    lines = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
    with pa.CompressedOutputStream(str(tmp_path / f"t.jsonl.{ending}"), "gzip" if ending == "gz" else "zstd") as file:
        file.write(lines)
    status, out, err = command("release", f"t.jsonl.{ending}", *ASKED, "--to", f"o.jsonl.{ending}")
    assert (status, err) == (0, "")
    assert "60 of 60 rows released" in out
    assert len(packed(tmp_path / f"o.jsonl.{ending}").splitlines()) == 60
    assert command("verify", f"o.jsonl.{ending}")[0] == 0
    assert command("verify", f"o.jsonl.{ending}", "-k", "5", "-q", "age,sex")[0] == 0
    with pytest.raises(FileFormatError, match="Packed JSON Lines files are read whole"):
        open_stream(tmp_path / f"t.jsonl.{ending}")


def test_packed_lines_that_carry_more_are_refused(command, tmp_path):
    (tmp_path / "t.jsonl.gz").write_bytes(b"\x1f\x8b" + b"broken")
    status, _, err = command("release", "t.jsonl.gz", *ASKED, "--to", "o.csv")
    assert (status, "truncated or damaged" in err) == (2, True)


def test_a_table_of_a_database_is_inspected_released_and_verified(command, tmp_path):
    with closing(sqlite3.connect(tmp_path / "clinic.db")) as file, file:
        file.execute("CREATE TABLE visits (age INTEGER, sex TEXT, ill TEXT)")
        file.executemany("INSERT INTO visits VALUES (?, ?, ?)", [tuple(row.values()) for row in ROWS])
    status, out, _ = command("inspect", "clinic.db", "--table", "visits", "--target", "ill", "--recipe", "r.yaml")
    assert status == 0
    assert "incrowd release clinic.db --table visits --recipe r.yaml --to OUT.csv" in out
    recipe = yaml.safe_load((tmp_path / "r.yaml").read_text(encoding="utf-8")) | {"class_sensitive": False, "k": 5}
    (tmp_path / "r.yaml").write_text(yaml.safe_dump(recipe), encoding="utf-8")
    status, _, err = command("release", "clinic.db", "--table", "visits", "--recipe", "r.yaml", "--to", "OUT.csv")
    assert (status, err) == (0, "")
    assert command("verify", "clinic.db", "--table", "visits", "-k", "5", "-q", "age,sex")[0] == 0
    assert command("verify", "clinic.db", "--query", "SELECT age FROM visits", "-k", "16", "-q", "age")[0] == 1
    status, _, err = command("verify", "OUT.csv", "--table", "visits", "-k", "5", "-q", "age")
    assert (status, "--table and --query need a database" in err) == (2, True)
