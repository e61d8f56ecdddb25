"""Calls of the connector that list sinks and finish one, with the rights of the writes themselves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pulsar_spark.errors import PulsarOptionError
from pulsar_spark.jvm import DriverJvm
from pulsar_spark.options import PulsarWriteOptions
from pulsar_spark.options.resolve import checked, write_options

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class FoundSink:
    """An exactly-once sink whose state is in a namespace.

    Attributes:
        sink: Its id.
        nonce: The owner of the state: ``query:<id>`` for a stream, ``versions`` for batches with ``txnVersion``,
            ``job`` for a batch without; None before the first write.
        target: Full name of the topic of the rows; ``*`` if rows name their topics; empty if it is not known.
        done: The last epoch that is written; None if there is none.
        prepared: An epoch that is decided and not finished; None if there is none.
    """

    sink: str
    nonce: str | None
    target: str
    done: int | None = None
    prepared: int | None = None


@dataclass(frozen=True)
class LostTask:
    """The transaction of a task whose rows are not in the topic.

    Attributes:
        partition: Spark's number of the task.
        attempt: Spark's id of the task attempt.
        rows: Number of its rows.
        bytes: Size of their values, in bytes.
        most: The upper half of the id of its transaction, a signed integer of 64 bits.
        least: The lower half.
    """

    partition: int
    attempt: int
    rows: int
    bytes: int
    most: int
    least: int


@dataclass(frozen=True)
class RepairedSink:
    """The result of a repair.

    Attributes:
        sink: The id of the sink.
        nonce: The owner of the state, as in `FoundSink`.
        epoch: The epoch that was decided and not finished; None if there was none.
        outcome: The end of that epoch: ``committed``, ``dropped`` (nothing of it is visible, it can be written again)
            or ``torn`` (a part is lost, which was accepted); None without an epoch.
        lost: The tasks of the epoch whose rows are lost.
        aborted: Number of transactions that were aborted because no epoch had decided them.
        removed: True if nothing needs the state any more, so its topics are deleted.
    """

    sink: str
    nonce: str | None
    epoch: int | None = None
    outcome: str | None = None
    lost: tuple[LostTask, ...] = ()
    aborted: int = 0
    removed: bool = False

    def text(self) -> str:
        """The result as text."""
        lines = []
        if self.epoch is not None:
            lines.append(f"Epoch {self.epoch} is {self.outcome}.")
            lines += [f"  lost: {one.rows} rows of partition {one.partition}" for one in self.lost]
        if self.aborted:
            lines.append(f"{self.aborted} transactions that no epoch had decided are aborted.")
        if self.removed:
            lines.append("The state of the batch is needed no more: its topics are removed.")
        return "\n".join(lines or ["There was nothing to repair."])


def find(
    spark: SparkSession,
    *,
    namespace: str | None = None,
    topic: str | None = None,
    service_url: str | None = None,
    options: PulsarWriteOptions | None = None,
) -> list[FoundSink]:
    """List the exactly-once sinks whose state is in a namespace.

    Args:
        spark: The session.
        namespace: ``tenant/namespace``. Default: that of ``topic``.
        topic: A topic in the namespace, instead of ``namespace``.
        service_url: The address of the brokers, as in `read_pulsar`.
        options: Further options, those of the writes. Default: none.

    Returns:
        The sinks, ordered by their ids.

    Raises:
        PulsarSetupError: The session is one of Spark Connect.
        PulsarOptionError: An argument or option is wrong.
        PulsarSparkError: The topics cannot be listed or read.

    Examples:
        >>> find(spark, namespace="public/default", service_url="pulsar://localhost:6650")
        [FoundSink(sink='trips-copy', nonce='versions', target='persistent://public/default/trips', done=7)]
    """
    given = _options(options, namespace, topic, service_url, None)
    jvm = DriverJvm.of(spark, "find()")
    listed = jvm.sinks(checked(spark, given, "batchWrite"))
    return [FoundSink(**one) for one in listed]


def repair(
    spark: SparkSession,
    sink: str,
    *,
    namespace: str | None = None,
    topic: str | None = None,
    service_url: str | None = None,
    options: PulsarWriteOptions | None = None,
    accept_lost: int | None = None,
    accept_repeated: int | None = None,
) -> RepairedSink:
    """Finish an exactly-once sink that no query writes to any more, as its next driver would.

    The repair commits an epoch that is decided, aborts every other open transaction, and removes the state of a batch
    without ``txnVersion``. It needs the rights of the write, and no admin service. If a part of the epoch is lost, it
    raises ``PULSAR_SINK_EPOCH_TORN``, which names the lost rows, or ``PULSAR_SINK_TOPIC_TERMINATED``, which names the
    topics where nothing can be committed. ``accept_lost`` or ``accept_repeated`` with the number of the epoch accepts
    that; set at most one of the two.

    Args:
        spark: The session.
        sink: The option ``sinkId``, or the id of the query of a stream without it. The driver of a batch logs its id.
        namespace: ``tenant/namespace`` of the sink's topics. Default: that of ``topic``.
        topic: The topic of the write.
        service_url: The address of the brokers, as in `read_pulsar`.
        options: Further options, those of the write. Default: none.
        accept_lost: The number of the torn epoch, to count it as written without the lost rows. Default: none.
        accept_repeated: The number of the torn epoch, to have the next start write it again as a whole. The rows of it
            that are in the topic are then there twice. Default: none.

    Returns:
        The result: the epoch, its outcome, and what was aborted or removed.

    Raises:
        PulsarSetupError: The session is one of Spark Connect.
        PulsarOptionError: An argument or option is wrong.
        PulsarCheckpointError: There is no such sink, or a driver of it is connected.
        PulsarDataLossError: An epoch is torn, and no argument accepts that.
        PulsarSparkError: The sink cannot be finished; the classes above are its subclasses.

    Examples:
        >>> repair(spark, "trips-copy", topic="trips", service_url="pulsar://localhost:6650").outcome
        'committed'
    """
    if accept_lost is not None and accept_repeated is not None:
        raise PulsarOptionError("PULSAR_OPTION_CONFLICT", first="accept_lost", second="accept_repeated")
    given = _options(options, namespace, topic, service_url, sink)
    torn = "lost" if accept_lost is not None else "repeated" if accept_repeated is not None else ""
    epoch = accept_lost if accept_lost is not None else accept_repeated or 0
    jvm = DriverJvm.of(spark, "repair()")
    done = jvm.repaired_sink(checked(spark, given, "batchWrite"), torn, epoch)
    return RepairedSink(**{**done, "lost": tuple(LostTask(**one) for one in done.get("lost", ()))})


def _options(
    options: PulsarWriteOptions | None,
    namespace: str | None,
    topic: str | None,
    service_url: str | None,
    sink: str | None,
) -> dict[str, str]:
    chosen = replace(options or PulsarWriteOptions(), delivery_guarantee="exactly-once")
    named = {"sinkNamespace": namespace, "sinkId": sink}
    given = {name: one for name, one in named.items() if one is not None}
    return write_options(chosen, topic, service_url, {}) | given
