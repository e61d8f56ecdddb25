"""Calls of the connector that show sinks and finish one, with the rights of the writes themselves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pulsar_spark._tables import option_table
from pulsar_spark.errors import PulsarOptionError, translated
from pulsar_spark.jvm import DriverJvm
from pulsar_spark.options import PulsarWriteOptions
from pulsar_spark.options.names import named_as_arguments
from pulsar_spark.options.received import SESSION, check
from pulsar_spark.options.resolve import FORMAT, checked, write_options
from pulsar_spark.sinks.results import FoundSink, RepairedSink
from pulsar_spark.sinks.status import SinkStatus

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_TABLE = "metadata"
_OF_SINKS = ("topic", "sinkNamespace", "sinkId")
_OF_CLUSTER = ("connection", "authentication", "tls")


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
        PulsarOptionError: An argument or option is wrong.
        PulsarSparkError: The topics cannot be listed or read.

    Examples:
        >>> find(spark, namespace="public/default", service_url="pulsar://localhost:6650")
        [FoundSink(sink='trips-copy', nonce='versions', target='persistent://public/default/trips', done=7)]
    """
    check("find", "spark", spark, SESSION)
    of_all = replace(options, sink_id=None) if options else None
    return [FoundSink(**row) for row in _rows(spark, "sinks", _options(of_all, namespace, topic, service_url, None))]


def status(
    spark: SparkSession,
    sink: str,
    *,
    namespace: str | None = None,
    topic: str | None = None,
    service_url: str | None = None,
    options: PulsarWriteOptions | None = None,
) -> SinkStatus:
    """Show an exactly-once sink: its last driver, its last epoch, and what is not finished. Changes nothing.

    With ``admin_url`` it also shows who is connected and which transactions are open, as far as the role may ask that.

    Args:
        spark: The session.
        sink: The option ``sinkId``, or the id of the query of a stream without it. The driver of a batch logs its id.
        namespace: ``tenant/namespace`` of the sink's topics. Default: that of ``topic``.
        topic: The topic of the write.
        service_url: The address of the brokers, as in `read_pulsar`.
        options: Further options, those of the write. Default: none.

    Returns:
        The state; ``text()`` has it in words.

    Raises:
        PulsarOptionError: An argument or option is wrong.
        PulsarCheckpointError: There is no such sink.
        PulsarSparkError: The topics cannot be read.

    Examples:
        >>> status(spark, "trips-copy", topic="trips", service_url="pulsar://localhost:6650").done.epoch
        7
    """
    check("status", "spark", spark, SESSION)
    rows = _rows(spark, "sink", _options(options, namespace, topic, service_url, sink))
    return SinkStatus.of(sink, rows)


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
    check("repair", "spark", spark, SESSION)
    if accept_lost is not None and accept_repeated is not None:
        raise PulsarOptionError("PULSAR_OPTION_CONFLICT", first="accept_lost", second="accept_repeated")
    given = _options(options, namespace, topic, service_url, sink)
    torn = "lost" if accept_lost is not None else "repeated" if accept_repeated is not None else ""
    epoch = accept_lost if accept_lost is not None else accept_repeated or 0
    jvm = DriverJvm.of(spark, "repair()")
    done = jvm.repaired_sink(checked(spark, given, "batchWrite"), torn, epoch)
    return RepairedSink.of(done)


def finish(
    spark: SparkSession,
    sink: str,
    *,
    namespace: str | None = None,
    topic: str | None = None,
    service_url: str | None = None,
    options: PulsarWriteOptions | None = None,
) -> RepairedSink:
    """Repair an exactly-once sink that nothing will write to any more, and remove its state.

    Do not start the write again afterwards: a stream with its old checkpoint is refused, unless it repeats its first
    micro-batch, and a batch with ``txnVersion`` is written again. A torn epoch is an error, as in `repair`.

    Args:
        spark: The session.
        sink: The option ``sinkId``, or the id of the query of a stream without it.
        namespace: ``tenant/namespace`` of the sink's topics. Default: that of ``topic``.
        topic: The topic of the write.
        service_url: The address of the brokers, as in `read_pulsar`.
        options: Further options, those of the write. Default: none.

    Returns:
        The result, as `repair` returns it.

    Raises:
        PulsarSetupError: The session is one of Spark Connect.
        PulsarOptionError: An argument or option is wrong.
        PulsarCheckpointError: There is no such sink, or a driver of it is connected.
        PulsarDataLossError: An epoch is torn.
        PulsarSparkError: The sink cannot be finished; the classes above are its subclasses.

    Examples:
        >>> finish(spark, "trips-copy", topic="trips", service_url="pulsar://localhost:6650").removed
        True
    """
    check("finish", "spark", spark, SESSION)
    given = _options(options, namespace, topic, service_url, sink)
    return RepairedSink.of(DriverJvm.of(spark, "finish()").finished_sink(checked(spark, given, "batchWrite")))


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


def _rows(spark: SparkSession, table: str, given: dict[str, str]) -> list[dict[str, Any]]:
    """The rows of a metadata table, which takes the options of a write as far as they are about cluster and sink."""
    known = {key: value for key, value in given.items() if _is_taken(key)}
    options = checked(spark, {**known, _TABLE: table}, _TABLE)
    with named_as_arguments(known), translated():
        rows = spark.read.format(FORMAT).options(**options).load().collect()
    return [row.asDict() for row in rows]


def _is_taken(key: str) -> bool:
    known = option_table()
    option, prefix = known.find(key), known.prefix_of(key)
    if prefix is not None:
        return known.accepts(prefix.scopes, (_TABLE,))
    return key in _OF_SINKS or (option is not None and option.group in _OF_CLUSTER)
