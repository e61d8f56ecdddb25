"""How messages differ from expected ones, in words."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import Row

from pulsar_spark.testing.differences import as_values, difference

BERLIN, PARIS, ROME = ({"city": city, "km": km} for city, km in (("Berlin", 12.5), ("Paris", 8.0), ("Rome", 1.0)))


def test_equal_messages_have_no_difference_in_any_order() -> None:
    assert difference("rides", [BERLIN, PARIS, PARIS], [PARIS, BERLIN, PARIS], in_order=False) == ""
    assert difference("rides", [], [], in_order=True) == ""


def test_missing_and_other_messages_are_listed() -> None:
    assert difference("rides", [BERLIN, PARIS, PARIS], [PARIS, ROME], in_order=False) == (
        "rides has 2 messages, but 3 were expected.\n"
        "  missing: {'city': 'Berlin', 'km': 12.5}\n"
        "  missing: {'city': 'Paris', 'km': 8.0}\n"
        "  not expected: {'city': 'Rome', 'km': 1.0}"
    )


def test_long_lists_are_cut() -> None:
    found = [{"value": number} for number in range(12)]
    lines = difference("numbers", [], found, in_order=False).splitlines()
    assert lines[0] == "numbers has 12 messages, but 0 were expected."
    assert lines[1:] == [*(f"  not expected: {number}" for number in range(10)), "  and 2 more"]


def test_another_order_counts_on_request() -> None:
    said = difference("rides", [BERLIN, PARIS, ROME], [BERLIN, ROME, PARIS], in_order=True)
    assert said == f"rides has another order: message 2 is {ROME}, but {PARIS} was expected."


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        ({"__key": "taxi", "n": 1}, {"__key": b"taxi", "n": 1}),
        ({"__key": b"taxi"}, {"__key": b"taxi"}),
        ({"value": "caf\u00e9"}, {"value": "caf\u00e9".encode()}),
        ({"a": 1, "b": None}, {"a": 1, "b": None}),
    ],
)
def test_a_text_equals_its_bytes(expected: dict[str, Any], found: dict[str, Any]) -> None:
    assert difference("rides", [expected], [found], in_order=True) == ""


def test_bytes_that_are_no_text_are_shown() -> None:
    said = difference("rides", [{"value": "x"}], [{"value": b"\xff"}], in_order=False)
    assert said.splitlines()[1:] == ["  missing: 'x'", "  not expected: '\\\\xff'"]


def test_a_column_that_one_message_leaves_out_is_null() -> None:
    assert (
        difference("rides", [{"a": 1, "b": 2}, {"a": 3}], [{"a": 1, "b": 2}, {"a": 3, "b": None}], in_order=True) == ""
    )


def test_values_are_plain() -> None:
    row = Row(payload=bytearray(b"x"), nested=Row(parts=[bytearray(b"y")], tags={"a": bytearray(b"z")}))
    assert as_values(row) == {"payload": b"x", "nested": {"parts": [b"y"], "tags": {"a": b"z"}}}
    assert as_values("text") == {"value": "text"}
