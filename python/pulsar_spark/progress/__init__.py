"""Progress of streaming queries: backlog, rates and losses, as values, a table, a plot and lines for Prometheus.

    from pulsar_spark import progress

    progress.watch(query)
    progress.history(query)[-1].sources[0].backlog
    progress.serve_metrics(spark, 9464)

The module works in classic sessions and on Spark Connect. It sends no requests to Pulsar: all figures are in the
progress that Spark reports of a query.
"""

from __future__ import annotations

from pathlib import Path

from pulsar_spark.progress.listener import ProgressListener
from pulsar_spark.progress.live import history, watch
from pulsar_spark.progress.plots import plot
from pulsar_spark.progress.prometheus import prometheus_lines
from pulsar_spark.progress.records import Backlog, Latency, QueryProgress, SourceProgress, parse
from pulsar_spark.progress.server import MetricsServer, serve_metrics

__all__ = [
    "Backlog",
    "Latency",
    "MetricsServer",
    "ProgressListener",
    "QueryProgress",
    "SourceProgress",
    "grafana_dashboard",
    "history",
    "parse",
    "plot",
    "prometheus_lines",
    "serve_metrics",
    "watch",
]


def grafana_dashboard() -> str:
    """A dashboard for Grafana that shows the metrics of `serve_metrics`; import it in Grafana.

    Returns:
        The dashboard as JSON text.

    Raises:
        OSError: The package is not complete.

    Examples:
        >>> pathlib.Path("dashboard.json").write_text(grafana_dashboard())
    """
    return Path(__file__).with_name("grafana.json").read_text(encoding="utf-8")
