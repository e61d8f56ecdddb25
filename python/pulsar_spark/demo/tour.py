"""The steps of the demo, in order."""

from __future__ import annotations

import platform
import random
import statistics
import tempfile
import time
from collections import Counter
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pulsar
from pyspark.sql import functions as F  # noqa: N812

import pulsar_spark
from pulsar_spark.demo import levels
from pulsar_spark.demo.console import Interrupts, errors_to, show_end
from pulsar_spark.demo.progress import Progress
from pulsar_spark.demo.rides import make_rides
from pulsar_spark.demo.topics import BackgroundProducer, Receipt, RideProducer, connect, create_partitioned, read_json
from pulsar_spark.local import LocalPulsar

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from pulsar_spark.demo.report import Report

RIDES, RECEIPTS, ANSWER = "rides", "receipts", "rides-by-city"

_DAY_MS = 24 * 3600 * 1000
_PARTITIONS = 4
_LIVE_PER_SECOND = 2000


@dataclass(frozen=True)
class Settings:
    """The settings of the demo.

    Attributes:
        rides: How many rides are in the topic at the beginning.
        live_seconds: How long more of them arrive while Spark streams.
        seed: What the rides are made up from.
    """

    rides: int
    live_seconds: float
    seed: int


def run(settings: Settings, report: Report) -> dict[str, Any]:
    """Run the demo; returns its results. Leaves no process and no file, also after errors."""
    interrupts = Interrupts()
    interrupts.watch()
    try:
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pulsar-spark-demo-")))
            try:
                return _Tour(settings, report, folder, stack, interrupts).run()
            except Exception:
                if not interrupts.came:
                    show_end(report, folder / "spark.log")
                raise
    except Exception as error:
        if interrupts.came:
            raise KeyboardInterrupt from error
        raise


