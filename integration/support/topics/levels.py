"""The read levels at which a test runs."""

from __future__ import annotations

import pytest

AT_BOTH_LEVELS = pytest.mark.parametrize("each_level", ["broker", "segment"])
"""For a test whose promise depends on the level. Of others the fixture `read_level` leaves the second level to the
exhaustive tier: the Scala suite `LevelParitySuite` reads random topics at every level, from the plan to the rows."""
