"""A role may do what it is allowed to and no more, and learns by name what it lacks."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import pytest

from support.servers.auth_server import PLUGIN
from support.spark.errors import failing, no_job, refused

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from support.servers.auth_server import AuthServer


def read(spark: SparkSession, options: dict[str, str]) -> int:
    return spark.read.format("pulsar").options(**options).load().count()


def write(spark: SparkSession, options: dict[str, str]) -> None:
    spark.sql("select unhex('00') as value").write.format("pulsar").mode("append").options(**options).save()


def test_a_role_that_may_only_consume_reads(spark: SparkSession, auth_server: AuthServer, protected_topic: str) -> None:
    options = auth_server.options(protected_topic, **{"auth.token": auth_server.reader_token})
    assert read(spark, options) == 10
    pattern = {**options, "topicsPattern": "public/auth_server/ev.*-test_roles"}
    del pattern["topic"]
    assert read(spark, pattern) == 10


def test_a_role_that_may_only_consume_cannot_write(
    spark: SparkSession, auth_server: AuthServer, protected_topic: str
) -> None:
    options = auth_server.options(protected_topic, **{"auth.token": auth_server.reader_token})
    with no_job(spark), failing("PULSAR_ACCESS_DENIED", protected_topic, "`produce`"):
        write(spark, options)


def test_a_role_without_any_right_cannot_read(
    spark: SparkSession, auth_server: AuthServer, protected_topic: str
) -> None:
    with no_job(spark), failing("PULSAR_ACCESS_DENIED", protected_topic, "`consume`"):
        read(spark, auth_server.options(protected_topic, **{"auth.token": auth_server.nobody_token}))


@pytest.mark.parametrize("action", [read, write])
def test_a_wrong_token_is_rejected_and_not_in_the_error(
    spark: SparkSession, auth_server: AuthServer, protected_topic: str, action: object
) -> None:
    wrong = auth_server.wrong_token()
    with pytest.raises(Exception, match="PULSAR_ACCESS_DENIED") as failure, no_job(spark):
        (read if action is read else write)(spark, auth_server.options(protected_topic, **{"auth.token": wrong}))
    assert "auth.*" in str(failure.value)
    assert wrong not in str(failure.value)
    assert wrong.rsplit(".", 1)[1] not in str(failure.value)


def test_a_read_without_a_token_is_rejected(spark: SparkSession, auth_server: AuthServer, protected_topic: str) -> None:
    with no_job(spark), failing("PULSAR_ACCESS_DENIED"):
        read(spark, auth_server.options(protected_topic))


@pytest.mark.parametrize("who", ["nobody", "wrong", "no token"])
def test_the_admin_service_refuses_by_name(
    spark: SparkSession, auth_server: AuthServer, service_url: str, who: str
) -> None:
    """The broker of another server lets everybody in, so that only the admin service is there to refuse."""
    elsewhere = f"persistent://public/default/auth_server-{secrets.token_hex(4)}"
    tokens = {"nobody": auth_server.nobody_token, "wrong": auth_server.wrong_token()}
    login = {"auth.token": tokens[who]} if who in tokens else {}
    write(spark, {"service.url": service_url, "topic": elsewhere})
    own = {"service.url": service_url, "topic": elsewhere, **login}
    assert read(spark, own) == 1
    with failing("PULSAR_ACCESS_DENIED", elsewhere, auth_server.server.admin_url, "`consume`") as failure:
        read(spark, {**own, "readLevel": "segment", "admin.url": auth_server.server.admin_url})
    assert not [token for token in tokens.values() if token in str(failure.value)]


def test_the_admin_service_may_have_credentials_of_its_own(
    spark: SparkSession, auth_server: AuthServer, protected_topic: str
) -> None:
    admin_url = auth_server.server.admin_url
    brokers = auth_server.options(
        protected_topic, **{"auth.token": auth_server.reader_token, "readLevel": "segment", "admin.url": admin_url}
    )

    def admin(token: str) -> dict[str, str]:
        plugin = f"{PLUGIN}AuthenticationToken"
        return {"pulsar.admin.authPluginClassName": plugin, "pulsar.admin.authParams": f"token:{token}"}

    assert read(spark, {**brokers, **admin(auth_server.admin_token)}) == 10
    with failing("PULSAR_ACCESS_DENIED", protected_topic, admin_url, "`consume`") as failure:
        read(spark, {**brokers, **admin(auth_server.nobody_token)})
    assert auth_server.nobody_token not in str(failure.value)


def test_a_token_file_is_read(
    spark: SparkSession, auth_server: AuthServer, protected_topic: str, tmp_path: Path
) -> None:
    file = tmp_path / "token"
    file.write_text(f"{auth_server.reader_token}\n")
    assert read(spark, auth_server.options(protected_topic, **{"auth.tokenFile": str(file)})) == 10


def test_a_plugin_may_be_named_as_the_client_names_it(
    spark: SparkSession, auth_server: AuthServer, protected_topic: str
) -> None:
    plugin = {"pulsar.client.authPluginClassName": f"{PLUGIN}AuthenticationToken"}
    plugin["pulsar.client.authParams"] = f"token:{auth_server.reader_token}"
    assert read(spark, auth_server.options(protected_topic, **plugin)) == 10


def test_an_empty_secret_is_rejected(spark: SparkSession, auth_server: AuthServer, protected_topic: str) -> None:
    with no_job(spark), refused("PULSAR_OPTION_INVALID", "`auth.token`", "***"):
        read(spark, auth_server.options(protected_topic, **{"auth.token": " "}))
