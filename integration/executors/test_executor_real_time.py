"""Executors that are killed under a query in real-time mode."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

import pytest
from realtime.live import accepting, start_live, wait_for_batches
from realtime.sending import partitioned

from support.spark.waiting import eventually
from support.topics.reading import stream

if TYPE_CHECKING:
    from pathlib import Path

    from executors.hosts import Executors

    from support.topics.writing import Target

_KILLS = 4
_SECONDS = 180


class Supervised:
    """A query that is started again whenever it fails, as a supervisor does."""

    def __init__(self, server: Target, topic: str, copy: str, checkpoint: Path) -> None:
        frame = stream(server.spark, server.service_url, topic=topic, startingOffsets="earliest").select("value")
        self._start = partial(start_live, frame, checkpoint, server.service_url, copy)
        self.query = self._start()
        self.failures: list[str] = []

    def keep_running(self) -> None:
        if not self.query.isActive:
            self.failures.append(str(self.query.exception()))
            self.query = self._start()


@pytest.mark.exhaustive  # the restart is that of a stop in a batch, and of a killed driver
def test_executors_are_killed_in_batches_of_real_time_mode(
    target: Target, executors: Executors, topic: str, tmp_path: Path
) -> None:
    sender, written, copy = partitioned(target.admin, target.client, topic)

    def all_arrive() -> None:
        wanted = set(sender.sent)

        def have_arrived() -> bool:
            supervised.keep_running()
            return wanted <= set(copy.rows())

        eventually(have_arrived, seconds=_SECONDS)

    with accepting(target.spark):
        supervised = Supervised(target, topic, written, tmp_path)
        try:
            with sender.sending():
                for turn in range(_KILLS):
                    running = executors.both()
                    all_arrive()
                    running[turn % 2].kill()
                    all_arrive()
            all_arrive()
            wait_for_batches(supervised.query, 1)
        finally:
            supervised.query.stop()
    counts = Counter(copy.rows())
    copy.close()
    assert set(counts) == set(sender.sent)
    assert max(counts.values()) <= 1 + _KILLS, "a message is repeated once for each kill at most"
    assert all("PULSAR" not in failure for failure in supervised.failures), supervised.failures
