"""A plot of the backlog of a query over time. Needs matplotlib."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any, cast

from pulsar_spark.errors import PulsarImportError
from pulsar_spark.options.received import PROGRESSES, QUERY, check
from pulsar_spark.progress.live import history
from pulsar_spark.progress.views import labels

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from matplotlib.figure import Figure

    from pulsar_spark._spark import StreamingQuery
    from pulsar_spark.progress.records import QueryProgress, SourceProgress


def plot(source: StreamingQuery | Iterable[QueryProgress]) -> Figure:
    """Plot the backlog of each source and the rates of rows over time.

    A backlog that is not known is a gap in the line.

    Args:
        source: A query, of which Spark keeps the last progresses, or progresses, as `watch` and `history` return them.

    Returns:
        A figure of matplotlib: notebooks show it, ``savefig`` writes it.

    Raises:
        PulsarOptionError: ``source`` is something else.
        PulsarImportError: The package ``matplotlib`` is missing.

    Examples:
        >>> plot(query).savefig("backlog.svg")
    """
    check("plot", "source", source, QUERY, PROGRESSES)
    try:
        from matplotlib import dates
        from matplotlib.figure import Figure
    except ImportError as error:
        raise PulsarImportError("PULSAR_PLOT_NO_MATPLOTLIB") from error
    if "ipykernel" in sys.modules:
        import matplotlib.pyplot  # noqa: F401 - notebooks show figures once this is loaded
    is_query = QUERY.has_all(source)
    progresses = history(cast("StreamingQuery", source)) if is_query else cast("Iterable[QueryProgress]", source)
    figure = Figure(figsize=(8, 5), layout="constrained")
    backlog, rates = figure.subplots(2, sharex=True)
    for label, points in _by_source(progresses).items():
        times = [time for time, _ in points]
        behind = [one.backlog.messages for _, one in points]
        backlog.plot(times, [math.nan if n is None else n for n in behind], marker=".", label=label, clip_on=False)
        rates.plot(
            times, [one.processed_rows_per_second or 0.0 for _, one in points], marker=".", label=label, clip_on=False
        )
    backlog.set_ylabel("messages left to read")
    rates.set_ylabel("rows per second")
    for axes in (backlog, rates):
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.3)
    untyped: Any = dates
    locator = untyped.AutoDateLocator()
    rates.xaxis.set_major_locator(locator)
    rates.xaxis.set_major_formatter(untyped.ConciseDateFormatter(locator))
    if backlog.lines:
        backlog.legend()
    return figure


def _by_source(progresses: Iterable[QueryProgress]) -> dict[str, list[tuple[datetime, SourceProgress]]]:
    result: dict[str, list[tuple[datetime, SourceProgress]]] = {}
    for progress in sorted(progresses, key=lambda one: one.time):
        for label, source in zip(labels(progress.sources), progress.sources, strict=True):
            result.setdefault(label, []).append((progress.time, source))
    return result
