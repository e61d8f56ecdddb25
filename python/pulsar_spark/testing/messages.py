"""Messages that a test puts into a topic, and those that it expects in one."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, TypeAlias

from pulsar_spark.testing.differences import as_values, difference

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pyspark.sql import Row
    from pyspark.sql.types import StructType
    from typing_extensions import Unpack

    from pulsar_spark.options import WriteArguments
    from pulsar_spark.testing.topics import Topic

    Message: TypeAlias = Row | Mapping[str, Any] | str | bytes | int | float | None

_POLL_SECONDS = 0.2


def produce(
    topic: Topic,
    messages: Iterable[Message],
    schema: StructType | str | None = None,
    **more: Unpack[WriteArguments],
) -> None:
    """Write messages to a topic, in their order, and return when the cluster has all of them.

    Args:
        topic: The topic.
        messages: A dict or `Row` for each message, with its columns; ``__key``, ``__eventTime`` and the other metadata
            columns are those parts of the message. Or texts, bytes or numbers, which are the value itself, and None
            for no value.
        schema: The columns, as text such as ``"city string, km double"`` or as a `StructType`. Default: those of the
            messages, as Spark infers them.
        more: Options of `write_pulsar`, such as ``schema_type="json"``.

    Raises:
        PulsarSparkError: The topic does not accept the messages.

    Examples:
        >>> produce(pulsar_topic, [{"__key": "taxi-1", "km": 12.5}, {"__key": "taxi-2", "km": 8.0}])
        >>> produce(pulsar_topic, ["first", "second"])
    """
    rows: list[Any] = list(messages)
    if not rows:
        return
    if not (isinstance(rows[0], dict) or hasattr(rows[0], "asDict")):
        rows = [{"value": row} for row in rows]
    frame = topic.spark.createDataFrame(rows, schema)
    topic.pulsar.write(frame.coalesce(1), topic.name, **more)


def messages_of(topic: Topic, columns: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Read all messages of a topic.

    Args:
        topic: The topic. One that does not exist has no messages.
        columns: Names of columns, metadata columns too. Default: those of the value.

    Returns:
        A dict for each message, in the order of the topic, partition by partition.

    Raises:
        AssertionError: The messages have no such column.
    """
    __tracebackhide__ = True
    rows = topic.pulsar.read(topic.name, start="earliest", level="broker", allow_missing_topics=True)
    own = [name for name in rows.columns if not name.startswith("__")]
    absent = [name for name in columns if name not in own and not name.startswith("__")]
    if absent:
        if rows.isEmpty():
            return []
        raise AssertionError(f"the messages of {topic} have no column {', '.join(absent)}, but {', '.join(own)}.")
    found = rows.orderBy("__topic", "__ledgerId", "__entryId", "__batchIndex").select(*(columns or own)).collect()
    return [as_values(row) for row in found]


def assert_messages(topic: Topic, expected: Iterable[Message], *, in_order: bool = False, seconds: float = 0) -> None:
    """Check that a topic has these messages, each as often as it is listed, and no others.

    Args:
        topic: The topic.
        expected: As the messages of `produce`. The columns that they name are compared, and no others. A text equals
            its bytes in UTF-8, as those of a key.
        in_order: If True, in this order, too; partitions follow each other.
        seconds: How long to wait for the messages. Default: they must be there.

    Raises:
        AssertionError: Messages are missing, or there are others; it lists them.

    Examples:
        >>> assert_messages(totals, [{"__key": "Berlin", "km": 12.5}], seconds=30)
    """
    __tracebackhide__ = True
    wanted = [as_values(one) for one in expected]
    columns = list(dict.fromkeys(name for one in wanted for name in one))
    deadline = time.monotonic() + seconds
    while problem := difference(str(topic), wanted, messages_of(topic, columns), in_order=in_order):
        if time.monotonic() >= deadline:
            raise AssertionError(problem)
        time.sleep(_POLL_SECONDS)
