"""Topics whose schema changed: every version in one query, as the newest one, as the user's or as bytes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pulsar as pulsar_client
import pytest
from pulsar.schema import AvroSchema, Schema, StringSchema

from support.spark.errors import failing, no_job, refused
from support.topics.messages import Message, produce, read_all
from support.topics.reading import batch, read_available, stream

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from support.servers.admin import Admin

pytestmark = pytest.mark.usefixtures("read_level")

ROWS = 10


class Json(Schema):  # type: ignore[misc]
    """JSON values of any schema; the client's own class wants a Python class for each."""

    def __init__(self, definition: dict[str, Any]) -> None:
        super().__init__(dict, pulsar_client._pulsar.SchemaType.JSON, definition, "JSON")

    def encode(self, obj: dict[str, Any]) -> bytes:
        return json.dumps(obj).encode()

    def decode(self, data: bytes) -> dict[str, Any]:
        return dict(json.loads(data))


def record(*fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "record", "name": "R", "fields": [{"name": "id", "type": "int"}, *fields]}


NAME = {"name": "name", "type": "string"}
GONE = {"name": "gone", "type": ["null", "string"], "default": None}
NOTE = {"name": "note", "type": ["null", "string"], "default": None}
PRICE = {"name": "price", "type": "int"}
LONG_PRICE = {"name": "price", "type": "long"}
TITLE = {"name": "title", "type": "string", "aliases": ["name"]}
FLAG = {"name": "flag", "type": "boolean", "default": True}

VERSIONS = [
    record(NAME, GONE, PRICE),
    record(NAME, GONE, PRICE, NOTE),
    record(NAME, LONG_PRICE, NOTE),
    record(NOTE, TITLE, LONG_PRICE),
    record(TITLE, LONG_PRICE, FLAG),
]
BIG = 2**40


def values(version: int) -> list[dict[str, Any]]:
    """What is sent as one version; every field says which message it is of."""
    all_fields = [
        {
            "name": f"n{n}",
            "title": f"n{n}",
            "gone": "g",
            "note": f"o{n}",
            "price": n + (BIG if version > 1 else 0),
            "flag": False,
        }
        for n in range(version * ROWS, (version + 1) * ROWS)
    ]
    names = [field["name"] for field in VERSIONS[version]["fields"]]
    return [{name: fields.get(name, version * ROWS + at) for name in names} for at, fields in enumerate(all_fields)]


def row(n: int) -> tuple[Any, ...]:
    """A message as the newest version has it."""
    version = n // ROWS
    return n, f"n{n}", n + (BIG if version > 1 else 0), version < 4


@pytest.fixture(scope="module", autouse=True)
def anything_goes(namespace: str, admin: Admin) -> None:
    """Without it the broker would take few of these versions."""
    admin.set_policy(namespace, "schemaCompatibilityStrategy", "ALWAYS_COMPATIBLE", method="PUT")


@pytest.fixture(params=["AVRO", "JSON"])
def evolved(request: pytest.FixtureRequest, client: pulsar_client.Client, topic: str) -> str:
    """A topic with messages of five versions; the type of its schema."""
    for version, definition in enumerate(VERSIONS):
        schema = AvroSchema(None, definition) if request.param == "AVRO" else Json(definition)
        produce(client, topic, map(Message, values(version)), schema=schema, batch_size=4)
    return str(request.param)


def rows(frame: DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in frame.select(*columns).collect())


@pytest.mark.usefixtures("evolved")
def test_five_versions_are_one_table(spark: SparkSession, service_url: str, topic: str) -> None:
    frame = batch(spark, service_url, topic=topic)
    assert frame.columns[:4] == ["id", "title", "price", "flag"]
    assert rows(frame, "id", "title", "price", "flag") == [row(n) for n in range(5 * ROWS)]
    assert rows(frame, "flag", "id") == sorted((row(n)[3], n) for n in range(5 * ROWS))
    versions = frame.selectExpr("int(id / 10) as n", "conv(hex(__schemaVersion), 16, 10) as v").distinct().collect()
    assert {int(one["v"]) for one in versions} == set(range(5))
    assert len(versions) == 5


