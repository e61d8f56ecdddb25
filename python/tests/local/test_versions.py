"""Which Pulsar servers can be run, and how one is chosen."""

from __future__ import annotations

import io
import tarfile
from importlib import resources
from typing import TYPE_CHECKING

import pytest

from pulsar_spark.local import LocalPulsar, LocalPulsarError, maven, versions
from pulsar_spark.local.class_data import archive_file
from pulsar_spark.local.java import Java
from pulsar_spark.local.versions import libraries

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(maven.CACHE_VARIABLE, str(tmp_path))
    monkeypatch.delenv(versions.VARIABLE, raising=False)


def test_the_version_is_the_argument_else_the_environment_else_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    assert versions.chosen() == LocalPulsar().server_version == versions.DEFAULT
    monkeypatch.setenv(versions.VARIABLE, "4.2.4")
    assert versions.chosen() == LocalPulsar().server_version == "4.2.4"
    assert versions.chosen("3.0.16") == LocalPulsar(server_version="3.0.16").server_version == "3.0.16"


def test_an_unknown_version_is_rejected_with_the_known_ones() -> None:
    with pytest.raises(LocalPulsarError, match=r"Pulsar 2\.9\.0 is not supported.*3\.0\.16, 4\.0\.8, 4\.2\.4\."):
        LocalPulsar(server_version="2.9.0")


def test_each_version_has_a_folder_of_its_own(tmp_path: Path) -> None:
    java = Java("java", 17, "any")
    folders = {version: versions.home(version) for version in versions.KNOWN}
    assert len(set(folders.values())) == len(folders)
    for version, folder in folders.items():
        assert folder.is_relative_to(tmp_path)
        assert archive_file(java, version).parent == folder


def test_a_distribution_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def fetch(coordinate: str, *, sha256: str | None) -> Path:
        asked.append((coordinate, sha256))
        with tarfile.open(tmp_path / "server.tar.gz", "w:gz") as archive:
            for name in ("LICENSE", "lib/a.jar", "lib/deeper/b.jar", "conf/x.conf"):
                member = tarfile.TarInfo(f"pulsar/{name}")
                member.size = len(name)
                archive.addfile(member, io.BytesIO(name.encode()))
        return tmp_path / "server.tar.gz"

    monkeypatch.setattr(maven, "fetch", fetch)
    folder = libraries("3.0.16")
    assert folder == libraries("3.0.16")
    (coordinate, sha256), *again = asked
    assert (coordinate, again) == ("org.apache.pulsar:pulsar-server-distribution:3.0.16:bin@tar.gz", [])
    assert sha256 is not None
    files = {file.relative_to(folder.parent).as_posix() for file in folder.parent.rglob("*") if file.is_file()}
    assert files == {"LICENSE", "lib/a.jar"}


def test_a_version_without_a_distribution_is_a_list_of_jars(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, str] = {}

    def fetch_all(checksums: dict[str, str], folder: Path) -> None:
        asked.update(checksums)
        folder.mkdir()

    monkeypatch.setattr(maven, "fetch_all", fetch_all)
    assert libraries("4.2.4").is_dir()
    assert "org.apache.pulsar:pulsar-broker:4.2.4" in asked
    assert all(len(sha256) == 64 for sha256 in asked.values())
    listed = resources.files("pulsar_spark").joinpath("tables/server-4.2.4.txt").read_text()
    assert listed.splitlines() == sorted(listed.splitlines())
    assert len(asked) == len(listed.splitlines()) > 300


def test_a_version_without_plug_ins_does_not_offload(tmp_path: Path) -> None:
    from pulsar_spark.local import FileSystemOffload

    server = LocalPulsar(server_version="3.0.16", offload=FileSystemOffload(tmp_path / "tiered"))
    with pytest.raises(LocalPulsarError, match=r"Pulsar 3\.0\.16 cannot offload; 4\.0\.8 can"):
        server._settings(tmp_path)
