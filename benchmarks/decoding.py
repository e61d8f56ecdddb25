"""What decoding records costs, against Spark's own functions on the same records: ``make bench-decoding``.

With options:

    .venv-4.1/bin/python -m benchmarks.decoding [--scale 0.1] [--rounds 7]

One topic has an AVRO or JSON schema and the connector decodes its values; the other has none, its values are what
``to_avro`` or ``to_json`` made of the same rows, and ``from_avro`` or ``from_json`` decodes them. Reading the bytes
alone is measured, too: the difference is the decoding. Writes ``decoding.md``.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name everybody knows it by
from pyspark.sql.avro.functions import from_avro, to_avro

from benchmarks.arena import HERE, local_pulsar
from benchmarks.processes import cpu_seconds
from benchmarks.registry import resolve
from benchmarks.report import keep
from benchmarks.run import say
from pulsar_spark import jar_path

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from pulsar_spark.local import LocalPulsar

SPARK_AVRO = "org.apache.spark:spark-avro_2.13:4.1.1"  # the newest of the pyspark line that the registry has

_RECORDS = {10: 800_000, 30: 300_000}
_FEW = 3
_WARM_UP = 8
_SECONDS = 60.0

_FIELDS = (
    ("id", "id"),
    ("vehicle", "concat('vehicle-', id % 5000)"),
    ("city", "element_at(array('Amsterdam', 'Berlin', 'Chennai', 'Dakar', 'Essen'), cast(id % 5 as int) + 1)"),
    ("speed", "cast(id % 130 as int)"),
    ("longitude", "cast(id % 360000 as double) / 1000 - 180"),
    ("latitude", "cast(id % 180000 as double) / 1000 - 90"),
    ("battery", "cast(id % 100 as float) / 100"),
    ("charging", "id % 7 = 0"),
    ("odometer", "id * 17"),
    ("note", "if(id % 3 = 0, null, concat('note of ride ', id))"),
)
"""Of a record of 10, with what is in them as SQL on ``id``; wide records have them several times."""


class Decoding:
    """The topics, and the ways to read them."""

    def __init__(self, spark: SparkSession, server: LocalPulsar) -> None:
        self._spark = spark
        self._server = server

    def fill(self, kind: str, width: int, count: int) -> None:
        """Write the same records to both topics."""
        fields = [(f"{name}_{i}", value) for i in range(width // len(_FIELDS)) for name, value in _FIELDS]
        rows = self._spark.range(0, count, 1, 2).selectExpr(*(f"{value} as {name}" for name, value in fields))
        self._write(rows, f"{kind}-{width}", schemaType=kind)
        record = F.struct(*rows.columns)
        value = to_avro(record, self._avro(width)) if kind == "avro" else F.to_json(record).cast("binary")
        self._write(rows.select(value.alias("value")), f"{kind}-{width}-bytes", schemaType="bytes")

    def by_connector(self, kind: str, width: int) -> DataFrame:
        """The fields, decoded by the connector."""
        frame = self._read(f"{kind}-{width}")
        return frame.select(*(name for name in frame.columns if not name.startswith("__")))

    def by_spark(self, kind: str, width: int) -> DataFrame:
        """The fields, decoded by Spark's function."""
        value: Column = F.col("value")
        if kind == "avro":
            decoded = from_avro(value, self._avro(width))
        else:
            decoded = F.from_json(value.cast("string"), self.by_connector(kind, width).schema)
        return self.bytes(kind, width).select(decoded.alias("record")).select("record.*")

    def bytes(self, kind: str, width: int) -> DataFrame:
        """The values as they are."""
        return self._read(f"{kind}-{width}-bytes").select("value")

    def _avro(self, width: int) -> str:
        """The schema of the connector's topic."""
        url = f"{self._server.admin_url}/admin/v2/schemas/public/default/avro-{width}/schema"
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(url, timeout=_SECONDS) as answer:
            text: str = json.load(answer)["data"]
        return text

    def _write(self, rows: DataFrame, topic: str, **options: str) -> None:
        settings = {"service.url": self._server.service_url, "topic": topic, **options}
        rows.write.format("pulsar").options(**settings).mode("append").save()

    def _read(self, topic: str) -> DataFrame:
        urls = {"service.url": self._server.service_url, "admin.url": self._server.admin_url}
        return self._spark.read.format("pulsar").options(**urls, topic=topic, readLevel="segment").load()


