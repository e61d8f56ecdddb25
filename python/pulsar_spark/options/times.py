"""The times that users write as bounds of a read."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta, timezone
from typing import TypeAlias

from pulsar_spark.errors import PulsarOptionError
from pulsar_spark.options.durations import UNIT, unit_of
from pulsar_spark.options.iso import iso_time

OneBound: TypeAlias = str | int | datetime | date | timedelta
"""A bound of a read, for all topics."""

_DURATION = re.compile(rf"(-?)\s*(\d{{1,9}})\s*({UNIT})(\s+ago)?", re.ASCII | re.IGNORECASE)
_NUMBER = re.compile(r"-?\d{1,4000}", re.ASCII)
_BEYOND = 10**4000
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_ISO = re.compile(r"(\d{4}-\d{2}-\d{2})[T ](\S+)", re.ASCII)
_MILLISECOND = timedelta(milliseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
# A number in this range is milliseconds, 1973 to 9999: as seconds it is after the year 5138. Outside, it is ambiguous.
_MILLISECONDS = range(10**11, 253_402_300_800_000)
_SMALL_UNITS = {"seconds": 1, "milliseconds": 10**3}
_LARGE_UNITS = {"microseconds": 10**6, "nanoseconds": 10**9}


def time_of(argument: str, bound: OneBound, now: datetime) -> datetime | str | None:
    """The time of a bound, as text if the JVM has to parse it; None if it is not a time.

    Args:
        argument: The name of the argument, for errors.
        bound: Its value.
        now: The time that relative times are subtracted from.

    Raises:
        PulsarOptionError: The bound is a time without a zone, or can be read in several ways.
    """
    match bound:
        case datetime():
            return _aware(argument, bound)
        case date():
            raise _day(argument, bound.isoformat())
        case timedelta():
            return _before(now, bound // _MILLISECOND)
        case bool():
            return None
        case int() if abs(bound) >= _BEYOND:
            raise PulsarOptionError("PULSAR_TIME_MALFORMED", option=argument, value="a number of more than 4000 digits")
        case int():
            return _milliseconds(argument, bound)
    text = str(bound).strip()
    if text.lower() == "now":
        return now
    if _NUMBER.fullmatch(text):
        return _milliseconds(argument, int(text))
    if _DAY.fullmatch(text):
        raise _day(argument, text)
    if duration := _DURATION.fullmatch(text):
        return _ago(argument, text, duration, now)
    iso = _ISO.fullmatch(text)
    return _parsed(argument, text, f"{iso[1]}T{iso[2]}") if iso else None


def time_text(time: datetime) -> str:
    """ISO 8601 in UTC, rounded up to milliseconds: the first publish time that is not before ``time``."""
    whole = _EPOCH + -((_EPOCH - time) // _MILLISECOND) * _MILLISECOND
    return whole.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def check_zone(argument: str, time: datetime) -> None:
    """Reject a time without a zone.

    Raises:
        PulsarOptionError: The time has no zone.
    """
    if time.utcoffset() is None:
        raise PulsarOptionError("PULSAR_TIME_WITHOUT_ZONE", argument=argument, value=time.isoformat())


def _aware(argument: str, time: datetime) -> datetime | None:
    if time != time:  # pandas.NaT is a datetime, but no time
        return None
    check_zone(argument, time)
    return time


def _parsed(argument: str, text: str, iso: str) -> datetime | str:
    try:
        time = iso_time(iso)
    except ValueError:
        if not _begins_with_time(iso):
            raise PulsarOptionError("PULSAR_TIME_MALFORMED", option=argument, value=text) from None
        return iso  # such as a time with a named zone, which Java parses
    if time.utcoffset() is None:
        raise PulsarOptionError("PULSAR_TIME_MALFORMED", option=argument, value=text)
    return time


def _begins_with_time(iso: str) -> bool:
    """True if the part before fractions and zone is a time of the calendar."""
    try:
        datetime.fromisoformat(iso[:19] if iso[16:17] == ":" else iso[:16])
    except ValueError:
        return False
    return True


def _ago(argument: str, text: str, duration: re.Match[str], now: datetime) -> datetime | None:
    sign, count, unit, ago = duration.groups()
    if sign and ago:
        return None
    if unit == "M":
        instead = f"Use `-{count}min`, or a datetime for months"
        raise _ambiguous(argument, text, "may be minutes or months", instead)
    if not sign and not ago:
        raise _ambiguous(argument, text, "may be a time ago or a time ahead", f"Use `-{text}`, or `{text} ago`")
    return _before(now, int(count) * unit_of(unit))


def _milliseconds(argument: str, number: int) -> str | None:
    """A number that is milliseconds beyond doubt; None if it is no time in any unit."""
    if number in _MILLISECONDS:
        return str(number)
    units = _SMALL_UNITS if abs(number) < _MILLISECONDS.start else _LARGE_UNITS
    readings = {unit: time for unit, per_second in units.items() if (time := _instant(number, per_second))}
    if not readings:
        return None
    meaning = " and ".join(f"{time} in {unit}" for unit, time in readings.items())
    instead = f"Use a time with a zone, such as `{next(iter(readings.values()))}` or a datetime"
    limits = "or milliseconds since 1970 of 12 to 15 digits"
    raise _ambiguous(argument, str(number), f"is {meaning}", f"{instead}, {limits}")


def _instant(number: int, per_second: int) -> str | None:
    try:
        time = _EPOCH + timedelta(microseconds=number * 10**6 // per_second)
    except OverflowError:
        return None
    return time.isoformat().replace("+00:00", "Z")


def _day(argument: str, day: str) -> PulsarOptionError:
    return _ambiguous(
        argument, day, "is a day without a time zone", f"Use `{day}T00:00:00Z`, or a datetime with a zone"
    )


def _ambiguous(argument: str, value: str, meaning: str, instead: str) -> PulsarOptionError:
    return PulsarOptionError("PULSAR_TIME_AMBIGUOUS", argument=argument, value=value, meaning=meaning, instead=instead)


def _before(now: datetime, milliseconds: int) -> datetime | None:
    """The time so long ago; None if it is in the future or out of range."""
    try:
        return now - timedelta(milliseconds=milliseconds) if milliseconds >= 0 else None
    except OverflowError:
        return None
