"""Checks of errors: their condition and text, and whether Spark started a job before."""

from __future__ import annotations

import itertools
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from pulsar_spark import PulsarSparkError
from support.spark.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

_CONDITION = re.compile(r"\[(PULSAR_[A-Z_.]+)\]")
_markers = itertools.count(1)


def get_condition(error: BaseException) -> str:
    """The condition by Spark's `getCondition`, not by the text; empty when there is none."""
    if isinstance(error, PulsarSparkError):
        return error.condition
    if isinstance(error, Py4JJavaError):
        java = error.java_exception
        return str(java.getCondition()) if hasattr(java, "getCondition") else ""
    return (error.getCondition() or "") if isinstance(error, PySparkException) else ""


@contextmanager
def refused(condition: str, *words: str) -> Iterator[pytest.ExceptionInfo[Exception]]:
    """The block fails on the driver with this condition, and the text contains all the words."""
    with pytest.raises((PySparkException, Py4JJavaError, PulsarSparkError)) as failure:
        yield failure
    assert get_condition(failure.value) == condition, failure.value
    assert_says(failure.value, condition, *words)


@contextmanager
def failing(condition: str, *words: str) -> Iterator[pytest.ExceptionInfo[Exception]]:
    """The block fails in a task or a stream, with the error wrapped by Spark."""
    with pytest.raises((PySparkException, Py4JJavaError)) as failure:
        yield failure
    assert_says(failure.value, condition, *words)


def assert_says(error: BaseException, condition: str, *words: str) -> None:
    text = str(error)[:3000]
    assert _CONDITION.findall(text)[:1] == [condition], text
    assert [word for word in words if word not in text] == [], text
    assert " What to do: " in text


@contextmanager
def no_job(spark: SparkSession) -> Iterator[None]:
    """Spark starts no job inside; job numbers are consecutive, so that one before and one after must be neighbours."""
    before = _marker_job(spark)
    yield
    after = _marker_job(spark)
    assert after - before == 1, f"{after - before - 1} jobs were started"


def _marker_job(spark: SparkSession) -> int:
    context = spark.sparkContext
    group = f"marker {next(_markers)}"
    context.setJobGroup(group, "shows the number of the next job")
    try:
        spark.range(1).write.format("noop").mode("append").save()
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]
    jobs = eventually(lambda: list(context.statusTracker().getJobIdsForGroup(group)))
    assert len(jobs) == 1
    return int(jobs[0])
