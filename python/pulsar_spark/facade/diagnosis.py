"""Examinations: the way to a cluster, and what the checkpoint of a query has kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pulsar_spark.facade.listing import Listing
from pulsar_spark.facade.tables import MetadataTables, selection


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
        record: ``query`` (one row), ``start``, ``committed`` or ``planned`` position, ``loss`` that was skipped,
            ``damaged`` file, or ``sink``.
        source: The number of the source in its query, or its name; None for the query itself.
        kind: Who wrote the offsets of the source, with the version if it is this connector.
        batch: The number of the micro-batch; of a sink, its last epoch that is committed.
        topic: The full name of the topic or topic partition.
        position: The position up to and including which it is read, or lost.
        detail: The fact in words, or the offset of another source as it is.
    """

    record: str
    source: str | None
    kind: str | None
    batch: int | None
    topic: str | None
    position: str | None
    detail: str | None


class Examining(MetadataTables):
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
