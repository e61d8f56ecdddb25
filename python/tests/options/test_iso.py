"""Times as the JVM writes them, on every Python: 3.10 accepts fewer forms by itself."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

import pulsar_spark
from pulsar_spark.options.iso import iso_time

PACKAGE = Path(pulsar_spark.__file__).parent
NOON = datetime(2026, 1, 31, 12, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-01-31T12:00:00Z", NOON),
        ("2026-01-31T12:00:00.5Z", NOON + timedelta(milliseconds=500)),
        ("2026-01-31T12:00:00.123456789+00:00", NOON + timedelta(microseconds=123_456)),
        ("2026-01-31T14:00:00.000001+02:00", NOON + timedelta(microseconds=1)),
        ("2026-01-31T12:00", NOON.replace(tzinfo=None)),
    ],
)
def test_times_have_any_number_of_digits(text: str, time: datetime) -> None:
    assert iso_time(text) == time


@pytest.mark.parametrize("text", ["", "noon", "2026-13-31T12:00:00Z"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"isoformat|month"):
        iso_time(text)


def test_no_module_parses_times_of_its_own() -> None:
    users = [file.name for file in PACKAGE.rglob("*.py") if "fromisoformat(" in file.read_text(encoding="utf-8")]
    assert sorted(users) == ["iso.py", "times.py"], "use `iso_time`; times.py looks at the part before fractions alone"
