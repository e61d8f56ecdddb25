"""What each statement on a catalog needs of a role: the table of rights in docs/use/tables.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.spark.catalogs import Catalog
from support.spark.errors import failing, no_job, refused
from support.spark.settings import session_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from support.servers.auth_server import AuthServer
    from support.topics.writing import Target


def catalog_of(spark: SparkSession, auth_server: AuthServer, token: str) -> Catalog:
    server = auth_server.server
    return Catalog(
        spark,
        {
            "service.url": server.service_url,
            "admin.url": server.admin_url,
            "auth.tokenFile": auth_server.token_file(token),
            "namespace": "public/auth_server",
            "allowDrop": "true",
        },
    )


def test_a_role_that_may_only_consume(spark: SparkSession, auth_server: AuthServer, protected_topic: str) -> None:
    catalog = catalog_of(spark, auth_server, auth_server.reader_token)
    table = catalog.table(protected_topic)
    assert (protected_topic.rpartition("/")[2],) in [
        row[1:2] for row in catalog.rows("show tables in {c}.public.auth_server")
    ]
    assert spark.table(table).count() == 10
    for statement in ("describe {t}", "describe extended {t}", "show tblproperties {t}", "show create table {t}"):
        assert catalog.rows(statement.format(t=table)), statement
    stream = spark.readStream.option("startingOffsets", "earliest").table(table).writeStream.format("memory")
    query = stream.queryName("consumed").trigger(availableNow=True).start()
    assert query.awaitTermination(300)
    assert spark.table("consumed").count() == 10
    catalog.sql("use {c}.public.auth_server")
    spark.sql("use spark_catalog.default")
    with no_job(spark), failing("PULSAR_ACCESS_DENIED", "`produce`"):
        catalog.sql(f"insert into {table} (value) values (binary('x'))")
    for statement in (
        f"create table {table}2 (a int)".replace("`2", "2`"),
        f"drop table {table}",
        f"alter table {table} set tblproperties (partitions = 2)",
        f"alter table {table} set tblproperties (messageTTL = '1h')",
        "show namespaces in {c}",
        "show namespaces in {c}.public",
    ):
        with no_job(spark), refused("PULSAR_ACCESS_DENIED", "administrate the tenant"):
            catalog.sql(statement)
    assert spark.table(table).count() == 10


def test_a_role_that_may_produce(spark: SparkSession, auth_server: AuthServer) -> None:
    topic = "persistent://public/auth_server/written"
    administrator = catalog_of(spark, auth_server, auth_server.admin_token)
    administrator.sql(f"create table {administrator.table(topic)} (city string)")
    auth_server.admin.set_policy("public/auth_server", "permissions/writer", ["consume", "produce"])
    catalog = catalog_of(spark, auth_server, auth_server.token("writer"))
    table = catalog.table(topic)
    catalog.sql(f"insert into {table} values ('Rome')")
    catalog.sql(f"alter table {table} add column km double")
    assert catalog.rows(f"select city, km from {table}") == [("Rome", None)]
    with no_job(spark), refused("PULSAR_ACCESS_DENIED", "administrate the tenant"):
        catalog.sql(f"alter table {table} set tblproperties (partitions = 2)")


def test_a_missing_right_is_not_a_missing_table(
    spark: SparkSession, auth_server: AuthServer, protected_topic: str
) -> None:
    for token in (auth_server.nobody_token, auth_server.wrong_token()):
        catalog = catalog_of(spark, auth_server, token)
        for statement in (f"select * from {catalog.table(protected_topic)}", "show tables in {c}.public.auth_server"):
            with pytest.raises(Exception, match="PULSAR_ACCESS_DENIED"), no_job(spark):
                catalog.sql(statement)
        options = {"service.url": auth_server.server.service_url, "auth.token": token}
        with failing("PULSAR_ACCESS_DENIED"), no_job(spark):
            spark.read.format("pulsar").options(**options, topicsPattern="public/auth_server/.*").load()


def test_two_clusters_are_joined(
    spark: SparkSession, auth_server: AuthServer, protected_topic: str, target: Target, topic: str
) -> None:
    secured = catalog_of(spark, auth_server, auth_server.reader_token)
    other = Catalog(spark, {"service.url": target.service_url})
    target.append_sql("select binary(string(id)) as value from range(5, 15)", topic)
    both = f"select string(value) from {secured.table(protected_topic)} join {other.table(topic)} using (value)"
    assert secured.rows(both) == [(str(n),) for n in range(5, 10)]


def test_a_token_that_spark_shows_is_refused(
    spark: SparkSession, auth_server: AuthServer, protected_topic: str
) -> None:
    url, token = auth_server.server.service_url, auth_server.reader_token
    with refused("PULSAR_SETTING_SECRET", "auth.token", "before it starts") as error:
        Catalog(spark, {"service.url": url, "auth.token": token}).rows("show tables in {c}.public.auth_server")
    assert token not in str(error.value)
    setting = "spark.datasource.pulsar.auth.token"
    options = {"service.url": url, "topic": protected_topic}
    with session_settings(spark, {setting: token}):
        for more in ({}, {"metadata": "partitions"}, {"auth.tokenFile": auth_server.token_file(token)}):
            with no_job(spark), refused("PULSAR_SETTING_SECRET", f"`{setting}`") as error:
                spark.read.format("pulsar").options(**options, **more).load()
            assert token not in str(error.value)
        with no_job(spark), refused("PULSAR_SETTING_SECRET", f"`{setting}`"):
            spark.sql("select 'x' as value").write.format("pulsar").mode("append").options(**options).save()
    assert spark.read.format("pulsar").options(**options, **{"auth.token": token}).load().count() == 10


def test_an_administrator_creates_and_drops(spark: SparkSession, auth_server: AuthServer) -> None:
    catalog = catalog_of(spark, auth_server, auth_server.admin_token)
    catalog.sql("create table {c}.made as select 1 as n")
    assert catalog.rows("select * from {c}.made") == [(1,)]
    catalog.drop("persistent://public/auth_server/made")
    assert ("public",) in catalog.rows("show namespaces in {c}")