class _Tour:
    def __init__(
        self, settings: Settings, report: Report, folder: Path, stack: ExitStack, interrupts: Interrupts
    ) -> None:
        self.settings, self.report, self.folder, self.stack = settings, report, folder, stack
        self.interrupts = interrupts

    def run(self) -> dict[str, Any]:
        report, rides = self.report, self.settings.rides
        with report.step("A Pulsar server is started") as step:
            server = self.stack.enter_context(LocalPulsar())
            step.title = f"Pulsar {server.server_version} is running at {server.service_url}"
        client = self.stack.enter_context(closing(connect(server.service_url, self.folder / "client.log")))
        producer = self.produce(client, server.admin_url)
        with report.step("Spark is started") as step:
            spark = self.start_spark(server)
            step.title = f"Spark {spark.version} is running"
        self.read_batch(spark, producer)
        compared = levels.compare(spark, report, RIDES, rides, by_city)
        with report.step(f"Stored rides are streamed to `{RECEIPTS}`") as step:
            step.rows = Progress(self.receipts(spark, available_now=True), report).until_it_ends()
        report.check("rides of the stream that takes what is there", expected=rides, found=step.rows)
        first_live = rides
        with report.step("Live rides are streamed") as step:
            live = self.stream_live(spark, producer)
            step.title = f"{live:,} more are streamed while they arrive"
        report.check("rides of the stream that goes on", expected=producer.totals.rides.total() - rides, found=live)
        delays = self.read_receipts(client, producer, first_live)
        report.show_checks()
        report.show_times()
        if delays:
            times = f"median {delays['median']:.0f} ms, 99 % within {delays['p99']:.0f} ms"
            report.line(f"\nFrom the pickup of a live ride to its receipt: {times}")
        versions = {"pulsar_spark": pulsar_spark.__version__, "spark": spark.version, "pulsar": server.server_version}
        versions |= {"python": platform.python_version(), "pulsar_client": pulsar.__version__}
        return {
            **report.facts(),
            "seed": self.settings.seed,
            "versions": versions,
            "levels": compared,
            "live_delay_ms": delays,
        }

    def produce(self, client: pulsar.Client, admin_url: str) -> RideProducer:
        count = self.settings.rides
        with self.report.step(
            f"{count:,} rides are produced to `{RIDES}`: AVRO, LZ4, {_PARTITIONS} partitions"
        ) as step:
            create_partitioned(admin_url, RIDES, _PARTITIONS)
            producer = RideProducer(client, RIDES)
            now_ms = time.time_ns() // 1_000_000
            chance = random.Random(self.settings.seed)
            producer.send(make_rides(chance, count, first_ms=now_ms - _DAY_MS, last_ms=now_ms))
            producer.flush()
            step.rows = count
        return producer

    def start_spark(self, server: LocalPulsar) -> SparkSession:
        conf = {
            "spark.datasource.pulsar.service.url": server.service_url,
            "spark.datasource.pulsar.admin.url": server.admin_url,
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.memory": "1g",
            "spark.local.dir": str(self.folder),
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.shuffle.partitions": str(_PARTITIONS),
            "spark.sql.warehouse.dir": str(self.folder / "warehouse"),
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
        }
        with errors_to(self.folder / "spark.log"):
            spark = pulsar_spark.session("pulsar-spark demo", "local[*]", **conf)
        self.stack.callback(spark.stop)
        self.interrupts.watch()  # Spark has set a handler
        return spark

    def read_batch(self, spark: SparkSession, producer: RideProducer) -> None:
        report, totals = self.report, producer.totals
        self.asked = dict(totals.rides)
        rides = pulsar_spark.read_pulsar(spark, RIDES)
        with report.step(f"`{RIDES}` is counted") as step:
            step.rows = rides.count()
        report.check("rides counted", expected=totals.rides.total(), found=step.rows)
        with report.step("Which cities earn what, and how often are rides cancelled?") as step:
            answer = by_city(rides)
            rows = [row.asDict() for row in answer.collect()]
            step.rows = totals.rides.total()
        _show_cities(report, rows)
        for title, column, expected in (
            ("rides by city", "rides", totals.rides),
            ("cancelled rides by city", "cancelled", totals.cancelled),
            ("rides by city from iOS, a message property", "ios", totals.ios),
            ("cents by city", "cents", totals.cents),
        ):
            report.check(title, expected=dict(expected), found={row["city"]: row[column] for row in rows})
        with report.step(f"The answer is written to `{ANSWER}`"):
            pulsar_spark.write_pulsar(answer.withColumn("__key", F.col("city")), ANSWER, schema_type="json")

    def receipts(self, spark: SparkSession, *, available_now: bool) -> StreamingQuery:
        completed = (
            pulsar_spark.read_pulsar_stream(spark, RIDES, start="earliest")
            .where("status = 'completed'")
            .selectExpr(
                "ride_id",
                "city",
                "CAST(fare * 100 AS BIGINT) AS cents",
                "CAST(__key AS STRING) AS __key",
                "__eventTime",
            )
        )
        return pulsar_spark.write_pulsar_stream(
            completed,
            RECEIPTS,
            checkpoint=self.folder / "checkpoint",
            available_now=available_now,
            schema_type="json",
        )

    def stream_live(self, spark: SparkSession, producer: RideProducer) -> int:
        """Stream while rides arrive, then until all are processed; returns how many Spark has read."""
        before = producer.totals.rides.total()
        query = self.receipts(spark, available_now=False)
        self.stack.callback(query.stop)
        progress = Progress(query, self.report)
        settings = self.settings
        with BackgroundProducer(producer, seed=settings.seed + 1, first_number=before, per_second=_LIVE_PER_SECOND):
            end = time.monotonic() + settings.live_seconds
            progress.until(lambda _: time.monotonic() > end)
        producer.flush()
        sent = producer.totals.rides.total() - before
        read = progress.until(lambda rows: rows >= sent)
        query.stop()
        return read

    def read_receipts(self, client: pulsar.Client, producer: RideProducer, first_live: int) -> dict[str, float]:
        """Read Spark's output with the official client; returns the latencies of live rides."""
        report, totals = self.report, producer.totals
        with report.step(f"`{RECEIPTS}` is read back by the official client") as step:
            receipts = [Receipt.of(value, message) for value, message in read_json(client, RECEIPTS)]
            step.rows = len(receipts)
        cents: Counter[str] = Counter()
        for receipt in receipts:
            cents[receipt.city] += receipt.cents
        different = len({receipt.ride_id for receipt in receipts})
        keyed = sum(receipt.driver.startswith(f"{receipt.city.lower()}-") for receipt in receipts)
        report.check("receipts", expected=totals.completed, found=len(receipts))
        report.check("receipts of different rides", expected=totals.completed, found=different)
        report.check("receipts with the driver as key", expected=totals.completed, found=keyed)
        report.check("cents on receipts by city", expected=dict(totals.cents), found=dict(cents))
        answer = {value["city"]: value["rides"] for value, _ in read_json(client, ANSWER)}
        report.check(f"rides by city in `{ANSWER}`", expected=self.asked, found=answer)
        delays = sorted(receipt.delay_ms for receipt in receipts if receipt.number >= first_live)
        return {"median": statistics.median(delays), "p99": float(delays[len(delays) * 99 // 100])} if delays else {}


def by_city(rides: DataFrame) -> DataFrame:
    """The query of the demo."""
    return (
        rides.groupBy("city")
        .agg(
            F.count("*").alias("rides"),
            F.count_if(F.col("status") == "cancelled").alias("cancelled"),
            F.count_if(F.col("__messageProperties")["app"] == "ios").alias("ios"),
            F.sum(F.col("fare") * 100).cast("bigint").alias("cents"),
            F.round(F.avg("rating"), 2).alias("rating"),
            F.mode(F.hour("__eventTime"), deterministic=True).alias("busiest_hour"),
        )
        .orderBy(F.desc("cents"))
    )


def _show_cities(report: Report, rows: list[dict[str, Any]]) -> None:
    report.table(
        ("city", "rides", "cancelled", "revenue", "rating", "busiest hour"),
        [
            (
                row["city"],
                f"{row['rides']:,}",
                f"{row['cancelled'] / row['rides']:.1%}",
                f"{row['cents'] / 100:,.2f}",
                f"{row['rating']:.2f}",
                f"{row['busiest_hour']:02}:00",
            )
            for row in rows
        ],
    )
