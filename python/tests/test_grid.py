"""Values as people read them, in a table of text and of HTML."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from pulsar_spark._grid import cell, grid

NOON = datetime(2026, 1, 31, 12, 0, 0, 5, tzinfo=timezone(timedelta(hours=1)))


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("bytes", 5 << 20, "5.0 MiB"),
        ("backlog_bytes", 7, "7 B"),
        ("entries", 1234567, "1,234,567"),
        ("ledger_id", 1234567, "1234567"),
        ("partition", 1234, "1234"),
        ("seconds", 1234.56, "1,234.6"),
        ("durable", True, "yes"),
        ("closed_at", NOON, "2026-01-31 11:00:00"),
        ("closed_at", NOON.replace(tzinfo=None), "2026-01-31 12:00:00"),
        ("bookies", ["a:1", "b:1"], "a:1, b:1"),
        ("topic", "persistent://public/default/a", "public/default/a"),
        ("topic", None, ""),
    ],
)
def test_values(name: str, value: object, text: str) -> None:
    assert cell(name, value) == text


def test_columns_are_aligned_and_empty_ones_are_omitted() -> None:
    table = grid(("topic", "backlog_entries", "note"), [("a", 1000, None), ("long", 2, "")])
    assert table.lines() == [
        "topic  backlog entries",
        "-----  ---------------",
        "a                1,000",
        "long                 2",
    ]


def test_no_rows_are_no_lines() -> None:
    table = grid(("topic", "entries"), [])
    assert table.lines() == table.html() == []


def test_html_is_escaped() -> None:
    lines = grid(("topic",), [("<b>",)]).html()
    assert '<td style="text-align: left">&lt;b&gt;</td>' in lines[3]
