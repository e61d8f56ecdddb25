"""Checks of the arguments that are objects of Spark.

Classic Spark and Spark Connect have classes of their own, and so have platforms. So an object is known by what it has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pulsar_spark.errors import PulsarOptionError, translated

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Kind:
    """A kind of object of Spark.

    Attributes:
        name: The name in errors.
        has: Its attributes; no other kind has all of them.
        remedy: What to pass.
    """

    name: str
    has: tuple[str, ...]
    remedy: str

    def has_all(self, value: object) -> bool:
        """True if a value is of this kind. Classes, such as `SparkSession` itself, and texts are of none."""
        return not isinstance(value, type | str) and all(hasattr(value, name) for name in self.has)


SESSION = Kind("a Spark session", ("conf",), "Pass a session, such as `pulsar_spark.session()` returns")
BUILDER = Kind("a builder of sessions", ("_options", "getOrCreate"), "Pass `SparkSession.builder`")
FRAME = Kind(
    "a DataFrame of Spark",
    ("sparkSession",),
    "Pass a DataFrame, such as `read_pulsar`, `spark.table` or `spark.createDataFrame` returns",
)
WRITER = Kind("the writer of a stream", ("trigger",), "Pass a writer, such as `rows.writeStream.format(...)` returns")
QUERY = Kind("a streaming query", ("awaitTermination",), "Pass a query, such as `write_pulsar_stream` returns")
PROGRESSES = Kind("progresses", ("__iter__",), "Pass what `watch` or `history` returns")
TOPICS = Kind("topics", ("index", "count"), "Pass the name of a topic, or a list of names")
COLUMN = Kind("a column or its name", ("isNull",), "Pass a column, such as `rows.value`, or its name as text")


def check(function: str, argument: str, value: object, *kinds: Kind) -> None:
    """Check that an argument is an object of one of these kinds.

    Raises:
        PulsarOptionError: It is something else.
    """
    if not any(kind.has_all(value) for kind in kinds):
        raise _error(function, argument, kinds, _described(value))


def check_frame(function: str, argument: str, value: Any, *, streaming: bool, instead: str) -> None:  # noqa: ANN401
    """Check that an argument is a DataFrame of a batch, or one of a stream.

    Args:
        function: The function that received it.
        argument: The name of the argument.
        value: The argument.
        streaming: Whether it has to be a stream.
        instead: What to do with the other one.

    Raises:
        PulsarOptionError: It is something else.
    """
    check(function, argument, value, FRAME)
    with translated():  # Spark Connect analyses the query here
        is_streaming = value.isStreaming
    if is_streaming is (not streaming):
        wanted, found = ("a stream", "a batch") if streaming else ("a batch", "a stream")
        expected = Kind(f"the DataFrame of {wanted}", (), instead)
        raise _error(function, argument, (expected,), f"the one of {found}")


def _error(function: str, argument: str, kinds: Sequence[Kind], found: str) -> PulsarOptionError:
    return PulsarOptionError(
        "PULSAR_ARGUMENT_TYPE",
        function=function,
        argument=argument,
        expected=", or ".join(kind.name for kind in kinds),
        found=found,
        remedy=kinds[0].remedy,
    )


def _described(value: object) -> str:
    """A value in words, without what it contains, which may be a secret or a table."""
    if value is None:
        return "None"
    if isinstance(value, type):
        return f"the class `{value.__qualname__}`"
    kind = type(value)
    place = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    return f"an object of type `{place}{kind.__qualname__}`"
