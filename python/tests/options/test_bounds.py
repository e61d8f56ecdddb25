"""What may be given as start and end, and the options it becomes."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta, timezone
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pulsar_spark import PulsarOptionError, after
from pulsar_spark.options.bounds import bound_options
from pulsar_spark.options.times import time_text

if TYPE_CHECKING:
    from pulsar_spark.options.bounds import Bound

NOW = datetime(2026, 1, 31, 12, tzinfo=timezone.utc)
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def start(bound: Bound, topic: str | None = "events") -> dict[str, str]:
    return bound_options("start", bound, topic=topic, now=NOW)


@pytest.mark.parametrize(
    ("bound", "options"),
    [
        ("earliest", {"startingOffsets": "earliest"}),
        (" Latest ", {"startingOffsets": "latest"}),
        ("Subscription", {"startingOffsets": "subscription"}),
        ("now", {"startingTime": "2026-01-31T12:00:00.000Z"}),
        ("-90s", {"startingTime": "2026-01-31T11:58:30.000Z"}),
        ("-30m", {"startingTime": "2026-01-31T11:30:00.000Z"}),
        ("-2h", {"startingTime": "2026-01-31T10:00:00.000Z"}),
        ("-7d", {"startingTime": "2026-01-24T12:00:00.000Z"}),
        ("-1w", {"startingTime": "2026-01-24T12:00:00.000Z"}),
        (timedelta(hours=2), {"startingTime": "2026-01-31T10:00:00.000Z"}),
        (timedelta(0), {"startingTime": "2026-01-31T12:00:00.000Z"}),
        (datetime(2026, 1, 1, 1, tzinfo=timezone(timedelta(hours=2))), {"startingTime": "2025-12-31T23:00:00.000Z"}),
        ("2026-01-01T01:00:00+02:00", {"startingTime": "2025-12-31T23:00:00.000Z"}),
        ("2026-01-01T01:00:00Z", {"startingTime": "2026-01-01T01:00:00.000Z"}),
        ("2026-01-01T01:00:00+01:00[Europe/Berlin]", {"startingTime": "2026-01-01T01:00:00+01:00[Europe/Berlin]"}),
        (1_769_860_800_000, {"startingTime": "1769860800000"}),
        ("1769860800000", {"startingTime": "1769860800000"}),
        ("12:34:5", {"startingOffsets": '{"events": "12:34:5"}'}),
        ("12:34", {"startingOffsets": '{"events": "12:34"}'}),
        ("12:-1", {"startingOffsets": '{"events": "12:-1"}'}),
        ('{"a": "1:2"}', {"startingOffsets": '{"a": "1:2"}'}),
        (after("12:34:5"), {"startingOffsets": '{"events": "after 12:34:5"}'}),
        ("AFTER  12:34", {"startingOffsets": '{"events": "AFTER  12:34"}'}),
        ("last 10", {"startingOffsets": "last 10"}),
        (" LAST  1 ", {"startingOffsets": "LAST  1"}),
        ({"a": "last 3", "b": "earliest"}, {"startingOffsets": '{"a": "last 3", "b": "earliest"}'}),
        ({"a": after(" 1:2 "), "b": "3:4"}, {"startingOffsets": '{"a": "after 1:2", "b": "3:4"}'}),
        ({"a": "1:2:3", "b": "earliest"}, {"startingOffsets": '{"a": "1:2:3", "b": "earliest"}'}),
        ({"a": "-2h", "b": 10**12}, {"startingTime": '{"a": "2026-01-31T10:00:00.000Z", "b": "1000000000000"}'}),
        ("-90min", {"startingTime": "2026-01-31T10:30:00.000Z"}),
        ("-90 minutes", {"startingTime": "2026-01-31T10:30:00.000Z"}),
        ("2h ago", {"startingTime": "2026-01-31T10:00:00.000Z"}),
        ("2 Hours ago", {"startingTime": "2026-01-31T10:00:00.000Z"}),
        ("1 week ago", {"startingTime": "2026-01-24T12:00:00.000Z"}),
        ("30 secs ago", {"startingTime": "2026-01-31T11:59:30.000Z"}),
        ("2026-01-01 01:00:00+02:00", {"startingTime": "2025-12-31T23:00:00.000Z"}),
        (10**11, {"startingTime": "100000000000"}),
        (253_402_300_799_999, {"startingTime": "253402300799999"}),
    ],
)
def test_bounds_are_converted_to_options(bound: Bound, options: dict[str, str]) -> None:
    assert start(bound) == options


def test_an_end_is_converted_to_ending_options() -> None:
    assert bound_options("end", "latest", topic=None, now=NOW) == {"endingOffsets": "latest"}
    assert bound_options("end", timedelta(days=1), topic=None, now=NOW) == {"endingTime": "2026-01-30T12:00:00.000Z"}


@pytest.mark.parametrize(
    "bound",
    [
        "",
        "tomorrow",
        "last",
        "last 0",
        "last -1",
        "last ten",
        "-2x",
        "-2h ago",
        "1:2:3:4",
        timedelta(hours=-1),
        "-999999999w",
        True,
        None,
        1.5,
        10**40,
        "9" * 5000,
    ],
)
def test_other_bounds_are_rejected_with_the_accepted_forms(bound: Bound) -> None:
    with pytest.raises(PulsarOptionError) as raised:
        start(bound)
    assert raised.value.condition == "PULSAR_OPTION_INVALID"
    assert str(raised.value).startswith(
        f"[PULSAR_OPTION_INVALID] Option `start` is `{bound}`, but must be `earliest`, "
    )


def test_a_number_that_python_does_not_show_is_no_time() -> None:
    with pytest.raises(PulsarOptionError, match="is `a number of more than 4000 digits`"):
        start(10**5000)


@pytest.mark.parametrize("text", ["", "12", "1:2:3:4", "after 1:2", "earliest"])
def test_a_start_after_something_else_than_a_position_is_rejected(text: str) -> None:
    with pytest.raises(PulsarOptionError, match=r"Option `after` is .*, but must be a position"):
        after(text)


def test_an_end_after_a_position_is_rejected() -> None:
    with pytest.raises(PulsarOptionError, match="Option `end` is `after 1:2:3`, but must be"):
        bound_options("end", after("1:2:3"), topic="events", now=NOW)


def test_the_newest_messages_are_a_start_of_any_number_of_topics() -> None:
    assert start("last 10", topic=None) == {"startingOffsets": "last 10"}
    with pytest.raises(PulsarOptionError, match="Option `end` is `last 10`, but must be"):
        bound_options("end", "last 10", topic="events", now=NOW)


def test_a_start_after_a_position_needs_one_topic() -> None:
    with pytest.raises(PulsarOptionError, match="positions for each topic, as"):
        start(after("1:2:3"), topic=None)


@pytest.mark.parametrize("bound", [datetime(2026, 1, 31), {"a": datetime(2026, 1, 31)}])
def test_a_datetime_without_a_zone_is_rejected(bound: Bound) -> None:
    with pytest.raises(PulsarOptionError) as raised:
        start(bound)
    assert str(raised.value) == (
        "[PULSAR_TIME_WITHOUT_ZONE] `start` has no time zone: `2026-01-31T00:00:00`. What to do: "
        "Use `datetime(..., tzinfo=timezone.utc)` or `.astimezone()`."
    )


def test_a_text_without_a_zone_is_rejected_as_in_the_jvm_but_names_the_argument() -> None:
    with pytest.raises(PulsarOptionError) as raised:
        start("2026-01-31T00:00:00")
    assert str(raised.value) == (
        "[PULSAR_TIME_MALFORMED] Option `start` is `2026-01-31T00:00:00`, which is not a time with a zone. "
        "What to do: Use milliseconds since 1970, or ISO 8601 with a zone, such as 2026-01-31T12:00:00Z or "
        "2026-01-31T12:00:00+01:00."
    )


@pytest.mark.parametrize(
    ("bound", "meaning", "instead"),
    [
        (
            1_700_000_000,
            "2023-11-14T22:13:20Z in seconds and 1970-01-20T16:13:20Z in milliseconds",
            "2023-11-14T22:13:20Z",
        ),
        (
            "1700000000",
            "2023-11-14T22:13:20Z in seconds and 1970-01-20T16:13:20Z in milliseconds",
            "2023-11-14T22:13:20Z",
        ),
        (0, "1970-01-01T00:00:00Z in seconds", "1970-01-01T00:00:00Z"),
        (10**11 - 1, "5138-11-16T09:46:39Z in seconds and 1973-03-03T09:46:39.999000Z in milliseconds", "5138-11-16"),
        (1_700_000_000_000_000, "2023-11-14T22:13:20Z in microseconds", "2023-11-14T22:13:20Z"),
        (1_700_000_000_000_000_000, "2023-11-14T22:13:20Z in nanoseconds", "2023-11-14T22:13:20Z"),
        (date(2026, 1, 31), "a day without a time zone", "2026-01-31T00:00:00Z"),
        ("2026-01-31", "a day without a time zone", "2026-01-31T00:00:00Z"),
        ("2h", "a time ago or a time ahead", "`-2h`, or `2h ago`"),
        ("-3M", "minutes or months", "`-3min`, or a datetime"),
        ("2 hours", "a time ago or a time ahead", "`-2 hours`, or `2 hours ago`"),
        ({"a": "2h"}, "a time ago or a time ahead", "-2h"),
    ],
)
def test_a_bound_with_several_meanings_is_rejected_with_what_works(bound: Bound, meaning: str, instead: str) -> None:
    with pytest.raises(PulsarOptionError) as raised:
        start(bound)
    assert raised.value.condition == "PULSAR_TIME_AMBIGUOUS"
    assert raised.value.parameters["argument"] == "start"
    assert meaning in raised.value.parameters["meaning"]
    assert instead in raised.value.parameters["instead"]


def test_what_a_rejected_bound_is_advised_to_be_works() -> None:
    assert start("-2 hours") == start("2 hours ago") == start("-2h")
    assert start("2026-01-31T00:00:00Z") == {"startingTime": "2026-01-31T00:00:00.000Z"}


class Timestamp(datetime):
    """Stands for `pandas.Timestamp`, which is a datetime too."""


class NotATime(datetime):
    """Stands for `pandas.NaT`: a datetime that differs from itself."""

    def __eq__(self, other: object) -> bool:
        return False

    def __ne__(self, other: object) -> bool:
        return True

    __hash__ = datetime.__hash__


def test_timestamps_of_pandas_are_datetimes() -> None:
    assert start(Timestamp(2026, 1, 31, tzinfo=timezone.utc)) == {"startingTime": "2026-01-31T00:00:00.000Z"}
    with pytest.raises(PulsarOptionError, match="PULSAR_TIME_WITHOUT_ZONE"):
        start(Timestamp(2026, 1, 31))
    with pytest.raises(PulsarOptionError, match="PULSAR_OPTION_INVALID"):
        start(NotATime(1, 1, 1))


@pytest.mark.parametrize(
    "bound", ["2026-13-31T00:00:00Z", "2026-01-31T25:00Z", "2026-01-31T00:00:99+01:00[Europe/Berlin]", "2026-02-30 1Z"]
)
def test_a_text_that_is_no_time_of_the_calendar_is_rejected(bound: str) -> None:
    with pytest.raises(PulsarOptionError, match=r"PULSAR_TIME_MALFORMED. Option `start` is"):
        start(bound)


def test_times_and_positions_do_not_mix() -> None:
    with pytest.raises(PulsarOptionError) as raised:
        start({"a": "-2h", "b": "1:2:3"})
    assert raised.value.condition == "PULSAR_BOUND_MIXED"
    assert "mixes a time for `a` and a position for `b`" in str(raised.value)


def test_one_position_needs_one_topic() -> None:
    with pytest.raises(PulsarOptionError, match="positions for each topic, as"):
        start("1:2:3", topic=None)


@given(st.datetimes(min_value=datetime(1971, 1, 1), timezones=st.timezones()))
def test_times_are_rounded_up_to_milliseconds(time: datetime) -> None:
    text = time_text(time)
    written = datetime.fromisoformat(text.replace("Z", "+00:00"))
    assert timedelta(0) <= written - time.astimezone(timezone.utc) < timedelta(milliseconds=1)
    assert text.endswith("Z")
    assert (written - EPOCH) % timedelta(milliseconds=1) == timedelta(0)


@given(st.dictionaries(st.text(min_size=1), st.sampled_from(["earliest", "latest", "1:2:3"]), min_size=1))
def test_topics_of_a_dict_are_kept(bounds: dict[str, str]) -> None:
    assert json.loads(start(dict(bounds))["startingOffsets"]) == bounds
