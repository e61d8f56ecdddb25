"""Convert the arguments `start` and `end` to the options for positions and for times."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Literal, TypeAlias

from pulsar_spark.errors import PulsarOptionError

OneBound: TypeAlias = "str | int | datetime | timedelta"
Bound: TypeAlias = "OneBound | Mapping[str, OneBound]"
"""See `read_pulsar` for the accepted values."""

Kind: TypeAlias = Literal["Offsets", "Time"]
"""The kind of option for a bound: ``startingOffsets`` or ``startingTime``."""

_ALLOWED = (
    "`earliest`, `latest`, `now`, a time ago such as `-2h`, an aware datetime or ISO 8601 text with a zone, "
    "a timedelta (that long ago), or a position `ledger:entry:batchIndex`; or a dict with one of these for each topic"
)
_ONE_TOPIC = "positions for each topic, as {'events': '12:34:5'}, when several topics are read"
_AGO = re.compile(r"-(\d{1,9})([smhdw])")
_AGO_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_POSITION = re.compile(r"-?\d+:-?\d+(:-?\d+)?")
_NUMBER = re.compile(r"-?\d+")
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}T.+")
_MILLISECOND = timedelta(milliseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def bound_options(
    argument: Literal["start", "end"], bound: Bound, *, topic: str | None, now: datetime
) -> dict[str, str]:
    """The option for a bound.

    Args:
        argument: The name of the argument.
        bound: Its value.
        topic: The topic of the read, None if it reads several.
        now: The time that relative times are subtracted from.

    Raises:
        PulsarOptionError: The bound is not valid.
    """
    begin = "starting" if argument == "start" else "ending"
    if isinstance(bound, Mapping):
        kind, text = _each(argument, begin, bound, now)
    else:
        kind, text = _one(argument, begin, bound, now)
        if kind == "Offsets" and _POSITION.fullmatch(text):
            if topic is None:
                raise PulsarOptionError("PULSAR_OPTION_INVALID", option=argument, value=text, allowed=_ONE_TOPIC)
            text = json.dumps({topic: text})
    return {begin + kind: text}


def time_text(option: str, time: datetime) -> str:
    """ISO 8601 in UTC, rounded up to milliseconds: the first publish time that is not before ``time``.

    Raises:
        PulsarOptionError: The time has no zone.
    """
    if time.utcoffset() is None:
        raise PulsarOptionError("PULSAR_TIME_MALFORMED", option=option, value=time.isoformat())
    whole = _EPOCH + -((_EPOCH - time) // _MILLISECOND) * _MILLISECOND
    return whole.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def check_zone(argument: str, time: datetime) -> None:
    """Reject a time without a zone.

    Raises:
        PulsarOptionError: The time has no zone.
    """
    if time.utcoffset() is None:
        raise PulsarOptionError("PULSAR_TIME_WITHOUT_ZONE", argument=argument, value=time.isoformat())


def _each(argument: str, begin: str, bounds: Mapping[str, OneBound], now: datetime) -> tuple[Kind, str]:
    kinds: dict[Kind, str] = {}
    texts: dict[str, str] = {}
    for topic, bound in bounds.items():
        kind, texts[topic] = _one(argument, begin, bound, now)
        kinds[kind] = topic
    if len(kinds) > 1:
        raise PulsarOptionError(
            "PULSAR_BOUND_MIXED", argument=argument, timed=kinds["Time"], positioned=kinds["Offsets"]
        )
    return next(iter(kinds), "Offsets"), json.dumps(texts)


def _one(argument: str, begin: str, bound: OneBound, now: datetime) -> tuple[Kind, str]:
    if isinstance(bound, datetime):
        check_zone(argument, bound)
    time = _time(bound, now)
    if isinstance(time, datetime):
        return "Time", time_text(begin + "Time", time)
    if time is not None:
        return "Time", time
    text = str(bound).strip()
    if text.lower() in ("earliest", "latest"):
        return "Offsets", text.lower()
    if _POSITION.fullmatch(text) or text.startswith("{"):
        return "Offsets", text
    raise PulsarOptionError("PULSAR_OPTION_INVALID", option=argument, value=str(bound), allowed=_ALLOWED)


def _time(bound: OneBound, now: datetime) -> datetime | str | None:
    """The time of a bound, as text if the JVM has to parse it; None if it is not a time."""
    match bound:
        case datetime():
            return bound
        case timedelta():
            return _before(now, bound // _MILLISECOND)
        case bool():
            return None
        case int():
            return str(bound)
    text = str(bound).strip()
    if text.lower() == "now":
        return now
    if ago := _AGO.fullmatch(text):
        return _before(now, int(ago[1]) * _AGO_SECONDS[ago[2]] * 1000)
    if not _ISO.fullmatch(text):
        return text if _NUMBER.fullmatch(text) else None
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:  # such as a time with a named zone, which Java parses
        return text


def _before(now: datetime, milliseconds: int) -> datetime | None:
    """The time so long ago; None if it is in the future or out of range."""
    try:
        return now - timedelta(milliseconds=milliseconds) if milliseconds >= 0 else None
    except OverflowError:
        return None
