from __future__ import annotations

from typing import TYPE_CHECKING

import fake_release
import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from release.layout import Release


@pytest.fixture
def release(tmp_path: Path) -> Release:
    return fake_release.make(tmp_path)
