"""Messages that a write encrypts: whole batches, single messages, chunks and transactions; what is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pulsar as pulsar_client
import pytest

from support.spark.errors import failing, no_job, refused
from support.topics.keys import key_pair
from support.topics.messages import read_encrypted

if TYPE_CHECKING:
    from pathlib import Path

    from support.topics.writing import Target


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Path]]:
    """Private and public keys by name."""
    folder = tmp_path_factory.mktemp("keys")
    return {name: key_pair(folder, name) for name in ("app", "archive")}


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"pulsar.producer.compressionType": "LZ4"},
        {"pulsar.producer.batchingEnabled": "false"},
        {"pulsar.producer.batchingEnabled": "false", "pulsar.producer.chunkingEnabled": "true"},
        {"deliveryGuarantee": "exactly-once"},
    ],
    ids=["batches", "compressed", "single", "chunks", "exactly-once"],
)
def test_a_write_is_read_with_either_key_and_by_nobody_else(
    target: Target, topic: str, keys: dict[str, tuple[Path, Path]], more: dict[str, str]
) -> None:
    public = json.dumps({name: str(files[1]) for name, files in keys.items()})
    rows = target.spark.range(0, 5, 1, 1).selectExpr("string(id) as __key", "concat('secret ', id) as value")
    target.append(rows, topic, {"encryption.publicKeyFile": public, **more})
    wanted = [b"secret %d" % number for number in range(5)]
    for private, public_file in keys.values():
        assert read_encrypted(target.client, topic, private, public_file, 5) == wanted
        own = {"encryption.privateKeyFile": str(private)}
        assert [row.value for row in target.read(topic, own).collect()] == [one.decode() for one in wanted]
    with failing("PULSAR_ENTRY_ENCRYPTED", topic):
        target.read(topic).collect()
    with pytest.raises(pulsar_client.PulsarException):
        target.client.create_reader(topic, pulsar_client.MessageId.earliest).read_next(timeout_millis=3000)


@pytest.mark.parametrize(
    ("content", "words"),
    [(None, "does not exist"), ("no key", "holds no public key"), ("x" * ((1 << 24) + 1), "more than 16777216 bytes")],
    ids=["missing", "damaged", "large"],
)
def test_a_key_that_cannot_be_used_fails_before_a_task(
    target: Target, topic: str, tmp_path: Path, content: str | None, words: str
) -> None:
    file = tmp_path / "key.pub.pem"
    if content is not None:
        file.write_text(content)
    with no_job(target.spark), refused("PULSAR_ENCRYPTION_KEY", "`app`", words):
        target.append_sql(
            "select 'secret' as value", topic, {"encryption.publicKeyFile": json.dumps({"app": str(file)})}
        )


def test_a_device_is_no_key(target: Target, topic: str) -> None:
    with refused("PULSAR_ENCRYPTION_KEY", "is no file"):
        more = {"encryption.publicKeyFile": json.dumps({"app": "/dev/zero"})}
        target.append_sql("select 'secret' as value", topic, more)


def test_a_class_that_reads_no_keys_is_refused_before_a_task(target: Target, topic: str) -> None:
    target.append_sql("select 'plain' as value", topic)
    with no_job(target.spark), refused("PULSAR_OPTION_INVALID", "`encryption.keyReader`", "CryptoKeyReader"):
        more = {"encryption.keyReader": "java.lang.Object", "encryption.keyNames": "app"}
        target.append_sql("select 'secret' as value", topic, more)
    with no_job(target.spark), refused("PULSAR_OPTION_INVALID", "`pulsar.reader.cryptoKeyReader`", "CryptoKeyReader"):
        target.read(topic, {"pulsar.reader.cryptoKeyReader": "java.lang.Object"}).collect()


@pytest.mark.parametrize("name", ["encryptionKeys", "cryptoFailureAction"])
def test_settings_of_the_client_that_would_send_plain_messages_are_refused(
    target: Target, topic: str, name: str
) -> None:
    with refused("PULSAR_OPTION_MANAGED", f"pulsar.producer.{name}"):
        target.append_sql("select 'secret' as value", topic, {f"pulsar.producer.{name}": '["app"]'})
