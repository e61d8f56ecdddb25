"""A table of a query that changes while the query runs."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from pulsar_spark.options.received import QUERY, check
from pulsar_spark.progress import views
from pulsar_spark.progress.records import QueryProgress, parse

if TYPE_CHECKING:
    from collections.abc import Callable

    from pulsar_spark._spark import StreamingQuery

_UP = "\x1b[{}F"  # to the begin of the line that is this many lines above
_CLEAR = "\x1b[J"  # from here to the end of the screen


def history(query: StreamingQuery) -> list[QueryProgress]:
    """The progresses of a query that Spark keeps, oldest first.

    Args:
        query: A streaming query, classic or of Spark Connect; it may have ended.

    Returns:
        At most as many as ``spark.sql.streaming.numRecentProgressUpdates``, which is 100 by default.

    Raises:
        PulsarOptionError: ``query`` is something else, or Spark reports something else than progresses.

    Examples:
        >>> [progress.sources[0].backlog.messages for progress in history(query)]
        [150, 50, 0]
    """
    check("history", "query", query, QUERY)
    return [parse(progress) for progress in query.recentProgress]


def watch(query: StreamingQuery, *, interval: float = 1.0, timeout: float | None = None) -> list[QueryProgress]:
    """Show a table of a running query until it ends: rates, backlog, worst partition, levels, losses.

    In a terminal and in a notebook the table changes in place. Elsewhere, as in the log of a job, each new progress is
    one line. Ctrl-C ends the table, and not the query.

    Args:
        query: A streaming query, classic or of Spark Connect.
        interval: Seconds between two looks. Default: 1.
        timeout: Seconds after which the function returns although the query runs. Default: no limit.

    Returns:
        The progresses it saw, for `plot`.

    Raises:
        StreamingQueryException: The query failed. An error of the connector is a `PulsarSparkError` as well.
        PulsarOptionError: As in `history`.

    Examples:
        >>> watch(query, timeout=60)
    """
    check("watch", "query", query, QUERY)
    show = _show()
    deadline = None if timeout is None else time.monotonic() + timeout
    seen: dict[tuple[int, object], QueryProgress] = {}
    try:
        while True:
            is_active = query.isActive  # before the look, which then includes the last progress
            fresh = [progress for progress in history(query) if _key(progress) not in seen]
            seen.update({_key(progress): progress for progress in fresh})
            for progress in fresh:
                show(progress)
            if not is_active or (deadline is not None and time.monotonic() >= deadline):
                break
            # Its annotation is narrower than what it takes. It raises what the query failed with.
            query.awaitTermination(interval)  # type: ignore[arg-type]
    except KeyboardInterrupt:
        pass
    return list(seen.values())


def _key(progress: QueryProgress) -> tuple[int, object]:
    return progress.batch_id, progress.time


def _show() -> Callable[[QueryProgress], None]:
    notebook = _notebook()
    if notebook is not None:
        return notebook
    return _in_place() if sys.stdout.isatty() else lambda progress: print(views.summary(progress), flush=True)


def _in_place() -> Callable[[QueryProgress], None]:
    """Replaces the table before. A line that is wider than the terminal would break that, so lines are cut."""
    height = 0

    def show(progress: QueryProgress) -> None:
        nonlocal height
        import shutil

        width = shutil.get_terminal_size().columns - 1
        lines = [line[:width] for line in str(progress).splitlines()]
        print((_UP.format(height) + _CLEAR if height else "") + "\n".join(lines), flush=True)
        height = len(lines)

    return show


def _notebook() -> Callable[[QueryProgress], None] | None:
    """An output of a notebook that changes in place; None outside of one."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if ipython is None or not hasattr(shell, "kernel"):
        return None
    from IPython import display  # type: ignore[import-not-found, unused-ignore]

    handle: Any = None

    def show(progress: QueryProgress) -> None:
        nonlocal handle
        if handle is None:
            handle = display.display(progress, display_id=True)
        else:
            handle.update(progress)

    return show
