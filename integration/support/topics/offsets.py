"""The JSON of a stream's offsets."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def positions(offset: str) -> dict[str, str]:
    """Parse an offset in the current form; returns the position of each partition by its full name."""
    root = json.loads(offset)
    assert root["version"] == _VERSION
    found = {}
    for prefix, topics in root["positions"].items():
        for topic, position in topics.items():
            if isinstance(position, str):
                found[prefix + topic] = position
            else:
                found.update({f"{prefix}{topic}-partition-{index}": one for index, one in position.items()})
    return found


def first_version(positions: Mapping[str, str]) -> str:
    """An offset as the first version of the connector wrote it."""
    return json.dumps({"version": 1, "positions": positions})


_VERSION = 2
