"""Faults of publication: what appears is not what was verified, or the verdict is not believed."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import polars as pl

from faults.planting import BLOCKS, BOTH, MEMORY, as_if, plant

CERTIFICATE = "incrowd.report.certificate:certificate"
EXCHANGE = "incrowd.tables.publishing.staging"
FLUSH = f"{EXCHANGE}:flush" if importlib.util.find_spec(EXCHANGE) else "incrowd.tables.publishing.staging:flush"


@plant(FLUSH, BOTH)
def a_cell_is_changed_after_the_verification(original, path):
    """A cell is changed once it was verified."""
    if path.is_file() and path.suffix == ".csv":
        path.write_bytes(path.read_bytes().replace(b"flu", b"gout", 1))
    original(path)


@plant(FLUSH, (MEMORY,), written="parquet")
def rows_are_sorted_after_the_verification(original, path):
    """The order of rows is changed once it was verified."""
    if path.is_file() and path.suffix == ".parquet":
        pl.read_parquet(path).sort("weight").write_parquet(path)
    original(path)


@plant(FLUSH, (MEMORY,))
def rows_are_appended_after_the_verification(original, path):
    """A row is appended to the file once it was verified."""
    if path.is_file() and path.suffix == ".csv":
        path.write_bytes(path.read_bytes() + path.read_bytes().splitlines(keepends=True)[-1])
    original(path)


@plant(FLUSH, (MEMORY,))
def the_input_is_published(original, path):
    """In the end the table itself is put in the place of the release."""
    given = path.parent.parent / "people.csv"
    if path.is_file() and path.suffix == ".csv" and given.exists():
        path.write_bytes(given.read_bytes())
    original(path)


@plant("incrowd.report.certificate:sha256_of", (MEMORY,))
def the_certificate_has_the_hash_of_other_bytes(original, path):
    """The hash in the certificate is not that of the release."""
    return hashlib.sha256(b"").hexdigest()


def misstated(change):
    """Enter a fault that changes what the certificate states."""

    def faulty(original, *arguments, **named):
        data = json.loads(json.dumps(original(*arguments, **named)))
        change(data)
        return data

    plant(CERTIFICATE, (MEMORY,))(as_if(faulty, change))
    return change


@misstated
def the_certificate_counts_other_rows(data):
    """The certificate states more released rows than there are."""
    data["rows"]["released"] += 1


@misstated
def the_certificate_counts_other_rows_left_out(data):
    """The certificate states that rows were left out which were not."""
    data["rows"]["left_out"] += 2


@misstated
def the_certificate_states_a_larger_class(data):
    """The certificate states that the smallest class is larger than it is."""
    data["verification"]["smallest_class"] += 1


@misstated
def the_certificate_states_another_requirement(data):
    """The certificate states a promise that nobody asked for."""
    data["requirement_asked"] = "50-anonymity"


@misstated
def the_certificate_states_other_columns(data):
    """The certificate names a quasi-identifier as a column that was left alone."""
    column = next(each for each in data["columns"] if each["name"] == "age")
    column["role"] = "other"


@misstated
def the_certificate_states_fewer_hidden_cells(data):
    """The certificate states that no cell is suppressed."""
    data["quasi_identifier_cells"]["suppressed"] = 0


@misstated
def the_certificate_breaks_its_schema(data):
    """The certificate lacks what it has to have."""
    del data["verification"]


@misstated
def the_certificate_states_a_larger_effective_k(data):
    """The certificate states that more people are left where unchanged columns are known."""
    data["unchanged_columns"]["effective_k"] += 1


@misstated
def the_certificate_states_fewer_people_alone(data):
    """The certificate states that nobody is alone by unchanged columns."""
    data["unchanged_columns"]["alone"]["without_class"] = 0


@misstated
def the_certificate_names_another_column(data):
    """The certificate gives a released column another name than it has."""
    data["released_columns"][0]["name"] = "notes"


@plant("incrowd.releases.pipeline:write_beside", (MEMORY,))
def the_certificate_is_not_written(original, release, outputs, drafts):
    """What is written for the certificate says nothing."""
    original(release, outputs, drafts)
    drafts[outputs.certificate].write_text("{}")


@plant(FLUSH, (MEMORY,))
def the_certificate_is_changed_after_it_was_checked(original, path):
    """A number of the certificate is changed once it was checked."""
    if path.is_file() and path.name.endswith(".certificate.json"):
        path.write_bytes(path.read_bytes().replace(b'"left_out": 0', b'"left_out": 3'))
    original(path)


@plant(
    {
        MEMORY: "incrowd.tables.publishing.serialise:write_table",
        BLOCKS: "incrowd.tables.publishing.serialise:write_pieces",
    }
)
def nothing_is_written(original, rows, path, form):
    """The file is made, and stays empty."""
    if not hasattr(rows, "columns"):
        list(rows)
    path.write_bytes(b"")


PROCESS = "incrowd.verification.process"


def dying(name: str, sentence: str, ending: str) -> None:
    """Enter a fault of the process that verifies: what runs in its place ends in some way, without a verdict."""

    def faulty(original):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        process = subprocess.Popen([sys.executable, "-c", f"import os; input(); {ending}"], text=True, **pipes)
        return type(original())(process, os.getpid(), threading.Lock())

    faulty.__name__, faulty.__doc__, faulty.__module__ = name, sentence, __name__
    plant(f"{PROCESS}:_verifier", (MEMORY,))(faulty)


dying("the verification ends well and says nothing", "The process that verifies ends with status 0.", "os._exit(0)")
dying("the verification is killed", "The process that verifies is killed by the system.", "os.kill(os.getpid(), 9)")
dying("the verification crashes", "The process that verifies ends by a fault of memory.", "os.kill(os.getpid(), 11)")
dying("the verification says only yes", "The process that verifies tells a status alone.", "print('{\"status\": 0}')")


@plant(f"{PROCESS}:Verifier.ask", (MEMORY,))
def the_status_is_turned_round(original, self, *arguments):
    """The status of the process that verifies says another thing than its verdict."""
    return 1 - original(self, *arguments)


@plant(f"{PROCESS}:Verifier.ask", (MEMORY,))
def the_verdict_is_that_of_another_release(original, self, line, *others):
    """What the process that verifies wrote down is an answer to another question."""
    status = original(self, line, *others)
    answer = Path(json.loads(line)["answer"])
    answer.write_text(json.dumps(json.loads(answer.read_text()) | {"nonce": "another"}))
    return status
