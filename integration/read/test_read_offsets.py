"""Batch reads between positions and times: exactly what was asked for, and never a wait."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import IllegalArgumentException

from support.spark.waiting import IN_TIME, eventually
from support.topics.levels import AT_BOTH_LEVELS
from support.topics.messages import Received, produce, read_all
from support.topics.parted import Parted, numbers, texts
from support.topics.reading import (
    assert_exactly_once,
    batch,
    dice,
    existing,
    java_client,
    seen,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    import pulsar as pulsar_client
    from pyspark.sql import SparkSession

    from support.servers.admin import Admin

pytestmark = pytest.mark.usefixtures("read_level")

_HOUR_MS = 3_600_000


@pytest.fixture(scope="module")
def parted(admin: Admin, client: pulsar_client.Client, namespace: str) -> Parted:
    return Parted.create(admin, client, f"persistent://{namespace}/parted")


@pytest.fixture
def rows_between(spark: SparkSession, service_url: str, parted: Parted) -> Callable[..., list[str]]:
    """The payloads between offsets or times of the topic, sorted; fails when the read waits."""

    def read(**options: object) -> list[str]:
        given = {key: value if isinstance(value, str) else json.dumps(value) for key, value in options.items()}
        began = time.monotonic()
        rows = seen(batch(spark, service_url, topic=parted.name, **given))
        assert time.monotonic() - began < IN_TIME
        return texts(row.payload for row in rows)

    return read


_ALL = range(100)


@AT_BOTH_LEVELS
def test_positions_for_each_partition_by_full_and_by_partition_name(
    rows_between: Callable[..., list[str]], parted: Parted
) -> None:
    first, second = parted.partition(0), parted.partition(1)
    at = {number: [one.id.position for one in parted.of(number)] for number in (0, 1)}
    starting, ending = {first: at[0][9], second: at[1][49]}, {first: at[0][29], second: at[1][50]}
    wanted = sorted(numbers(0, range(9, 30)) + numbers(1, range(49, 51)))
    assert rows_between(startingOffsets=starting, endingOffsets=ending) == wanted
    after = sorted(numbers(0, range(10, 30)) + numbers(1, range(50, 51)))
    start_after = {name: f"after {position}" for name, position in starting.items()}
    assert rows_between(startingOffsets=start_after, endingOffsets=ending) == after
    # As a checkpoint holds them.
    progress = {"version": 1, "positions": starting}
    assert rows_between(startingOffsets=progress, endingOffsets={"version": 1, "positions": ending}) == after


def test_a_position_of_the_only_partition_stands_alone(
    spark: SparkSession, service_url: str, parted: Parted, rows_between: Callable[..., list[str]]
) -> None:
    at = [one.id.position for one in parted.of(0)]
    frame = batch(spark, service_url, topic=parted.partition(0), startingOffsets=f"after {at[9]}", endingOffsets=at[20])
    assert texts(row.payload for row in seen(frame)) == sorted(numbers(0, range(10, 21)))
    with pytest.raises(IllegalArgumentException, match=r"PULSAR_OFFSETS_MALFORMED.*the read has 2"):
        rows_between(endingOffsets=at[20])


def test_a_progress_of_more_topics_than_the_read_has_is_a_bound(
    rows_between: Callable[..., list[str]], parted: Parted
) -> None:
    own = {parted.partition(0): parted.of(0)[4].id.position}
    other = {f"{parted.name}-2": "1:1", f"{parted.name}-2-partition-0": "1:1"}
    assert rows_between(endingOffsets={"version": 1, "positions": {**own, **other}}) == numbers(0, range(5))
    with pytest.raises(IllegalArgumentException, match="PULSAR_OFFSETS_UNKNOWN_TOPIC"):
        rows_between(endingOffsets={"version": 1, "positions": other})


def test_partitions_that_are_not_listed(rows_between: Callable[..., list[str]], parted: Parted) -> None:
    first = {parted.partition(0): parted.of(0)[90].id.position}
    rest, whole = numbers(0, range(90, 100)), numbers(1, _ALL)
    assert rows_between(startingOffsets=first) == sorted(rest + whole)
    assert rows_between(endingOffsets=first) == sorted(numbers(0, range(91)) + whole)
    progress = {"version": 1, "positions": first}
    assert rows_between(startingOffsets=progress) == sorted(numbers(0, range(91, 100)) + whole)
    assert rows_between(endingOffsets=progress) == sorted(numbers(0, range(91)))


@pytest.mark.parametrize(
    ("starting", "ending", "wanted"),
    [
        pytest.param("earliest", "latest", [_ALL, _ALL], id="words"),
        pytest.param({"": "earliest"}, {"": "latest"}, [_ALL, _ALL], id="words for the topic"),
        pytest.param({0: "earliest", 1: 98}, {"": "latest"}, [_ALL, range(98, 100)], id="a word and a position"),
        pytest.param(
            {0: 6, 1: 7}, {"": "latest"}, [range(6, 100), range(7, 100)], id="at and after the end of a batch"
        ),
        pytest.param(
            {0: "after 6", 1: "after 7"}, {"": "latest"}, [range(7, 100), range(8, 100)], id="after a message"
        ),
        pytest.param({0: 1, 1: 99}, {0: 1, 1: 99}, [range(1, 2), range(99, 100)], id="one message each"),
        pytest.param({0: "after 10", 1: "after 99"}, {0: 10, 1: 99}, [range(0), range(0)], id="nothing"),
        pytest.param({0: "after 99", 1: 99}, {"": "latest"}, [range(0), range(99, 100)], id="start at the end"),
        pytest.param({0: "9999999:5", 1: 97}, {"": "latest"}, [range(0), range(97, 100)], id="start beyond the end"),
        pytest.param({"": "earliest"}, {0: "9999999:5:1", 1: 0}, [_ALL, range(1)], id="end beyond the end"),
        pytest.param({0: "0:-1", 1: "0:0"}, {0: 3, 1: "latest"}, [range(4), _ALL], id="start before all that is there"),
    ],
)
def test_table_of_bounds(
    rows_between: Callable[..., list[str]],
    parted: Parted,
    starting: str | dict[object, object],
    ending: str | dict[object, object],
    wanted: list[range],
) -> None:
    def offsets(bound: str | dict[object, object]) -> object:
        return bound if isinstance(bound, str) else {_name(key): _position(key, value) for key, value in bound.items()}

    def _name(key: object) -> str:
        return parted.partition(key) if isinstance(key, int) else parted.name

    def _position(key: object, value: object) -> object:
        if isinstance(value, int):
            return parted.of(int(str(key)))[value].id.position
        word, _, index = str(value).partition(" ")
        return f"{word} {_position(key, int(index))}" if word == "after" else value

    found = rows_between(startingOffsets=offsets(starting), endingOffsets=offsets(ending), failOnDataLoss="false")
    assert found == sorted(numbers(0, wanted[0]) + numbers(1, wanted[1]))


def test_a_whole_entry_as_a_bound(rows_between: Callable[..., list[str]], parted: Parted) -> None:
    entry = {number: parted.of(number)[7].id.position.rpartition(":")[0] for number in (0, 1)}  # the second batch
    by_partition = {parted.partition(number): position for number, position in entry.items()}
    assert rows_between(startingOffsets=by_partition) == sorted(numbers(0, range(7, 100)) + numbers(1, range(7, 100)))
    after = {name: f"after {position}" for name, position in by_partition.items()}
    assert rows_between(startingOffsets=after) == sorted(numbers(0, range(14, 100)) + numbers(1, range(14, 100)))
    assert rows_between(endingOffsets=by_partition) == sorted(numbers(0, range(14)) + numbers(1, range(14)))


def test_the_arrays_of_bytes_of_the_older_connector(
    rows_between: Callable[..., list[str]], parted: Parted, spark: SparkSession
) -> None:
    def array(one: Received) -> list[int]:
        return [byte - 256 if byte > 127 else byte for byte in one.id_bytes]

    starting = {parted.partition(number): array(parted.of(number)[10]) for number in (0, 1)}
    ending = {parted.partition(number): array(parted.of(number)[20]) for number in (0, 1)}
    # There a start is the first message that is read.
    wanted = sorted(numbers(0, range(10, 21)) + numbers(1, range(10, 21)))
    assert rows_between(startingOffsets=starting, endingOffsets=ending) == wanted
    ids = java_client(spark).MessageId
    words = {
        word: [byte - 256 if byte > 127 else byte for byte in getattr(ids, word).toByteArray()]
        for word in ("earliest", "latest")
    }
    found = rows_between(
        startingOffsets={parted.name: words["earliest"]},
        endingOffsets={parted.partition(0): words["latest"], parted.partition(1): array(parted.of(1)[0])},
    )
    assert found == sorted(numbers(0, _ALL) + numbers(1, range(1)))


def test_short_names_in_offsets(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str
) -> None:
    short = topic.rpartition("/")[2]
    full = f"persistent://public/default/{short}"
    admin.create_topic(full, partitions=2)
    try:
        produce(client, full, [b"%d" % number for number in range(40)], batch_size=2)
        there = existing(received := read_all(client, full))
        start = {f"{short}-partition-{number}": "earliest" for number in (0, 1)}
        end = {short: "latest"}
        offsets = {"startingOffsets": json.dumps(start), "endingOffsets": json.dumps(end)}
        assert_exactly_once(seen(batch(spark, service_url, topic=short, **offsets)), there)
        second = [one for one in received if one.id.partition == 1]
        offsets["startingOffsets"] = json.dumps({**start, f"{short}-partition-1": second[4].id.position})
        wanted = existing([one for one in received if one not in second[:4]])
        assert_exactly_once(seen(batch(spark, service_url, topic=short, **offsets)), wanted)
    finally:
        admin.delete_topic(full)


@pytest.mark.parametrize(
    "batch_size", [None, *(pytest.param(n, marks=pytest.mark.exhaustive) for n in (1, 2)), 7, 1000]
)
def test_pieces_that_are_cut_anywhere_make_up_the_whole(
    spark: SparkSession,
    service_url: str,
    admin: Admin,
    client: pulsar_client.Client,
    topic: str,
    batch_size: int | None,
) -> None:
    random = dice()
    admin.create_topic(topic, partitions=2)
    payloads = [b"%d" % number for number in range(2100)]
    produce(client, topic, payloads[:1300], batch_size=batch_size, compression=random.choice(["NONE", "LZ4", "ZSTD"]))
    admin.unload(f"{topic}-partition-0")  # the next message opens another ledger
    produce(client, topic, payloads[1300:], batch_size=batch_size)
    received = read_all(client, topic)
    assert len(received) == len(payloads)
    partitions = {name: [one for one in received if one.topic == name] for name in {one.topic for one in received}}
    pieces = 6
    cuts = {name: sorted(random.sample(range(len(there)), pieces - 1)) for name, there in partitions.items()}
    print(f"cuts: {cuts}")

    def beginning(there: list[Received], cut: int) -> str:
        after = f"after {there[cut].id.position}"
        return random.choice([after, there[cut + 1].id.position]) if cut + 1 < len(there) else after

    found = []
    for piece in range(pieces):
        start = {
            name: beginning(partitions[name], cut[piece - 1]) if piece else "earliest" for name, cut in cuts.items()
        }
        end = {
            name: partitions[name][cut[piece]].id.position if piece < pieces - 1 else "latest"
            for name, cut in cuts.items()
        }
        options = {"startingOffsets": json.dumps(start), "endingOffsets": json.dumps(end)}
        found += seen(batch(spark, service_url, topic=topic, **options))
    assert_exactly_once(found, existing(received))


@pytest.fixture(scope="module")
def timed(client: pulsar_client.Client, namespace: str) -> tuple[str, list[Received]]:
    """A topic whose publish times differ from batch to batch."""
    name = f"persistent://{namespace}/timed"
    for turn in range(12):
        produce(client, name, [f"{turn} {number}".encode() for number in range(5)], batch_size=5 if turn % 2 else None)
        now = time.time_ns() // 1_000_000
        eventually(lambda now=now: time.time_ns() // 1_000_000 > now)  # type: ignore[misc]
    received = read_all(client, name)
    assert len({one.publish_time_ms for one in received}) >= 12
    return name, received


@pytest.mark.parametrize("skew", ["60000", pytest.param("0", marks=pytest.mark.exhaustive)])
def test_times_are_half_open_and_exact_at_every_message(
    spark: SparkSession, service_url: str, timed: tuple[str, list[Received]], skew: str
) -> None:
    topic, received = timed
    times = sorted({one.publish_time_ms for one in received})
    for begin, end in [
        *[(moment, None) for moment in times[:: len(times) // 5]],
        *[(None, moment) for moment in times[:: len(times) // 5] if moment > times[0]],
        (times[3], times[8]),
        (times[3] + 1, times[8] + 1),
        (times[-1], times[-1] + 1),
        (times[0] - _HOUR_MS, times[-1] + 1),
    ]:
        options = {"startingTime": begin, "endingTime": end}
        given = {key: str(value) for key, value in options.items() if value is not None}
        rows = seen(batch(spark, service_url, topic=topic, publishTimeSkewMs=skew, **given))
        wanted = [one for one in received if (begin or 0) <= one.publish_time_ms < (end or times[-1] + 1)]
        assert_exactly_once(rows, existing(wanted))


def test_times_in_iso_form_and_for_each_topic(
    spark: SparkSession,
    service_url: str,
    timed: tuple[str, list[Received]],
    rows_between: Callable[..., list[str]],
    parted: Parted,
) -> None:
    topic, received = timed
    moment = received[30].publish_time_ms
    text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment // 1000)) + f".{moment % 1000:03}Z"
    rows = seen(batch(spark, service_url, topic=topic, startingTime=text))
    assert_exactly_once(rows, existing([one for one in received if one.publish_time_ms >= moment]))
    last = parted.of(1)[-1].publish_time_ms
    each = {parted.partition(0): "2020-01-01T00:00:00+01:00", parted.partition(1): last + 1}
    assert rows_between(startingTime=each) == sorted(numbers(0, _ALL))


def test_empty_and_future_times_never_wait(rows_between: Callable[..., list[str]], parted: Parted) -> None:
    everything = sorted(numbers(0, _ALL) + numbers(1, _ALL))
    first, last = (pick(one.publish_time_ms for one in parted.received) for pick in (min, max))
    future = str(int(time.time() * 1000) + _HOUR_MS)
    assert rows_between(startingTime=future) == []
    assert rows_between(startingTime=future, endingTime=str(int(future) + 5)) == []
    assert rows_between(endingTime=future) == everything
    assert rows_between(startingTime=str(last + 1)) == []
    assert rows_between(endingTime=str(first)) == []
    assert rows_between(startingTime=str(first), endingTime=str(first)) == []
    assert rows_between(startingTime="0") == everything


@AT_BOTH_LEVELS
@pytest.mark.parametrize("empty_by", ["creation", "truncation"])
def test_nothing_waits_on_an_empty_topic(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, empty_by: str
) -> None:
    admin.create_topic(topic)
    if empty_by == "truncation":
        produce(client, topic, [b"1", b"2"])
        admin.unload(topic)
        admin.truncate(topic)
        eventually(lambda: read_all(client, topic) == [])
    began = time.monotonic()
    for options in [
        {},
        {"startingTime": "0"},
        {"endingTime": str(int(time.time() * 1000))},
        {"startingOffsets": "earliest", "endingOffsets": "latest"},
        {"endingOffsets": json.dumps({topic: "99999999:0"})},
    ]:
        assert batch(spark, service_url, topic=topic, **options).collect() == []
    assert time.monotonic() - began < IN_TIME


@pytest.mark.parametrize(
    ("options", "condition"),
    [
        ({"startingOffsets": "{"}, "PULSAR_OFFSETS_MALFORMED"),
        ({"startingOffsets": '{"TOPIC": "1:x"}'}, "PULSAR_OFFSETS_MALFORMED"),
        ({"startingOffsets": '{"TOPIC": "1:2"}'}, "PULSAR_OFFSETS_MALFORMED"),  # whose partition would that be in?
        ({"startingOffsets": '{"TOPIC": [1, 2]}'}, "PULSAR_OFFSETS_MALFORMED"),
        ({"startingOffsets": '{"TOPIC-partition-7": "earliest"}'}, "PULSAR_OFFSETS_UNKNOWN_TOPIC"),
        ({"endingOffsets": '{"TOPIC-partition-0": "after 1:2"}'}, "PULSAR_OFFSETS_MALFORMED"),
        ({"startingOffsets": "latest"}, "PULSAR_START_LATEST"),
        ({"endingOffsets": "earliest"}, "PULSAR_END_EARLIEST"),
        ({"startingTime": "2020-01-02T00:00:00Z", "endingTime": "2020-01-01T00:00:00Z"}, "PULSAR_OFFSETS_REVERSED"),
        ({"startingTime": "yesterday"}, "PULSAR_TIME_MALFORMED"),
        ({"startingTime": "2020-01-01T00:00:00"}, "PULSAR_TIME_MALFORMED"),
    ],
)
def test_bounds_that_make_no_sense_are_one_clear_error(
    spark: SparkSession, service_url: str, parted: Parted, options: dict[str, str], condition: str
) -> None:
    named = {key: value.replace("TOPIC", parted.name) for key, value in options.items()}
    with pytest.raises(IllegalArgumentException, match=rf"\[{condition}\]"):
        batch(spark, service_url, topic=parted.name, **named).collect()


def test_an_end_before_the_start_is_rejected(spark: SparkSession, service_url: str, parted: Parted) -> None:
    name, there = parted.partition(0), parted.of(0)
    start, end = (json.dumps({name: there[index].id.position}) for index in (9, 8))
    with pytest.raises(IllegalArgumentException, match=rf"\[PULSAR_OFFSETS_REVERSED\] Topic {name}"):
        batch(spark, service_url, topic=name, startingOffsets=start, endingOffsets=end).collect()
