"""The session that a killed server leaves in its metadata store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fakes import fake_java

from pulsar_spark.local.java import Java
from pulsar_spark.local.metadata import end_session

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_session_that_cannot_be_ended_is_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    java = Java(fake_java(tmp_path, "no compiler\n", code=1), 17, "none")
    assert end_session(java, tmp_path, tmp_path / "missing") == []
    assert not caplog.messages
    assert end_session(java, tmp_path, tmp_path) == []
    assert [f"could not be ended in {tmp_path}: no compiler" in message for message in caplog.messages] == [True]
