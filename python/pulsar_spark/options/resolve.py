"""Resolve arguments, option objects, the session and the environment to checked options, before any call to Spark."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pulsar_spark._tables import ARGUMENTS, option_table
from pulsar_spark.errors import PulsarOptionError, install
from pulsar_spark.options import PulsarReadOptions, PulsarWriteOptions, ReadArguments, WriteArguments, checks
from pulsar_spark.options.bounds import bound_options
from pulsar_spark.options.names import named_as_arguments

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import SparkSession

    from pulsar_spark.options.bounds import Bound

FORMAT = "io.github.pulsarspark.PulsarTableProvider"
"""The class, since another connector may have the name ``pulsar`` too."""
SERVICE_URL_VARIABLE = "PULSAR_SERVICE_URL"

_TOPIC_KEYS = ("topic", "topics", "topicsPattern")
_SESSION_PREFIX = "spark.datasource.pulsar."
Options = TypeVar("Options", PulsarReadOptions, PulsarWriteOptions)


def read_options(
    function: str,
    options: PulsarReadOptions | None,
    topics: Mapping[str, str | Sequence[str] | None],
    bounds: Mapping[Literal["start", "end"], Bound | None],
    fields: Mapping[str, Any],
    more: dict[str, Any],
) -> dict[str, str]:
    """The options of a read.

    Args:
        function: The name of the function, for errors.
        options: The argument ``options``.
        topics: The arguments ``topics``, ``topic`` and ``topics_pattern``.
        bounds: The arguments ``start`` and ``end``, as far as the function has them.
        fields: Further arguments by the names of their fields in `PulsarReadOptions`.
        more: The argument ``more``.

    Raises:
        PulsarOptionError: An argument is wrong.
    """
    named = (*topics, *bounds, "service_url", "metadata_columns", "level", "schema", "options")
    for name in more:
        if ARGUMENTS.get(name) in named:
            raise PulsarOptionError(
                "PULSAR_ARGUMENT_REPLACED", function=function, argument=ARGUMENTS[name], option=name
            )
    check_names(more, ReadArguments.__annotations__, named)
    with named_as_arguments(ARGUMENTS, ARGUMENTS):
        own = options or PulsarReadOptions()
        given = combined(own if fields.get("read_level") is None else replace(own, level=None), fields, more)
    given = _topic_options(given, {name: value for name, value in topics.items() if value is not None})
    now = datetime.now(timezone.utc)
    for argument, bound in bounds.items():
        if bound is not None:
            _remove(given, f"{argument}ingOffsets", f"{argument}ingTime")
            given |= bound_options(argument, bound, topic=given.get("topic"), now=now)
    return given


def write_options(
    options: PulsarWriteOptions | None, topic: str | None, service_url: str | None, more: dict[str, Any]
) -> dict[str, str]:
    """The options of a write."""
    check_names(more, WriteArguments.__annotations__, ("topic", "service_url", "options"))
    return combined(options or PulsarWriteOptions(), {"service_url": service_url, "topic": topic}, more)


def combined(options: Options, fields: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, str]:
    """The options overridden by arguments; None in ``fields`` means not set."""
    given = {name: value for name, value in fields.items() if value is not None}
    return replace(options, **{**more, **given}).to_options()


def check_names(more: Mapping[str, Any], allowed: Mapping[str, Any], named: Sequence[str]) -> None:
    """Reject names that are not fields of an option class; ``named`` are the function's own arguments."""
    for name in more:
        if name not in allowed:
            raise checks.unknown(name, (*allowed, *named))


def checked(
    spark: SparkSession,
    given: dict[str, str],
    scope: str,
    *,
    inferred: bool = False,
    arguments: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Check the options together with those of the session, which Spark adds; returns the options to pass to Spark.

    Args:
        spark: The session.
        given: The options that Python sets.
        scope: Their scope.
        inferred: Whether the JVM infers the columns.
        arguments: As in `named_as_arguments`.

    Raises:
        PulsarOptionError: An option is wrong.
    """
    install()
    meaning = option_table().meaning
    overridden = {meaning(key) for key in given}
    session = {
        key.removeprefix(_SESSION_PREFIX): value
        for key, value in spark.conf.getAll.items()
        if key.startswith(_SESSION_PREFIX) and meaning(key.removeprefix(_SESSION_PREFIX)) not in overridden
    }
    url = os.environ.get(SERVICE_URL_VARIABLE)
    if url and "service.url" not in overridden | {meaning(key) for key in session}:
        given = {**given, "service.url": url}
    with named_as_arguments(given, arguments):
        if inferred:
            # The JVM infers the columns before it knows whether the read is a batch or a stream.
            checks.check({**session, **given}, ("batchRead", "streamRead"))
        checks.check({**session, **given}, (scope,))
    return given


def _topic_options(given: dict[str, str], topics: Mapping[str, str | Sequence[str]]) -> dict[str, str]:
    """The options with these arguments for topics instead of other topics."""
    if len(topics) > 1:
        first, second, *_ = topics
        raise PulsarOptionError("PULSAR_OPTION_CONFLICT", first=first, second=second)
    for name, value in topics.items():
        _remove(given, *_TOPIC_KEYS)
        if name == "topics_pattern":
            given["topicsPattern"] = str(value)
        else:
            text = _names(name, value)
            is_list = not isinstance(value, str) or (name == "topics" and "," in value)
            given["topics" if is_list else "topic"] = text
    return given


def _names(argument: str, topics: object) -> str:
    """Names of topics as the option has them."""
    if isinstance(topics, str):
        return topics
    given = list(topics) if isinstance(topics, Iterable) and not isinstance(topics, bytes) else [topics]
    names = [name for name in given if isinstance(name, str)]
    if names != given:
        allowed = "the name of a topic, or a list of names, as texts"
        raise PulsarOptionError("PULSAR_OPTION_INVALID", option=argument, value=str(topics), allowed=allowed)
    return ",".join(names)


def _remove(options: dict[str, str], *keys: str) -> None:
    for key in keys:
        options.pop(key, None)
