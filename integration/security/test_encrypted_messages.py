"""Messages that producers encrypted, as the official clients read them with the private key."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pulsar as pulsar_client
import pytest
from pyspark.errors import IllegalArgumentException

from support.spark.errors import failing
from support.topics.java_values import java_connection
from support.topics.keys import key_pair
from support.topics.messages import Id, produce
from support.topics.reading import Batches, Seen, assert_exactly_once, batch, dice, read_available, seen, stream
from support.topics.remaining import remaining

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from support.servers.admin import Admin


@dataclass(frozen=True)
class Key:
    private: Path
    public: Path

    def for_python(self) -> pulsar_client.CryptoKeyReader:
        return pulsar_client.CryptoKeyReader(str(self.public), str(self.private))


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> tuple[Key, Key]:
    folder = tmp_path_factory.mktemp("keys")
    return Key(*key_pair(folder, "one")), Key(*key_pair(folder, "two"))


def _read_all(client: pulsar_client.Client, topic: str, key: Key) -> list[Seen]:
    reader = client.create_reader(topic, pulsar_client.MessageId.earliest, crypto_key_reader=key.for_python())
    found = []
    for message in remaining(reader):
        found.append(Seen(topic, Id.of(message.message_id()).position, message.data()))
    reader.close()
    return found


@pytest.mark.parametrize(
    ("batch_size", "compression", "chunks"),
    [(None, "NONE", False), (7, "NONE", False), (7, "LZ4", False), (None, "ZSTD", False), (None, "LZ4", True)],
)
def test_messages_encrypted_by_python(
    spark: SparkSession,
    service_url: str,
    client: pulsar_client.Client,
    topic: str,
    keys: tuple[Key, Key],
    batch_size: int | None,
    compression: str,
    chunks: bool,
) -> None:
    random = dice()
    sizes = [10, 12_000_000, 0, 6_000_000] if chunks else [random.randint(0, 5000) for _ in range(100)]
    payloads = [random.randbytes(size) for size in sizes]
    encryption = {"encryption_key": "app", "crypto_key_reader": keys[0].for_python(), "chunking_enabled": chunks}
    produce(client, topic, payloads, batch_size=batch_size, compression=compression, **encryption)
    wanted = _read_all(client, topic, keys[0])
    assert [one.payload for one in wanted] == payloads
    frame = batch(spark, service_url, topic=topic, **{"encryption.privateKeyFile": str(keys[0].private)})
    assert_exactly_once(seen(frame), wanted)
    assert batch(spark, service_url, topic=topic).count() == len(wanted), "counting needs no key"


def test_a_stream_of_plain_and_encrypted_messages(
    spark: SparkSession,
    admin: Admin,
    service_url: str,
    client: pulsar_client.Client,
    topic: str,
    keys: tuple[Key, Key],
    tmp_path: Path,
) -> None:
    admin.create_topic(topic)
    options = {
        "startingOffsets": "earliest",
        "encryption.privateKeyFile": json.dumps({"app": f"file://{keys[0].private}"}),
    }
    frame = stream(spark, service_url, topic=topic, **options)
    batches = Batches()
    for number in range(3):
        produce(client, topic, [b"plain %d" % number], batch_size=3)
        secret = {"encryption_key": "app", "crypto_key_reader": keys[0].for_python()}
        produce(client, topic, [b"secret %d" % number] * 5, batch_size=3, **secret)
        read_available(frame, tmp_path / "checkpoint", batches)
    assert_exactly_once(batches.rows, _read_all(client, topic, keys[0]))


def test_messages_encrypted_by_java_for_two_readers(
    spark: SparkSession, service_url: str, topic: str, keys: tuple[Key, Key]
) -> None:
    with java_connection(spark, service_url) as java:
        builder = java.newProducer().topic(topic)
        names = {name: f"file://{key.public}" for name, key in zip(("one", "two"), keys, strict=True)}
        producer = builder.addEncryptionKey("one").addEncryptionKey("two").defaultCryptoKeyReader(names).create()
        for number in range(20):
            producer.newMessage().value(b"%d" % number).sendAsync()
        producer.flush()
    for name, key in zip(("one", "two"), keys, strict=True):
        given = json.dumps({name: str(key.private)})
        frame = batch(spark, service_url, topic=topic, **{"encryption.privateKeyFile": given})
        assert [row.payload for row in seen(frame)] == [b"%d" % number for number in range(20)]


def test_the_error_reports_why_a_message_cannot_be_decrypted(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str, keys: tuple[Key, Key]
) -> None:
    produce(client, topic, [b"x"], encryption_key="app", crypto_key_reader=keys[0].for_python())

    def read(**options: str) -> None:
        seen(batch(spark, service_url, topic=topic, **options))

    option = "encryption.privateKeyFile"
    with failing("PULSAR_ENTRY_ENCRYPTED", topic, "the query has no private keys", option):
        read()
    with failing("PULSAR_ENTRY_ENCRYPTED", topic, "no private key that was given fits its key `app`") as failure:
        read(**{option: str(keys[1].private)})
    secret = keys[1].private.read_text().splitlines()[3]
    assert secret not in str(failure.value)
    with failing("PULSAR_ENTRY_ENCRYPTED", topic, "the file /no/such.pem does not exist on this machine"):
        read(**{option: "/no/such.pem"})
    with failing("PULSAR_ENTRY_ENCRYPTED", topic, "no file is given for `app`"):
        read(**{option: json.dumps({"other": str(keys[0].private)})})
    with pytest.raises(IllegalArgumentException, match=r"PULSAR_OPTION_INVALID.*privateKeyFile"):
        read(**{option: "{oops"})
