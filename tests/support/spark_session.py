"""One Spark session for a test module, and the whole way through Spark with all that a test may want to see of it."""

from __future__ import annotations

import os
import sys
from typing import Any

from incrowd.releases.clusters import ClusterSteps
from incrowd.rows.spark.release import run_spark_release
from pyspark.sql import SparkSession

from incrowd.releases.job import Job
from incrowd.rows.spark.session import LOCAL, packaged_java
from incrowd.vocabulary.randomness import SeededRandomness, SystemRandomness


def local_session(**settings):
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["JAVA_HOME"] = packaged_java()  # the same on every machine
    builder = SparkSession.builder.master("local[2]").appName("incrowd tests")
    fixed = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.memory": "2g",
        **LOCAL,
        "spark.ui.showConsoleProgress": "false",
    }
    for name, value in (fixed | settings).items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


class SparkSteps(ClusterSteps):
    """Understands, decides and judges as a release does."""

    def __init__(self, recipe: Any, randomness: Any) -> None:
        super().__init__(Job(None, recipe), randomness)


def spark_release(given, folder, recipe, session, seed=None, **options):
    """A release of a Spark table, and the steps that made it."""
    randomness = SystemRandomness() if seed is None else SeededRandomness(seed)
    steps = SparkSteps(recipe, randomness)
    made = run_spark_release(given, str(folder), steps, session=session, randomness=randomness, **options)
    return made, steps
