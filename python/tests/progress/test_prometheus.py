"""Lines for Prometheus: valid, complete, escaped; and the dashboard uses them alone."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reports import REPORTS, UNKNOWN, FakeQuery, FakeSession, source_with

from pulsar_spark.progress import grafana_dashboard, parse, prometheus_lines, serve_metrics
from pulsar_spark.progress.prometheus import METRICS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from pulsar_spark.progress import QueryProgress

BEHIND = parse(REPORTS[0])
SAMPLE = re.compile(r'(\w+)\{((?:\w+="(?:[^"\\\n]|\\["\\n])*",?)*)\} (\S+)')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
BACKLOG = "pulsar_spark_backlog_messages"
LATENCY = "pulsar_spark_latency_seconds"
NAME = re.compile(r"pulsar_spark_\w+")
LATENCIES = {"P50": "2", "P99": "9", "Max": "1500"}


def unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: {"n": "\n"}.get(match[1], match[1]), text)


def read(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """What Prometheus reads: each name is declared once before its samples, and each sample is there once."""
    samples: dict[tuple[str, tuple[tuple[str, str], ...]], float] = {}
    declared: list[str] = []
    assert not text or text.endswith("\n")
    for line in text.split("\n")[:-1]:
        if line.startswith("# "):
            _, what, name, _ = line.split(" ", 3)
            assert what in ("HELP", "TYPE")
            declared.append(f"{what} {name}")
            continue
        match = SAMPLE.fullmatch(line)
        assert match, line
        assert declared[-2:] == [f"HELP {match[1]}", f"TYPE {match[1]}"], line
        key = match[1], tuple((name, unescaped(value)) for name, value in LABEL.findall(match[2]))
        assert key not in samples, line
        samples[key] = float(match[3])
    assert len(declared) == len(set(declared))
    return samples


def changed(progress: QueryProgress, *, name: str | None = None, description: str | None = None) -> QueryProgress:
    (source,) = progress.sources
    described = dataclasses.replace(source, description=description or source.description)
    return dataclasses.replace(progress, name=name, sources=(described,))


def test_a_query_that_is_behind() -> None:
    samples = {name: value for (name, _), value in read(prometheus_lines([BEHIND])).items()}
    assert samples.keys() == METRICS.keys() - {LATENCY}, "each metric is exported"
    assert samples["pulsar_spark_backlog_messages"] == 80
    assert samples["pulsar_spark_worst_partition_backlog_messages"] == 80
    assert 0 < samples["pulsar_spark_backlog_seconds"] < 3600


def test_what_is_unknown_has_no_line_and_what_is_read_is_0() -> None:
    unknown = {name for name, _ in read(prometheus_lines([parse(UNKNOWN)]))}
    assert "pulsar_spark_backlog_messages" not in unknown
    assert "pulsar_spark_partitions_behind" in unknown
    done = {name: value for (name, _), value in read(prometheus_lines([parse(REPORTS[-1])])).items()}
    assert {done[f"pulsar_spark_backlog_{what}"] for what in ("entries", "messages", "bytes", "seconds")} == {0}
    assert prometheus_lines([]) == ""


def test_latencies_of_real_time_mode() -> None:
    live = parse(source_with({"pulsarDataLoss": "0", **{f"pulsarLatency{n}Ms": t for n, t in LATENCIES.items()}}))
    samples = read(prometheus_lines([live]))
    found = {dict(labels)["quantile"]: value for (name, labels), value in samples.items() if name == LATENCY}
    assert found == {"0.5": 0.002, "0.99": 0.009, "1": 1.5}
    idle = parse(source_with({"pulsarDataLoss": "0", **{f"pulsarLatency{n}Ms": "unknown" for n in LATENCIES}}))
    assert idle.sources[0].latency is None
    assert LATENCY not in {name for name, _ in read(prometheus_lines([idle]))}


def test_the_text_of_reports_is_the_one_to_which_the_listener_in_the_jar_is_compared() -> None:
    """By `PrometheusTextSuite`. Where the text is to change: `UPDATE=1`."""
    folder = Path(__file__).parent
    text = prometheus_lines(map(parse, (folder / "exported.jsonl").read_text(encoding="utf-8").splitlines()))
    if os.environ.get("UPDATE"):
        (folder / "exported.txt").write_text(text, encoding="utf-8")
    assert text == (folder / "exported.txt").read_text(encoding="utf-8")
    assert {name for name, _ in read(text)} == METRICS.keys()


TEXTS = st.text(st.characters(blacklist_categories=["Cs"]), min_size=1)


@given(TEXTS, TEXTS)
def test_any_name_is_escaped(name: str, description: str) -> None:
    samples = read(prometheus_lines([changed(BEHIND, name=name, description=description)]))
    backlog = dict(next(labels for metric, labels in samples if metric == "pulsar_spark_backlog_messages"))
    assert backlog == {"query": name, "source": description}


def test_equal_names_have_one_sample() -> None:
    later = parse(REPORTS[-1])
    twice = dataclasses.replace(later, sources=later.sources * 2)
    samples = read(prometheus_lines([changed(BEHIND, name="n"), dataclasses.replace(twice, name="n")]))
    found = {dict(labels)["source"]: value for (name, labels), value in samples.items() if name == BACKLOG}
    assert found == {BEHIND.sources[0].description: 0, f"{BEHIND.sources[0].description} #2": 0}


def test_the_dashboard_uses_the_metrics_of_the_exporter_and_all_of_the_backlog() -> None:
    dashboard = json.loads(grafana_dashboard())
    shown = {
        name for panel in dashboard["panels"] for target in panel["targets"] for name in NAME.findall(target["expr"])
    }
    assert set(NAME.findall(grafana_dashboard())) <= METRICS.keys()
    assert {name for name in METRICS if "_backlog_" in name and "worst" not in name} | {LATENCY} <= shown
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(ids) == len(set(ids))


def fetch(url: str) -> tuple[str, str]:
    with urllib.request.urlopen(url, timeout=30) as answer:
        return str(answer.read(), "utf-8"), answer.headers["Content-Type"]


def test_a_query_is_served_until_the_server_is_closed() -> None:
    query = FakeQuery(REPORTS[:1])
    with serve_metrics(cast("StreamingQuery", query), 0) as server:
        assert server.url == f"http://127.0.0.1:{server.port}/metrics"
        assert fetch(server.url) == (prometheus_lines([BEHIND]), "text/plain; version=0.0.4; charset=utf-8")
        with pytest.raises(urllib.error.HTTPError, match="404"):
            fetch(server.url.replace("metrics", "secrets"))
        query.isActive = False
        assert fetch(server.url)[0] == "", "it has ended"
    server.close()
    with pytest.raises(OSError, match="refused"):
        fetch(server.url)


def test_an_error_of_spark_is_not_served() -> None:
    class Broken(FakeQuery):
        @property
        def lastProgress(self) -> Any:  # noqa: ANN401, N802
            raise RuntimeError("token:secret")

    with serve_metrics(cast("StreamingQuery", Broken(())), 0) as server:
        with pytest.raises(urllib.error.HTTPError, match="503") as failure:
            fetch(server.url)
        assert "secret" not in str(failure.value.read(), "utf-8")
        failure.value.close()


def test_a_session_is_served_by_a_listener_that_goes_with_the_server() -> None:
    session = FakeSession()
    with serve_metrics(cast("SparkSession", session), 0) as server:
        session.report(REPORTS[0])
        assert fetch(server.url)[0] == prometheus_lines([BEHIND])
        session.end(BEHIND.run_id)
        assert fetch(server.url)[0] == ""
        assert len(session.listeners) == 1
    assert session.listeners == []
