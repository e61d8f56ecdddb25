"""Times of ISO 8601 as text."""

from __future__ import annotations

import re
from datetime import datetime

_FRACTION = re.compile(r"\.(\d+)", re.ASCII)


def iso_time(text: str) -> datetime:
    """Parse a time, with ``Z`` and any number of digits behind the second, which Python 3.10 does not accept by itself.

    Args:
        text: The time, as Java writes an `Instant`. What is below a microsecond is dropped.

    Returns:
        The time, with a zone if the text has one.

    Raises:
        ValueError: The text is no such time.
    """
    micros = _FRACTION.sub(lambda part: f".{part[1][:6]:0<6}", text, count=1)
    return datetime.fromisoformat(micros.replace("Z", "+00:00"))
