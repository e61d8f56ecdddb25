"""Lists of a catalog: topics of a namespace, tenants and namespaces, and what a list costs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import AnalysisException

from support.proxies.broker_proxy import running_broker_proxy
from support.proxies.counting import requests_of
from support.spark.catalogs import Catalog
from support.spark.errors import refused
from support.spark.waiting import becomes
from support.topics.messages import produce

if TYPE_CHECKING:
    from support.servers.servers import Addresses
    from support.topics.writing import Target


@pytest.fixture(scope="module")
def catalog(target: Target, pulsar: Addresses, namespace: str) -> Catalog:
    options = {"service.url": pulsar.service_url, "admin.url": pulsar.admin_url, "namespace": namespace}
    return Catalog(target.spark, options)


def test_the_topics_of_a_namespace_are_listed(catalog: Catalog, target: Target, namespace: str) -> None:
    prefix = f"persistent://{namespace}/listed"
    for name in (f"{prefix}-a.b", f"{prefix}-Case", f"{prefix}-case"):
        produce(target.client, name, [b"0"])
    target.admin.create_topic(f"{prefix}-wide", partitions=3)
    shown = {("listed-Case"), ("listed-a.b"), ("listed-case"), ("listed-wide")}
    space = namespace.split("/")[1]
    for form in (f"{{c}}.public.`{space}`", f"{{c}}.`{space}`", f"{{c}}.`public.{space}`"):
        assert {row[1] for row in catalog.rows(f"show tables in {form} like 'listed*'")} == shown
    assert catalog.rows(f"select string(value) from {{c}}.`{space}`.`listed-a.b`") == [("0",)]
    described: dict[object, object] = {
        row[0]: row[1] for row in catalog.rows(f"describe extended {{c}}.`{space}`.`listed-wide`")
    }
    assert described["value"] == "binary"
    assert "partitions=3" in str(described["Table Properties"])
    (created,) = catalog.rows(f"show create table {{c}}.`{space}`.`listed-wide`")
    assert "'partitions' = '3'" in str(created)
    assert "OPTIONS" not in str(created)


def test_a_list_is_one_request(pulsar: Addresses, target: Target, topic: str) -> None:
    for number in range(3):
        target.admin.create_topic(f"{topic}-{number}", partitions=number)
    parts = [f"{topic}-like-partition-{number}" for number in range(2)]
    for part in parts:
        produce(target.client, part, [b"kept"])
    single = f"{topic}-alone-partition-0"
    produce(target.client, single, [b"0"])
    with running_broker_proxy(pulsar.service_url) as proxy:
        catalog = Catalog(
            target.spark, {"service.url": proxy.service_url, "namespace": "/".join(topic.split("/")[2:4])}
        )
        catalog.sql("show tables in {c}").collect()  # the connection, too
        listing = f"show tables in {{c}} like '{topic.split('/')[-1]}*'"
        shown = {str(row[1]) for row in catalog.rows(listing)}
        names = {f"{topic}-{suffix}" for suffix in ("0", "1", "2", "like", "alone-partition-0")}
        assert {f"{topic.rpartition('/')[0]}/{name}" for name in shown} == names
        # One more for the topic of one partition, and one for the name that only looks like one.
        least = {"GET_TOPICS_OF_NAMESPACE": 1, "PARTITIONED_METADATA": 2}
        becomes(lambda: requests_of(proxy, lambda: catalog.rows(listing)), least)
        assert catalog.rows(f"select string(value) from {catalog.table(single)}") == [("0",)]
        # Partitions without a topic, as a one-way replica has them: the list and the table agree on what is there.
        with refused("PULSAR_TOPIC_NOT_PARTITIONED", f"{topic}-like", "topicsPattern"):
            catalog.sql(f"select * from {catalog.table(f'{topic}-like')}")
        assert catalog.rows(f"select string(value) from {catalog.table(parts[1])}") == [("kept",)]


@pytest.mark.exhaustive
def test_a_list_of_3000_topics_is_one_request(pulsar: Addresses, target: Target, namespace: str) -> None:
    """``make bench-looking`` measures how long it takes."""
    large = f"{namespace}-large"
    target.admin.create_namespace(large)
    try:
        with ThreadPoolExecutor(8) as several:
            plain = [(f"persistent://{large}/plain-{n}", 0) for n in range(2000)]
            wide = [(f"persistent://{large}/wide-{n}", 10) for n in range(100)]
            list(several.map(lambda one: target.admin.create_topic(one[0], partitions=one[1]), plain + wide))
        with running_broker_proxy(pulsar.service_url) as proxy:
            catalog = Catalog(target.spark, {"service.url": proxy.service_url, "namespace": large})
            catalog.sql("show tables in {c}").collect()  # the connection, too
            assert len(catalog.sql("show tables in {c}").collect()) == 2100
            becomes(lambda: requests_of(proxy, lambda: catalog.sql("show tables in {c}").collect()).total(), 1)
    finally:
        target.admin.delete_namespace(large)


def test_tenants_and_namespaces_are_listed(catalog: Catalog, target: Target, namespace: str) -> None:
    assert ("public",) in catalog.rows("show namespaces in {c}")
    space = namespace.split("/")[1]
    assert (f"public.`{space}`",) in catalog.rows("show namespaces in {c}.public")
    with pytest.raises(AnalysisException, match="SCHEMA_NOT_FOUND"):
        catalog.sql("show namespaces in {c}.nobody").collect()
    url = {"service.url": target.service_url}
    without_admin = Catalog(target.spark, url)
    assert without_admin.rows("show namespaces in {c}") == [("public",)]
    assert without_admin.rows("show namespaces in {c}.public") == [("public.default",)]
    some = Catalog(target.spark, {**url, "namespaces": "sales/eu, public/default, sales/us"})
    assert some.rows("show namespaces in {c}") == [("public",), ("sales",)]
    assert some.rows("show namespaces in {c}.sales") == [("sales.eu",), ("sales.us",)]
