"""Locks and ports exclude others, and are seen from outside."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

from pulsar_spark.local import LocalPulsar, LocalPulsarError
from pulsar_spark.local.locks import FileLock, InUseError, is_locked
from pulsar_spark.local.ports import Port

if TYPE_CHECKING:
    from pathlib import Path


def test_a_port_is_reserved_once() -> None:
    first, second = Port.reserve(), Port.reserve()
    try:
        assert first.number != second.number
        with pytest.raises(InUseError, match=f"port {first.number} is in use"):
            Port.reserve(first.number)
    finally:
        first.close()
        second.close()
    again = Port.reserve(first.number)
    assert again.number == first.number
    again.close()


def test_a_port_in_use_is_not_free() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        number = listener.getsockname()[1]
        with pytest.raises(InUseError, match=f"port {number} is in use"):
            Port.reserve(number)
        with pytest.raises(LocalPulsarError, match=f"port {number} is in use by another process. Choose another"):
            LocalPulsar(broker_port=number)._reserve_ports()


def test_a_lock_is_exclusive_and_visible_to_others(tmp_path: Path) -> None:
    file = tmp_path / "lock"
    assert not is_locked(file)
    with FileLock(file):
        assert is_locked(file)
        with pytest.raises(InUseError, match="locked by another process"):
            FileLock(file, patience_seconds=0)
    assert not is_locked(file)
