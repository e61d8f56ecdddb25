"""Plans of reads by a cluster in a session, also on Spark Connect."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from pulsar_spark.facade.rows import FollowedInfo, SliceInfo
from pulsar_spark.facade.tables import MetadataTables
from pulsar_spark.options import PulsarReadOptions
from pulsar_spark.options.bounds import Bound
from pulsar_spark.options.resolve import read_options
from pulsar_spark.plans import FollowedPartition, PlannedSlice, PlannedTask, ReadPlan, RealTimePlan


class Planning(MetadataTables):
    """The plans of reads of a cluster in a session."""

    def plan(
        self,
        topics: str | Sequence[str] | None = None,
        *,
        topics_pattern: str | None = None,
        start: Bound | None = None,
        end: Bound | None = None,
        options: PulsarReadOptions | None = None,
    ) -> ReadPlan:
        """Show how a batch read would be split into tasks, as `pulsar_spark.plan` does for a DataFrame.

        Works on Spark Connect, too. The filters of a query are not known here.

        Args:
            topics: A topic, or several.
            topics_pattern: Instead of ``topics``: a regular expression, as in `read_pulsar`.
            start: Where to start, as in `read_pulsar`.
            end: Where to end, as in `read_pulsar`.
            options: Further options of the read.

        Returns:
            The plan.

        Raises:
            PulsarOptionError: An argument is wrong.
            PulsarSparkError: A topic does not exist, or the cluster denies the request.

        Examples:
            >>> pulsar.plan("rides")
            ReadPlan(1 task; bookies: 1 slice, 2 entries, 334 B)
        """
        chosen = {"topics": topics, "topics_pattern": topics_pattern}
        given = read_options("plan", self.cluster.read_options(options), chosen, {"start": start, "end": end}, {}, {})
        rows = self._listing(SliceInfo, "plan", given)
        return ReadPlan(tuple(_task(list(slices)) for _, slices in groupby(rows, lambda one: one.task)))

    def real_time_plan(
        self,
        topics: str | Sequence[str] | None = None,
        *,
        topics_pattern: str | None = None,
        start: Bound | None = None,
        checkpoint: str | Path | None = None,
        options: PulsarReadOptions | None = None,
    ) -> RealTimePlan:
        """Show how a stream in real-time mode falls to tasks, as `pulsar_spark.plan` does with ``real_time=True``.

        Works on Spark Connect, too.

        Args:
            topics: A topic, or several.
            topics_pattern: Instead of ``topics``: a regular expression, as in `read_pulsar_stream`.
            start: Where to start, as in `read_pulsar_stream`. Default: the next message.
            checkpoint: The checkpoint of a query that goes on from there. Default: the query starts for the first time.
            options: Further options of the read.

        Returns:
            The plan.

        Raises:
            PulsarOptionError: An argument is wrong, or an option has no meaning in real-time mode.
            PulsarSparkError: A topic does not exist, or the cluster denies the request.

        Examples:
            >>> pulsar.real_time_plan("rides", start="earliest")
            RealTimePlan(1 task, 1 partition; backlog: 1 partition, 2 entries, 334 B)
        """
        chosen = {"topics": topics, "topics_pattern": topics_pattern}
        given = read_options("plan", self.cluster.read_options(options), chosen, {"start": start}, {}, {})
        more = {} if checkpoint is None else {"checkpoint": str(checkpoint)}
        rows = self._listing(FollowedInfo, "realtime", {**given, **more})
        return RealTimePlan(
            tuple(
                tuple(FollowedPartition(one.topic, one.after, one.last, one.entries, one.bytes) for one in task)
                for _, task in groupby(rows, lambda one: one.task)
            )
        )


def _task(slices: Sequence[SliceInfo]) -> PlannedTask:
    """The task of these slices."""
    parts = [
        PlannedSlice(one.topic, one.after, one.through, one.tier, one.entries, one.bytes, one.reason) for one in slices
    ]
    return PlannedTask(tuple(parts), slices[0].hosts or ())
