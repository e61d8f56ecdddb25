"""The tools that every other integration test stands on: names, the admin client, the oracle."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import pytest

from support.servers.admin import Admin, AdminError
from support.spark.waiting import becomes, eventually
from support.topics.messages import Id, Message, produce, read_all

if TYPE_CHECKING:
    import pulsar as pulsar_client

    from pulsar_spark.local import LocalPulsar


def test_a_topic_name_is_fresh_and_lies_in_the_namespace(admin: Admin, namespace: str, topic: str) -> None:
    assert topic.startswith(f"persistent://{namespace}/test_a_topic_name_is_fresh")
    assert topic not in admin.topics(namespace)
    policies = admin.policies(namespace)
    assert policies["retention_policies"] == {"retentionTimeInMinutes": -1, "retentionSizeInMB": -1}


@pytest.mark.parametrize("batch_size", [None, 1, 2, 7, 1000])
def test_batches_have_exactly_the_requested_size(
    client: pulsar_client.Client, topic: str, batch_size: int | None
) -> None:
    payloads = [f"m{number}".encode() for number in range(1500)]
    ids = produce(client, topic, payloads, batch_size=batch_size)
    received = read_all(client, topic)
    assert [message.id for message in received] == ids == sorted(ids)
    assert [message.payload for message in received] == payloads
    sizes = [len(list(entry)) for _, entry in groupby(ids, key=lambda one: (one.ledger, one.entry))]
    full, rest = divmod(len(payloads), batch_size or 1)
    assert sizes == [batch_size or 1] * full + ([rest] if rest else [])
    assert (ids[0].batch == -1) == (batch_size is None)


@pytest.mark.parametrize("compression", ["NONE", "LZ4", "ZLib", "ZSTD", "SNAPPY"])
def test_every_part_of_a_message_is_written_and_read_back(
    client: pulsar_client.Client, topic: str, compression: str
) -> None:
    sent = Message(b"payload" * 100, key="a key", event_time_ms=1_700_000_000_123, properties={"a": "1", "b": ""})
    ids = produce(client, topic, [sent, b""], batch_size=2, compression=compression)
    first, second = read_all(client, topic)
    assert (first.payload, first.key, first.event_time_ms, first.properties) == (
        sent.payload,
        sent.key,
        sent.event_time_ms,
        sent.properties,
    )
    assert (second.payload, second.key, second.event_time_ms, second.properties) == (b"", "", 0, {})
    assert not second.is_null
    assert [first.id.position, second.id.position] == [one.position for one in ids]
    assert first.publish_time_ms > sent.event_time_ms


def test_a_partitioned_topic_keeps_a_key_together(admin: Admin, client: pulsar_client.Client, topic: str) -> None:
    admin.create_topic(topic, partitions=3)
    assert admin.partitions(topic) == 3
    sent = [Message(str(number).encode(), key=f"key {number % 10}") for number in range(200)]
    produce(client, topic, sent, batch_size=10)
    received = read_all(client, topic)
    assert sorted(int(message.payload) for message in received) == list(range(200))
    places = {(message.key, message.topic) for message in received}
    assert len(places) == 10
    assert len({place for _, place in places}) > 1
    admin.set_partitions(topic, 4)
    assert admin.partitions(topic) == 4
    assert admin.stats(topic)["msgInCounter"] == 200
    admin.delete_topic(topic)
    with pytest.raises(AdminError) as error:
        admin.partitions(topic)
    assert error.value.status == 404


def test_the_admin_client_handles_one_topic(admin: Admin, client: pulsar_client.Client, topic: str) -> None:
    odd = f"{topic} ä%2F+?&=:"
    admin.create_topic(odd)
    assert admin.partitions(odd) == 0
    admin.create_subscription(odd, "sub 1")
    ids = produce(client, odd, [b"1", b"2"])
    admin.unload(odd)
    ids += produce(client, odd, [b"3"])
    assert [message.id for message in read_all(client, odd)] == ids
    assert ids[2].ledger > ids[1].ledger
    assert [ledger["ledgerId"] for ledger in admin.internal_stats(odd)["ledgers"]] == [ids[0].ledger, ids[2].ledger]
    becomes(lambda: admin.subscriptions(odd), ["sub 1"])
    becomes(lambda: admin.stats(odd)["subscriptions"]["sub 1"]["msgBacklog"], 3)
    admin.truncate(odd)
    eventually(lambda: [message.id for message in read_all(client, odd)] == ids[2:])
    admin.delete_topic(odd)


def test_without_retention_a_trim_deletes_closed_ledgers(
    admin: Admin, client: pulsar_client.Client, namespace: str, topic: str
) -> None:
    produce(client, topic, [b"old"])
    admin.unload(topic)
    ids = produce(client, topic, [b"new"])
    admin.set_retention(namespace, minutes=0, megabytes=0)
    try:
        # A policy reaches the topic some time after the call that sets it.
        eventually(lambda: [ids[0].ledger] == _ledgers_after_trim(admin, topic))
    finally:
        admin.set_retention(namespace, minutes=-1, megabytes=-1)


def _ledgers_after_trim(admin: Admin, topic: str) -> list[int]:
    admin.trim(topic)
    return [ledger["ledgerId"] for ledger in admin.internal_stats(topic)["ledgers"]]


def test_a_schema_can_be_uploaded(admin: Admin, topic: str) -> None:
    admin.create_topic(topic)
    assert admin.upload_schema(topic, "STRING", properties={"a": "b"}) == 0
    found = admin.schema(topic)
    assert (found["type"], found["properties"]) == ("STRING", {"a": "b"})


def test_a_send_that_fails_is_an_error(client: pulsar_client.Client, topic: str) -> None:
    with pytest.raises(RuntimeError, match=r"1 of 1 messages were not sent: message 0: Result\.MessageTooBig"):
        produce(client, topic, [b"x" * (6 * 1024 * 1024)])


@pytest.mark.exhaustive  # test_faults kills such a server again and again, and the shared one is there afterwards
def test_a_test_can_have_a_server_of_its_own(own_pulsar: LocalPulsar, service_url: str) -> None:
    assert own_pulsar.service_url != service_url
    assert Admin(own_pulsar.admin_url).ready_within(0, transactions=True)


def test_ids_sort_as_the_log_does() -> None:
    assert sorted([Id(2, 0, 0), Id(1, 10, 1), Id(1, 9, 5), Id(1, 10, 0)]) == [
        Id(1, 9, 5),
        Id(1, 10, 0),
        Id(1, 10, 1),
        Id(2, 0, 0),
    ]
