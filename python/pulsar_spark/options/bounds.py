"""Convert the arguments `start` and `end` to the options for positions and for times."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Literal, TypeAlias

from pulsar_spark.errors import PulsarOptionError
from pulsar_spark.options.times import OneBound, time_of, time_text

Bound: TypeAlias = OneBound | Mapping[str, OneBound]
"""See `read_pulsar` for the accepted values."""

Kind: TypeAlias = Literal["Offsets", "Time"]
"""The kind of option for a bound: ``startingOffsets`` or ``startingTime``."""

_ALLOWED = (
    "`earliest`, `latest`, `now`, a time ago such as `-2h` or `2 hours ago`, an aware datetime or ISO 8601 text with a "
    "zone, a timedelta (that long ago), or a position `ledger:entry:batchIndex`, in a start also `after` and a "
    "position, or `last 10` for the newest messages of each partition; or a dict with one of these for each topic"
)
_ONE_POSITION = "a position `ledger:entry:batchIndex`, as `12:34:5`"
_ONE_TOPIC = "positions for each topic, as {'events': '12:34:5'}, when several topics are read"
_POSITION = re.compile(r"-?\d+:-?\d+(:-?\d+)?")
_NEWEST = re.compile(r"last\s+0*[1-9]\d*", re.IGNORECASE | re.ASCII)
_AFTER = re.compile(rf"after\s+{_POSITION.pattern}", re.IGNORECASE)


def after(position: str) -> str:
    """A start after a message: the read begins with the next one. A position alone begins with its own message.

    Args:
        position: ``"ledger:entry:batchIndex"``, as the column ``__position`` shows it.

    Returns:
        The text ``"after ledger:entry:batchIndex"``, for ``start`` and the option ``startingOffsets``.

    Raises:
        PulsarOptionError: The text is not a position.

    Examples:
        >>> after("12:34:5")
        'after 12:34:5'
    """
    text = str(position).strip()
    if not _POSITION.fullmatch(text):
        raise PulsarOptionError("PULSAR_OPTION_INVALID", option="after", value=text, allowed=_ONE_POSITION)
    return f"after {text}"


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
        kind, text = _each(argument, bound, now)
    else:
        kind, text = _one(argument, bound, now)
        if kind == "Offsets" and (_POSITION.fullmatch(text) or _AFTER.fullmatch(text)):
            if topic is None:
                raise PulsarOptionError("PULSAR_OPTION_INVALID", option=argument, value=text, allowed=_ONE_TOPIC)
            text = json.dumps({topic: text})
    return {begin + kind: text}


def _each(argument: str, bounds: Mapping[str, OneBound], now: datetime) -> tuple[Kind, str]:
    kinds: dict[Kind, str] = {}
    texts: dict[str, str] = {}
    for topic, bound in bounds.items():
        kind, texts[topic] = _one(argument, bound, now)
        kinds[kind] = topic
    if len(kinds) > 1:
        raise PulsarOptionError(
            "PULSAR_BOUND_MIXED", argument=argument, timed=kinds["Time"], positioned=kinds["Offsets"]
        )
    return next(iter(kinds), "Offsets"), json.dumps(texts)


def _one(argument: str, bound: OneBound, now: datetime) -> tuple[Kind, str]:
    time = time_of(argument, bound, now)
    if isinstance(time, datetime):
        return "Time", time_text(time)
    if time is not None:
        return "Time", time
    text = str(bound).strip()
    if text.lower() in ("earliest", "latest") or (argument == "start" and text.lower() == "subscription"):
        return "Offsets", text.lower()
    if _POSITION.fullmatch(text) or text.startswith("{"):
        return "Offsets", text
    if argument == "start" and (_AFTER.fullmatch(text) or _NEWEST.fullmatch(text)):
        return "Offsets", text
    raise PulsarOptionError("PULSAR_OPTION_INVALID", option=argument, value=str(bound), allowed=_ALLOWED)
