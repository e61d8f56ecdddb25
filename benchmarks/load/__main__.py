"""How many messages a second a query copies from topic to topic on this machine: ``make bench-load``.

With options:

    .venv-4.1/bin/python -m benchmarks.load [--rates 70000,105000,140000,175000] [--minutes 4,1.2] [--pages]
        [--incumbent JAR] [--only "exactly once"]

A client sends messages of 500 bytes to a topic of four partitions at a steady rate. A query with a trigger of one
second writes each of them to a second topic. The rate rises until the sender does not reach it, or the backlog grows.
The connector at least once, exactly once, and Spark's Kafka source and sink take turns with each rate, and so does
streamnative/pulsar-spark if there is its shaded jar, built for the Spark line of the benchmarks. The topics' own
counters say what was sent and written. Writes ``results/load.json``, and from it ``load.md`` and plots; ``--pages``
writes the last two alone. Other rates, times or contenders go to ``target/benchmark``. Takes 40 minutes, with the jar
50; a minute at 70,000 messages a second needs 5 GB on the disk until its server stops.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyspark

from benchmarks.arena import HERE, compiled
from benchmarks.load.figures import Failure, Sample, Step
from benchmarks.load.page import write
from benchmarks.load.servers import CONTENDERS, PARTITIONS, SIZE, Contender, Place, incumbent, running
from benchmarks.processes import cpu_seconds, resident_megabytes, stolen_seconds
from benchmarks.run import say
from benchmarks.streams.queries import Queries, QueryFailedError, running_queries

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_RATES, _MINUTES = "70000,105000,140000,175000", "4,1.2"
_WARM_SECONDS, _SAMPLE_SECONDS, _DRAIN_SECONDS, _POLL_SECONDS = 30, 5.0, 120.0, 0.1


def _step(contender: Contender, rate: int, seconds: float, work: Path) -> Step:
    """One rate for some time after warming up, with a server and a Spark that have done nothing before."""
    with ExitStack() as stack:
        place = running(contender.source, work / "classes", work, stack)
        queries = stack.enter_context(running_queries("load.query", work / "spark.log", connector=contender.jar))
        return _measured(place, queries, contender, rate, seconds, work)


def _measured(place: Place, queries: Queries, contender: Contender, rate: int, seconds: float, work: Path) -> Step:
    topic, target = place.create(), place.create()
    checkpoint = tempfile.mkdtemp(prefix="checkpoint-", dir=work)
    queries.ask("begin", contender.source, place.address, topic, target, checkpoint, *contender.writes)
    sending = threading.Thread(target=place.send, args=(topic, rate, round(_WARM_SECONDS + seconds)))
    sending.start()
    time.sleep(_WARM_SECONDS)
    queries.ask("take")
    pids = {"generator": place.sender_pid, "server": place.server_pid, "spark": queries.pid}
    before, began = {name: cpu_seconds(pid) for name, pid in pids.items()}, time.monotonic()
    samples: list[Sample] = []
    while (second := time.monotonic() - began) < seconds:
        written = place.count(target)  # before what was sent, so that a backlog is not below 0
        memory = [resident_megabytes(pids[name]) for name in ("spark", "server")]
        samples.append(Sample(second, place.count(topic), written, *memory))
        time.sleep(_SAMPLE_SECONDS)
    took = time.monotonic() - began
    cores = {name: (cpu_seconds(pid) - before[name]) / took for name, pid in pids.items()}
    triggers = queries.ask("take")
    sending.join()
    drained = _drained(place, topic, target)
    queries.ask("end")
    sent, written = place.count(topic), place.count(target)
    return Step(contender.name, rate, took, sent, written, cores, drained, triggers, samples)


def _drained(place: Place, topic: str, target: str) -> float | None:
    """Seconds until the second topic has what the first has; None if that takes too long."""
    began, sent = time.monotonic(), place.count(topic)
    while place.count(target) < sent:
        if time.monotonic() - began > _DRAIN_SECONDS:
            return None
        time.sleep(_POLL_SECONDS)
    return time.monotonic() - began


def _steps(
    contenders: Sequence[Contender], rates: Sequence[int], minutes: Sequence[float], work: Path
) -> Iterator[Step | Failure]:
    """All rates; a contender that does not keep up with one, or fails, has none above it."""
    compiled(work)
    going_on = list(contenders)
    for number, rate in enumerate(rates):
        seconds = 60 * minutes[min(number, len(minutes) - 1)]
        for contender in tuple(going_on):
            try:
                step = _step(contender, rate, seconds, work)
            except QueryFailedError as e:
                say(f"{rate:,} messages/s, {contender.name}: {e}")
                yield Failure(contender.name, rate)
                going_on.remove(contender)
                continue
            say(
                f"{rate:,} messages/s, {contender.name}: {step.all_cores:.2f} cores, reached {step.reached:,.0f}, "
                f"{step.sent:,} sent, {step.written:,} written, {'keeps up' if step.keeps_up else 'full'}"
            )
            yield step
            if not step.keeps_up:
                going_on.remove(contender)


def main() -> int:
    """Run it; see the text of the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rates", default=_RATES, help="messages a second, rising")
    parser.add_argument("--minutes", default=_MINUTES, help="for the first rate, the second ...; the last for the rest")
    parser.add_argument("--incumbent", type=Path, help="the shaded jar of streamnative/pulsar-spark")
    parser.add_argument("--only", default="", help="contenders with this in their name")
    parser.add_argument("--pages", action="store_true", help="write the page and the plots of earlier results")
    parser.add_argument("--output", type=Path, help="the folder for the results")
    chosen = parser.parse_args()
    is_whole = (chosen.rates, chosen.minutes, chosen.only) == (_RATES, _MINUTES, "")
    file = (chosen.output or (HERE / "results" if is_whole else HERE.parent / "target/benchmark")) / "load.json"
    contenders = [*CONTENDERS, *([incumbent(chosen.incumbent)] if chosen.incumbent else [])]
    contenders = [one for one in contenders if chosen.only in one.name]
    if not chosen.pages:
        stolen = stolen_seconds()
        steps: list[dict[str, Any]] = []
        failed: list[dict[str, Any]] = []
        with tempfile.TemporaryDirectory(prefix="pulsar-spark-load-") as work:
            rates, minutes = (
                [int(one) for one in chosen.rates.split(",")],
                [float(m) for m in chosen.minutes.split(",")],
            )
            for step in _steps(contenders, rates, minutes, Path(work)):
                (failed if isinstance(step, Failure) else steps).append(asdict(step))
                run = {
                    "spark": pyspark.__version__,
                    "cores": os.cpu_count(),
                    "partitions": PARTITIONS,
                    "size": SIZE,
                    "stolen": round(stolen_seconds() - stolen, 1),
                }
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(json.dumps({"run": run, "steps": steps, "failed": failed}) + "\n", encoding="utf-8")
    write(file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
