"""`LocalPulsar` as far as it needs no server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fakes import JAVA_17, fake_java

from pulsar_spark.local import LocalPulsar, LocalPulsarError, maven

if TYPE_CHECKING:
    from pathlib import Path


def test_a_start_without_java_reports_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(LocalPulsarError, match="Install a JDK 17"):
        LocalPulsar().start()


def test_a_broken_java_is_named_in_the_error(tmp_path: Path) -> None:
    file = fake_java(tmp_path, "", code=3)
    with pytest.raises(LocalPulsarError, match=f"{file} does not run"):
        LocalPulsar(java=str(file)).start()


def test_a_failed_download_is_a_clear_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def no_network(*_: object, **__: object) -> Path:
        raise maven.FetchError("The registry is away.")

    monkeypatch.setenv(maven.CACHE_VARIABLE, str(tmp_path))
    monkeypatch.setattr(maven, "fetch", no_network)
    with pytest.raises(LocalPulsarError, match=r"could not be downloaded\. The registry is away\."):
        LocalPulsar(java=fake_java(tmp_path, JAVA_17)).start()
    assert not any((tmp_path / "server").glob(".unpack-*"))


def test_before_the_start_there_is_no_address() -> None:
    server = LocalPulsar()
    assert not server.running
    for read in (
        lambda: server.service_url,
        lambda: server.admin_url,
        lambda: server.data_dir,
        lambda: server.log_file,
    ):
        with pytest.raises(LocalPulsarError, match=r"call start\(\)"):
            read()
    with pytest.raises(LocalPulsarError, match="not running"):
        _ = server.pid
    with pytest.raises(LocalPulsarError, match="cannot be restarted"):
        server.restart()
    server.stop()
