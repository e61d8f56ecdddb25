"""What writes cost: topics by row, exactly-once, small epochs, and reading them back: ``make bench-writing``.

With options:

    .venv-4.1/bin/python -m benchmarks.writes.writing [--scale 0.1] [--rounds 3] [--warm 1] [--output FOLDER]

All rows have 100 bytes. Contenders take turns; the first ``--warm`` rounds do not count. Each part
checks the number of messages in its topics, and a wrong one ends the run. The parts:

- one million rows to one topic, and to 100 topics by the column ``__topic``; then 1,000 rows to the same topics
- streams with ``deliveryGuarantee=exactly-once`` beside at-least-once, in epochs of 100,000 and of 1,000 rows
- the time from the last row of an epoch to a consumer that reads along, by both guarantees
- reading the topics of the epochs of 1,000 rows, at both levels
- epochs of 10 rows, beside Spark's Kafka sink

``--scale`` shortens all of them, to that part of the rows or epochs. Writes ``writing.md``.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from benchmarks import kafka
from benchmarks.arena import HERE, SERVER_HEAP, compiled, java_commands, local_pulsar
from benchmarks.processes import Worker
from benchmarks.report import keep
from benchmarks.workloads import write_content
from benchmarks.writes.bench import PARTITIONS, SIZE, Bench
from benchmarks.writes.parts import LARGE, SMALL, guarantees, reads, tiny, topics, visible

_HEAD = """# Writing

Made by `make bench-writing`, not by hand: rows of {size} B in Spark `local[2]`, {rounds} rounds in turns after {warm}
not counted (four of batches by topic and of epochs of 100,000 rows, five of reads). Servers and Spark share {cores}
cores; load average {load:.1f} at the end. Rows per second are medians (least to most). Topics of streams have
{partitions} partitions. All settings of producers are defaults, but for the publish delay where it is named.

- **Topics by row**: two tasks write; the topics exist. Each row has its topic in the column `__topic`, which Spark
  makes of its number, but for the write that names it by the option. Rows come in turn, one for each topic, or sorted
  by topic. "Rows in a batch" is over all batches that the topics have.
- **Epochs**: Spark's `rate-micro-batch` source without a trigger, so an epoch begins when the one before ends. Rates
  are from the beginning of the first counted epoch to the end of the last. Milliseconds are medians of Spark's
  `durationMs`; `addBatch` has the tasks and the commit of an epoch in it. CPU is that of the whole Spark process for
  each epoch.
- **To a consumer**: from the task's clock when it has the last row of an epoch, to the clock of the official Python
  client when it has received all rows of the epoch, on the same machine. Its loop over the rows is in the figures.
- **Epochs of a few rows**: each sink has a Spark process of its own, all of them as warm.
- **Reading**: a batch of all columns to `noop`. Entries are batches, and markers of transactions.

"""


def main() -> int:
    """Run it; see the text of the module."""
    parser = argparse.ArgumentParser(description="Measure writes.")
    parser.add_argument("--scale", type=float, default=1.0, help="so many times the rows or epochs")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--warm", type=int, default=1, help="rounds before those that count")
    parser.add_argument("--output", type=Path, help="the folder for the results")
    chosen = parser.parse_args()
    with ExitStack() as stack:
        work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pulsar-spark-")))
        write_content(work, {SIZE})
        java = java_commands(compiled(work))
        server = stack.enter_context(local_pulsar(transactions=True))
        other = stack.enter_context(kafka.LocalKafka(SERVER_HEAP))
        client = stack.enter_context(Worker([*java["kafka"], other.servers], work / "kafka.log"))
        bench = Bench(server, other, client, work, chosen.rounds, chosen.warm, chosen.scale)
        spark = stack.enter_context(bench.spark("pulsar"))
        sections = [
            topics(bench, spark),
            guarantees(bench, spark, LARGE, 0.85),
            guarantees(bench, spark, SMALL, 0.6),
            visible(bench, spark),
            reads(bench, spark),
            tiny(bench),
        ]
    head = _HEAD.format(
        size=SIZE,
        warm="one that is" if chosen.warm == 1 else f"{chosen.warm} that are",
        rounds=chosen.rounds,
        cores=os.cpu_count(),
        load=os.getloadavg()[0],
        partitions=PARTITIONS,
    )
    folder = HERE / "results" if chosen.scale == 1 else HERE.parent / "target" / "benchmark"
    keep((chosen.output or folder) / "writing.md", head + "\n\n".join(sections) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
