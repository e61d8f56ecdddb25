"""A cluster in a session: reads, writes, and tables of metadata."""

from __future__ import annotations

from pulsar_spark.facade.diagnosis import CheckpointRecord, StepInfo
from pulsar_spark.facade.listing import Listing
from pulsar_spark.facade.pulsar import Pulsar
from pulsar_spark.facade.rows import (
    FollowedInfo,
    LagInfo,
    LedgerInfo,
    PartitionInfo,
    PositionInfo,
    SchemaInfo,
    SliceInfo,
    SubscriptionInfo,
    TopicInfo,
)

__all__ = [
    "CheckpointRecord",
    "FollowedInfo",
    "LagInfo",
    "LedgerInfo",
    "Listing",
    "PartitionInfo",
    "PositionInfo",
    "Pulsar",
    "SchemaInfo",
    "SliceInfo",
    "StepInfo",
    "SubscriptionInfo",
    "TopicInfo",
]
