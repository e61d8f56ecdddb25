"""`pulsar_spark.testing`, as the tests of users have it: the page's test passes, and a failing one says why."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import Row

from pulsar_spark import PulsarDataLossError, error_of
from pulsar_spark.testing import (
    CannotRestartError,
    PulsarServer,
    Topic,
    assert_messages,
    lose,
    messages_of,
    produce,
    restart,
    run_to_end,
    unload,
)
from support.servers.servers import shared_by

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from pulsar_spark.local import LocalPulsar
    from support.servers.admin import Admin

PAGE = Path(__file__).resolve().parents[2] / "docs/use/testing.md"
MISSING = """
from pulsar_spark.testing import assert_messages, produce

def test_a_ride_is_missing(pulsar_topic):
    produce(pulsar_topic, [{"__key": "taxi-1", "km": 12.5}])
    assert_messages(pulsar_topic, [{"__key": "taxi-1", "km": 12.5}, {"__key": "taxi-3", "km": 30.0}])
"""


def test_a_project_finds_the_fixtures_and_a_missing_message_is_shown(
    pulsar: PulsarServer, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert spark.version
    for name, value in shared_by(pulsar).items():
        monkeypatch.setenv(name, value)
    first, *_ = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    (tmp_path / "test_users_page.py").write_text(first)
    (tmp_path / "test_users_missing.py").write_text(MISSING)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    report = tmp_path / "report.xml"
    # In this process, so that the project finds the Spark session that runs.
    code = pytest.main([str(tmp_path), "-p", "no:cacheprovider", "--rootdir", str(tmp_path), f"--junitxml={report}"])
    results = {case.attrib["name"]: case for case in ElementTree.parse(report).iter("testcase")}
    assert code == pytest.ExitCode.TESTS_FAILED
    assert list(results["test_long_rides_are_copied"]) == []
    (failure,) = results["test_a_ride_is_missing"]
    title, missing = failure.attrib["message"].splitlines()
    assert re.fullmatch(r"AssertionError: persistent://public/test-\S+ has 1 message, but 2 were expected\.", title)
    assert missing == "  missing: {'__key': 'taxi-3', 'km': 30.0}"
    assert "messages.py" not in (failure.text or ""), "the trace ends in the user's line"


def test_values_of_all_forms_are_written_and_found(pulsar_topic: Topic) -> None:
    produce(pulsar_topic, ["b", "a", "b"])
    assert_messages(pulsar_topic, ["b", "b", "a"])
    assert_messages(pulsar_topic, ["b", "a", "b"], in_order=True)
    with pytest.raises(AssertionError, match=r"another order: message 1 is 'b', but 'a' was expected"):
        assert_messages(pulsar_topic, ["a", "b", "b"], in_order=True)
    raw = pulsar_topic.beside("raw")
    produce(raw, [b"\x00", b"text"])
    assert_messages(raw, [b"text", b"\x00"])
    rows = pulsar_topic.beside("rows").create(partitions=2)
    produce(rows, [Row(__key="a", tags=["x"], at=Row(n=1)), Row(__key="b", tags=[], at=Row(n=2))], schema_type="json")
    assert_messages(rows, [{"at": {"n": 2}, "tags": []}, {"at": {"n": 1}, "tags": ["x"]}])
    assert_messages(rows, [{"__key": "a"}, {"__key": "b"}])
    with pytest.raises(AssertionError, match=r"have no column town, but tags, at\."):
        messages_of(rows, ["town"])
    assert_messages(pulsar_topic.beside("none"), [])
    with pytest.raises(
        AssertionError, match=r"none has 0 messages, but 1 were expected\.\n  missing: \{'city': 'Rome'\}"
    ):
        assert_messages(pulsar_topic.beside("none"), [{"city": "Rome"}], seconds=0.5)


def stream(topic: Topic) -> DataFrame:
    return topic.pulsar.read_stream(topic.name, start="earliest")


def test_a_stream_runs_to_its_end(pulsar_topic: Topic, tmp_path: Path) -> None:
    produce(pulsar_topic, [{"n": 1}, {"n": 2}])
    assert sorted(row.n for row in run_to_end(stream(pulsar_topic))) == [1, 2]
    (total,) = run_to_end(stream(pulsar_topic).groupBy().sum("n"), output_mode="complete")
    assert total[0] == 3
    writer = stream(pulsar_topic).writeStream.format("noop").option("checkpointLocation", str(tmp_path))
    assert not run_to_end(writer).isActive
    unload(pulsar_topic)
    lose(pulsar_topic)
    assert_messages(pulsar_topic, [])
    produce(pulsar_topic, [{"n": 3}])
    assert [row.n for row in run_to_end(stream(pulsar_topic))] == [3]


def test_a_job_that_reads_too_late_loses_messages(pulsar_topic: Topic, tmp_path: Path) -> None:
    produce(pulsar_topic, [1, 2])
    writer = stream(pulsar_topic).writeStream.format("noop").option("checkpointLocation", str(tmp_path))
    run_to_end(writer)
    produce(pulsar_topic, [3])
    lose(pulsar_topic)
    with pytest.raises(Exception, match="PULSAR_DATA_LOSS") as failure:
        run_to_end(writer)
    assert isinstance(error_of(failure.value), PulsarDataLossError)


def test_a_query_that_is_not_done_in_time_is_stopped(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load()
    writer = rows.writeStream.format("noop").option("checkpointLocation", str(tmp_path))
    query = writer.start()
    with pytest.raises(TimeoutError, match=r"the query was not done within 1 s; its last progress: "):
        run_to_end(query, seconds=1)
    assert not query.isActive


def test_a_server_of_others_is_not_restarted(pulsar_server: PulsarServer) -> None:
    with pytest.raises(CannotRestartError, match=re.escape(pulsar_server.service_url)):
        restart(pulsar_server)


@pytest.mark.exhaustive  # it starts a server of its own
def test_a_server_of_the_tests_is_restarted_with_its_messages(own_pulsar: LocalPulsar, spark: SparkSession) -> None:
    server = PulsarServer(own_pulsar.service_url, own_pulsar.admin_url, own_pulsar)
    topic = Topic("persistent://public/default/restarted", server, spark)
    produce(topic, ["kept"])
    for graceful in (True, False):
        restart(server, graceful=graceful)
        assert_messages(topic, ["kept"], seconds=60)


def test_the_admin_service_of_a_server_is_the_one_of_other_tests(pulsar_server: PulsarServer, admin: Admin) -> None:
    assert pulsar_server.admin.url == admin.url
