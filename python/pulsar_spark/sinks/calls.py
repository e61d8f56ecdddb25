"""What the connector does for a sink: it lists sinks and finishes one, with the rights of the writes themselves."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pulsar_spark.errors import PulsarOptionError, PulsarSetupError, translated
from pulsar_spark.options import PulsarWriteOptions
from pulsar_spark.options.names import named_as_arguments
from pulsar_spark.options.resolve import checked, write_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class FoundSink:
    """An exactly-once sink whose state is in a namespace.

    Attributes:
        sink: Its id.
        nonce: Whose state it is: ``query:<id>`` of a stream, ``versions`` of batches with ``txnVersion``, ``job`` of a
            batch without; None while nobody has written.
        target: The topic of the rows, ``*`` when rows name their topics, empty when it is not known.
        done: The last epoch that is written.
        prepared: An epoch that is decided and not finished.
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
        rows: How many rows it had.
        bytes: The size of their values.
        most: The upper half of the id of its transaction.
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
    """What a repair did.

    Attributes:
        sink: The id of the sink.
        nonce: Whose state it is, as in `FoundSink`.
        epoch: The epoch that was decided and not finished, None if there was none.
        outcome: What became of it: ``committed``, ``dropped`` (nothing of it is visible, it can be written again) or
            ``torn`` (a part is lost, which was accepted).
        lost: The tasks of the epoch whose rows are lost.
        aborted: How many transactions that nobody had decided were aborted.
        removed: Whether the state is needed no more and its topics go.
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
        namespace: ``tenant/namespace``; that of the topic without it.
        topic: A topic in the namespace.
        service_url: The address of the brokers, as in `read_pulsar`.
        options: Further options, those of the writes.

    Returns:
        The sinks by their ids.

    Raises:
        PulsarSetupError: This is Spark Connect.
        PulsarOptionError: An argument or option is wrong.
        PulsarSparkError: The topics cannot be listed or read.

    Examples:
        >>> find(spark, namespace="public/default", service_url="pulsar://localhost:6650")
        [FoundSink(sink='trips-copy', nonce='versions', target='persistent://public/default/trips', done=7)]
    """
    given = _options(options, namespace, topic, service_url, None)
    listed = _call(spark, "find()", given, lambda sinks, jspark, text: sinks.list(jspark, text))
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
    """Finish an exactly-once sink that nobody writes to any more, as its next driver would.

    Commits an epoch that is decided, aborts every other open transaction, and removes the state of a batch without
    ``txnVersion``. Needs the rights of the write, and no admin service. An epoch of which a part is lost fails with
    ``PULSAR_SINK_EPOCH_TORN``, which names the lost rows, or with ``PULSAR_SINK_TOPIC_TERMINATED``, which names the
    topics where nothing can be committed, unless its number says that this is accepted.

    Args:
        spark: The session.
        sink: The option ``sinkId``, or the id of the query of a stream without it. The driver of a batch logs its id.
        namespace: ``tenant/namespace`` of the sink's topics; that of the topic without it.
        topic: The topic of the write.
        service_url: The address of the brokers, as in `read_pulsar`.
        options: Further options, those of the write.
        accept_lost: The number of the torn epoch, to count it as written without the lost rows.
        accept_repeated: The number of the torn epoch, to have the next start write it again as a whole. The rows that
            are there already are there twice then.

    Returns:
        What was done.

    Raises:
        PulsarSetupError: This is Spark Connect.
        PulsarOptionError: An argument or option is wrong.
        PulsarCheckpointError: There is no such sink, or a driver of it is connected.
        PulsarDataLossError: An epoch is torn.
        PulsarSparkError: The sink cannot be finished.

    Examples:
        >>> repair(spark, "trips-copy", topic="trips", service_url="pulsar://localhost:6650").outcome
        'committed'
    """
    if accept_lost is not None and accept_repeated is not None:
        raise PulsarOptionError("PULSAR_OPTION_CONFLICT", first="accept_lost", second="accept_repeated")
    given = _options(options, namespace, topic, service_url, sink)
    torn = "lost" if accept_lost is not None else "repeated" if accept_repeated is not None else ""
    epoch = accept_lost if accept_lost is not None else accept_repeated or 0
    done = _call(spark, "repair()", given, lambda sinks, jspark, text: sinks.repair(jspark, text, torn, epoch))
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


def _call(
    spark: SparkSession, name: str, given: dict[str, str], call: Callable[[Any, Any, dict[str, str]], str]
) -> Any:  # noqa: ANN401 - JSON has no type
    jspark: Any = getattr(spark, "_jsparkSession", None)
    if jspark is None:
        raise PulsarSetupError("PULSAR_NO_JVM", call=name)
    jvm: Any = spark._jvm  # noqa: SLF001 - py4j has no public API
    options = checked(spark, given, "batchWrite")
    with named_as_arguments(options), translated():
        return json.loads(call(jvm.io.github.pulsarspark.write.PulsarSinks, jspark, options))
