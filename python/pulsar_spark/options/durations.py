"""Durations as users write them: one grammar for every option and for relative times, and the same in the JVM."""

from __future__ import annotations

import re

_UNITS = {
    "ms|millis|milliseconds?": 1,
    "s|secs?|seconds?": 1000,
    "m|mins?|minutes?": 60_000,
    "h|hrs?|hours?": 3_600_000,
    "d|days?": 86_400_000,
    "w|weeks?": 7 * 86_400_000,
}
UNIT = "|".join(_UNITS)
"""The expression of a unit, in any case of letters."""
_FORM = re.compile(rf"\+?(\d{{1,13}})\s*({UNIT})?", re.ASCII | re.IGNORECASE)
_MOST = 36_500 * 86_400_000


def milliseconds(text: str) -> int | None:
    """The milliseconds of a duration such as ``15m``; a number alone is milliseconds.

    None for ``15M``, which may be months, for more than 36500 days, and for other texts.
    """
    match = _FORM.fullmatch(text)
    if match is None or match[2] == "M":
        return None
    result = int(match[1]) * unit_of(match[2] or "ms")
    return result if result <= _MOST else None


def unit_of(name: str) -> int:
    """The milliseconds of a unit."""
    return next(each for names, each in _UNITS.items() if re.fullmatch(names, name, re.IGNORECASE))


def form(least: int) -> str:
    """The form of a duration in words."""
    examples = "such as `500ms`, `30s`, `15m`, `2h` or `1d` (a number alone is milliseconds)"
    return f"a time of at least {least} ms and at most 36500 days, {examples}"
