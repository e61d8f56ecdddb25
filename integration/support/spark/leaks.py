"""What a query must give back: subscriptions, consumers and producers of the broker, connections, threads, memory.

    with no_leaks(spark, admin, service_url, namespace):
        ...

fails unless everything is back to what it was before, within the time that idle things are kept.
"""

from __future__ import annotations

import re
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from support.servers.admin import AdminError
from support.spark.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from pyspark.sql import SparkSession

    from support.servers.admin import Admin

# The connector keeps an idle client for a minute, and so do HTTP clients a connection.
KEPT_SECONDS = 240.0

_THREADS = re.compile(r"(?i)pulsar|bookkeeper")
# Clients of earlier tests are closed one after the other, a minute or two after these tests, each in two seconds.
# The threads that do it are left out: a client that is not closed keeps its own threads, and these count.
_CLOSERS = "pulsar-spark: close "
_IN_POOL = re.compile(r"(?P<pool>.*-\d+)-\d+")
_NUMBERS = re.compile(r"(-\d+)+$")
_SOCKET = re.compile(r"socket:\[(\d+)\]")


@dataclass(frozen=True)
class Holdings:
    """Looks at all that the clients of one driver may hold.

    Attributes:
        spark: The session of the driver.
        admin: The admin service of the cluster.
        namespace: Whose topics are looked at, ``tenant/namespace``.
        ports: The remote ports to which connections are counted.
    """

    spark: SparkSession
    admin: Admin
    namespace: str
    ports: frozenset[int]

    def look(self) -> Counter[str]:
        """What there is now, with the number of each kind."""
        return (
            on_broker(self.admin, self.namespace)
            + connections(jvm_pid(self.spark), self.ports)
            + threads(self.spark)
            + Counter({"bytes of direct memory": direct_bytes(self.spark)})
        )


@contextmanager
def no_leaks(
    spark: SparkSession, admin: Admin, service_url: str, namespace: str, *, seconds: float = KEPT_SECONDS
) -> Iterator[None]:
    """What is done inside leaves nothing behind.

    Clients are shared and kept for a minute: a first query with the same options before this begins makes them part
    of what was there before, and saves the wait.

    Args:
        spark: The session whose driver, with ``local`` also its tasks, is looked at.
        admin: The admin service of the cluster.
        service_url: The address of the connector's clients.
        namespace: The namespace of the topics.
        seconds: How long everything may take to be given back.
    """
    ports = {_port(service_url), *map(_port, bookie_ids(admin))}
    if seconds >= KEPT_SECONDS:  # the HTTP client keeps an idle connection for a minute
        ports.add(_port(admin.url))
    holdings = Holdings(spark, admin, namespace, frozenset(ports))
    start = holdings.look()
    yield
    assert_back(holdings.look, start, seconds=seconds)


def assert_back(look: Callable[[], Counter[str]], start: Counter[str], *, seconds: float = KEPT_SECONDS) -> None:
    """Wait until there is nothing beyond what there was at the start; fail with the rest."""
    beyond: Counter[str] = Counter()

    def is_back() -> bool:
        nonlocal beyond
        beyond = look() - start
        return not beyond

    try:
        eventually(is_back, seconds=seconds)
    except AssertionError:
        listed = "".join(f"\n  {number} {what}" for what, number in sorted(beyond.items()))
        raise AssertionError(f"not given back within {seconds:g} s:{listed}") from None


def on_broker(admin: Admin, namespace: str) -> Counter[str]:
    """Subscriptions of the topics of a namespace, their connected consumers, and producers."""
    found: Counter[str] = Counter()
    for topic in admin.topics(namespace):
        try:
            stats = admin.stats(topic)
        except AdminError as error:
            if error.status != 404:
                raise
            continue  # it was deleted a moment ago
        found["producers"] += len(stats["publishers"])
        for name, subscription in stats["subscriptions"].items():
            found[f"subscription {name} of {topic}"] += 1
            found[f"consumers of {name} of {topic}"] += len(subscription["consumers"])
    return found


def connections(pid: int, ports: Collection[int]) -> Counter[str]:
    """Open TCP connections of a process to remote ports."""
    own = set()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        try:
            match = _SOCKET.fullmatch(str(descriptor.readlink()))
        except FileNotFoundError:
            continue  # closed a moment ago
        if match:
            own.add(match[1])
    found: Counter[str] = Counter()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text(encoding="ascii").splitlines()[1:]:
            columns = line.split()
            port, inode = int(columns[2].rpartition(":")[2], 16), columns[9]
            if inode in own and port in ports:
                found[f"connections to port {port}"] += 1
    return found


def threads(spark: SparkSession) -> Counter[str]:
    """Thread pools and single threads of the driver's clients, by name without its numbers.

    Pools start their threads when they are first used, so a pool counts once, however many threads it has.
    """
    jvm: Any = spark.sparkContext._jvm
    names = Counter(str(thread.getName()) for thread in jvm.java.lang.Thread.getAllStackTraces().keySet())
    pools: dict[str, int] = {}
    for name, number in names.items():
        if _THREADS.match(name) and not name.startswith(_CLOSERS):
            in_pool = _IN_POOL.fullmatch(name)
            pool = in_pool["pool"] if in_pool else name
            pools[pool] = max(pools.get(pool, 0), number)
    found: Counter[str] = Counter()
    for pool, number in pools.items():
        found[f"threads {_NUMBERS.sub('', pool)}"] += number
    return found


def direct_bytes(spark: SparkSession) -> int:
    """Bytes of the buffers that the driver's clients hold outside the heap; what only pools keep does not count."""
    jvm: Any = spark.sparkContext._jvm
    buffers = jvm.io.github.pulsarspark.shaded.io.netty.buffer
    pooled, unpooled = buffers.PooledByteBufAllocator.DEFAULT, buffers.UnpooledByteBufAllocator.DEFAULT
    return int(pooled.pinnedDirectMemory()) + int(unpooled.metric().usedDirectMemory())


def jvm_pid(spark: SparkSession) -> int:
    """The process of the driver's JVM."""
    jvm: Any = spark.sparkContext._jvm
    return int(jvm.java.lang.ProcessHandle.current().pid())


def bookie_ids(admin: Admin) -> list[str]:
    """What ledgers' metadata calls the bookies that are there, ``host:port``."""
    return [str(bookie["bookieId"]) for bookie in admin.call("GET", "bookies/all")["bookies"]]


def _port(address: str) -> int:
    return int(address.rpartition(":")[2])
