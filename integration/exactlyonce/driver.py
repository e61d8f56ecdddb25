"""A program of `test_lives`: copies a topic exactly once until it is killed. It writes the id of its JVM to stdout."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from exactlyonce.copies import Copy

from support.spark.leaks import jvm_pid
from support.spark.program_session import program_session
from support.topics.messages import connected


def main() -> None:
    task = json.loads(sys.argv[1])
    folder = Path(task["folder"])
    spark = program_session(task["jar"])
    print(jvm_pid(spark), flush=True)
    with connected(task["source_url"], folder) as client:
        copy = Copy(client, task["source"], task["target"], task["sink"], task["source_url"], folder / "checkpoint")
        copy.writer(spark, task["url"]).start().awaitTermination()


main()
