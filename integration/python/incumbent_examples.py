"""The examples of streamnative/pulsar-spark's README as a table, and each as the Scala text that a user types.

In values, ``{url}`` and ``{admin}`` are the addresses of the server, ``{ns}`` is the namespace of the topics, and
``{starts}``, ``{ends}``, ``{earliest}`` and ``{latest}`` are message ids as arrays of signed bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

Rows: TypeAlias = tuple[tuple[str, str], ...]
Option: TypeAlias = tuple[str, str]

# Key and value of the messages in topic1 and topic2.
FIRST: Rows = (("a", "one"), ("b", "two"))
SECOND: Rows = (("c", "three"),)
# What a stream finds that starts with the next message, and what each write sends.
NEXT: Rows = (("n", "next"),)
SENT: Rows = (("s", "sent"),)

_PAIR = ("CAST(__key AS STRING)", "CAST(value AS STRING)")
_URL = ("service.url", "{url}")
_ONE = ("topic", "{ns}/topic1")
_TWO = ("topics", "{ns}/topic1,{ns}/topic2")
_PATTERN = ("topicsPattern", "{ns}/topic.*")
_PLUGIN = ("pulsar.client.authPluginClassName", "org.apache.pulsar.client.impl.auth.AuthenticationToken")
_UNSUPPORTED = "PULSAR_OPTION_UNSUPPORTED"
# Spark's own: only sources of its first interface are written without a mode, unless they have a catalog.
_NEEDS_MODE = "UNSUPPORTED_DATA_SOURCE_SAVE_MODE"


@dataclass(frozen=True)
class Example:
    """One example, and how it ends.

    Attributes:
        section: Section of the README, and what the example is about.
        door: The method of Spark that the example calls.
        options: Options in the order of the example.
        ends: Rows as key and value, or the condition of the error.
        columns: What the example selects.
        mode: Mode of a batch write. The examples have none.
    """

    section: str
    door: str
    options: tuple[Option, ...]
    ends: Rows | str
    columns: tuple[str, ...] = _PAIR
    mode: str = ""

    def scala(self) -> str:
        """The example itself, then the call that shows how it ends."""
        options = "".join(f'\n  .option("{name}", """{value}""")' for name, value in self.options)
        selected = ", ".join(f'"{column}"' for column in self.columns)
        if self.door in ("read", "readStream"):
            return (
                f'val df = spark\n  .{self.door}\n  .format("pulsar"){options}\n  .load()\n'
                f"val ds = df.selectExpr({selected})\n  .as[(String, String)]\nEnds.{self.door}(ds)"
            )
        end = "start" if self.door == "writeStream" else "save"
        mode = f'\n  .mode("{self.mode}")' if self.mode else ""
        return (
            f"val df = Ends.{self.door}Source\n"
            f'val ds = df.selectExpr({selected})\n  .{self.door}\n  .format("pulsar"){options}{mode}\n  .{end}()\n'
            f"Ends.{self.door}(ds)"
        )


def _read(section: str, *options: Option, ends: Rows | str = FIRST) -> Example:
    return Example(section, "read", (_URL, *options), ends)


def _stream(section: str, *options: Option, ends: Rows | str = NEXT) -> Example:
    return Example(section, "readStream", (_URL, *options), ends)


def _configured(name: str, value: str, ends: Rows | str, *more: Option, door: str = "read") -> Example:
    return Example(f"Configurations: {name}", door, (_URL, _ONE, *more, (name, value)), ends)


EXAMPLES = (
    _read("Batch source: one topic", _ONE),
    _read(
        "Batch source: several topics with offsets",
        _TWO,
        ("startingOffsets", "{starts}"),
        ("endingOffsets", "{ends}"),
        ends=FIRST[1:] + SECOND,
    ),
    _read(
        "Batch source: a pattern",
        _PATTERN,
        ("startingOffsets", "earliest"),
        ("endingOffsets", "latest"),
        ends=FIRST + SECOND,
    ),
    _stream("Streaming source: one topic", _ONE),
    _stream("Streaming source: several topics", _TWO),
    _stream("Streaming source: a pattern", _PATTERN),
    Example("Batch sink: topic in an option", "write", (_URL, _ONE), _NEEDS_MODE),
    Example("Batch sink: topic in an option", "write", (_URL, _ONE), SENT, mode="append"),
    Example("Batch sink: topic in the data", "write", (_URL,), _NEEDS_MODE, ("__topic", *_PAIR)),
    Example("Batch sink: topic in the data", "write", (_URL,), SENT, ("__topic", *_PAIR), mode="append"),
    Example("Streaming sink: topic in an option", "writeStream", (_URL, _ONE), SENT),
    Example("Streaming sink: topic in the data", "writeStream", (_URL,), SENT, ("__topic", *_PAIR)),
    _configured("admin.url", "{admin}", FIRST),
    _configured("maxBytesPerTrigger", "1000000", NEXT, ("admin.url", "{admin}"), door="readStream"),
    _configured("predefinedSubscription", "mine", NEXT, door="readStream"),
    _configured("subscriptionPrefix", "mine", FIRST),
    _configured("pollTimeoutMs", "6000", FIRST),
    _configured("waitingForNonExistedTopic", "false", FIRST),
    _stream(
        "Configurations: waitingForNonExistedTopic",
        ("topics", "{ns}/topic1,{ns}/absent"),
        ("waitingForNonExistedTopic", "true"),
    ),
    _configured("startingOffsets", "earliest", FIRST + NEXT, door="readStream"),
    _configured("startingOffsets", "latest", NEXT, ("failOnDataLoss", "true"), door="readStream"),
    _configured("startingOffsets", "latest", "PULSAR_START_LATEST"),
    _configured("startingOffsets", '{{"{ns}/topic1":{latest}}}', "PULSAR_START_LATEST"),
    _configured("endingOffsets", "latest", FIRST),
    _configured("endingOffsets", '{{"{ns}/topic1":{earliest}}}', "PULSAR_END_EARLIEST"),
    _configured("startingTime", "1709254800000", FIRST),
    _configured("endingTime", "1709254800000", ()),
    _configured("failOnDataLoss", "false", NEXT, door="readStream"),
    _stream(
        "Configurations: allowDifferentTopicSchemas",
        ("topicsPattern", "{ns}/.*"),
        ("allowDifferentTopicSchemas", "true"),
    ),
    _configured("pulsar.admin.tlsAllowInsecureConnection", "false", FIRST),
    _configured("pulsar.reader.subscriptionName", "mine", FIRST),
    Example(
        "Configurations: pulsar.producer.*",
        "write",
        (_URL, _ONE, ("pulsar.producer.blockIfQueueFull", "true")),
        SENT,
        mode="append",
    ),
    _stream(
        "Authentication: a token",
        _PLUGIN,
        ("pulsar.client.authParams", "token:<valid client JWT token>"),
        ("topicsPattern", "{ns}/topic1"),
    ),
    _stream(
        "Authentication: another token for the admin service",
        ("pulsar.admin.authPluginClassName", _PLUGIN[1]),
        ("pulsar.admin.authParams", "token:<valid admin JWT token>"),
        _PLUGIN,
        ("pulsar.client.authParams", "token:<valid client JWT token>"),
        ("topicsPattern", "{ns}/topic1"),
    ),
)
