"""One process of a cluster, which tests kill, freeze and start again."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pulsar_spark.local.class_data import archive_file
from pulsar_spark.local.java import Java
from pulsar_spark.local.locks import FileLock
from pulsar_spark.local.logs import log_tail
from pulsar_spark.local.process import ServerProcess
from pulsar_spark.local.versions import libraries
from support.servers.freezing import frozen
from support.spark.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from pulsar_spark.local.server import Launch

READY_SECONDS = 300.0

SESSION_SECONDS = 6
"""ZooKeeper takes a bookie for alive for so long by default."""

_STOP_SECONDS = 10.0


def command(launch: Launch) -> list[str]:
    """The command that starts a process."""
    java = Java.find()
    archive = archive_file(java)
    class_data = (f"-XX:SharedArchiveFile={archive}",) if archive.exists() else ()
    return launch.command(java, libraries(), class_data=class_data)


@dataclass(eq=False)
class Node:
    """One process of the cluster. It may be killed and started again: port and data stay.

    Attributes:
        launch: How it is started.
        is_ready: Whether it can be used, given what it has written into its log since it was started.
        may_start: Whether ZooKeeper no longer takes the one that was killed for alive: two bookies of one name are
            refused. A broker takes over from the one before it.
        session_seconds: How long ZooKeeper takes it for alive.
        environment: Environment variables in addition to those of this process.
    """

    launch: Launch
    is_ready: Callable[[bytes], bool]
    may_start: Callable[[], bool]
    session_seconds: float
    environment: Mapping[str, str] = field(default_factory=dict)
    _log_start: int = field(default=0, init=False)
    _process: ServerProcess | None = field(default=None, init=False)

    @property
    def name(self) -> str:
        return self.launch.folder.name

    @property
    def id(self) -> str:
        """What ledgers' metadata calls a bookie."""
        return f"127.0.0.1:{self.launch.ports.bookie}"

    @property
    def folder(self) -> Path:
        return self.launch.folder

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.running

    @property
    def pid(self) -> int:
        """Its process."""
        assert self._process is not None
        return self._process.pid

    def begin(self) -> None:
        """Start without waiting for `ready`."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._log_start = self._log.stat().st_size if self._log.exists() else 0
        with FileLock(self.folder / "lock") as lock:
            self._process = ServerProcess.supervised(
                command(self.launch),
                folder=self.folder,
                log=self._log,
                lock=lock,
                discard=False,
                environment=self.environment,
            )

    def ready(self) -> None:
        """Wait until it can be used."""

        def look() -> bool:
            assert self.running, f"{self.name} ended while starting; its log ends with\n{log_tail(self._log)}"
            return self.is_ready(self._log.read_bytes()[self._log_start :])

        try:
            eventually(look, seconds=READY_SECONDS)
        except AssertionError as error:
            raise AssertionError(
                f"{self.name} does not start: {error}; its log ends with\n{log_tail(self._log)}"
            ) from None

    def start(self) -> None:
        eventually(self.may_start, seconds=READY_SECONDS)
        self.begin()
        self.ready()

    def kill(self) -> None:
        """End it with SIGKILL."""
        if self._process is not None:
            self._process.kill()

    def stop(self) -> None:
        """End it in an orderly way, so that everything it has is in its files."""
        if self._process is not None:
            self._process.stop(_STOP_SECONDS)

    @contextmanager
    def killed(self) -> Iterator[None]:
        """Dead inside, there again afterwards."""
        self.kill()
        try:
            yield
        finally:
            self.start()

    @contextmanager
    def renewed(self) -> Iterator[None]:
        """Killed and started again afterwards."""
        try:
            yield
        finally:
            self.kill()
            self.start()

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Inside it keeps its connections, takes new ones and does not answer.

        Afterwards it is started anew if ZooKeeper may have given it up: a bookie does not always get over that.
        """
        began = time.monotonic()
        try:
            with frozen(self.pid):
                yield
        finally:
            if time.monotonic() - began > self.session_seconds / 3:
                self.kill()
                self.start()

    @property
    def _log(self) -> Path:
        return self.folder / "log.txt"
