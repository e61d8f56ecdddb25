"""OAuth 2.0: a job that gives an issuer its secret gets a token, and with the token what its role may do.

That secrets and tokens are seen nowhere is shown in test_secrets.
"""

from __future__ import annotations

import base64
import socket
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from support.servers.issuer import Issuer
from support.spark.errors import failing, no_job
from support.spark.waiting import IN_TIME, within

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

    from support.servers.auth_server import AuthServer

TOPIC = "persistent://public/default/with-a-secret"
DEADLINE_MS = 10_000
WAYS = (
    "typed",
    pytest.param("typed-data", marks=pytest.mark.exhaustive),
    pytest.param("plugin", marks=pytest.mark.exhaustive),
    "plugin-data",
)


@pytest.fixture(scope="module", autouse=True)
def _created(auth_server: AuthServer) -> None:
    auth_server.admin.create_topic(TOPIC)


def oauth2(way: str, issuer: Issuer, folder: Path, *, secret: str | None = None) -> dict[str, str]:
    """Options with the secret, which is in a file or in the option itself."""
    file = folder / "key.json"
    file.write_text(issuer.key_file(secret=secret))
    place = issuer.key_data(secret=secret) if way.endswith("data") else file.as_uri()
    return issuer.typed(place) if way.startswith("typed") else issuer.plugin(place)


def options(auth_server: AuthServer, authentication: dict[str, str], **more: str) -> dict[str, str]:
    return auth_server.options(TOPIC, operationTimeoutMs=str(DEADLINE_MS), **authentication, **more)


@pytest.mark.parametrize("way", WAYS)
def test_who_knows_the_secret_writes_and_reads(
    spark: SparkSession, auth_server: AuthServer, issuer: Issuer, tmp_path: Path, way: str
) -> None:
    mine = options(auth_server, oauth2(way, issuer, tmp_path))
    given = len(issuer.given)
    spark.range(0, 20, 1, 2).selectExpr(f"concat('{way} ', id) as value").write.format("pulsar").mode("append").options(
        **mine
    ).save()
    assert len(issuer.given) > given
    levels = {"readLevel": "segment", "admin.url": auth_server.server.admin_url}
    for level in ({}, levels):
        rows = spark.read.format("pulsar").options(**mine, **level).load()
        found = [row[0] for row in rows.where(f"value like '{way} %'").collect()]
        assert sorted(found) == sorted(f"{way} {number}" for number in range(20))


@pytest.mark.parametrize("way", WAYS)
def test_a_wrong_secret_is_rejected(
    spark: SparkSession, auth_server: AuthServer, issuer: Issuer, tmp_path: Path, way: str
) -> None:
    wrong = issuer.secret[:-4] + "nope"
    mine = options(auth_server, oauth2(way, issuer, tmp_path, secret=wrong))
    rows = spark.range(1).selectExpr("string(id) as value")
    uses: list[Callable[[], object]] = [
        lambda: spark.read.format("pulsar").options(**mine).load().count(),
        rows.write.format("pulsar").mode("append").options(**mine).save,
    ]
    for use in uses:
        with (
            no_job(spark),
            within(IN_TIME),
            failing("PULSAR_CLIENT_FAILED", "access token", "invalid_client") as failure,
        ):
            use()
        assert wrong not in str(failure.value)
        assert base64.b64encode(wrong.encode()).decode() not in str(failure.value)
    assert issuer.refused > 0


@pytest.mark.parametrize("way", WAYS)
def test_an_issuer_that_does_not_answer(spark: SparkSession, auth_server: AuthServer, tmp_path: Path, way: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        issuer = Issuer(f"http://127.0.0.1:{silent.getsockname()[1]}")
        mine = options(auth_server, oauth2(way, issuer, tmp_path))
        with no_job(spark), within(IN_TIME), failing("PULSAR_CLIENT_FAILED", "OAuth 2.0"):
            spark.read.format("pulsar").options(**mine).load().count()


def test_an_issuer_that_does_not_answer_holds_up_its_own_queries_alone(
    spark: SparkSession, auth_server: AuthServer, tmp_path: Path
) -> None:
    def count(authentication: dict[str, str]) -> int:
        mine = auth_server.options(TOPIC, operationTimeoutMs="60000", **authentication)
        return spark.read.format("pulsar").options(**mine).load().count()

    with ThreadPoolExecutor() as threads, socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(180)
        issuer = Issuer(f"http://127.0.0.1:{silent.getsockname()[1]}")
        held = [threads.submit(count, oauth2("typed", issuer, tmp_path)) for _ in range(3)]
        connection, _ = silent.accept()
        with connection:
            assert count({"auth.token": auth_server.admin_token}) >= 0
            assert count({"auth.token": auth_server.token("admin")}) >= 0
            assert not any(query.done() for query in held)
        silent.close()
        for query in held:
            with failing("PULSAR_CLIENT_FAILED", "OAuth 2.0"):
                query.result(300)
