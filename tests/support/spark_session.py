"""One Spark session for a test module, and a release by it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from unittest.mock import patch

from pyspark.sql import SparkSession

from incrowd.releases.job import Job, Targets
from incrowd.releases.pipeline import run_release
from incrowd.rows.blocks.population import LARGEST_SAMPLE
from incrowd.rows.spark import held
from incrowd.rows.spark.session import LOCAL, packaged_java
from incrowd.rows.spark.store import BLOCK_ROWS
from incrowd.tables.options import Run

QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Quick to start: what runs for seconds is not worth compiling well."""


PLAIN_PLANS = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""What a few hundred rows do not need: plans that are made anew while they run, and classes compiled for each."""


def local_session(**settings):
    """The session of these tests, as Spark is set when installed; ``PLAIN_PLANS`` costs less."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["JAVA_HOME"] = packaged_java()  # the same on every machine
    builder = SparkSession.builder.master("local[2]").appName("incrowd tests")
    fixed = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.memory": "2g",
        "spark.driver.extraJavaOptions": QUICK_JAVA,
        **LOCAL,
        "spark.ui.showConsoleProgress": "false",
    }
    for name, value in (fixed | settings).items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def spark_release(given, folder, recipe, seed=None, block_rows=BLOCK_ROWS, largest_sample=LARGEST_SAMPLE, **options):
    """A release of a Spark table, in blocks of so many rows."""
    job = Job(given, recipe, Targets(release=Path(folder)), run=Run(engine="spark", seed=seed), **options)
    with patch.multiple(held, BLOCK_ROWS=block_rows, LARGEST_SAMPLE=largest_sample):
        return run_release(job)
