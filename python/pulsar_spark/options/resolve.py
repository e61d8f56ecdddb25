"""Resolve arguments, option objects, the session and the environment to checked options, before any call to Spark."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from pulsar_spark._tables import option_table
from pulsar_spark.options import PulsarReadOptions, PulsarWriteOptions, WriteArguments, checks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import SparkSession

FORMAT = "pulsar"
SERVICE_URL_VARIABLE = "PULSAR_SERVICE_URL"

_SESSION_PREFIX = f"spark.datasource.{FORMAT}."
Options = TypeVar("Options", PulsarReadOptions, PulsarWriteOptions)


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


def checked(spark: SparkSession, given: dict[str, str], scope: str, *, inferred: bool = False) -> dict[str, str]:
    """Check the options together with those of the session, which Spark adds; returns the options to pass to Spark."""
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
    if inferred:
        # The JVM infers the columns before it knows whether the read is a batch or a stream.
        checks.check({**session, **given}, ("batchRead", "streamRead"))
    checks.check({**session, **given}, (scope,))
    return given
