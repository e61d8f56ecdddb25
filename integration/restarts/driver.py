"""The driver of a stream, to be killed: `killing.Stream` as JSON, the jars of connector and file system, the fault."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from pyspark.sql import SparkSession
from restarts.killing import FAULT, KILLED, SETTINGS, Stream

from support.spark.submitting import SMALL


def main() -> None:
    text, jars, halting, fault = sys.argv[1:]
    task = json.loads(text)
    planned = Stream(**{**task, "folder": Path(task["folder"])})
    settings = {
        **SMALL,
        **SETTINGS,
        "spark.master": "local[2]",
        "spark.jars": jars,
        "spark.driver.extraClassPath": halting,
        "spark.sql.session.timeZone": "UTC",
        **planned.conf,
    }
    builder = SparkSession.builder.appName("a driver to be killed")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext._jvm.java.lang.System.setProperty(FAULT, fault)  # type: ignore[union-attr]
    try:
        planned.run_counted(spark)
    except Exception:
        # py4j reports a JVM that is gone as an error of the network.
        if spark.sparkContext._gateway.proc.wait(300) == KILLED:  # type: ignore[union-attr]
            os._exit(KILLED)
        raise


main()