def measure(frames: dict[str, DataFrame], count: int, rounds: int, pid: int) -> dict[str, float]:
    """CPU microseconds per row of each, the median of some rounds in turns."""
    spent: dict[str, list[float]] = {name: [] for name in frames}
    for _ in range(_WARM_UP + rounds):
        for name, frame in frames.items():
            before, began = cpu_seconds(pid), time.perf_counter()
            frame.write.format("noop").mode("overwrite").save()
            spent[name].append((cpu_seconds(pid) - before) / count * 1e6)
            wall = time.perf_counter() - began
            say(f"{name}: {spent[name][-1]:.2f} us, {count / wall / 1e3:.0f} k rows/s")
    return {name: statistics.median(found[_WARM_UP:]) for name, found in spent.items()}


def _compare(decoding: Decoding, kind: str, width: int, count: int, rounds: int, pid: int) -> list[str]:
    """Lines of the tables: decoding all fields by both, and a few of them."""
    decoding.fill(kind, width, count)
    whole = decoding.by_connector(kind, width)
    frames = {
        "bytes": decoding.bytes(kind, width),
        "connector": whole,
        "few": whole.select(*whole.columns[: width : width // _FEW][:_FEW]),
        "spark": decoding.by_spark(kind, width),
    }
    cost = measure(frames, count, rounds, pid)
    own, few, other = (max(0.01, cost[name] - cost["bytes"]) for name in ("connector", "few", "spark"))
    cells = [f"{cost[name]:.2f}" for name in ("bytes", "connector", "spark", "few")]
    ratios = [f"{other / own:.1f} x", f"{own / few:.1f} x", f"{cost['connector'] / cost['few']:.1f} x"]
    return [f"| {kind.upper()} | {width} | {' | '.join(cells)} | {' | '.join(ratios)} |"]


_HEAD = """# Decoding records

Made by `make bench-decoding`, not by hand: {rounds} rounds in turns after warming up; Spark `local[2]`, to noop;
{cores} cores, load average {load:.1f} at the end. CPU of the Spark JVM in us per row, median, with everything that
reading costs. The first two ratios leave out what reading the bytes costs: so many times the CPU that Spark's function
takes for the decoding alone, and how all fields compare to {few} of them. The last one is that with the reading.

| schema | fields | bytes | connector | `from_avro`, `from_json` | {few} fields | Spark to ours | decoding | reading |
|---|--:|--:|--:|--:|--:|--:|--:|--:|
"""


def main() -> int:
    """Run it; see the text of the module."""
    parser = argparse.ArgumentParser(description="Measure decoding against Spark's own functions.")
    parser.add_argument("--scale", type=float, default=1.0, help="so many times the records")
    parser.add_argument("--rounds", type=int, default=7, help="counted rounds")
    parser.add_argument("--output", type=Path, default=HERE / "results", help="the folder for the results")
    chosen = parser.parse_args()
    avro = resolve("spark-avro-4.1.1", [SPARK_AVRO], transitive=False)
    jars = ",".join(map(str, [jar_path(), *sorted(avro.glob("*.jar"))]))
    builder = SparkSession.builder.master("local[2]").appName("decoding").config("spark.jars", jars)
    builder = builder.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
    with local_pulsar() as server:
        spark = builder.config("spark.driver.memory", "1g").getOrCreate()
        jvm = spark._jvm  # noqa: SLF001 - to measure the JVM
        assert jvm is not None
        pid: int = jvm.java.lang.ProcessHandle.current().pid()
        lines = []
        for width, records in _RECORDS.items():
            for kind in ("avro", "json"):
                count = max(1000, round(records * chosen.scale))
                lines += _compare(Decoding(spark, server), kind, width, count, chosen.rounds, pid)
        spark.stop()
    head = _HEAD.format(rounds=chosen.rounds, cores=os.cpu_count(), load=os.getloadavg()[0], few=_FEW)
    keep(chosen.output / "decoding.md", head + "\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
