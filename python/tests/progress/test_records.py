"""Progress of queries as typed values: what real runs of Spark reported, and what else it may report."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import Any

import pytest
from pyspark.sql.streaming.listener import StreamingQueryProgress
from reports import REPORTS, TOPIC, UNKNOWN, source_with

from pulsar_spark import PulsarOptionError
from pulsar_spark.progress import Backlog, parse

BEHIND, _, DONE = (parse(report) for report in REPORTS)


def test_a_report_of_a_query_that_is_behind() -> None:
    (source,) = BEHIND.sources
    worst = f"{TOPIC}-partition-1"
    assert (BEHIND.batch_id, BEHIND.rows, source.rows) == (0, 40, 40)
    assert BEHIND.label == BEHIND.id
    assert BEHIND.seconds > 0
    assert BEHIND.time.tzinfo == timezone.utc
    assert (source.backlog.entries, source.backlog.messages, source.partitions_behind) == (16, 80, 1)
    assert source.worst_partition == worst
    assert source.worst == source.backlog
    assert not source.backlog.is_empty
    assert source.rows_by_level == {"broker": 40, "bookies": 0, "tiered": 0}
    assert (source.end[worst], source.latest[worst]) != (source.latest[worst], source.latest[worst])
    assert source.description == f"Pulsar[{TOPIC}]"


def test_a_report_of_a_query_that_has_read_everything() -> None:
    (source,) = DONE.sources
    assert source.backlog == Backlog(0, 0, 0, 0.0)
    assert source.backlog.is_empty
    assert (source.partitions_behind, source.worst_partition, source.worst) == (0, None, None)
    assert source.end == source.latest


def test_unknown_is_none_and_never_0() -> None:
    (source,) = parse(UNKNOWN).sources
    assert source.backlog == Backlog(None, None, None, source.backlog.seconds)
    assert source.partitions_behind == 1
    assert not source.backlog.is_empty
    (older,) = parse(source_with({"pulsarDataLoss": "0"})).sources
    assert (older.backlog, older.partitions_behind) == (Backlog(), None), "a jar that does not report it"


def test_objects_of_pyspark_dictionaries_and_texts_are_the_same() -> None:
    fields = json.loads(REPORTS[0])
    for made in (StreamingQueryProgress.fromJson(fields), fields):
        assert parse(made) == BEHIND


def test_offsets_may_be_texts_of_python() -> None:
    """Spark Connect 4.0 and 4.1 hand them to listeners like that."""
    fields = json.loads(REPORTS[0])
    for name in ("startOffset", "endOffset", "latestOffset"):
        fields["sources"][0][name] = str(fields["sources"][0][name])
    assert "'positions'" in fields["sources"][0]["endOffset"]
    assert parse(fields) == BEHIND
    fields["sources"][0]["endOffset"] = "{'positions'"
    with pytest.raises(PulsarOptionError, match="PULSAR_PROGRESS_MALFORMED"):
        parse(fields)


def test_losses_are_counted_and_listed() -> None:
    lost = [{"condition": "PULSAR_DATA_LOSS.TRIMMED", "topic": "t", "from": "1:2", "to": "3:4"}]
    report = source_with({"pulsarDataLoss": "21", "pulsarDataLossRanges": json.dumps(lost)})
    (source,) = parse(report).sources
    assert (source.lost_ranges, list(source.losses)) == (21, lost)


def test_rates_that_spark_cannot_compute_are_none() -> None:
    fields = json.loads(REPORTS[0])
    fields["sources"][0].update(inputRowsPerSecond=float("nan"), processedRowsPerSecond=float("inf"))
    (source,) = parse(fields).sources
    assert (source.input_rows_per_second, source.processed_rows_per_second) == (None, None)


def test_other_sources_are_omitted_but_their_rows_count() -> None:
    fields = json.loads(REPORTS[0])
    rate = {
        "description": "RateStreamV2",
        "startOffset": "1",
        "endOffset": None,
        "latestOffset": "x",
        "numInputRows": 2,
    }
    fields["sources"].append(rate)
    del fields["numInputRows"]
    report = parse(fields)
    assert (len(report.sources), report.rows) == (1, 42)


def test_a_time_is_in_utc() -> None:
    fields: dict[str, Any] = {**json.loads(REPORTS[0]), "timestamp": "2026-01-31T10:00:00.5Z".replace(".5", ".500")}
    assert parse(fields).time == datetime(2026, 1, 31, 10, 0, 0, 500000, timezone.utc)


@pytest.mark.parametrize(
    "other", ["[]", "no JSON", "{}", {}, {"sources": None}, {"sources": [{}]}, "null", "[" * 100000]
)
def test_anything_else_is_an_error(other: Any) -> None:  # noqa: ANN401
    with pytest.raises(PulsarOptionError) as failure:
        parse(other)
    assert failure.value.condition == "PULSAR_PROGRESS_MALFORMED"


def test_positions_are_by_topic_partition_in_each_version_of_the_offset() -> None:
    levels = {
        "persistent://public/default/": {"clicks": {"0": "5:3", "1": "6:3:2"}, "alone": "9:4"},
        "persistent://a/b/": {"twin": {"": "1:2", "10": "3:4"}},
    }
    report = json.loads(REPORTS[0])
    report["sources"][0]["endOffset"] = {"version": 2, "positions": levels}
    report["sources"][0]["latestOffset"] = json.dumps({"version": 2, "positions": levels})
    (source,) = parse(report).sources
    assert source.end == {
        "persistent://public/default/clicks-partition-0": "5:3",
        "persistent://public/default/clicks-partition-1": "6:3:2",
        "persistent://public/default/alone": "9:4",
        "persistent://a/b/twin": "1:2",
        "persistent://a/b/twin-partition-10": "3:4",
    }
    assert source.latest == source.end


def _report_with(name: str, value: object) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(REPORTS[0])
    fields["sources"][0][name] = value
    return fields


@pytest.mark.parametrize("other", [float("inf"), "9" * 5000])
def test_a_number_that_is_none_is_an_error(other: object) -> None:
    with pytest.raises(PulsarOptionError, match="PULSAR_PROGRESS_MALFORMED"):
        parse(_report_with("numInputRows", other))


def test_an_offset_of_lists_in_each_other_without_end_is_an_error() -> None:
    with pytest.raises(PulsarOptionError, match="PULSAR_PROGRESS_MALFORMED"):
        parse(_report_with("endOffset", "{" + "[" * 100000))
