"""A small HTTP server for Prometheus."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, cast

from pulsar_spark.options.received import QUERY, SESSION, check
from pulsar_spark.progress.listener import ProgressListener
from pulsar_spark.progress.prometheus import CONTENT_TYPE, prometheus_lines
from pulsar_spark.progress.records import parse

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from pulsar_spark._spark import SparkSession, StreamingQuery
    from pulsar_spark.progress.records import QueryProgress

_PATH = "/metrics"


class MetricsServer:
    """Serves the progress of queries at ``url`` until `close`, or until the process ends.

    Attributes:
        port: The port that it listens at.
        url: The address for Prometheus.
    """

    def __init__(self, latest: Callable[[], list[QueryProgress]], host: str, port: int) -> None:
        """Start to serve what ``latest`` returns at each request."""
        self._server = ThreadingHTTPServer((host, port), _handler(latest))
        self._server.daemon_threads = True
        self._ends: list[Callable[[], None]] = [self._server.server_close, self._server.shutdown]
        self.port: int = self._server.server_address[1]
        shown = f"[{host}]" if ":" in host else host
        self.url = f"http://{shown}:{self.port}{_PATH}"
        threading.Thread(target=self._server.serve_forever, name="pulsar-spark-metrics", daemon=True).start()

    def on_close(self, action: Callable[[], None]) -> None:
        """Register an action that runs before the server ends."""
        self._ends.append(action)

    def close(self) -> None:
        """Stop serving. A second call has no effect."""
        while self._ends:
            self._ends.pop()()

    def __enter__(self) -> MetricsServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def serve_metrics(
    source: SparkSession | StreamingQuery | ProgressListener, port: int = 9464, *, host: str = "127.0.0.1"
) -> MetricsServer:
    """Serve the progress of streaming queries for Prometheus, at ``http://127.0.0.1:<port>/metrics``.

    The server has no access control. So only the local machine can reach it by default.

    Args:
        source: A session, for all queries that report progress from now on, by a `ProgressListener`; such a listener;
            or one query, whose last progress each request reads. Classic or Spark Connect.
        port: The port to listen at. Default: 9464. 0 selects a free port, which ``port`` of the result has.
        host: The address to listen at. Default: ``127.0.0.1``. ``"0.0.0.0"`` listens at all.

    Returns:
        The server, also as a context manager that closes it.

    Raises:
        PulsarOptionError: ``source`` is something else.
        OSError: The port is in use, or the address is not one of this machine.

    Examples:
        >>> with serve_metrics(spark, 9464) as server:
        ...     print(server.url)
        http://127.0.0.1:9464/metrics
    """
    if isinstance(source, ProgressListener):
        return MetricsServer(source.latest, host, port)
    check("serve_metrics", "source", source, SESSION, QUERY)
    if QUERY.has_all(source):
        query = cast("StreamingQuery", source)
        return MetricsServer(lambda: _of_query(query), host, port)
    streams = cast("SparkSession", source).streams
    listener = ProgressListener(keep=1)
    server = MetricsServer(listener.latest, host, port)
    streams.addListener(listener)
    server.on_close(lambda: streams.removeListener(listener))
    return server


def _of_query(query: StreamingQuery) -> list[QueryProgress]:
    last = query.lastProgress if query.isActive else None
    return [] if last is None else [parse(last)]


def _handler(latest: Callable[[], list[QueryProgress]]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.partition("?")[0] != _PATH:
                self.send_error(404)
                return
            try:
                body = prometheus_lines(latest()).encode()
            except Exception:  # its text may contain what not everybody may see
                self.send_error(503, "The queries do not report their progress")
                return
            self.send_response(200)
            self.send_header("Content-Type", CONTENT_TYPE)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the method that it replaces
            """Logs no line for each request."""

    return Handler
