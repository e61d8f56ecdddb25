"""Run a stream for a long time while producers write, topics are unloaded and grow, brokers and queries restart.

    make soak SOAK_MINUTES=30 SOAK_RATE=200

The official client is the oracle: every message must be in the sink exactly once. The page with verdicts and figures
goes to ``target/soak``, unless ``--output`` names a folder. The exit code is 1 when a verdict is negative.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from dataclasses import asdict
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pulsar

from benchmarks.report import keep
from benchmarks.run import say
from benchmarks.soak.page import page
from benchmarks.soak.spark import Spark
from benchmarks.soak.verdicts import Outcome, Sample, judge
from pulsar_spark.local import LocalPulsar
from support.servers.admin import Admin, AdminError
from support.spark.leaks import on_broker
from support.spark.waiting import eventually
from support.topics.messages import Message, read_all
from support.topics.steady_producer import SteadyProducer

if TYPE_CHECKING:
    from collections.abc import Callable

_NAMESPACE = "public/soak"
_TOPIC = f"persistent://{_NAMESPACE}/numbers"
_PARTITIONS, _MOST_PARTITIONS = 2, 6
_EVENT_SECONDS, _SAMPLE_SECONDS = 20.0, 15.0
_LEFT_SECONDS = 90.0
_LIMIT = 50_000


class Soak:
    """One run: a server, a producer, a stream, and what happens to them."""

    def __init__(self, server: LocalPulsar, spark: Spark, producing: SteadyProducer) -> None:
        self._server, self._spark, self._producing = server, spark, producing
        self._admin = Admin(server.admin_url)
        self._began = time.monotonic()
        self._unloads = 0
        self._partitions = _PARTITIONS
        self.samples: list[Sample] = []
        self.failures: list[str] = []
        self.events: dict[str, int] = {}

    def run(self, seconds: float) -> None:
        """Change something and look, again and again. The topic grows in the first third alone."""
        events: list[tuple[str, Callable[[], None]]] = [
            ("unload", self._unload),
            ("query restart", self._restart_query),
            ("partition added", self._grow),
            ("broker restart", lambda: self._server.restart(graceful=True)),
            ("unload", self._unload),
            ("query restart", self._restart_query),
            ("partition added", self._grow),
            ("broker kill", lambda: self._server.restart(graceful=False)),
        ]
        turns = cycle(events)
        next_event = next_sample = self._began
        while (now := time.monotonic()) < self._began + seconds:
            if now >= next_sample:
                self._look()
                next_sample = now + _SAMPLE_SECONDS
            elif now >= next_event:
                name, change = next(turns)
                if name != "partition added" or self._grows(seconds):
                    self._have(name, change)
                    next_event = now + _EVENT_SECONDS
            else:
                time.sleep(min(next_event, next_sample) - now)

    def _have(self, name: str, change: Callable[[], None]) -> None:
        try:
            change()
        except AdminError as error:  # a topic that is just being loaded refuses an unload
            say(f"no {name}: {error}")
        else:
            say(name)
            self.events[name] = self.events.get(name, 0) + 1

    def _look(self) -> None:
        looked = self._do("look")
        if looked["failure"] is not None:
            self._spark.do("start")
        sample = Sample(
            time.monotonic() - self._began,
            self._partitions,
            len(self._producing.acknowledged),
            looked["rows"],
            self._subscriptions(),
            looked["sizes"],
        )
        self.samples.append(sample)
        sizes = ", ".join(f"{name} {size:.0f}" for name, size in sample.sizes.items())
        say(
            f"{sample.second:5.0f} s: {sample.acknowledged:,} sent, {sample.rows:,} read, "
            f"{sample.subscriptions} subscriptions on {sample.partitions} partitions; MB: {sizes}"
        )

    def _do(self, action: str) -> dict[str, Any]:
        answer = self._spark.do(action)
        if answer["failure"] is not None:
            say(f"the query failed: {answer['failure'][:300]}")
            self.failures.append(answer["failure"])
        return answer

    def _subscriptions(self) -> int | None:
        try:
            return sum(1 for name in on_broker(self._admin, _NAMESPACE) if name.startswith("subscription"))
        except (OSError, AdminError):
            return None

    def _unload(self) -> None:
        self._unloads += 1
        self._admin.unload(f"{_TOPIC}-partition-{self._unloads % self._partitions}")

    def _restart_query(self) -> None:
        self._do("stop")
        self._spark.do("start")

    def _grows(self, seconds: float) -> bool:
        return self._partitions < _MOST_PARTITIONS and time.monotonic() < self._began + seconds / 3

    def _grow(self) -> None:
        self._partitions += 1
        self._admin.set_partitions(_TOPIC, self._partitions)

    def outcome(self, client: pulsar.Client) -> Outcome:
        """Drain and stop the stream, then compare its sink with what the official client reads."""
        self._look()
        say("draining")
        began = time.monotonic()
        self._spark.do("drain")
        drained = time.monotonic() - began
        self._spark.do("stop")
        left = self._subscriptions_left()
        rows = self._spark.rows()
        messages = missing = foreign = repeated = 0
        for number in range(self._partitions):
            partition = f"{_TOPIC}-partition-{number}"
            wanted = {one.id.position for one in read_all(client, partition)}
            found = rows.pop(partition, Counter[str]())
            messages += len(wanted)
            missing += len(wanted - found.keys())
            foreign += len(found.keys() - wanted)
            repeated += sum(found.values()) - len(found)
        foreign += sum(sum(found.values()) for found in rows.values())
        return Outcome(messages, missing, repeated, foreign, left, drained, tuple(self.failures))

    def _subscriptions_left(self) -> int:
        try:
            eventually(lambda: self._subscriptions() == 0, seconds=_LEFT_SECONDS)
        except AssertionError:
            return self._subscriptions() or -1
        return 0


def _message(number: int) -> Message:
    return Message(b"%d %d" % (number, time.time_ns()))


def soak(minutes: float, rate: int, level: str, work: Path) -> tuple[Soak, Outcome]:
    """Run it all in a folder."""
    server = LocalPulsar(data_dir=work / "pulsar")
    with server:
        admin = Admin(server.admin_url)
        admin.create_namespace(_NAMESPACE)
        admin.set_retention(_NAMESPACE, minutes=-1, megabytes=-1)
        admin.create_topic(_TOPIC, partitions=_PARTITIONS)
        options = {
            "service.url": server.service_url,
            "admin.url": server.admin_url,
            "topic": _TOPIC,
            "readLevel": level,
            "startingOffsets": "earliest",
            "metadataColumns": "__position",
            "maxMessagesPerTrigger": str(_LIMIT),
        }
        logger = pulsar.FileLogger(pulsar.LoggerLevel.Error, str(work / "client.log"))

        def connect() -> pulsar.Client:
            return pulsar.Client(server.service_url, logger=logger)

        with Spark(work, options) as spark:
            spark.do("start")
            with SteadyProducer(connect, _TOPIC, rate, _message) as producing:
                run = Soak(server, spark, producing)
                run.run(minutes * 60)
            with closing(connect()) as client:
                return run, run.outcome(client)


def main() -> int:
    """Run it; see the text of the module."""
    parser = argparse.ArgumentParser(description="Run a stream for a long time while everything around it changes.")
    parser.add_argument("--minutes", type=float, default=30.0, help="how long messages are sent")
    parser.add_argument("--rate", type=int, default=200, help="messages per second")
    parser.add_argument("--level", default="auto", choices=["auto", "broker", "segment"], help="the read level")
    parser.add_argument("--output", type=Path, default=Path("target/soak"), help="the folder for the page")
    parser.add_argument("--json", type=Path, help="a file for all samples and verdicts")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pulsar-spark-soak-") as work:
        run, outcome = soak(chosen.minutes, chosen.rate, chosen.level, Path(work))
    verdicts = judge(run.samples, outcome)
    if chosen.json:
        parts = {"samples": [asdict(one) for one in run.samples], "outcome": asdict(outcome), "events": run.events}
        text = json.dumps({**parts, "verdicts": [asdict(one) for one in verdicts]}, indent=1)
        chosen.json.write_text(text, encoding="utf-8")
    keep(chosen.output / "soak.md", page(chosen.minutes, chosen.rate, chosen.level, run.events, run.samples, verdicts))
    return 0 if all(verdict.passed for verdict in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
