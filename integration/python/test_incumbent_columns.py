"""Topics have the columns that streamnative/pulsar-spark's README shows, with more of this connector behind them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from support.servers.admin import Admin

METADATA = (
    "__key:binary,__topic:string,__messageId:binary,__publishTime:timestamp,__eventTime:timestamp,"
    "__messageProperties:map<string,string>"
)
MORE = "__keyIsText:boolean,__orderingKey:binary"  # behind those that the README names
FOO = {
    "type": "record",
    "name": "Foo",
    "fields": [
        {"name": "i", "type": "int"},
        {"name": "f", "type": "float"},
        {
            "name": "bar",
            "type": [
                "null",
                {
                    "type": "record",
                    "name": "Bar",
                    "fields": [{"name": "b", "type": "boolean"}, {"name": "s", "type": ["null", "string"]}],
                },
            ],
        },
    ],
}


@pytest.mark.parametrize(
    ("kind", "schema", "columns"),
    [
        ("AVRO", json.dumps(FOO), "i:int,f:float,bar:struct<b:boolean,s:string>"),
        ("DOUBLE", "", "value:double"),
    ],
    ids=["AVRO", "DOUBLE"],
)
def test_topics_have_the_columns_of_the_example(
    spark: SparkSession, admin: Admin, service_url: str, topic: str, kind: str, schema: str, columns: str
) -> None:
    admin.create_topic(topic)
    admin.upload_schema(topic, kind, schema)
    frame = spark.read.format("pulsar").option("service.url", service_url).option("topic", topic).load()
    assert frame.schema.simpleString() == f"struct<{columns},{METADATA},{MORE}>"
