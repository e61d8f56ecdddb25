"""A Pulsar of several processes on this machine: ZooKeeper, three bookies and one broker that tests may kill."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import time
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

from admin import Admin
from waiting import eventually

from pulsar_spark.local.class_data import archive_file
from pulsar_spark.local.java import Java
from pulsar_spark.local.locks import FileLock
from pulsar_spark.local.logs import log_tail
from pulsar_spark.local.ports import Port
from pulsar_spark.local.process import ServerProcess
from pulsar_spark.local.server import Launch, Ports
from pulsar_spark.local.settings import SMALL
from pulsar_spark.local.versions import libraries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

BOOKIES = 3

_READY_SECONDS = 120.0
_SESSION_SECONDS = 6
_STOP_SECONDS = 10.0

_PROFILE = replace(SMALL, config={**SMALL.config, "dbStorage_readAheadCacheMaxSizeMb": "16"})


@dataclass(frozen=True)
class _Setup(Launch):
    """Writes into ZooKeeper what a cluster begins with, and ends."""

    def program(self, config: Path) -> list[str]:  # noqa: ARG002
        store = self.config["metadataStoreUrl"]
        lines = ["org.apache.pulsar.PulsarClusterMetadataSetup", "--cluster", self.config["clusterName"]]
        lines += ["--metadata-store", store, "--configuration-store", store]
        lines += ["--web-service-url", f"http://127.0.0.1:{self.ports.web}"]
        return [*lines, "--broker-service-url", f"pulsar://127.0.0.1:{self.ports.broker}"]


@dataclass(frozen=True)
class _ZooKeeper(Launch):
    def config_text(self) -> str:
        return "".join(f"{key}={value}\n" for key, value in self.config.items())

    def program(self, config: Path) -> list[str]:
        return ["org.apache.zookeeper.server.quorum.QuorumPeerMain", str(config)]


@dataclass(frozen=True)
class _Bookie(Launch):
    main: ClassVar[str] = "org.apache.bookkeeper.server.Main"

    def program(self, config: Path) -> list[str]:
        return [self.main, "--conf", str(config)]


@dataclass(frozen=True)
class _AutoRecovery(_Bookie):
    main: ClassVar[str] = "org.apache.bookkeeper.replication.AutoRecoveryMain"


@dataclass(frozen=True)
class _Broker(Launch):
    def program(self, config: Path) -> list[str]:
        return ["org.apache.pulsar.PulsarBrokerStarter", "--broker-conf", str(config)]


@dataclass(eq=False)
class Node:
    """One process of the cluster. It may be killed and started again: port and data stay.

    Attributes:
        launch: How it is started.
        is_ready: Whether it can be used, given what it has written into its log since it was started.
        may_start: Whether ZooKeeper no longer takes the one that was killed for alive: two of one name are refused.
    """

    launch: Launch
    is_ready: Callable[[bytes], bool]
    may_start: Callable[[], bool]
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

    def begin(self) -> None:
        """Start without waiting for `ready`."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._log_start = self._log.stat().st_size if self._log.exists() else 0
        with FileLock(self.folder / "lock") as lock:
            self._process = ServerProcess.supervised(
                _command(self.launch), folder=self.folder, log=self._log, lock=lock, discard=False
            )

    def ready(self) -> None:
        """Wait until it can be used."""

        def look() -> bool:
            assert self.running, f"{self.name} ended while starting; its log ends with\n{log_tail(self._log)}"
            return self.is_ready(self._log.read_bytes()[self._log_start :])

        try:
            eventually(look, seconds=_READY_SECONDS)
        except AssertionError as error:
            raise AssertionError(
                f"{self.name} does not start: {error}; its log ends with\n{log_tail(self._log)}"
            ) from None

    def start(self) -> None:
        eventually(self.may_start, seconds=_READY_SECONDS)
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
    def frozen(self) -> Iterator[None]:
        """Inside it keeps its connections, takes new ones and does not answer.

        Afterwards it is started anew if ZooKeeper may have given it up: a bookie does not always get over that.
        """
        assert self._process is not None
        pid, began = self._process.pid, time.monotonic()
        os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(pid, signal.SIGCONT)
            if time.monotonic() - began > _SESSION_SECONDS / 3:
                self.kill()
                self.start()

    @property
    def _log(self) -> Path:
        return self.folder / "log.txt"


@dataclass(frozen=True)
class Cluster:
    """A running cluster."""

    service_url: str
    admin: Admin
    bookies: tuple[Node, ...]
    auto_recovery: Node
    broker: Node

    def ensembles(self, topic: str, ledger: int | None = None) -> list[list[Node]]:
        """The bookies that have a ledger, the first with entries unless one is named, for each part of it."""
        ledgers = {int(one["ledgerId"]): one for one in self.admin.internal_stats(topic)["ledgers"]}
        text = ledgers[min(ledgers) if ledger is None else ledger]["metadata"]
        by_id = {bookie.id: bookie for bookie in self.bookies}
        lists = re.findall(r"\d+=\[([^\]]*)\]", text)
        return [[by_id[name.strip()] for name in names.split(",")] for names in lists]


