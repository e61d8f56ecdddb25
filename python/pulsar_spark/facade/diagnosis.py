"""Examinations: the way to a cluster, what the checkpoint of a query has kept, and what is left to read."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from pulsar_spark._spark import StreamingQuery
from pulsar_spark.errors import PulsarOptionError
from pulsar_spark.facade.listing import Listing
from pulsar_spark.facade.planning import Planning
from pulsar_spark.facade.rows import LagInfo
from pulsar_spark.facade.tables import selection
from pulsar_spark.options.bounds import Bound, bound_options
from pulsar_spark.options.received import QUERY, TOPICS, check
from pulsar_spark.progress import parse


@dataclass(frozen=True)
class StepInfo:
    """A step of an examination.

    Attributes:
        step: The hop that was tried.
        state: ``ok``, ``warn``, ``fail``, or ``skipped`` where it does not apply or cannot be tried.
        took_ms: Its time in milliseconds.
        detail: The finding, or why the step was skipped.
        condition: The condition of a failure or warning.
        action: The remedy.
    """

    step: str
    state: str
    took_ms: int | None
    detail: str | None
    condition: str | None
    action: str | None


@dataclass(frozen=True)
class CheckpointRecord:
    """A fact that the checkpoint of a streaming query keeps.

    Attributes:
        record: ``query`` (one row), ``start``, ``committed`` or ``planned`` position, ``time`` up to which is
            read, ``loss`` that was skipped, ``damaged`` file, or ``sink``.
        source: The number of the source in its query, or its name; None for the query itself.
        kind: Who wrote the offsets of the source, with the version if it is this connector.
        batch: The number of the micro-batch; of a sink, its last epoch that is committed.
        topic: The full name of the topic or topic partition.
        position: The position up to and including which it is read, or lost.
        detail: The fact in words, or the offset of another source as it is; the time of a ``time``.
    """

    record: str
    source: str | None
    kind: str | None
    batch: int | None
    topic: str | None
    position: str | None
    detail: str | None


class Examining(Planning):
    """The examinations of a cluster in a session."""

    def doctor(
        self, topics: str | Sequence[str] | None = None, *, topics_pattern: str | None = None, write: bool = False
    ) -> Listing[StepInfo]:
        """Examine the way from the driver to the messages of topics, hop by hop.

        Args:
            topics: A topic, or several, that should be readable. Default: only the way to the cluster is examined.
            topics_pattern: Instead of ``topics``: a regular expression, as in `read_pulsar`.
            write: Try the right to produce, too. Nothing is sent.

        Returns:
            A row for each step, in their order. A failed step is a row, no error.

        Raises:
            PulsarOptionError: An argument is wrong.

        Examples:
            >>> [step.action for step in pulsar.doctor("rides") if step.state == "fail"]
            []
        """
        options = {**selection(topics, topics_pattern), **({"write": "true"} if write else {})}
        return self._listing(StepInfo, "doctor", options)

    def checkpoint(self, folder: str | Path) -> Listing[CheckpointRecord]:
        """List what the checkpoint of a streaming query has kept: positions, losses, and who wrote it.

        Args:
            folder: The checkpoint, on any file system that Spark reads.

        Returns:
            A row for each fact.

        Raises:
            PulsarCheckpointError: It is no checkpoint, or it is damaged.

        Examples:
            >>> [one.position for one in pulsar.checkpoint("/tmp/km") if one.record == "committed"]
            ['7:1233:4']
        """
        return self._listing(CheckpointRecord, "checkpoint", {"checkpoint": str(folder)})

    def lag(
        self,
        of: str | Sequence[str] | StreamingQuery | None = None,
        *,
        checkpoint: str | Path | None = None,
        subscription: str | None = None,
        start: Bound | None = None,
    ) -> Listing[LagInfo]:
        """List what is left to read: by a query, after its checkpoint, after a subscription, or after a start.

        A query is measured by its newest progress, which Spark Connect reports, too.

        Args:
            of: A query that runs or has run in this session; else a topic, or several. Without topics these are those
                of the checkpoint.
            checkpoint: The checkpoint of a query, on any file system that Spark reads.
            subscription: The subscription, such as ``progress_subscription`` of a stream. Needs an admin URL.
            start: The first message that is not read, as in `read_pulsar`. The JSON of a stream's progress is a start,
                too.

        Returns:
            A row for each partition.

        Raises:
            PulsarOptionError: An argument is wrong, or the query has not reported progress yet.
            PulsarCheckpointError: It is no checkpoint, it is damaged, or its query does not read the topics.
            PulsarSparkError: A topic or the subscription does not exist, or the cluster denies the request.

        Examples:
            >>> sum(one.entries for one in pulsar.lag("rides", subscription="rides-to-lake"))
            1204
            >>> max(one.seconds for one in pulsar.lag(checkpoint="s3a://jobs/rides"))
            41
        """
        if of is None or isinstance(of, (str, Sequence)):
            options = selection(of, None)
        else:
            check("lag", "of", of, QUERY, TOPICS)
            options = {"startingOffsets": _progress(of)}
        if checkpoint is not None:
            options["checkpoint"] = str(checkpoint)
        if subscription is not None:
            options["progressSubscription"] = subscription
        if start is not None:
            topic = of if isinstance(of, str) and "," not in of else None
            options |= bound_options("start", start, topic=topic, now=datetime.now(timezone.utc))
        return self._listing(LagInfo, "lag", options)


def _progress(query: StreamingQuery) -> str:
    """The JSON of the newest progress of a query, of all its Pulsar sources.

    Raises:
        PulsarOptionError: There is none.
    """
    newest = query.lastProgress
    sources = () if newest is None else parse(newest).sources
    read: dict[str, str] = {}
    for topic, position in (one for source in sources for one in source.end.items()):
        read[topic] = min(position, read.get(topic, position), key=_place)
    if not read:
        why = "it has not reported progress yet" if newest is None else "none of its sources reads Pulsar"
        raise PulsarOptionError("PULSAR_QUERY_WITHOUT_POSITION", query=query.name or str(query.id), why=why)
    return json.dumps({"version": 1, "positions": read})


def _place(position: str) -> tuple[float, ...]:
    """The place of a position in its topic. One without an index is the end of its entry."""
    ledger, entry, *index = map(int, position.split(":"))
    return (ledger, entry, *index) if index else (ledger, entry, math.inf)
