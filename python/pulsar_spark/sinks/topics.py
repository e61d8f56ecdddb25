"""The control topics of a sink, by the official client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pulsar_spark.sinks.records import Record, SinkError, parse
from pulsar_spark.sinks.state import ControlTopics

if TYPE_CHECKING:
    import pulsar

_LOG, _OPEN, _MARK = "log", "open", "mark"
_READ_MILLISECONDS = 30_000


def topic(namespace: str, sink: str, which: str) -> str:
    """The full name of one of the topics: ``log``, ``open`` or ``mark``."""
    return f"persistent://{namespace}/pulsar-spark-sink-{sink}-{which}"


def log_topic(namespace: str, sink: str) -> str:
    """The full name of the log topic, which the driver of the sink owns."""
    return topic(namespace, sink, _LOG)


def connect(service_url: str, **settings: Any) -> pulsar.Client:  # noqa: ANN401 - the client's own settings
    """Create a client that logs errors only.

    Raises:
        SinkError: The package ``pulsar-client`` is missing.
    """
    try:
        import pulsar
    except ImportError as error:
        raise SinkError("This needs the official client: pip install pulsar-client") from error
    return pulsar.Client(service_url, logger=pulsar.ConsoleLogger(pulsar.LoggerLevel.Error), **settings)


def read_topics(client: pulsar.Client, namespace: str, sink: str) -> ControlTopics:
    """Read every record that readers see now. The log comes first: what it decides was opened before.

    Raises:
        SinkError: A topic cannot be read, or a message is not a record.
    """
    log, opened, mark = (_read(client, topic(namespace, sink, which)) for which in (_LOG, _OPEN, _MARK))
    return ControlTopics(log, opened, mark)


def _read(client: pulsar.Client, name: str) -> tuple[Record, ...]:
    import pulsar

    try:
        reader = client.create_reader(name, pulsar.MessageId.earliest)
    except pulsar.PulsarException as error:
        raise SinkError(f"Topic {name} cannot be read: {error}.") from error
    try:
        found = []
        while reader.has_message_available():
            found.append(parse(reader.read_next(timeout_millis=_READ_MILLISECONDS).data()))
        return tuple(found)
    except pulsar.PulsarException as error:
        raise SinkError(f"Topic {name} cannot be read: {error}.") from error
    finally:
        reader.close()
