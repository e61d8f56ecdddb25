"""Settings of the broker and the bookie of a standalone server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Profile:
    """The memory and threads of a server.

    Attributes:
        heap: Java heap size.
        direct: Off-heap buffer size.
        jvm: Further JVM options.
        config: Broker and bookie settings.
    """

    heap: str
    direct: str
    jvm: tuple[str, ...]
    config: Mapping[str, str]


# One compiler is enough for tests and demos, and saves three quarters of the CPU time of a start.
SMALL = Profile(
    heap="256m",
    direct="256m",
    jvm=("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
    config={
        "numIOThreads": "2",
        "numOrderedExecutorThreads": "2",
        "numExecutorThreadPoolSize": "2",
        "numCacheExecutorThreadPoolSize": "2",
        "topicOrderedExecutorThreadNum": "2",
        "managedLedgerNumSchedulerThreads": "2",
        "bookkeeperClientNumIoThreads": "1",
        "bookkeeperClientNumWorkerThreads": "2",
        "bookkeeperNumberOfChannelsPerBookie": "2",
        "managedLedgerCacheSizeMB": "32",
        # Each time the broker looks at every topic that is loaded; its default is a hundred times a second.
        "managedLedgerCacheEvictionIntervalMs": "1000",
        "dbStorage_writeCacheMaxSizeMb": "32",
        "dbStorage_readAheadCacheMaxSizeMb": "64",
        "dbStorage_readAheadCacheBatchSize": "1000",
        "dbStorage_readAheadCacheBatchBytesSize": "4194304",
        "dbStorage_rocksDB_blockCacheSize": "8388608",
        "serverNumIOThreads": "1",
        "numAddWorkerThreads": "1",
        "numReadWorkerThreads": "2",
        "numHighPriorityWorkerThreads": "1",
        "numJournalCallbackThreads": "1",
    },
)

# The server derives thread counts from the number of processors.
PERFORMANCE = Profile(
    heap="1g",
    direct="1g",
    jvm=("-XX:+UseParallelGC",),
    config={
        "managedLedgerCacheSizeMB": "256",
        "dbStorage_writeCacheMaxSizeMb": "128",
        "dbStorage_readAheadCacheMaxSizeMb": "64",
        "dbStorage_readAheadCacheBatchSize": "1000",
        "dbStorage_readAheadCacheBatchBytesSize": "4194304",
        "dbStorage_rocksDB_blockCacheSize": "67108864",
    },
)

# One file configures the broker and the bookie of a standalone server.
DEFAULTS: Mapping[str, str] = {
    "clusterName": "standalone",
    "bindAddress": "127.0.0.1",
    "advertisedAddress": "127.0.0.1",
    # Without this the server ignores the bookie port on the command line.
    "allowEphemeralPorts": "true",
    # Otherwise the bookie listens on every interface.
    "allowLoopback": "true",
    "httpServerEnabled": "false",
    "webSocketServiceEnabled": "false",
    "loadBalancerEnabled": "false",
    "loadManagerClassName": "org.apache.pulsar.broker.loadbalance.NoopLoadManager",
    "numHttpServerThreads": "8",
    "numWorkerThreadsForNonPersistentTopic": "1",
    # Threads that recover topics' transactions share one reader for each namespace in Pulsar 4.0: two at once may wait
    # for the same message, one of them for 30 seconds, in which its topic does not report its last position.
    "numTransactionReplayThreadPoolSize": "1",
    "exposeTopicLevelMetricsInPrometheus": "false",
    "managedLedgerDefaultEnsembleSize": "1",
    "managedLedgerDefaultWriteQuorum": "1",
    "managedLedgerDefaultAckQuorum": "1",
    "managedLedgerMinLedgerRolloverTimeMinutes": "0",
    # Messages and topics stay until a user deletes them.
    "defaultRetentionTimeInMinutes": "-1",
    "defaultRetentionSizeInMB": "-1",
    "brokerDeleteInactiveTopicsEnabled": "false",
    "backlogQuotaCheckEnabled": "false",
    "allowAutoTopicCreation": "true",
    "allowAutoTopicCreationType": "non-partitioned",
    "forceDeleteNamespaceAllowed": "true",
    "forceDeleteTenantAllowed": "true",
    "brokerShutdownTimeoutMs": "5000",
    "ledgerStorageClass": "org.apache.bookkeeper.bookie.storage.ldb.DbLedgerStorage",
    "nettyMaxFrameSizeBytes": "5253120",
    # The page cache survives the end of the process, however it ends; a power cut is not what this server is for.
    "journalSyncData": "false",
    "journalMaxGroupWaitMSec": "1",
    "journalPreAllocSizeMB": "4",
    "journalMaxSizeMB": "128",
    "flushInterval": "60000",
    "gcWaitTime": "300000",
    "diskUsageThreshold": "0.99",
    "diskUsageWarnThreshold": "0.99",
}
