"""A read, a stream and a write as a test tries each of them, by options alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.topics.reading import run_available

if TYPE_CHECKING:
    from support.topics.writing import Target


def read(target: Target, options: dict[str, str]) -> None:
    target.spark.read.format("pulsar").options(**options).load().collect()


def stream(target: Target, options: dict[str, str]) -> None:
    rows = target.spark.readStream.format("pulsar").options(**options).load()
    run_available(rows.writeStream.format("noop"))


def write(target: Target, options: dict[str, str]) -> None:
    target.spark.sql("select 'x' as value").write.format("pulsar").mode("append").options(**options).save()