def _command(launch: Launch) -> list[str]:
    java = Java.find()
    archive = archive_file(java)
    class_data = (f"-XX:SharedArchiveFile={archive}",) if archive.exists() else ()
    return launch.command(java, libraries(), class_data=class_data)


@contextmanager
def running_cluster(folder: Path, *, transactions: bool = False) -> Iterator[Cluster]:
    """Run a cluster whose ledgers have two copies on two of its bookies, with several transaction coordinators if any.

    Lost copies stay lost until a test starts `Cluster.auto_recovery`.
    """
    with ExitStack() as stack:
        port, broker, web, *bookie_ports = (
            stack.enter_context(closing(Port.reserve())).number for _ in range(3 + BOOKIES)
        )
        ports, store = Ports(broker, web, 0), f"zk:127.0.0.1:{port}"
        config = {"clusterName": "several", "metadataStoreUrl": store, "configurationMetadataStoreUrl": store}
        admin = Admin(f"http://127.0.0.1:{web}")
        zookeeper = _node(
            _ZooKeeper,
            folder / "zookeeper",
            ports,
            _zookeeper_config(folder, port),
            lambda _: _asked(port, b"ruok") == b"imok",
        )
        bookies = tuple(
            _bookie(_Bookie, folder / f"bookie-{number}", replace(ports, bookie=own), port)
            for number, own in enumerate(bookie_ports, 1)
        )
        settings = {**config, **_BROKER, "transactionCoordinatorEnabled": str(transactions).lower()}
        broker_node = _node(
            _Broker,
            folder / "broker",
            ports,
            settings,
            lambda _: admin.ready_within(0, transactions=transactions),
            lambda: f":{broker}\n".encode() not in _asked(port, b"dump"),
        )
        recovery = _bookie(_AutoRecovery, folder / "auto-recovery", ports, port)
        for node in (zookeeper, *bookies, broker_node, recovery):
            stack.callback(node.kill)
        zookeeper.start()
        _set_up(_Setup(folder / "setup", ports, _PROFILE, config))
        for node in (*bookies, broker_node):
            node.begin()
        for node in (*bookies, broker_node):
            node.ready()
        yield Cluster(f"pulsar://127.0.0.1:{broker}", admin, bookies, recovery, broker_node)


def _node(
    kind: type[Launch],
    folder: Path,
    ports: Ports,
    config: Mapping[str, str],
    is_ready: Callable[[bytes], bool],
    may_start: Callable[[], bool] = lambda: True,
) -> Node:
    return Node(kind(folder, ports, _PROFILE, config), is_ready, may_start)


def _bookie(kind: type[_Bookie], folder: Path, ports: Ports, zookeeper: int) -> Node:
    # A bookie takes connections some time before brokers know that it is there.
    return _node(
        kind,
        folder,
        ports,
        _bookie_config(folder, ports.bookie, f"zk:127.0.0.1:{zookeeper}"),
        lambda log: b"Started component" in log,
        lambda: f"/available/127.0.0.1:{ports.bookie}\n".encode() not in _asked(zookeeper, b"dump"),
    )


def _set_up(launch: _Setup) -> None:
    launch.folder.mkdir(parents=True)
    done = subprocess.run(
        _command(launch), cwd=launch.folder, capture_output=True, text=True, timeout=_READY_SECONDS, check=False
    )
    assert done.returncode == 0, (
        f"the cluster's metadata could not be written:\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
    )


def _zookeeper_config(folder: Path, port: int) -> dict[str, str]:
    return {
        "tickTime": "2000",
        "dataDir": str(folder / "zookeeper" / "data"),
        "clientPort": str(port),
        "clientPortAddress": "127.0.0.1",
        "admin.enableServer": "false",
        "maxClientCnxns": "0",
        "forceSync": "no",
        "4lw.commands.whitelist": "ruok, dump",
    }


def _bookie_config(folder: Path, port: int, store: str) -> dict[str, str]:
    return {
        "bookiePort": str(port),
        "journalDirectories": str(folder / "journal"),
        "ledgerDirectories": str(folder / "ledgers"),
        "indexDirectories": str(folder / "ledgers"),
        "metadataServiceUri": f"metadata-store:{store}",
        "statsProviderClass": "org.apache.bookkeeper.stats.NullStatsProvider",
        "zkTimeout": str(_SESSION_SECONDS * 1000),
        "autoRecoveryDaemonEnabled": "false",
        "lostBookieRecoveryDelay": "0",
    }


_BROKER = {
    "managedLedgerDefaultEnsembleSize": "2",
    "managedLedgerDefaultWriteQuorum": "2",
    "managedLedgerDefaultAckQuorum": "2",
    # A bookie that failed a few times would not be written to for half an hour.
    "bookkeeperClientHealthCheckEnabled": "false",
    # A broker reads a topic's last entry to tell the last position, by itself for 30 s from a bookie that is frozen.
    "bookkeeperClientSpeculativeReadTimeoutInMillis": "2000",
}


def _asked(port: int, word: bytes) -> bytes:
    """What ZooKeeper answers to one of its four-letter words; nothing as long as it is not there."""
    try:
        with (
            socket.create_connection(("127.0.0.1", port), timeout=1) as connection,
            connection.makefile("rb") as answer,
        ):
            connection.sendall(word)
            return answer.read()
    except OSError:
        return b""
