"""Offloading by the local Pulsar, as far as it needs no server: settings, and the plug-ins in the cache."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from pulsar_spark.local import FileSystemOffload, LocalPulsar, LocalPulsarError, S3Offload, maven, offload, versions
from pulsar_spark.local.errors import ServerUnavailableError

S3 = S3Offload("http://127.0.0.1:1", "bucket", access_key="who", secret_key="hidden")


@pytest.fixture
def distribution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """An archive in place of the one to download; the list grows with every request for it."""
    tarball, asked = tmp_path / "offloaders.tar.gz", []
    with tarfile.open(tarball, "w:gz") as archive:
        for name in ("README", "offloaders/tiered-storage-jcloud-9.nar", "offloaders/tiered-storage-file-system-9.nar"):
            member = tarfile.TarInfo(f"apache-pulsar-offloaders-9/{name}")
            member.size = len(name)
            archive.addfile(member, io.BytesIO(name.encode()))

    def fetch(coordinate: str, *, sha256: str | None) -> Path:
        assert sha256 is not None
        asked.append(coordinate)
        return tarball

    monkeypatch.setenv(maven.CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(maven, "fetch", fetch)
    return asked


def test_a_plug_in_is_unpacked_once_and_alone(tmp_path: Path, distribution: list[str]) -> None:
    for target, name in (
        (S3, "tiered-storage-jcloud-9.nar"),
        (FileSystemOffload(tmp_path), "tiered-storage-file-system-9.nar"),
    ):
        folders = {offload.settings(target, tmp_path, versions.DEFAULT)["offloadersDirectory"] for _ in range(2)}
        assert len(folders) == 1
        found = list(Path(folders.pop()).iterdir())
        assert [(file.name, file.read_text()) for file in found] == [(name, f"offloaders/{name}")]
    assert distribution == [f"org.apache.pulsar:pulsar-offloader-distribution:{versions.DEFAULT}:bin@tar.gz"] * 2


@pytest.mark.usefixtures("distribution")
def test_servers_share_the_unpacked_plug_in_and_offload_on_request_only(tmp_path: Path) -> None:
    found = offload.settings(S3, tmp_path, versions.DEFAULT)
    assert Path(found["narExtractionDirectory"]).is_relative_to(versions.home())
    assert found["managedLedgerOffloadAutoTriggerSizeThresholdBytes"] == "-1"
    assert found["managedLedgerOffloadDeletionLagMs"] == "0"


@pytest.mark.usefixtures("distribution")
def test_the_settings_of_a_folder(tmp_path: Path) -> None:
    found = offload.settings(FileSystemOffload(tmp_path / "a b"), tmp_path, versions.DEFAULT)
    assert found["managedLedgerOffloadDriver"] == "filesystem"
    assert found["fileSystemURI"] == f"file://{tmp_path}/a%20b"
    assert "<value>BLOCK</value>" in Path(found["fileSystemProfilePath"]).read_text()
    assert (tmp_path / "a b").is_dir()


@pytest.mark.usefixtures("distribution")
def test_the_settings_of_a_bucket_and_its_credentials(tmp_path: Path) -> None:
    found = offload.settings(S3, tmp_path, versions.DEFAULT)
    assert found["managedLedgerOffloadDriver"] == "S3"
    assert found["managedLedgerOffloadBucket"] == "bucket"
    assert found["managedLedgerOffloadServiceEndpoint"] == "http://127.0.0.1:1"
    assert S3.environment == {"ACCESS_KEY_ID": "who", "ACCESS_KEY_SECRET": "hidden"}
    assert "hidden" not in f"{found} {S3}"


def test_a_failed_download_is_an_error_of_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> Path:
        raise maven.FetchError("no network")

    monkeypatch.setenv(maven.CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(maven, "fetch", fail)
    with pytest.raises(ServerUnavailableError, match=r"offloaders could not be downloaded\. no network"):
        offload.settings(S3, tmp_path, versions.DEFAULT)
    server = LocalPulsar(data_dir=tmp_path / "data", offload=S3)
    with pytest.raises(LocalPulsarError, match="could not be downloaded"):
        server._settings(tmp_path)
    assert list((tmp_path / "cache").rglob("*.nar")) == []
