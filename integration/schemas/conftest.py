"""Values of all types are decoded by the same code whoever delivers them, so the gate reads them from brokers alone."""

from __future__ import annotations

import pytest


@pytest.fixture(params=["broker", pytest.param("segment", marks=pytest.mark.exhaustive)])
def each_level(request: pytest.FixtureRequest) -> str:
    return str(request.param)