@pytest.mark.usefixtures("evolved")
def test_five_schema_versions_with_a_schema_of_the_user(spark: SparkSession, service_url: str, topic: str) -> None:
    name = {"name": "label", "type": "string", "aliases": ["name", "title"]}
    mine = record(name, {"name": "note", "type": ["null", "string"], "default": None}, {**LONG_PRICE, "type": "double"})
    frame = batch(spark, service_url, topic=topic, schemaMode="pinned", readerSchema=json.dumps(mine))
    assert frame.columns[:4] == ["id", "label", "note", "price"]
    assert rows(frame.selectExpr("id", "label", "coalesce(note, '-')", "price"), "*") == [
        (n, f"n{n}", f"o{n}" if 1 <= n // ROWS <= 3 else "-", float(row(n)[2])) for n in range(5 * ROWS)
    ]


@pytest.mark.usefixtures("evolved")
def test_any_version_as_bytes(spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str) -> None:
    other = f"{topic}-text"
    produce(client, other, [Message("text")], schema=StringSchema())
    frame = batch(spark, service_url, topics=f"{topic},{other}", schemaMode="raw")
    assert dict(frame.dtypes)["value"] == "binary"
    found = frame.select("__topic", "__position", "value", "__schemaVersion").collect()
    sent = [one for name in (topic, other) for one in read_all(client, name)]
    assert {(one[0], one[1]): bytes(one[2]) for one in found} == {(s.topic, s.id.position): s.payload for s in sent}
    assert {int.from_bytes(one[3], "big") for one in found if one[0] == topic} == set(range(5))


def test_schemas_that_cannot_be_resolved_are_both_named(
    spark: SparkSession, service_url: str, topic: str, evolved: str
) -> None:
    if evolved == "JSON":
        mine = record({"name": "price", "type": {"type": "array", "items": "int"}})
        expected, words = "PULSAR_VALUE_NOT_DECODABLE", ["JSON", "/price"]
    else:
        mine = record({"name": "unheard", "type": "string"})
        expected, words = "PULSAR_SCHEMA_NOT_RESOLVABLE", ["version 0", "the option readerSchema", "unheard"]
    frame = batch(spark, service_url, topic=topic, schemaMode="pinned", readerSchema=json.dumps(mine))
    with failing(expected, topic, *words):
        frame.collect()


def test_a_pinned_schema_that_cannot_be(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str
) -> None:
    produce(client, topic, [Message("text")], schema=StringSchema())
    definition = json.dumps(VERSIONS[0])
    with no_job(spark), refused("PULSAR_OPTION_INVALID", "`schemaMode`", "STRING", topic):
        batch(spark, service_url, topic=topic, schemaMode="pinned", readerSchema=definition)
    with no_job(spark), refused("PULSAR_OPTION_INCOMPLETE", "`readerSchema`", "schemaMode=pinned"):
        batch(spark, service_url, topic=topic, readerSchema=definition)
    record_topic = f"{topic}-records"
    produce(client, record_topic, [Message(values(0)[0])], schema=AvroSchema(None, VERSIONS[0]))
    with no_job(spark), refused("PULSAR_OPTION_INVALID", "`readerSchema`", "Avro schema"):
        batch(spark, service_url, topic=record_topic, schemaMode="pinned", readerSchema="{}")


def test_a_stream_keeps_its_schema_until_its_next_start(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    def send(version: int) -> None:
        produce(client, topic, map(Message, values(version)), schema=AvroSchema(None, VERSIONS[version]), batch_size=4)

    found: dict[str, list[Any]] = {}

    def take(frame: DataFrame, _: int) -> None:
        ids = frame.select("id").collect()
        for name in frame.columns:
            found.setdefault(name, []).extend(ids)

    send(0)
    old = stream(spark, service_url, topic=topic, startingOffsets="earliest")
    send(1)
    read_available(old, tmp_path, take)
    assert len(found["name"]) == 2 * ROWS
    assert "note" not in found
    send(2)
    read_available(stream(spark, service_url, topic=topic, startingOffsets="earliest"), tmp_path, take)
    assert (len(found["name"]), len(found["note"]), len(found["gone"])) == (3 * ROWS, ROWS, 2 * ROWS)


class Tracked:
    """A stream over a topic that is started again and again, with its schemas kept."""

    def __init__(self, spark: SparkSession, service_url: str, topic: str, folder: Path) -> None:
        self._spark = spark
        self._service_url = service_url
        self._options = {
            "topic": topic,
            "startingOffsets": "earliest",
            "schemaTrackingLocation": f"file://{folder}/schemas",
        }
        self._folder = folder

    @property
    def files(self) -> list[str]:
        return sorted(path.name for path in (self._folder / "schemas").glob("[0-9]*.json"))

    def frame(self) -> DataFrame:
        return stream(self._spark, self._service_url, **self._options)

    def rows(self, frame: DataFrame | None = None) -> list[dict[str, Any]]:
        """The value columns of what came since the last start."""
        found: list[dict[str, Any]] = []

        def take(batch: DataFrame, _: int) -> None:
            values = [name for name in batch.columns if not name.startswith("__")]
            found.extend(row.asDict() for row in batch.select(*values).orderBy("id").collect())

        read_available(frame or self.frame(), self._folder / "checkpoint", take)
        return found


@pytest.fixture
def tracked(spark: SparkSession, service_url: str, topic: str, tmp_path: Path) -> Tracked:
    return Tracked(spark, service_url, topic, tmp_path)


@pytest.fixture(params=["AVRO", "JSON"])
def send(request: pytest.FixtureRequest, client: pulsar_client.Client, topic: str) -> Callable[..., None]:
    """Publishes one message with a schema of these fields beside ``id``; without values the schema alone."""

    def publish(fields: list[dict[str, Any]], **value: Any) -> None:  # noqa: ANN401 - of any type
        definition = record(*fields)
        schema = AvroSchema(None, definition) if request.param == "AVRO" else Json(definition)
        produce(client, topic, [Message(value)] if value else [], schema=schema)

    return publish


def test_a_restarted_stream_keeps_columns_that_were_removed_and_has_new_ones(
    tracked: Tracked, send: Callable[..., None]
) -> None:
    send([NAME, FLAG], id=0, name="n0", flag=False)
    assert tracked.rows() == [{"id": 0, "name": "n0", "flag": False}]
    assert tracked.files == ["0.json"]
    assert tracked.rows() == []
    assert tracked.files == ["0.json"], "nothing changed"
    send([NAME, FLAG], id=1, name="n1", flag=False)
    send([NOTE], id=2, note="o2")
    assert tracked.rows() == [
        {"id": 1, "name": "n1", "flag": False, "note": None},
        {"id": 2, "name": None, "flag": True, "note": "o2"},
    ]
    assert tracked.files == ["0.json", "1.json"]
    send([NAME, NOTE], id=3, name="n3", note=None)
    assert tracked.rows() == [{"id": 3, "name": "n3", "flag": True, "note": None}]


def test_the_schema_is_stored_before_the_first_message(tracked: Tracked, send: Callable[..., None]) -> None:
    send([NAME])
    assert tracked.rows() == []
    assert tracked.files == ["0.json"]
    send([NOTE])
    assert tracked.rows() == []
    assert tracked.files == ["0.json", "1.json"]
    send([], id=1)
    assert tracked.rows() == [{"id": 1, "name": None, "note": None}]


def test_a_wider_type_is_accepted_and_an_incompatible_one_rejected(
    spark: SparkSession, tracked: Tracked, send: Callable[..., None], topic: str
) -> None:
    send([PRICE], id=0, price=5)
    assert tracked.rows() == [{"id": 0, "price": 5}]
    send([LONG_PRICE], id=1, price=BIG)
    assert tracked.rows() == [{"id": 1, "price": BIG}]
    send([PRICE], id=2, price=7)
    assert tracked.rows() == [{"id": 2, "price": 7}]
    assert dict(tracked.frame().dtypes)["price"] == "bigint"
    kept = tracked.files
    send([{"name": "price", "type": "string"}], id=3, price="7 euros")
    words = [topic, "`price`", "STRING", "schemas/", '"type": "long"', '"type": "string"', "schemaTrackingLocation"]
    with no_job(spark), refused("PULSAR_SCHEMA_CHANGED", *words):
        tracked.frame()
    assert tracked.files == kept


def test_without_a_location_a_restarted_stream_has_the_columns_of_the_newest_schema(
    spark: SparkSession, service_url: str, send: Callable[..., None], topic: str
) -> None:
    send([NAME], id=0, name="n0")
    send([NOTE], id=1, note="o1")
    assert stream(spark, service_url, topic=topic).columns[:3] == ["id", "note", "__key"]


def test_schemas_are_kept_with_schema_mode_auto_in_streams_alone(
    spark: SparkSession, service_url: str, topic: str, send: Callable[..., None], tmp_path: Path
) -> None:
    send([NAME], id=0, name="n0")
    location = str(tmp_path / "schemas")
    with no_job(spark), refused("PULSAR_OPTION_CONFLICT", "`schemaTrackingLocation`", "schemaMode=raw"):
        stream(spark, service_url, topic=topic, schemaMode="raw", schemaTrackingLocation=location)
    with no_job(spark), refused("PULSAR_OPTION_WRONG_MODE", "`schemaTrackingLocation`", "batch read"):
        batch(spark, service_url, topic=topic, schemaTrackingLocation=location).collect()
