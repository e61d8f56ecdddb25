"""The table, the plot and the live view of a query."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast
from xml.etree import ElementTree

import pytest
from reports import REPORTS, TOPIC, UNKNOWN, FakeQuery, FakeSession

from pulsar_spark import PulsarImportError
from pulsar_spark.progress import ProgressListener, history, parse, plot, watch
from pulsar_spark.progress.views import age, size

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

SEEN = [parse(report) for report in REPORTS]
NAME = TOPIC.removeprefix("persistent://")


def query(reports: tuple[str, ...] = REPORTS) -> StreamingQuery:
    return cast("StreamingQuery", FakeQuery(reports, is_active=False))


def test_a_progress_is_a_table() -> None:
    head, names, rule, row = str(SEEN[0]).splitlines()
    assert head.startswith(f"query {SEEN[0].id} | micro-batch 0 | 40 rows in ")
    assert head.endswith(" s | 80 messages behind")
    assert names.split()[:2] == ["source", "rows/s"]
    assert set(rule) == {"-", " "}
    assert row.startswith(f"Pulsar[{TOPIC}]  ")
    assert f"{NAME}-partition-1: 80" in row
    assert "broker 40" in row


def test_a_table_says_unknown_where_nothing_is_known() -> None:
    text = str(parse(UNKNOWN))
    assert "unknown messages behind" in text
    assert "unknown messages " in text.splitlines()[-1]
    assert "| 0 messages behind" in str(SEEN[-1])


def test_a_notebook_shows_an_escaped_table() -> None:
    fields = json.loads(REPORTS[0])
    fields["name"] = "<script>"
    html = parse(fields)._repr_html_()
    assert "<script>" not in html
    table = ElementTree.fromstring(f"<html>{html}</html>")
    assert len(list(table.iter("th"))) == len(list(table.iter("td"))) == 9


def test_durations_and_sizes() -> None:
    assert [age(seconds) for seconds in (None, 0.0, 59, 90, 7200, 129600)] == [
        "unknown",
        "0.0 s",
        "59.0 s",
        "1.5 min",
        "2.0 h",
        "1.5 d",
    ]
    assert (size(None), size(2048)) == ("unknown", "2.0 KiB")


def test_watching_prints_each_progress_once_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert watch(query(), interval=0.01) == SEEN
    assert [line.split(" | ")[1] for line in capsys.readouterr().out.splitlines()] == [
        f"micro-batch {number}" for number in range(3)
    ]


def test_a_terminal_shows_one_table_that_changes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    watch(query(), interval=0.01)
    out = capsys.readouterr().out
    assert out.count("\x1b[4F\x1b[J") == 2, "it goes up four lines and clears them"
    assert max(len(line) for line in out.splitlines() if "\x1b" not in line) <= 59


def test_a_notebook_shows_one_output_that_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    handle = SimpleNamespace(update=shown.append)

    def display(progress: Any, *, display_id: bool) -> SimpleNamespace:  # noqa: ANN401
        shown.append((progress, display_id))
        return handle

    ipython = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=1), display=SimpleNamespace(display=display))
    monkeypatch.setitem(sys.modules, "IPython", cast("Any", ipython))
    monkeypatch.setitem(sys.modules, "IPython.display", cast("Any", ipython.display))
    watch(query(), interval=0.01)
    assert shown == [(SEEN[0], True), *SEEN[1:]]


def test_watching_ends_after_a_time_and_leaves_the_query_alone() -> None:
    running = FakeQuery(REPORTS[:1])
    assert watch(cast("StreamingQuery", running), interval=0.01, timeout=0) == SEEN[:1]
    assert running.isActive


def test_ctrl_c_ends_the_table_and_not_the_query() -> None:
    class Interrupted(FakeQuery):
        def awaitTermination(self, timeout: float) -> bool:  # noqa: ARG002, N802
            raise KeyboardInterrupt

    running = Interrupted(REPORTS[:2])
    assert watch(cast("StreamingQuery", running)) == SEEN[:2]
    assert running.isActive


def test_a_plot_has_the_backlog_of_each_source_and_a_gap_for_unknown() -> None:
    figure = plot([*SEEN, parse(UNKNOWN)])
    backlog, rates = figure.axes
    values = [float(value) for value in cast("Any", backlog.lines[0].get_ydata())]
    assert [value for value in values if value == value] == [80.0, 40.0, 0.0]
    assert len(backlog.lines) == len(rates.lines)
    assert plot(query()).axes[0].lines
    assert plot([]).axes


def test_a_plot_without_matplotlib_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", cast("Any", None))
    with pytest.raises(PulsarImportError, match=r"pulsar-spark\[plot\]") as failure:
        plot(SEEN)
    assert failure.value.condition == "PULSAR_PLOT_NO_MATPLOTLIB"


def test_a_listener_keeps_the_newest_progresses_of_each_run() -> None:
    session, listener = FakeSession(), ProgressListener(keep=2)
    session.streams.addListener(listener)
    for report in REPORTS:
        session.report(report)
    assert listener.history(SEEN[0].run_id) == SEEN[1:]
    assert listener.latest() == SEEN[-1:]
    assert history(query()) == SEEN
    session.end(SEEN[0].run_id)
    assert listener.latest() == []
    assert listener.history(SEEN[0].run_id) == SEEN[1:], "also after its end"
    for number in range(100):
        session.end(f"other {number}")
    assert listener.history(SEEN[0].run_id) == []
