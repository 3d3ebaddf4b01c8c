"""An executor is killed while a release is made: it is released all the same, or nothing is; never something else."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

pytestmark = pytest.mark.slow  # sessions of Spark with executors of their own

K = 5
STAGES = ("reading", "encoding", "deciding", "applying", "writing", "verifying")
PROGRAM = """
import os, signal, sys, threading
from pathlib import Path
sys.path.insert(0, sys.argv[5])
from pyspark.sql import SparkSession
from incrowd import release
from incrowd.errors import IncrowdError
from incrowd.rows.spark import held
from incrowd.rows.spark.session import packaged_java
from incrowd.tables.options import Run

source, to, stage, checkpoints = sys.argv[1:5]
os.environ["PYSPARK_PYTHON"], os.environ["JAVA_HOME"] = sys.executable, packaged_java()
held.BLOCK_ROWS = 300
fixed = {
    "spark.ui.enabled": "false", "spark.driver.memory": "1g", "spark.sql.shuffle.partitions": "4",
    "spark.driver.host": "127.0.0.1", "spark.incrowd.sharedFiles": "true", "spark.network.timeout": "60s",
    "spark.executor.heartbeatInterval": "5s", "spark.task.maxFailures": "8",
}
builder = SparkSession.builder.master("local-cluster[2,1,1024]")
for name, value in fixed.items():
    builder = builder.config(name, value)
session = builder.getOrCreate()
session.sparkContext.setLogLevel("OFF")
if checkpoints:
    session.sparkContext.setCheckpointDir(checkpoints)

def executors():
    mine = {}
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\\0")
            parent = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
        mine[int(process)] = (parent, b"org.apache.spark.executor.CoarseGrainedExecutorBackend" in words)
    def ours(process):
        while process in mine:
            if process == os.getpid():
                return True
            process = mine[process][0]
        return False
    return [process for process, (_, is_one) in mine.items() if is_one and ours(process)]

def kill_one():
    for victim in executors()[:1]:
        os.kill(victim, signal.SIGKILL)
        print("killed", flush=True)

def told(message):
    global stage
    if stage and message.startswith(stage):
        stage = None
        threading.Timer(0.4, kill_one).start()

written = held.write_pieces
def writing(*given):
    global stage
    if stage == "writing":  # a part of applying, which has no word of its own
        stage = None
        kill_one()
    written(*given)
held.write_pieces = writing

try:
    made = release(
        session.read.parquet(source), quasi_identifiers=["age", "job"], target="ill", class_sensitive=False, k=5,
        method="infogain-mondrian", to=to, run=Run(engine="spark"), progress=told,
    )
    print("released", made.verdict.sizes.rows, flush=True)
except IncrowdError as error:
    print("refused", type(error).__name__, error, flush=True)
session.stop()
"""


def attempt(folder, stage, checkpoints):
    """What was printed by a program whose executor is killed when a stage begins."""
    folder.mkdir(exist_ok=True)
    draw = np.random.default_rng(0)
    table = pl.DataFrame(
        {
            "age": draw.integers(18, 90, 4000),
            "job": draw.choice(["cook", "nurse", "smith"], 4000),
            "ill": draw.choice(["n", "y"], 4000),
        }
    )
    (folder / "people").mkdir()
    for part in range(4):
        table[1000 * part : 1000 * (part + 1)].write_parquet(folder / "people" / f"{part}.parquet")
    where = str(folder / "checkpoints") if checkpoints else ""
    support = str(Path(__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder / "people"), str(folder / "out"), stage, where, support],
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "XDG_CONFIG_HOME": str(folder / "config"), "SPARK_LOCAL_IP": "127.0.0.1"},
        check=False,
    )
    return done.stdout, done.stderr, table


@pytest.mark.parametrize("stage", STAGES)
def test_with_a_checkpoint_folder_a_lost_executor_costs_time_only(tmp_path, stage):
    printed, errors, table = attempt(tmp_path / "run", stage, checkpoints=True)
    assert "killed" in printed, errors[-2000:]
    assert re.search(r"^released 4000$", printed, re.MULTILINE), printed + errors[-2000:]
    released = pl.read_parquet(tmp_path / "run" / "out" / "*.parquet")
    assert sorted(released["ill"]) == sorted(table["ill"])
    assert released.group_by("age", "job").len()["len"].min() >= K


def test_without_one_nothing_is_released_or_all_is(tmp_path):
    printed, errors, _ = attempt(tmp_path / "run", "applying", checkpoints=False)
    assert "killed" in printed, errors[-2000:]
    released = "released 4000" in printed
    assert released or "refused" in printed, printed + errors[-2000:]
    assert (tmp_path / "run" / "out").exists() == released
    assert not (tmp_path / "run" / ".out.incrowd").exists()
